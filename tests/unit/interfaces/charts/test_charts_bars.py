from __future__ import annotations

from datetime import date, timedelta

import pytest
from charted import classed, faults, percents, read, title_of, words
from hypothesis import given
from hypothesis import strategies as st

from remembrancer.errors import InvalidInput
from remembrancer.interfaces.charts.bars import MOST, bars_table, day_bars

FIRST = date(2026, 3, 1)
LAST = date(2026, 3, 10)


def test_a_day_has_a_bar_as_high_as_its_count() -> None:
    bars = classed(day_bars({FIRST: 5, LAST: 10}, since=FIRST, until=LAST), "chart-bar")
    assert [float(bar.attrib["height"]) for bar in bars] == [60.0, 120.0]
    assert percents(bars, "x") == [1.1, 91.1]


def test_one_of_very_many_can_still_be_seen() -> None:
    bars = classed(day_bars({FIRST: 1, LAST: 100_000}, since=FIRST, until=LAST), "chart-bar")
    assert float(bars[0].attrib["height"]) == 2.0


def test_the_title_has_the_count_and_the_greatest_day() -> None:
    chart = day_bars({FIRST: 1, LAST: 3}, since=FIRST, until=LAST, noun="memory")
    assert title_of(chart) == "4 memories in 10 days"
    assert "Most on 10 Mar 2026: 3." in words(chart)


def test_each_bar_has_its_day_and_count() -> None:
    assert [words(each) for each in read(day_bars({FIRST: 1}, since=FIRST, until=LAST)).iter("title")] == [
        "1 Mar 2026: 1 event"
    ]


def test_days_outside_are_not_counted() -> None:
    assert title_of(day_bars({FIRST: 1, date(2026, 4, 1): 9}, since=FIRST, until=LAST)) == "1 event in 10 days"


def test_more_days_than_have_room_are_drawn_by_the_week() -> None:
    until = FIRST + timedelta(days=364)
    chart = day_bars({FIRST + timedelta(days=day): 1 for day in range(365)}, since=FIRST, until=until)
    assert (len(classed(chart, "chart-bar")), title_of(chart)) == (53, "365 events in 365 days")
    assert len(classed(chart, "chart-bar")) <= MOST


def test_nothing_on_any_day_is_described_in_words() -> None:
    chart = day_bars({}, since=FIRST, until=LAST)
    assert (title_of(chart), list(read(chart).iter("svg"))) == (
        "No events between 1 Mar 2026 and 10 Mar 2026",
        [],
    )


def test_the_table_holds_the_days_newest_first() -> None:
    table = bars_table({FIRST: 1, LAST: 1_234}, since=FIRST, until=LAST)
    assert [words(row) for row in read(table).iter("tr")] == ["DayEvents", "10 Mar 20261,234", "1 Mar 20261"]


def test_days_in_the_wrong_order_are_refused() -> None:
    with pytest.raises(InvalidInput, match="until"):
        day_bars({}, since=LAST, until=FIRST)


def test_a_count_below_nothing_is_refused() -> None:
    with pytest.raises(InvalidInput, match="counts"):
        day_bars({FIRST: -1}, since=FIRST, until=LAST)


@given(st.dates(), st.integers(0, 3_000), st.dictionaries(st.integers(0, 3_000), st.integers(0, 10**15), max_size=6))
def test_any_counts_can_be_drawn(since: date, days: int, counts: dict[int, int]) -> None:
    until = since + timedelta(days=min(days, (date.max - since).days))
    by_day = {since + timedelta(days=day): count for day, count in counts.items() if day <= (until - since).days}
    chart = day_bars(by_day, since=since, until=until) + bars_table(by_day, since=since, until=until)
    assert faults(chart) == []
