from __future__ import annotations

from datetime import timedelta

import pytest
from charted import AT, a_day, classed, faults, percents, read, title_of, words
from hypothesis import given
from hypothesis import strategies as st

from remembrancer.interfaces.charts.health import health_chart, health_gauge, health_table

VALUES = st.none() | st.floats(allow_nan=True, allow_infinity=True)


def drawn_lines(days: list[int]) -> int:
    """The number of pieces of the line of the score."""
    picture = classed(health_chart([a_day(each, 80.0) for each in days], now=AT), "chart-picture")[0]
    return len(classed(picture, "chart-line"))


@pytest.mark.parametrize(
    ("days", "finding"),
    [
        ({0: 80.0, 7: 75.0}, "Health 80, green, up 5 since last week"),
        ({0: 60.0, 7: 75.0, 9: 10.0}, "Health 60, yellow, down 15 since last week"),
        ({0: 40.0, 7: 40.2}, "Health 40, red, as last week"),
        ({0: 80.0, 2: 70.0}, "Health 80, green, up 10 since 2 March"),
        ({0: 80.0, 20: 80.0}, "Health 80, green, as on 12 February"),
        ({0: 80.0}, "Health 80, green"),
    ],
)
def test_the_title_has_the_score_and_its_change(days: dict[int, float], finding: str) -> None:
    assert title_of(health_chart([a_day(ago, value) for ago, value in days.items()], now=AT)) == finding


def test_the_order_of_the_history_does_not_matter() -> None:
    days = [a_day(ago, 50.0 + ago) for ago in range(9)]
    assert health_chart(days, now=AT) == health_chart(days[::-1], now=AT)


def test_a_missing_day_is_a_gap() -> None:
    assert [drawn_lines(days) for days in ([0, 1, 2, 3], [0, 1, 3, 4])] == [1, 2]


def test_of_two_snapshots_of_a_day_the_later_counts() -> None:
    days = [a_day(0, 90.0, taken=timedelta(hours=3)), a_day(0, 10.0)]
    assert title_of(health_chart(days, now=AT)) == "Health 90, green"


def test_the_bands_lie_where_scores_change_their_name() -> None:
    bands = classed(health_chart([a_day(0, 80.0)], now=AT), "chart-band")
    assert [(float(each.attrib["y"]), float(each.attrib["height"])) for each in bands] == [
        (12, 47.5),
        (59.5, 47.5),
        (107, 95),
    ]


def test_the_newest_score_is_at_the_end() -> None:
    newest = classed(health_chart([a_day(0, 50.0), a_day(14, 50.0)], now=AT), "chart-now")
    assert (percents(newest, "cx"), newest[0].get("cy")) == ([100.0], "107")


def test_a_metric_without_data_has_the_reason() -> None:
    assert "Efficiency no data no memory found by its vector was shown" in words(
        health_chart([a_day(0, 80.0)], now=AT)
    ).replace("Efficiencyno datano memory", "Efficiency no data no memory")


def test_without_any_snapshot_there_are_words_and_no_picture() -> None:
    chart = health_chart([], now=AT)
    assert (title_of(chart), list(read(chart).iter("svg"))) == ("No health to draw yet", [])


def test_days_without_a_score_alone_make_no_picture() -> None:
    assert not list(read(health_chart([a_day(0, None), a_day(1, None)], now=AT)).iter("svg"))


@given(st.lists(st.tuples(st.integers(0, 400), VALUES, VALUES), max_size=8))
def test_any_history_can_be_drawn(days: list[tuple[int, float | None, float | None]]) -> None:
    history = [a_day(ago, value, efficiency=other) for ago, value, other in days]
    assert faults(health_chart(history, now=AT) + health_table(history)) == []


def test_the_table_holds_each_day_newest_first() -> None:
    rows = [
        row.text for row in read(health_table([a_day(1, 70.0), a_day(0, 80.0)])).iter("th") if row.get("scope") == "row"
    ]
    assert rows == ["2026-03-04", "2026-03-03"]


@pytest.mark.parametrize(("score", "needle"), [(0.0, (36, 104)), (50.0, (110, 30)), (100.0, (184, 104))])
def test_the_gauge_points_at_the_score(score: float, needle: tuple[float, float]) -> None:
    mark = classed(health_gauge(a_day(0, score)), "chart-needle")[0]
    assert (float(mark.attrib["x1"]), float(mark.attrib["y1"])) == needle


def test_the_gauge_has_advice() -> None:
    told = words(health_gauge(a_day(0, 40.0)))
    assert "Health 40, red" in told
    assert "Most memories are old" in told


def test_a_gauge_without_data_reports_it() -> None:
    assert [title_of(health_gauge(each)) for each in (None, a_day(0, None))] == ["No health yet", "Health: no data"]


@given(VALUES)
def test_any_score_can_be_gauged(score: float | None) -> None:
    assert faults(health_gauge(a_day(0, score))) == []
