from __future__ import annotations

import pytest
from charted import HOSTILE, a_part, classed, faults, percents, read, words
from hypothesis import given
from hypothesis import strategies as st

from remembrancer.interfaces.charts.score import score_bar, score_legend, score_table
from remembrancer.interfaces.wire.recall import PartOut

SUM = a_part(
    "weighted sum", 0.5, 0.5, a_part("similarity", 0.6, 0.3), a_part("lexical", 0.4, 0.2), a_part("time", None, 0.0)
)
FACTORS = a_part("product", 0.2, 0.2, a_part("similarity", 0.5, 0.5), a_part("importance", 0.4, 0.4))
NESTED = a_part(
    "weighted sum",
    0.8,
    0.8,
    a_part("importance", 0.4, 0.2),
    a_part("weighted sum", 0.6, 0.6, a_part("lexical_leg", 9.0, 0.45), a_part("dense_leg", 0.5, 0.15)),
)

LABELS = st.sampled_from(["product", "weighted sum", "similarity", "late_interaction", "level", HOSTILE])


def trees() -> st.SearchStrategy[PartOut]:
    leaf = st.builds(a_part, LABELS, st.none() | st.floats(), st.floats())
    return st.recursive(
        leaf, lambda inner: st.builds(joined, LABELS, st.floats(), st.lists(inner, max_size=5)), max_leaves=12
    )


def joined(label: str, value: float, parts: list[PartOut]) -> PartOut:
    return a_part(label, value, value, *parts)


def test_parts_are_as_long_as_their_share_of_the_score() -> None:
    parts = classed(classed(score_bar(SUM, scale=1.0), "chart-score-bar")[0], "chart-part")
    assert (percents(parts, "x"), percents(parts, "width")) == ([0.0, 30.0], [30.0, 20.0])


def test_the_score_that_is_the_scale_fills_the_bar() -> None:
    parts = classed(classed(score_bar(SUM, scale=0.5), "chart-score-bar")[0], "chart-part")
    assert sum(percents(parts, "width")) == pytest.approx(100.0)


def test_each_part_has_its_name_in_words_and_its_value() -> None:
    legend = classed(score_bar(SUM, scale=1.0), "chart-key")[0]
    assert [words(item) for item in legend] == ["similarity 0.30", "lexical 0.20"]


def test_a_part_explains_its_meaning() -> None:
    titles = [words(each) for each in read(score_bar(SUM, scale=1.0)).iter("title")]
    assert titles[0] == (
        "similarity: adds 0.30, 60% of the score; its value is 0.60: cosine of question and best cue, negative as 0"
    )


def test_small_parts_are_reported_together() -> None:
    small = [a_part(label, 1.0, 0.01) for label in ("time", "speaker", "statement")]
    legend = classed(
        score_bar(a_part("weighted sum", 0.5, 0.53, a_part("similarity", 0.6, 0.5), *small), scale=1), "chart-key"
    )
    assert [words(item) for item in legend[0]] == ["similarity 0.50", "3 others 0.03"]


def test_the_bar_is_named_by_its_score_and_parts() -> None:
    assert (
        classed(score_bar(SUM, scale=1.0), "chart-score-bar")[0].get("aria-label")
        == "Score 0.50: similarity 0.30, lexical 0.20"
    )


def test_a_part_is_followed_by_its_own_parts() -> None:
    bar = classed(score_bar(NESTED, scale=0.8), "chart-score-bar")[0]
    nested = [each for each in classed(bar, "chart-part") if each.get("y") == "18"]
    assert (percents(nested, "x"), percents(nested, "width")) == ([25.0, 81.25], [56.25, 18.75])


def test_a_sum_of_one_thing_is_described_as_that_thing() -> None:
    alone = a_part("x / (1 + x)", 0.5, 0.5, a_part("weighted sum", 1.0, 1.0, *NESTED.parts))
    legend = classed(score_bar(alone, scale=1.0), "chart-key")[0]
    assert words(legend[0]) == "importance 0.20"


def test_factors_are_a_chain_that_ends_in_the_score() -> None:
    chain = classed(score_bar(FACTORS, scale=1.0), "chart-chain")[0]
    assert [words(each) for each in chain] == ["similarity0.50", "× importance0.40", "score0.20"]


def test_a_factor_fills_its_meter_as_far_as_its_value() -> None:
    assert percents(classed(score_bar(FACTORS, scale=1.0), "chart-part"), "width") == [50.0, 40.0]


def test_meters_are_as_wide_as_the_greatest_factor() -> None:
    parts = a_part("product", 1.0, 1.0, a_part("similarity", 0.5, 0.5), a_part("reinforcement", 2.0, 2.0))
    assert percents(classed(score_bar(parts, scale=1.0), "chart-part"), "width") == [25.0, 100.0]


def test_a_factor_that_is_a_sum_shows_its_shares() -> None:
    inner = a_part(
        "reciprocal ranks (k=60)", 1.0, 1.0, a_part("lexical_leg", 3.0, 0.75), a_part("dense_leg", 0.5, 0.25)
    )
    chart = score_bar(a_part("product", 0.4, 0.4, inner, a_part("retention", 0.4, 0.4)), scale=1.0)
    assert percents(classed(chart, "chart-part"), "width") == [75.0, 25.0, 40.0]


def test_a_signal_has_the_same_colour_in_every_score() -> None:
    alone, among = (
        classed(classed(score_bar(each, scale=1.0), "chart-score")[0], "chart-part")[-1].get("class")
        for each in (a_part("lexical", 0.4, 0.4), SUM)
    )
    assert alone == among == "chart-part chart-ochre"


def test_the_legend_names_each_part_once() -> None:
    assert [words(item) for item in classed(score_legend([SUM, NESTED, SUM]), "chart-key")[0]] == [
        "similarity",
        "lexical",
        "time",
        "importance",
        "lexical leg & dense leg",
    ]


def test_there_is_no_legend_of_nothing() -> None:
    assert score_legend([]) == ""


def test_the_table_holds_the_whole_tree() -> None:
    rows = [[words(cell) for cell in row] for row in read(score_table(NESTED)).iter("tr")]
    assert rows[1:3] == [["weighted sum", "0.800", "0.800"], ["· importance", "0.400", "0.200"]]
    assert rows[-1] == ["· · dense leg", "0.500", "0.150"]


@given(trees(), st.floats())
def test_any_score_can_be_drawn(parts: PartOut, scale: float) -> None:
    assert faults(score_bar(parts, scale=scale) + score_legend([parts]) + score_table(parts)) == []
