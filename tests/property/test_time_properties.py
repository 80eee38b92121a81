from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone
from itertools import pairwise, product
from zoneinfo import ZoneInfo

import numpy as np
from golden_tables import cells, every_row, table
from hypothesis import given
from hypothesis import strategies as st

from remembrancer.language.times.anchors import anchored, resolve
from remembrancer.language.times.asking import asks_for_time, tells_time, unresolved
from remembrancer.language.times.expressions import expressions
from remembrancer.language.times.line import Line
from remembrancer.language.times.spans import TimeSpan, spans
from remembrancer.language.times.vocabulary import CAPITALISED
from remembrancer.policies.ranking.nearness import nearness

ROWS = [row for row in table("time_expressions") if row["said"]]
WORDS = [
    *sorted({word for row in ROWS for word in row["text"].split()}),
    *"the a of in to and or - / . , ' ’s 0 00 31 99 1999 2024 10000 ٣ ½ ² İ ß é日本 \n \x00".split(" "),
    *"half couple few fortnight decade trip Ana's before after since until by from between ago".split(),
]
IN_DIGITS = "3 5/6/23 05/06/2023 2023-05-06 12.5.2024 1990 90s 80S 1990s 2019-2021 2022/23 3rd 22nd 1,000 10:30".split()
AROUND = list(
    product(["", "So: ", "Zoë and I ate, ", "¿Qué? ", "[1] "], ["", "?", " we ate.", ", so", " é"]),
)
ZONES = [UTC, ZoneInfo("Europe/Berlin"), ZoneInfo("America/Sao_Paulo"), timezone(timedelta(hours=-12))]

nows = st.datetimes(timezones=st.sampled_from(ZONES))
jumbles = st.lists(st.sampled_from(WORDS), max_size=40).map(" ".join) | st.lists(
    st.sampled_from(WORDS), max_size=20
).map("".join)
texts = st.text(max_size=400) | jumbles
distances = st.builds(
    "{} {} {}".format,
    st.sampled_from(["two", "a few", "19", "a", "twenty-five", "half a", "several", "2-3"]),
    st.sampled_from(["minutes", "hours", "day", "weeks", "months", "year", "decades", "fortnight"]),
    st.sampled_from(["before", "after", "prior to", "following"]),
) | st.sampled_from(["before", "after", "just before", "soon after", "the day after", "the week before"])
plain = datetime(2023, 7, 12, 15, 30, tzinfo=UTC)
days = st.integers(min_value=-4000, max_value=4000)


@given(jumbles | st.lists(st.sampled_from([*IN_DIGITS, *WORDS]), max_size=12).map(" ".join))
def test_a_number_in_a_text_without_a_date_in_digits_begins_no_time_that_lacks_a_word_of_times(text: str) -> None:
    line, every = (Line(text, plain.replace(tzinfo=None)) for _ in range(2))
    every.may_have_date_in_digits = True  # so that each number is read
    told, all_told = ([(at, which.periods, which.end) for at, which in expressions(one)] for one in (line, every))
    assert told == all_told


@given(texts, nows)
def test_no_text_is_refused(text: str, now: datetime) -> None:
    spans(text, now)
    anchored(text)
    asks_for_time(text)
    tells_time(unresolved(text))


@given(texts, nows)
def test_spans_begin_before_they_end(text: str, now: datetime) -> None:
    assert all(span.start.astimezone(UTC) < span.end.astimezone(UTC) for span in spans(text, now))


@given(texts, nows)
def test_spans_quote_the_text(text: str, now: datetime) -> None:
    assert all(span.text == text[span.start_offset : span.end_offset] != "" for span in spans(text, now))


@given(texts, nows)
def test_spans_are_ordered_and_do_not_overlap(text: str, now: datetime) -> None:
    found = spans(text, now)
    places = list(dict.fromkeys((span.start_offset, span.end_offset) for span in found))
    assert all(before[1] <= after[0] for before, after in pairwise(places))


@given(jumbles, distances, jumbles)
def test_anchored_times_quote_the_text(before: str, distance: str, after: str) -> None:
    text = f"{before} we ate {distance} the wedding {after}"  # not a verb that takes `after`, such as "call"
    found = anchored(text)
    assert found is not None
    assert found.text == text[found.start_offset : found.end_offset]


@given(distances, jumbles)
def test_an_anchored_time_ends_with_its_anchor(distance: str, after: str) -> None:
    found = anchored(f"{distance} the wedding {after}")
    assert found is not None
    assert found.anchor.startswith("the wedding")
    assert found.text.endswith(found.anchor)


@given(distances, nows.filter(lambda at: 1300 <= at.year <= 9700))
def test_an_anchored_time_can_be_resolved(distance: str, at: datetime) -> None:
    found = anchored(f"{distance} the wedding")
    assert found is not None
    span = resolve(found, at)
    assert span.start.astimezone(UTC) < span.end.astimezone(UTC)


@every_row(ROWS, cells)
def test_other_words_around_an_expression_change_nothing(row: dict[str, str]) -> None:
    now = datetime.fromisoformat(row["now"])
    alone = [(span.text, span.start, span.end) for span in spans(row["text"], now)]
    for before, after in AROUND:
        text = f"{before}{row['text']}{after}"
        assert [(span.text, span.start, span.end) for span in spans(text, now)] == alone, text


@every_row(ROWS, cells)
def test_upper_case_reads_alike(row: dict[str, str]) -> None:
    now = datetime.fromisoformat(row["now"])
    alone = [(span.start, span.end) for span in spans(row["text"], now)]
    assert [(span.start, span.end) for span in spans(row["text"].upper(), now)] == alone


def needs_a_capital(row: dict[str, str]) -> bool:
    words = set(row["text"].lower().replace(".", " ").replace("'", " ").replace("-", " ").split())
    return bool(words & CAPITALISED) or "new year" in row["text"].lower()


@every_row([row for row in ROWS if not needs_a_capital(row)], cells)
def test_lower_case_reads_alike_where_no_capital_is_needed(row: dict[str, str]) -> None:
    now = datetime.fromisoformat(row["now"])
    alone = [(span.start, span.end) for span in spans(row["text"], now)]
    assert [(span.start, span.end) for span in spans(row["text"].lower(), now)] == alone


@given(st.sampled_from(ROWS))
def test_a_text_with_a_time_expression_has_a_time(row: dict[str, str]) -> None:
    assert tells_time(unresolved(row["text"]))


def span_of(length: int) -> TimeSpan:
    return TimeSpan(plain, plain + timedelta(days=length), "", 0, 0)


def moments(*offsets: int) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    return np.array([int((plain + timedelta(days=each)).timestamp() * 1e6) for each in offsets], dtype=np.int64)


@given(st.integers(1, 4000), days, days)
def test_the_farther_on_one_side_the_less_near(length: int, one: int, other: int) -> None:
    nearer, farther = sorted((abs(one), abs(other)))
    early = nearness([span_of(length)], moments(-nearer, -farther), moments(-nearer, -farther))
    late = nearness(
        [span_of(length)], moments(length + nearer, length + farther), moments(length + nearer, length + farther)
    )
    assert early[0] >= early[1]
    assert late[0] >= late[1]


@given(st.integers(1, 4000), days)
def test_after_a_span_is_nearer_than_before_it(length: int, distance: int) -> None:
    away = abs(distance)
    early, late = nearness([span_of(length)], moments(-away, length + away), moments(-away, length + away))
    assert early <= late


@given(st.lists(st.integers(1, 4000), min_size=1, max_size=4), st.lists(days, max_size=20))
def test_nearness_lies_in_the_unit_interval(lengths: list[int], offsets: list[int]) -> None:
    near = nearness([span_of(length) for length in lengths], moments(*offsets), moments(*offsets))
    assert ((near >= 0) & (near <= 1)).all()
