from __future__ import annotations

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest

from remembrancer.errors import InvalidInput
from remembrancer.language.times.anchors import Anchored, anchored, resolve

AT = datetime(2023, 7, 12, 15, 30, tzinfo=UTC)
BERLIN = ZoneInfo("Europe/Berlin")


def found(text: str) -> Anchored:
    expression = anchored(text)
    assert expression is not None
    return expression


@pytest.mark.parametrize(
    ("text", "anchor"),
    [
        ("What did we buy two weeks before the trip?", "the trip"),
        ("the day after Ana's birthday", "Ana's birthday"),
        ("A month after we moved to Rome, what did we buy?", "we moved to Rome"),
        ("After the trip to Rome did we eat well?", "the trip to Rome"),
        ("How was it shortly after the check-in at R&D?", "the check-in at R&D"),
        ("a few days prior to the wedding", "the wedding"),
        ("Was it before or after the wedding?", "the wedding"),
        ("before 2020 and after the wedding", "the wedding"),
        ("after the party when it rained", "the party"),
        ("after the party\nthe dog barked", "the party"),
        ("three days following the talk in June", "the talk in June"),
    ],
)
def test_the_anchor_is_the_event_that_the_time_counts_from(text: str, anchor: str) -> None:
    assert found(text).anchor == anchor


@pytest.mark.parametrize(
    ("text", "start", "end"),
    [
        ("two weeks before the trip", -17, -10),
        ("two weeks after the trip", 11, 18),
        ("three days before the trip", -3, -2),
        ("a few days after the trip", 2, 6),
        ("a month after the trip", 15, 46),
        ("a year before the trip", -365 - 182, -365 + 183),
        ("the day before the trip", -1, 0),
        ("the day after the trip", 1, 2),
        ("the week before the trip", -7, 0),
        ("the week after the trip", 1, 8),
        ("before the trip", -30, 1),
        ("after the trip", 0, 31),
        ("just before the trip", -7, 1),
        ("soon after the trip", 0, 8),
    ],
)
def test_an_offset_counts_in_days_from_the_anchors_day(text: str, start: int, end: int) -> None:
    expression = found(text)
    assert (expression.offset_start, expression.offset_end) == (timedelta(days=start), timedelta(days=end))


@pytest.mark.parametrize(
    "text",
    [
        "What did Ana do after that?",
        "Who looked after the dog?",
        "day after day",
        "What does he want after two weeks?",
        "after a long day",
        "two weeks before Christmas",
        "two weeks before June 20, 2023",
        "after 31 February",
        "the day before yesterday",
        "2 hours from Rome",
        "Have we met before?",
        "before, what was it?",
        "9999 years before the trip",
        "after 9999 years ago",
        "What happened last week?",
    ],
)
def test_a_text_without_an_unknown_event_has_no_anchor(text: str) -> None:
    assert anchored(text) is None


def test_an_anchored_time_quotes_the_expression() -> None:
    text = "What was two weeks before the trip, please?"
    expression = found(text)
    assert (expression.text, text[expression.start_offset : expression.end_offset]) == (
        "two weeks before the trip",
        "two weeks before the trip",
    )


def test_days_are_counted_from_the_anchors_own_day() -> None:
    span = resolve(found("the day after the trip"), datetime(2023, 7, 12, 23, 30, tzinfo=BERLIN))
    assert (span.start, span.end) == (
        datetime(2023, 7, 13, tzinfo=BERLIN),
        datetime(2023, 7, 14, tzinfo=BERLIN),
    )


def test_hours_are_counted_from_the_anchors_moment() -> None:
    span = resolve(found("two hours before the meeting"), AT)
    assert (span.start, span.end) == (AT - timedelta(hours=2.5), AT - timedelta(hours=1.5))


def test_hours_pass_alike_when_clocks_change() -> None:
    span = resolve(found("two hours after the meeting"), datetime(2023, 3, 26, 1, 0, tzinfo=BERLIN))
    assert span.start.astimezone(UTC) == datetime(2023, 3, 26, 1, 30, tzinfo=UTC)


def test_a_resolved_time_quotes_the_expression() -> None:
    assert resolve(found("What was the day after the trip?"), AT).text == "day after the trip"


def test_an_anchor_without_a_timezone_is_refused() -> None:
    with pytest.raises(InvalidInput, match="timezone"):
        resolve(found("after the trip"), datetime(2023, 7, 12))  # noqa: DTZ001  what is refused


@pytest.mark.parametrize(
    ("text", "at"),
    [
        ("a decade before the trip", datetime.min.replace(tzinfo=UTC)),
        ("two hours before the trip", datetime.min.replace(tzinfo=UTC)),
        ("two hours before the trip", datetime(1000, 1, 1, tzinfo=UTC)),
        ("ten years after the trip", datetime.max.replace(tzinfo=UTC)),
        ("two hours after the trip", datetime.max.replace(tzinfo=UTC)),
    ],
)
def test_an_anchor_at_the_ends_of_time_is_refused(text: str, at: datetime) -> None:
    with pytest.raises(InvalidInput, match="1000 to 9998"):
        resolve(found(text), at)


def test_a_span_over_the_hour_that_clocks_repeat_lasts_an_hour() -> None:
    midnight = datetime(2001, 2, 18, tzinfo=ZoneInfo("America/Sao_Paulo"))  # after 23:00 to 24:00 had passed twice
    span = resolve(found("an hour before the trip"), midnight)
    assert span.end.astimezone(UTC) - span.start.astimezone(UTC) == timedelta(hours=1)
