from __future__ import annotations

from collections.abc import Iterator

import pytest

from remembrancer import InvalidInput, NotFound, Remembrancer, Settings
from remembrancer.engine.graph import Graph


@pytest.fixture
def rem() -> Iterator[Remembrancer]:
    settings = Settings(db=":memory:", workspace="acme", embedder="none", background_index=False)
    with Remembrancer.open(settings=settings) as opened:
        yield opened


@pytest.fixture
def chain(rem: Remembrancer) -> list[str]:
    """The ids of a - b - c - d, each linked to the next with a falling weight."""
    ids = [str(rem.remember(text).id) for text in "abcd"]
    for place, weight in enumerate((1.0, 0.5, 0.25)):
        rem.link(ids[place], ids[place + 1], "similar", weight)
    return ids


def texts(graph: Graph) -> list[str]:
    return [one.memory.text for one in graph.memories]


def test_around_a_memory_are_those_within_two_steps(rem: Remembrancer, chain: list[str]) -> None:
    assert texts(rem.graph(chain[0])) == ["a", "b", "c"]


def test_only_edges_among_shown_memories_are_reported(rem: Remembrancer, chain: list[str]) -> None:
    assert [edge.weight for edge in rem.graph(chain[0]).relations] == [1.0, 0.5]


def test_of_those_equally_near_the_heavier_edge_comes_first(rem: Remembrancer, chain: list[str]) -> None:
    assert texts(rem.graph(chain[1], limit=3)) == ["b", "a", "c"]


def test_a_view_beyond_its_limit_reports_that_it_is_cut(rem: Remembrancer, chain: list[str]) -> None:
    graph = rem.graph(chain[1], limit=2)
    assert (texts(graph), graph.cut, len(graph.relations)) == (["b", "a"], True, 1)


def test_a_view_with_room_is_not_cut(rem: Remembrancer, chain: list[str]) -> None:
    assert not rem.graph(chain[1]).cut


def test_a_memory_without_edges_is_the_only_node(rem: Remembrancer) -> None:
    alone = rem.remember("alone")
    assert texts(rem.graph(alone.id)) == ["alone"]


def test_the_view_of_the_whole_begins_with_the_most_connected(rem: Remembrancer, chain: list[str]) -> None:
    rem.remember("alone")
    graph = rem.graph()
    assert (set(texts(graph)[:2]), set(texts(graph)), len(graph.relations)) == ({"b", "c"}, set("abcd"), 3)


def test_the_view_of_the_whole_is_empty_where_nothing_is_tied(rem: Remembrancer) -> None:
    rem.remember("alone")
    assert rem.graph() == Graph(memories=(), relations=(), cut=False)


def test_no_graph_is_drawn_around_a_memory_that_is_not_there(rem: Remembrancer) -> None:
    with pytest.raises(NotFound):
        rem.graph("00000000-0000-4000-8000-000000000404")


def test_a_graph_without_room_for_anything_is_refused(rem: Remembrancer) -> None:
    with pytest.raises(InvalidInput, match="limit"):
        rem.graph(limit=0)
