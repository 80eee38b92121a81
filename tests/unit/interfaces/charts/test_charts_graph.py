from __future__ import annotations

import math
from uuid import UUID

import pytest
from charted import AT, HOSTILE, a_memory, classed, faults, read, title_of, words
from hypothesis import given
from hypothesis import strategies as st
from markupsafe import Markup

from remembrancer.domain.relation import RelationKind
from remembrancer.interfaces.charts.graph import GraphNode, relation_graph
from remembrancer.interfaces.charts.layout import MOST
from remembrancer.interfaces.wire.memories import RelationOut


def nodes(count: int, title: str = "") -> list[GraphNode]:
    return [GraphNode(UUID(int=number), title or f"Memory {number}") for number in range(count)]


def an_edge(source: int, target: int, kind: RelationKind = RelationKind.SIMILAR, weight: float = 0.5) -> RelationOut:
    return RelationOut(source=UUID(int=source), target=UUID(int=target), kind=kind, weight=weight, created_at=AT)


def wide(chart: Markup) -> list[str]:
    """The links of the wide picture."""
    picture = next(each for each in classed(chart, "chart-wide") if each.tag == "svg")
    return [link.attrib["href"] for link in picture.iter("a")]


def test_each_memory_is_a_link_with_its_whole_title() -> None:
    title = "A title that is far too long to be written beside a node in full"
    chart = relation_graph([GraphNode(UUID(int=5), title)], [])
    link = next(iter(read(chart).iter("a")))
    assert (link.get("href"), words(link[0])) == (f"/memories/{UUID(int=5)}", title)


def test_memories_that_are_joined_to_nothing_are_shown() -> None:
    assert len(wide(relation_graph(nodes(4), [an_edge(0, 1)]))) == 4


def test_the_title_and_the_words_count() -> None:
    chart = relation_graph(nodes(4), [an_edge(0, 1), an_edge(1, 2, RelationKind.CONTRADICTS)])
    assert title_of(chart) == "4 memories, 2 relations"
    assert "1 similar to, 1 contradicts, 1 joined to nothing here." in words(chart)


def test_the_heavier_the_wider() -> None:
    widths = [
        float(classed(relation_graph(nodes(2), [an_edge(0, 1, weight=weight)]), "chart-edge")[0].attrib["stroke-width"])
        for weight in (0.0, 0.5, 1.0, 9.0, math.nan)
    ]
    assert widths == pytest.approx([1.2, 2.35, 3.5, 3.5, 1.2])


@pytest.mark.parametrize("kind", RelationKind)
def test_a_kind_of_relation_has_its_own_line_in_picture_and_legend(kind: RelationKind) -> None:
    name = f"chart-{kind.value.replace('_', '-')}"
    drawn = classed(relation_graph(nodes(2), [an_edge(0, 1, kind)]), name)
    assert len([each for each in drawn if "chart-edge" in each.attrib["class"]]) == 3  # two pictures and the legend


def test_a_symmetric_relation_has_no_arrow_head() -> None:
    heads = [
        len(classed(relation_graph(nodes(2), [an_edge(0, 1, kind)]), "chart-head"))
        for kind in (RelationKind.SIMILAR, RelationKind.SUPPORTS, RelationKind.SUPERSEDES)
    ]
    assert heads == [0, 3, 6]


def test_two_relations_of_the_same_memories_do_not_lie_on_each_other() -> None:
    chart = relation_graph(nodes(2), [an_edge(0, 1), an_edge(1, 0, RelationKind.SUPPORTS)])
    paths = [each.attrib["d"] for each in classed(chart, "chart-edge")[:2]]
    middles = [path.partition("Q")[2].split()[1] for path in paths]
    assert middles[0] != middles[1]


def test_the_focus_is_highlighted() -> None:
    assert len(classed(relation_graph(nodes(3), [], focus=UUID(int=1)), "chart-focus")) == 2


def test_relations_to_memories_that_are_not_drawn_are_counted() -> None:
    chart = relation_graph(nodes(2), [an_edge(0, 1), an_edge(0, 77)])
    assert "1 relation to what is not drawn" in words(chart)


def test_of_too_many_the_most_connected_and_the_focus_are_drawn() -> None:
    last = MOST + 9
    edges = [an_edge(last, last - 1)]
    chart = relation_graph(nodes(MOST + 10), edges, focus=UUID(int=MOST + 5))
    links = wide(chart)
    assert len(links) == MOST
    assert {f"/memories/{UUID(int=each)}" for each in (last, last - 1, MOST + 5)} <= set(links)
    assert f"the {MOST} most connected of {MOST + 10}" in words(chart)


def test_without_memories_there_are_words() -> None:
    chart = relation_graph([], [])
    assert (title_of(chart), list(read(chart).iter("svg"))) == ("No memories to draw", [])


def test_hostile_titles_stay_text() -> None:
    assert faults(relation_graph(nodes(3, HOSTILE), [an_edge(0, 1)])) == []


def test_a_node_of_a_memory_has_its_title_or_text() -> None:
    titled, untitled = (GraphNode.of(a_memory(1, text="Text", title=title)) for title in ("Title", None))
    assert (titled.title, untitled.title) == ("Title", "Text")


@given(
    st.lists(
        st.builds(an_edge, st.integers(0, 9), st.integers(0, 11), st.sampled_from(RelationKind), st.floats()),
        max_size=15,
    ),
    st.text(),
)
def test_any_relations_can_be_drawn(edges: list[RelationOut], title: str) -> None:
    assert faults(relation_graph(nodes(10, title), edges, focus=UUID(int=3))) == []
