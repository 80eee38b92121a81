from __future__ import annotations

from datetime import timedelta

from charted import AT, HOSTILE, a_curve, a_review, classed, faults, percents, read, title_of, words
from hypothesis import given
from hypothesis import strategies as st

from remembrancer.interfaces.charts.forgetting import RATINGS, forgetting_curve, forgetting_table

FALLING = [1.0 - day / 100 for day in range(81)]
"""From 40 days ago to in 40 days, from 1 to 0.2."""


def test_the_title_has_the_strength_and_the_rest_the_forecast() -> None:
    chart = forgetting_curve(a_curve(FALLING, falls_at=AT + timedelta(days=30)), [])
    assert title_of(chart) == "Strength 0.6 now"
    assert "It falls below 0.1 on Friday 3 April 2026 at 09:00 UTC" in words(chart)


def test_the_past_is_a_solid_line_and_the_future_is_dashed() -> None:
    lines = classed(forgetting_curve(a_curve(FALLING), []), "chart-line")
    ends = [(line.attrib["d"].split(" L")[0], line.attrib["d"].split(" L")[-1]) for line in lines]
    assert ends == [("M0 0", "500 84"), ("M500 84", "1000 168")]
    assert ["chart-ahead" in line.attrib["class"] for line in lines] == [False, True]


def test_now_is_where_it_is() -> None:
    assert percents(classed(forgetting_curve(a_curve(FALLING), []), "chart-today"), "x1") == [50.0]


def test_the_threshold_lies_at_its_strength() -> None:
    lines = [
        each for each in classed(forgetting_curve(a_curve(FALLING, below=0.5), []), "chart-limit") if each.tag == "line"
    ]
    assert [line.get("y1") for line in lines] == ["141"]


def test_the_fall_is_marked_with_its_day() -> None:
    chart = forgetting_curve(a_curve(FALLING, falls_at=AT + timedelta(days=20)), [])
    assert percents(classed(chart, "chart-falls"), "cx") == [75.0]
    assert "24 Mar 2026" in words(chart)


def test_a_fall_beyond_the_picture_is_reported_only() -> None:
    assert classed(forgetting_curve(a_curve(FALLING, falls_at=AT + timedelta(days=900)), []), "chart-falls") == []


def test_each_review_is_marked_by_its_rating_and_its_time() -> None:
    reviews = [a_review(days, rating) for days, rating in zip((30, 20, 10, 0), RATINGS, strict=True)]
    chart = forgetting_curve(a_curve(FALLING), reviews)
    svg = classed(chart, "chart-picture")[0]
    shapes = {each.attrib["d"] for each in classed(svg, "chart-rating")}
    holders = [each for each in svg.iter("svg") if classed(each, "chart-rating") and each is not svg]
    assert len(shapes) == len(RATINGS)
    assert percents(holders, "x") == [12.5, 25.0, 37.5, 50.0]


def test_reviews_from_before_the_curve_make_room_for_themselves() -> None:
    chart = forgetting_curve(a_curve(FALLING), [a_review(60)])
    assert percents(classed(chart, "chart-today"), "x1") == [60.0]
    assert "when it was last used or reviewed" in words(chart)


def test_reviews_from_long_before_are_counted() -> None:
    assert "2 reviews, 1 of them before." in words(forgetting_curve(a_curve(FALLING), [a_review(5_000), a_review(3)]))


def test_a_curve_of_one_moment_is_described_in_words() -> None:
    chart = forgetting_curve(a_curve([0.5]), [])
    assert (title_of(chart), list(read(chart).iter("svg"))) == ("Strength 0.5 now", [])


def test_the_table_holds_strength_and_reviews_in_their_order() -> None:
    rows = [words(row) for row in read(forgetting_table(a_curve([0.9, 0.8, 0.7]), [a_review(0.5, "hard")])).iter("tr")][
        1:
    ]
    assert rows == [
        "2026-03-03 09:00 UTCstrength 0.900",
        "2026-03-03 21:00 UTCrated hard by agent, stability 1.00 to 2.00 days",
        "2026-03-04 09:00 UTCstrength 0.800",
        "2026-03-05 09:00 UTCstrength 0.700",
    ]


def test_hostile_names_of_reviewers_stay_text() -> None:
    reviews = [a_review(3, by=HOSTILE), a_review(4, HOSTILE)]
    assert faults(forgetting_curve(a_curve(FALLING), reviews) + forgetting_table(a_curve(FALLING), reviews)) == []


@given(
    st.lists(st.floats(), min_size=1, max_size=8),
    st.floats(),
    st.lists(st.floats(-900, 90_000), max_size=4),
    st.none() | st.floats(-9_000, 9_000),
)
def test_any_curve_can_be_drawn(
    strengths: list[float], below: float, reviewed: list[float], falls: float | None
) -> None:
    falls_at = None if falls is None else AT + timedelta(days=falls)
    curve = a_curve(strengths, below=below, falls_at=falls_at)
    assert faults(forgetting_curve(curve, [a_review(days) for days in reviewed])) == []
