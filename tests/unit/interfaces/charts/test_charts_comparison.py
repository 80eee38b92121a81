from __future__ import annotations

from uuid import UUID

import pytest
from charted import HOSTILE, a_comparison, classed, faults, read, title_of, words
from hypothesis import given
from hypothesis import strategies as st
from markupsafe import Markup

from remembrancer.interfaces.charts.comparison import comparison_chart, comparison_table

RANKS = st.none() | st.integers(1, 12)


def discs(chart: Markup) -> list[tuple[float, float]]:
    """Their positions in the narrow picture."""
    picture = next(each for each in classed(chart, "chart-narrow") if each.tag == "svg")
    return [(float(each.attrib["cx"]), float(each.attrib["cy"])) for each in classed(picture, "chart-disc")]


def threads(ranks: list[list[int | None]]) -> int:
    return len(classed(comparison_chart(a_comparison(ranks)), "chart-thread")) // 2


def test_a_memory_is_at_its_rank_in_the_column_of_each_preset() -> None:
    assert discs(comparison_chart(a_comparison([[1, 2]]))) == [(24.0, 67.0), (72.0, 105.0)]


def test_a_line_joins_neighbours_that_both_return_it() -> None:
    assert [threads([[1, 1, 1]]), threads([[1, None, 1]]), threads([[None, 1, 1]])] == [2, 0, 1]


def test_a_memory_that_only_one_preset_returns_is_marked_and_named() -> None:
    chart = comparison_chart(a_comparison([[1, 1], [None, 2]]))
    assert len(classed(chart, "chart-ring")) == 2  # in either picture
    assert [words(each) for each in classed(chart, "chart-only")] == ["only preset-1"]


@pytest.mark.parametrize(
    ("ranks", "finding"),
    [
        ([[1, 1], [2, None]], "1 of 2 memories returned by all 2 presets"),
        ([[1, None], [None, 1]], "None of 2 memories returned by all 2 presets"),
        ([[1], [2]], "preset-0 returns 2 memories"),
    ],
)
def test_the_title_has_the_number_of_memories_that_all_return(ranks: list[list[int | None]], finding: str) -> None:
    assert title_of(comparison_chart(a_comparison(ranks))) == finding


def test_the_list_names_each_number_with_a_link() -> None:
    links = list(classed(comparison_chart(a_comparison([[1], [2]])), "chart-memories")[0].iter("a"))
    assert [(link.get("href"), words(link)) for link in links] == [
        (f"/memories/{UUID(int=number)}", f"Memory {number}") for number in (1, 2)
    ]


def test_memories_are_told_apart_by_numbers_not_by_colours() -> None:
    chart = comparison_chart(a_comparison([[number, number] for number in range(1, 22)]))
    picture = next(each for each in classed(chart, "chart-narrow") if each.tag == "svg")
    assert {each.get("class") for each in picture.iter("path")} == {"chart-thread"}
    numbers = [words(each) for each in picture.iter("text")]
    assert {number: numbers.count(str(number)) for number in (1, 21)} == {1: 2, 21: 2}


def test_degraded_parts_are_reported() -> None:
    asked = a_comparison([[1, 1]])
    answers = [asked.answers[0].model_copy(update={"degraded": {"dense": "no embedder"}}), asked.answers[1]]
    assert "preset-0: dense: no embedder" in words(comparison_chart(asked.model_copy(update={"answers": answers})))


def test_nothing_returned_is_described_in_words() -> None:
    chart = comparison_chart(a_comparison([]))
    assert (title_of(chart), list(read(chart).iter("svg"))) == ("No preset returns anything", [])


def test_the_table_holds_ranks_scores_and_reasons() -> None:
    rows = [[words(cell) for cell in row] for row in read(comparison_table(a_comparison([[1, None]]))).iter("tr")]
    assert rows == [["Memory", "preset-0", "preset-1"], ["Memory 1", "1 (1.00)", "below the limit"]]


def test_many_presets_are_not_made_smaller_than_can_be_read() -> None:
    chart = comparison_chart(a_comparison([[1] * 12]))
    assert [each.get("class") for each in classed(chart, "chart-scroll")] == [
        "chart-scroll chart-wide",
        "chart-scroll chart-narrow",
    ]


def test_hostile_texts_stay_text() -> None:
    asked = a_comparison([[1, 2], [2, None]], text=HOSTILE, presets=[HOSTILE, "other"])
    assert faults(comparison_chart(asked) + comparison_table(asked)) == []


@given(st.integers(1, 6).flatmap(lambda width: st.lists(st.lists(RANKS, min_size=width, max_size=width), max_size=8)))
def test_any_comparison_can_be_drawn(ranks: list[list[int | None]]) -> None:
    assert faults(comparison_chart(a_comparison(ranks))) == []
