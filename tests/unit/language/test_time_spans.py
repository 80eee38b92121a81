from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone
from time import process_time
from zoneinfo import ZoneInfo

import pytest
from golden_tables import cells, every_row, table

from remembrancer.errors import InvalidInput
from remembrancer.language.times.spans import spans

NOW = datetime(2023, 7, 12, 15, 30, tzinfo=UTC)
BERLIN = ZoneInfo("Europe/Berlin")
ROWS = table("time_expressions")


def written(moment: datetime) -> str:
    """As the table writes it: a day, or a moment where it is not midnight."""
    plain = moment.replace(tzinfo=None).isoformat()
    return plain.removesuffix("T00:00:00").removesuffix(":00") if plain.endswith(":00") else plain


@every_row(ROWS, cells)
def test_an_expression_means_its_calendar_span(row: dict[str, str]) -> None:
    found = spans(row["text"], datetime.fromisoformat(row["now"]))
    assert ";".join(f"{written(span.start)}/{written(span.end)}" for span in found) == row["expected"]


@every_row(ROWS, cells)
def test_a_span_quotes_the_expression(row: dict[str, str]) -> None:
    found = spans(row["text"], datetime.fromisoformat(row["now"]))
    assert ";".join(span.text for span in found) == row["said"]


def test_a_span_has_its_position_in_the_text() -> None:
    text = "Where were we in May 2022?"
    (span,) = spans(text, NOW)
    assert text[span.start_offset : span.end_offset] == "May 2022"


def test_days_are_those_of_the_zone_of_asking() -> None:
    (span,) = spans("yesterday", datetime(2023, 7, 12, 23, 30, tzinfo=UTC).astimezone(BERLIN))
    assert span.start == datetime(2023, 7, 12, tzinfo=BERLIN)


def test_a_day_on_which_clocks_change_is_an_hour_shorter() -> None:
    (span,) = spans("on 26 March", datetime(2023, 7, 12, tzinfo=BERLIN))
    assert span.end.astimezone(UTC) - span.start.astimezone(UTC) == timedelta(hours=23)


def test_hours_pass_alike_when_clocks_change() -> None:
    (span,) = spans("two hours ago", datetime(2023, 3, 26, 4, 0, tzinfo=BERLIN))
    assert span.end.astimezone(UTC) == datetime(2023, 3, 26, 0, 30, tzinfo=UTC)


def test_a_moment_without_a_timezone_is_refused() -> None:
    with pytest.raises(InvalidInput, match="now"):
        spans("yesterday", datetime(2023, 7, 12))  # noqa: DTZ001  what is refused


@pytest.mark.parametrize(
    "text",
    [
        "9999 years ago",
        "the year 0",
        "in 10000",
        "0000-01-01",
        "9999-12-31",
        "9999 decades from now",
        "2023-13-01",
        "99/99/2023",
        "0 May",
        "May 0",
        "32 May",
    ],
)
def test_an_impossible_date_is_no_span(text: str) -> None:
    assert spans(text, NOW) == ()


@pytest.mark.parametrize("year", [1, 9999])
@pytest.mark.parametrize(
    "text", ["last year", "next summer", "a decade ago", "two weeks from now", "on Friday", "Easter"]
)
def test_at_the_ends_of_time_no_span_leaves_them(text: str, year: int) -> None:
    found = spans(text, datetime(year, 1, 1, tzinfo=timezone(timedelta(hours=14))))
    assert all(span.start.year >= 1000 and span.end.year <= 9998 for span in found)


@pytest.mark.parametrize(
    "text",
    [
        "My Monday.com board, v2023, abc2023def, #2023, 10,2023 and 3.2023",
        "as sat the sun on the mar, we wed",
        "the second of them; first things first; last but not least",
        "this time, this day, next door, last straw",
        "a good day, a new day, a new year's diet-free month",
        "between you and me, from here to there, since then, by now, before long, after all",
        "at 5 pm, 10:30, 17:45:01",
    ],
)
def test_words_that_are_used_otherwise_name_no_time(text: str) -> None:
    assert [span.text for span in spans(text, NOW) if span.text != "new year's"] == []


@pytest.mark.parametrize(
    "unit",
    [
        "the first week of ",
        "1-",
        "2023-",
        "May ",
        "day after ",
        "two weeks before ",
        "1/1/",
        "between 1 and ",
        ".",
        "9",
        "half a ",
    ],
)
def test_a_hundred_kilobytes_are_read_in_bounded_time(unit: str) -> None:
    text = unit * (100_000 // len(unit))
    began = process_time()
    spans(text, NOW)
    assert process_time() - began < 10
