from __future__ import annotations

import math
from datetime import UTC, datetime, timedelta
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from remembrancer.errors import InvalidInput
from remembrancer.interfaces.charts.scale import (
    along,
    day_text,
    number_text,
    round_above,
    round_numbers,
    round_times,
    through,
)

FINITE = st.floats(allow_nan=False, allow_infinity=False)
TIMES = st.datetimes(timezones=st.just(UTC))


@pytest.mark.parametrize(
    ("low", "high", "most", "expected"),
    [
        (0.0, 100.0, 5, (0.0, 25.0, 50.0, 75.0, 100.0)),
        (0.0, 1.0, 4, (0.0, 0.5, 1.0)),
        (0.0, 0.05, 4, (0.0, 0.02, 0.04)),
        (-1.0, 1.0, 3, (-1.0, 0.0, 1.0)),
        (17.0, 17.0, 5, (17.0,)),
        (0.0, 1e300, 3, (0.0, 5e299, 1e300)),
        (-1.7e308, 1.7e308, 2, (0.0,)),
    ],
)
def test_an_axis_names_round_numbers(low: float, high: float, most: int, expected: tuple[float, ...]) -> None:
    assert round_numbers(low, high, most) == pytest.approx(expected)


@given(FINITE, FINITE, st.integers(2, 12))
def test_round_numbers_are_few_grow_and_lie_between_the_ends(one: float, other: float, most: int) -> None:
    low, high = min(one, other), max(one, other)
    found = round_numbers(low, high, most)
    assert len(found) <= most
    assert all(before < after for before, after in pairwise(found))
    slack = 1e-9 * max(abs(low), abs(high))
    assert all(low - slack <= value <= high + slack for value in found)


@pytest.mark.parametrize(("low", "high", "most"), [(math.nan, 1.0, 4), (0.0, math.inf, 4), (0.0, 1.0, 1)])
def test_an_axis_of_no_numbers_is_refused(low: float, high: float, most: int) -> None:
    with pytest.raises(InvalidInput):
        round_numbers(low, high, most)


@given(st.floats(min_value=5e-300, max_value=1e300))
def test_the_round_number_above_is_no_less_and_no_more_than_two_and_a_half_times_as_great(value: float) -> None:
    assert value <= round_above(value) <= 2.5 * value


def test_the_greatest_number_is_its_own_end() -> None:
    assert round_above(1.7e308) == 1.7e308


@pytest.mark.parametrize("value", [0.0, -3.0, math.nan, math.inf])
def test_an_axis_for_nothing_ends_at_one(value: float) -> None:
    assert round_above(value) == 1.0


@given(st.floats(), FINITE, FINITE)
def test_a_share_is_never_outside(value: float, low: float, high: float) -> None:
    assert 0.0 <= along(value, low, high) <= 1.0


def test_a_share_of_the_widest_range_is_right() -> None:
    assert along(0.0, -1.7e308, 1.7e308) == 0.5


def test_two_indistinguishable_numbers_count_as_one() -> None:
    assert along(5e-324, 0.0, 5e-324) == 0.5


@given(TIMES, TIMES, TIMES)
def test_a_share_of_a_time_is_never_outside(at: datetime, since: datetime, until: datetime) -> None:
    assert 0.0 <= through(at, since, until) <= 1.0


@pytest.mark.parametrize(
    ("since", "until", "most", "labels"),
    [
        (
            datetime(2026, 3, 4, 9, 2, tzinfo=UTC),
            datetime(2026, 3, 4, 9, 44, tzinfo=UTC),
            5,
            ["09:10", "09:20", "09:30", "09:40"],
        ),
        (
            datetime(2026, 3, 3, 20, tzinfo=UTC),
            datetime(2026, 3, 4, 7, tzinfo=UTC),
            4,
            ["21:00", "4 Mar", "03:00", "06:00"],
        ),
        (datetime(2026, 2, 20, tzinfo=UTC), datetime(2026, 3, 8, tzinfo=UTC), 5, ["21 Feb", "1 Mar", "6 Mar"]),
        (
            datetime(2025, 11, 14, tzinfo=UTC),
            datetime(2026, 7, 2, tzinfo=UTC),
            8,
            ["Dec", "2026", "Feb", "Mar", "Apr", "May", "Jun", "Jul"],
        ),
        (datetime(1990, 5, 1, tzinfo=UTC), datetime(2026, 3, 1, tzinfo=UTC), 4, ["2000", "2010", "2020"]),
    ],
)
def test_an_axis_names_round_times(since: datetime, until: datetime, most: int, labels: list[str]) -> None:
    assert [moment.label for moment in round_times(since, until, most)] == labels


@given(TIMES, TIMES, st.integers(2, 10))
def test_round_times_are_few_grow_and_lie_between_the_ends(one: datetime, other: datetime, most: int) -> None:
    since, until = min(one, other), max(one, other)
    found = [moment.at for moment in round_times(since, until, most)]
    assert len(found) <= most
    assert found == sorted(set(found))
    assert all(since <= at <= until for at in found)


@given(TIMES.filter(lambda at: at.year > 9), st.timedeltas(timedelta(hours=1), timedelta(days=3_000)))
def test_any_span_of_some_hours_has_a_name_on_its_axis(until: datetime, span: timedelta) -> None:
    assert round_times(until - span, until, 8)


def test_a_number_is_reported_with_its_thousands() -> None:
    assert [number_text(value) for value in (0.0, 0.025, 12_500.0)] == ["0", "0.025", "12,500"]


def test_a_day_is_described_in_utc() -> None:
    assert day_text(datetime.fromisoformat("2026-05-04T23:30:00-05:00")) == "5 May 2026"
