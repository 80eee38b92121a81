from __future__ import annotations

import math

import pytest
from charted import HOSTILE, classed, faults, read, title_of, words
from hypothesis import given
from hypothesis import strategies as st
from markupsafe import Markup

from remembrancer.engine.graph import Link, LinkKind, NodeKind
from remembrancer.interfaces.charts.graph import KINDS, GraphNode, link_graph
from remembrancer.interfaces.charts.layout import MOST


def a_node(number: int, title: str = "", kind: NodeKind = NodeKind.MEMORY) -> GraphNode:
    return GraphNode(f"{number}", title or f"Memory {number}", kind, f"/graph?memory={number}")


def nodes(count: int, title: str = "") -> list[GraphNode]:
    return [a_node(number, title) for number in range(count)]


def an_edge(source: int, target: int, kind: LinkKind = LinkKind.SIMILAR, weight: float = 0.5, turns: int = 1) -> Link:
    return Link(f"{source}", f"{target}", kind, turns, weight)


def wide(chart: Markup) -> list[str]:
    """The links of the wide picture."""
    picture = next(each for each in classed(chart, "chart-wide") if each.tag == "svg")
    return [link.attrib["href"] for link in picture.iter("a")]


def test_each_node_is_a_link_with_its_kind_and_whole_title() -> None:
    title = "A title that is far too long to be written beside a node in full"
    chart = link_graph([a_node(5, title)], [])
    link = next(iter(read(chart).iter("a")))
    assert (link.get("href"), words(link[0])) == ("/graph?memory=5", f"memory: {title}")


@pytest.mark.parametrize("kind", NodeKind)
def test_a_kind_of_node_has_its_own_mark_in_picture_and_legend(kind: NodeKind) -> None:
    chart = link_graph([a_node(1, kind=kind), a_node(2, kind=kind)], [])
    assert len(classed(chart, f"chart-of-{kind}")) == 5  # two pictures of two nodes, and the legend


def test_the_legend_has_at_most_five_kinds_of_nodes() -> None:
    assert set(KINDS) == set(NodeKind)
    assert len(KINDS) == 5


def test_links_from_turns_are_wider_the_more_turns_they_stand_for() -> None:
    drawn = [link_graph(nodes(2), [an_edge(0, 1, LinkKind.MENTIONS, turns=turns)]) for turns in (1, 5, 20, 400)]
    widths = [float(classed(one, "chart-edge")[0].attrib["stroke-width"]) for one in drawn]
    assert widths == pytest.approx([1.31, 1.77, 3.5, 3.5])


def test_memories_that_are_joined_to_nothing_are_shown() -> None:
    assert len(wide(link_graph(nodes(4), [an_edge(0, 1)]))) == 4


def test_the_title_and_the_words_count() -> None:
    chart = link_graph(nodes(4), [an_edge(0, 1), an_edge(1, 2, LinkKind.CONTRADICTS)])
    assert title_of(chart) == "4 nodes, 2 links"
    assert "4 memories, 1 joined to nothing here." in words(chart)


def test_the_heavier_the_wider() -> None:
    widths = [
        float(classed(link_graph(nodes(2), [an_edge(0, 1, weight=weight)]), "chart-edge")[0].attrib["stroke-width"])
        for weight in (0.0, 0.5, 1.0, 9.0, math.nan)
    ]
    assert widths == pytest.approx([1.2, 2.35, 3.5, 3.5, 1.2])


@pytest.mark.parametrize("kind", [kind for kind in LinkKind if an_edge(0, 1, kind).is_relation])
def test_a_kind_of_relation_has_its_own_line_in_picture_and_legend(kind: LinkKind) -> None:
    name = f"chart-{kind.value.replace('_', '-')}"
    drawn = classed(link_graph(nodes(2), [an_edge(0, 1, kind)]), name)
    assert len([each for each in drawn if "chart-edge" in each.attrib["class"]]) == 3  # two pictures and the legend


def test_a_symmetric_relation_has_no_arrow_head() -> None:
    heads = [
        len(classed(link_graph(nodes(2), [an_edge(0, 1, kind)]), "chart-head"))
        for kind in (LinkKind.SIMILAR, LinkKind.SUPPORTS, LinkKind.SUPERSEDES)
    ]
    assert heads == [0, 3, 6]


def test_two_relations_of_the_same_memories_do_not_lie_on_each_other() -> None:
    chart = link_graph(nodes(2), [an_edge(0, 1), an_edge(1, 0, LinkKind.SUPPORTS)])
    paths = [each.attrib["d"] for each in classed(chart, "chart-edge")[:2]]
    middles = [path.partition("Q")[2].split()[1] for path in paths]
    assert middles[0] != middles[1]


def test_the_focus_is_highlighted() -> None:
    assert len(classed(link_graph(nodes(3), [], focus="1"), "chart-focus")) == 2


def test_relations_to_memories_that_are_not_drawn_are_counted() -> None:
    chart = link_graph(nodes(2), [an_edge(0, 1), an_edge(0, 77)])
    assert "1 link to what is not drawn" in words(chart)


def test_of_too_many_the_most_connected_and_the_focus_are_drawn() -> None:
    last = MOST + 9
    edges = [an_edge(last, last - 1)]
    chart = link_graph(nodes(MOST + 10), edges, focus=f"{MOST + 5}")
    links = wide(chart)
    assert len(links) == MOST
    assert {f"/graph?memory={each}" for each in (last, last - 1, MOST + 5)} <= set(links)
    assert f"the {MOST} most connected of {MOST + 10}" in words(chart)


def test_without_memories_there_are_words() -> None:
    chart = link_graph([], [])
    assert (title_of(chart), list(read(chart).iter("svg"))) == ("Nothing to draw", [])


def test_hostile_titles_stay_text() -> None:
    assert faults(link_graph(nodes(3, HOSTILE), [an_edge(0, 1)])) == []


@given(
    st.lists(
        st.builds(an_edge, st.integers(0, 9), st.integers(0, 11), st.sampled_from(LinkKind), st.floats()),
        max_size=15,
    ),
    st.text(),
)
def test_any_relations_can_be_drawn(edges: list[Link], title: str) -> None:
    assert faults(link_graph(nodes(10, title), edges, focus="3")) == []
