from __future__ import annotations

import math

import pytest
from charted import classed, faults, read
from hypothesis import given
from hypothesis import strategies as st

from remembrancer.interfaces.charts.spark import spark


def label(values: list[float | None], **told: str) -> str | None:
    return read(spark(values, **told))[0].get("aria-label")


def test_values_run_from_left_to_right_and_the_greatest_is_above() -> None:
    assert classed(spark([1.0, 2.0, 3.0]), "chart-line")[0].get("d") == "M40 24 L500 14 L960 4"


def test_values_that_are_all_the_same_lie_in_the_middle() -> None:
    assert classed(spark([7.0, 7.0]), "chart-line")[0].get("d") == "M40 14 L960 14"


@pytest.mark.parametrize("gap", [None, math.nan, math.inf])
def test_a_gap_breaks_the_line(gap: float | None) -> None:
    assert len(classed(spark([1.0, 2.0, gap, 4.0, 5.0]), "chart-line")) == 2


def test_a_value_alone_is_a_dot() -> None:
    assert len(classed(spark([1.0, 2.0, None, 4.0, None, 5.0, 6.0]), "chart-dot")) == 2


def test_it_is_told_in_words() -> None:
    assert label([1.0, 9.0, 4.0], label="Recalls") == "Recalls: from 1 to 4, between 1 and 9"


def test_nothing_is_told_as_nothing() -> None:
    assert label([None]) == "no data"


@given(st.lists(st.none() | st.floats(), max_size=9), st.text())
def test_any_values_can_be_drawn(values: list[float | None], told: str) -> None:
    assert faults(spark(values, label=told)) == []
