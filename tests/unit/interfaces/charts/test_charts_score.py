from __future__ import annotations

import pytest
from charted import HOSTILE, a_part, classed, faults, percents, read, words
from hypothesis import given
from hypothesis import strategies as st

from remembrancer.interfaces.charts.score import bare_legend, score_bar, score_table
from remembrancer.interfaces.palette import HUE_OF, HUES
from remembrancer.interfaces.wire.recall import PartOut
from remembrancer.policies.ranking.signals import SignalGroup

GROUPS = {"meaning": 0.3, "words": 0.2}
TREE = a_part(
    "weighted sum",
    0.8,
    0.8,
    a_part("importance", 0.4, 0.2),
    a_part("speaker", None, 0.0),
    a_part("product", 0.6, 0.6, a_part("lexical_leg", 9.0, 0.45), a_part("level", 0.5, 0.15)),
)

LABELS = st.sampled_from(["product", "weighted sum", "similarity", "late_interaction", "level", HOSTILE])


def trees() -> st.SearchStrategy[PartOut]:
    leaf = st.builds(a_part, LABELS, st.none() | st.floats(), st.floats())
    return st.recursive(
        leaf, lambda inner: st.builds(joined, LABELS, st.floats(), st.lists(inner, max_size=5)), max_leaves=12
    )


def joined(label: str, value: float, parts: list[PartOut]) -> PartOut:
    return a_part(label, value, value, *parts)


def test_every_group_of_signals_has_a_hue_of_its_own() -> None:
    assert dict(HUE_OF) == dict(zip(SignalGroup, HUES, strict=True))


def test_groups_are_as_long_as_their_share_of_the_score() -> None:
    parts = classed(classed(score_bar(GROUPS, scale=1.0), "chart-score-bar")[0], "chart-part")
    assert (percents(parts, "x"), percents(parts, "width")) == ([0.0, 30.0], [30.0, 20.0])


def test_the_score_that_is_the_scale_fills_the_bar() -> None:
    parts = classed(classed(score_bar(GROUPS, scale=0.5), "chart-score-bar")[0], "chart-part")
    assert sum(percents(parts, "width")) == pytest.approx(100.0)


def test_each_group_has_its_name_and_what_it_adds() -> None:
    labels = classed(score_bar(GROUPS, scale=1.0), "chart-key")[0]
    assert [words(item) for item in labels] == ["meaning 0.30", "words 0.20"]


def test_the_bar_is_named_by_its_score_and_groups() -> None:
    bar = classed(score_bar(GROUPS, scale=1.0), "chart-score-bar")[0]
    assert bar.get("aria-label") == "Score 0.50: meaning 0.30, words 0.20"


def test_a_group_has_the_same_colour_in_every_score() -> None:
    alone, among = (
        classed(classed(score_bar(each, scale=1.0), "chart-score")[0], "chart-part")[-1].get("class")
        for each in ({"words": 0.4}, GROUPS)
    )
    assert alone == among == "chart-part chart-ochre"


def test_the_legend_names_each_group_once_in_their_order() -> None:
    assert [name for _, name in bare_legend([{"words": 0.1}, GROUPS, {"conversation": 0.0}])] == ["meaning", "words"]


def test_the_table_holds_every_signal_in_words_and_as_presets_name_it() -> None:
    rows = [[words(cell) for cell in row] for row in read(score_table(TREE)).iter("tr")]
    assert rows[1:3] == [["weighted sum", "", "0.800", "0.800"], ["· importance", "", "0.400", "0.200"]]
    assert rows[-2] == ["· · keyword search", "lexical_leg", "9.000", "×"]


def test_the_table_leaves_out_what_is_absent() -> None:
    assert "speaker" not in words(read(score_table(TREE)))


@given(trees(), st.dictionaries(st.sampled_from(list(HUE_OF)), st.floats()), st.floats())
def test_any_score_can_be_drawn(parts: PartOut, groups: dict[str, float], scale: float) -> None:
    assert faults(score_bar(groups, scale=scale) + score_table(parts)) == []
