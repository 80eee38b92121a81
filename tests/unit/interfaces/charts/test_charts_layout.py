from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from remembrancer.errors import InvalidInput
from remembrancer.interfaces.charts.graph import NARROW, WIDE
from remembrancer.interfaces.charts.layout import MOST, Plane, arranged, laid_out

PLANES = st.sampled_from([WIDE, NARROW])


@st.composite
def graphs(draw: st.DrawFn) -> tuple[int, list[tuple[int, int]]]:
    count = draw(st.integers(1, 30))
    ends = st.integers(0, count - 1)
    return count, draw(st.lists(st.tuples(ends, ends), max_size=60))


def nearest(count: int, edges: list[tuple[int, int]], room: Plane) -> float:
    """The distance of the two nearest nodes."""
    places, _ = laid_out(arranged(count, edges), room)
    apart = np.linalg.norm(places[:, None] - places[None], axis=2)
    np.fill_diagonal(apart, np.inf)
    return float(apart.min())


@given(graphs(), PLANES)
@settings(max_examples=60)
def test_the_same_graph_is_laid_out_in_the_same_way(graph: tuple[int, list[tuple[int, int]]], room: Plane) -> None:
    (one, high), (other, also) = laid_out(arranged(*graph), room), laid_out(arranged(*graph), room)
    assert (one == other).all()
    assert high == also


@given(graphs(), PLANES)
@settings(max_examples=60)
def test_no_two_nodes_have_the_same_position(graph: tuple[int, list[tuple[int, int]]], room: Plane) -> None:
    assert nearest(*graph, room) > 10.0


@given(graphs(), PLANES)
@settings(max_examples=60)
def test_every_node_is_inside(graph: tuple[int, list[tuple[int, int]]], room: Plane) -> None:
    places, height = laid_out(arranged(*graph), room)
    assert (places >= 0).all()
    assert (places[:, 0] <= room.width).all()
    assert (places[:, 1] <= height).all()


def test_joined_nodes_are_nearer_than_distant_nodes_of_a_path() -> None:
    places, _ = laid_out(arranged(5, [(0, 1), (1, 2), (2, 3), (3, 4)]), WIDE)
    steps = np.linalg.norm(np.diff(places, axis=0), axis=1)
    assert np.linalg.norm(places[0] - places[4]) > 3.5 * steps.mean()
    assert steps == pytest.approx(np.full(4, WIDE.edge), rel=0.05)


def test_the_leaves_of_a_star_are_spread_around_it() -> None:
    assert nearest(13, [(0, leaf) for leaf in range(1, 13)], WIDE) >= 0.8 * WIDE.apart


def test_nodes_without_edges_are_below_the_others() -> None:
    places, height = laid_out(arranged(5, [(0, 1), (1, 2)]), WIDE)
    assert places[3:, 1].min() > places[:3, 1].max() or places[3:, 0].min() > places[:3, 0].max()
    assert height >= places[:, 1].max()


def test_the_greatest_graph_there_is_is_laid_out() -> None:
    edges = [(node, (node * 7 + 3) % MOST) for node in range(MOST)]
    places, _ = laid_out(arranged(MOST, edges), WIDE)
    assert np.isfinite(places).all()


def test_no_nodes_take_no_room() -> None:
    places, height = laid_out(arranged(0, []), WIDE)
    assert (places.shape, height) == ((0, 2), 0.0)


def test_more_nodes_than_can_be_drawn_are_refused() -> None:
    with pytest.raises(InvalidInput, match="count"):
        arranged(MOST + 1, [])


def test_an_edge_of_a_node_that_is_not_there_is_refused() -> None:
    with pytest.raises(InvalidInput, match="edges"):
        arranged(2, [(0, 2)])
