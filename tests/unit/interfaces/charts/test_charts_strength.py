from __future__ import annotations

import math
from datetime import timedelta

import pytest
from charted import AT, a_curve

from remembrancer.interfaces.charts.strength import StrengthCurve

DAY = timedelta(days=1)


def a_strength(*values: float, limit: float = 0.0) -> StrengthCurve:
    """A value a day, from AT on."""
    return StrengthCurve([(AT + day * DAY, value) for day, value in enumerate(values)], limit, AT, None)


@pytest.mark.parametrize(
    ("most", "top"),
    [(0.05, 0.05), (0.1, 0.1), (0.15, 0.2), (0.24, 0.25), (0.26, 0.5), (0.51, 1.0), (1.0, 1.0), (1.5, 2.0)],
)
def test_the_axis_ends_at_the_next_round_number(most: float, top: float) -> None:
    assert a_strength(most, 0.0).top == top


def test_the_axis_ends_above_the_limit_too() -> None:
    assert a_strength(0.05, 0.0, limit=0.3).top == 0.5


def test_between_two_points_the_strength_is_interpolated() -> None:
    assert a_strength(0.8, 0.4).at(AT + DAY / 4) == pytest.approx(0.7)


def test_beyond_the_points_the_strength_is_that_of_the_end() -> None:
    strength = a_strength(0.8, 0.4)
    assert (strength.at(AT - DAY), strength.at(AT + 9 * DAY)) == (0.8, 0.4)


def test_values_that_are_no_numbers_are_left_out() -> None:
    strength = StrengthCurve.of(a_curve([0.9, math.nan, 0.7]))
    assert strength is not None
    assert [value for _, value in strength.points] == [0.9, 0.7]


@pytest.mark.parametrize(("values", "below"), [([0.5], 0.1), ([0.5, math.inf], 0.1), ([0.5, 0.4], math.nan)])
def test_without_two_values_or_a_limit_there_is_no_curve(values: list[float], below: float) -> None:
    assert StrengthCurve.of(a_curve(values, below=below)) is None
