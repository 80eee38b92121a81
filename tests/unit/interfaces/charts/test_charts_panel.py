from __future__ import annotations

import pytest
from charted import classed, read, words

from remembrancer.interfaces.charts.panel import Panel, row_panel, sample


def test_values_lie_between_the_edges() -> None:
    panel = Panel(x=(10.0, 20.0), y=(0.0, 2.0), left=100.0, width=500.0, height=200.0)
    assert [panel.across(value) for value in (10.0, 15.0, 20.0)] == [100.0, 350.0, 600.0]
    assert [panel.bottom - panel.down(value) for value in (0.0, 1.0, 2.0)] == [0.0, 100.0, 200.0]


def test_on_a_logarithmic_axis_tenfolds_are_equally_far_apart() -> None:
    panel = Panel(x=(0.1, 10.0), left=0.0, width=200.0, log=True)
    assert [panel.across(value) for value in (0.1, 1.0, 10.0)] == pytest.approx([0.0, 100.0, 200.0])


def test_a_logarithmic_axis_names_the_powers_of_ten_inside() -> None:
    panel = Panel(x=(0.05, 200.0), log=True)
    assert words(panel.uprights("ms")) == "0.1110100ms"


def test_rows_follow_each_other_from_the_top() -> None:
    panel = row_panel(3, (0.0, 1.0), row=40.0)
    assert [panel.down(row) - panel.down(0) for row in range(3)] == [0.0, 40.0, 80.0]
    assert [words(each) for each in read(panel.rows(["a", "b\nc", "d"])).iter("text")] == ["a", "b", "c", "d"]


def test_an_axis_names_round_numbers() -> None:
    names = [words(each) for each in classed(Panel(x=(0.0, 1.0), y=(0.0, 0.5)).levels("share"), "chart-note")]
    assert names == ["share", "0", "0.1", "0.2", "0.3", "0.4", "0.5"]


def test_a_line_has_a_gap_where_there_is_no_value() -> None:
    panel = Panel(x=(0.0, 4.0), left=0.0, width=4.0, height=1.0)
    [path] = read(panel.line([(0, None), (1, 0.0), (2, 1.0), (3, None), (4, 0.0)], "blue")).iter("path")
    assert path.attrib["d"] == "M1 25L2 24M4 25"


def test_a_line_without_values_is_not_drawn() -> None:
    assert not Panel(x=(0.0, 1.0)).line([(0.0, None)], "blue")


def test_a_bar_may_be_given_by_any_two_opposite_corners() -> None:
    panel = Panel(x=(0.0, 1.0))
    assert panel.bar((0.2, 0.0), (0.4, 1.0), "blue") == panel.bar((0.4, 1.0), (0.2, 0.0), "blue")


def test_a_hollow_dot_is_filled_with_the_ground() -> None:
    dots = [
        next(read(Panel(x=(0.0, 1.0)).dot((0.5, 0.5), "blue", hollow=hollow)).iter("circle"))
        for hollow in (False, True)
    ]
    assert [dot.attrib["fill"] for dot in dots] == ["var(--blue)", "var(--panel)"]


def test_marks_of_a_legend_differ() -> None:
    marks = [sample("blue"), sample("blue", dash="5 4"), sample("blue", dot=True), sample("blue", bar=True)]
    assert len(set(marks)) == 4
