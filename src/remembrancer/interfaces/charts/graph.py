"""A node-link diagram of memories and their relations."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Final, Self
from uuid import UUID

import numpy as np
from markupsafe import Markup

from remembrancer.domain.relation import RelationKind
from remembrancer.interfaces.charts.frame import ContainerWidths, Picture, empty, figure, key, swatch
from remembrancer.interfaces.charts.layout import MOST, Arrangement, Plane, arranged, laid_out
from remembrancer.interfaces.charts.panel import Point
from remembrancer.interfaces.charts.scale import finite
from remembrancer.interfaces.charts.svg import NOTHING, SMALL, element, fitted, joined, number, text_width
from remembrancer.interfaces.text import counted
from remembrancer.values import dataclass

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from remembrancer.interfaces.wire.memories import MemoryOut, RelationOut

WIDE: Final = Plane(width=620.0, edge=96.0, apart=42.0, beside=60.0, above=30.0)
NARROW: Final = Plane(width=296.0, edge=86.0, apart=34.0, beside=46.0, above=28.0)
RADIUS, FOCUS = 7.0, 11.0
LABEL: Final = 124.0
"""The width of a title in pixels; the tooltip has the whole title."""
_HIGH: Final = 16.0
_BEND: Final = 18.0
"""Pixels between the middles of edges between the same two memories."""
_HEAD: Final = 8.0
_SYMMETRIC: Final = frozenset({RelationKind.SIMILAR})
_WORDS: Final = {
    RelationKind.SIMILAR: "similar to",
    RelationKind.SUPPORTS: "supports",
    RelationKind.CONTRADICTS: "contradicts",
    RelationKind.DERIVED_FROM: "derived from",
    RelationKind.SUPERSEDES: "supersedes",
}


@dataclass(frozen=True, slots=True)
class GraphNode:
    """A memory as a node."""

    id: UUID
    title: str

    @classmethod
    def of(cls, memory: MemoryOut) -> Self:
        return cls(id=memory.id, title=memory.title or memory.text)


@dataclass(frozen=True, slots=True)
class _Graph:
    """A graph to draw. `pairs`: for each edge, the indexes of its source and target in `nodes`. `query` is appended to
    links.
    """

    nodes: Sequence[GraphNode]
    edges: Sequence[RelationOut]
    pairs: Sequence[tuple[int, int]]
    arrangement: Arrangement
    focus: UUID | None
    query: str


def relation_graph(
    nodes: Sequence[GraphNode], edges: Sequence[RelationOut], *, focus: UUID | None = None, query: str = ""
) -> Markup:
    """A figure with a node for each memory, linked to its page, and an edge for each relation; `focus` is highlighted.

    Of more than MOST memories only `focus` and those with the most relations are drawn. Relations to memories outside
    `nodes` are left out. `query` is appended to the links, such as "?agent=coder".
    """
    shown = _chosen(nodes, edges, focus)
    if not shown:
        return empty("graph", "No memories to draw", "Relations appear here once memories are joined.")
    index = {node.id: place for place, node in enumerate(shown)}
    inner = [edge for edge in edges if edge.source in index and edge.target in index and edge.source != edge.target]
    title = f"{counted(len(shown), 'memory')}, {counted(len(inner), 'relation')}"
    description = _description(shown, inner, len({node.id for node in nodes}), len(edges) - len(inner))
    pairs = [(index[edge.source], index[edge.target]) for edge in inner]
    graph = _Graph(shown, inner, pairs, arranged(len(shown), pairs), focus, query)
    pictures = [_drawn(graph, WIDE, ContainerWidths.WIDE), _drawn(graph, NARROW, ContainerWidths.NARROW)]
    return figure("graph", title=title, description=description, pictures=pictures, below=_legend(inner), linked=True)


def _chosen(nodes: Sequence[GraphNode], edges: Sequence[RelationOut], focus: UUID | None) -> list[GraphNode]:
    """At most MOST nodes, without duplicates, in the order given."""
    unique = list({node.id: node for node in nodes}.values())
    if len(unique) <= MOST:
        return unique
    ends = Counter(end for edge in edges for end in (edge.source, edge.target))
    first = sorted(unique, key=lambda node: (node.id != focus, -ends[node.id], node.id))[:MOST]
    kept = {node.id for node in first}
    return [node for node in unique if node.id in kept]


def _drawn(graph: _Graph, plane: Plane, room: ContainerWidths) -> Picture:
    nodes, focus = graph.nodes, graph.focus
    places, height = laid_out(graph.arrangement, plane)
    points = [(float(across), float(down)) for across, down in places]
    sizes = [FOCUS if node.id == focus else RADIUS for node in nodes]
    marks = joined(_edges(graph, points, sizes))
    ends = Counter(end for pair in graph.pairs for end in pair)
    order = sorted(range(len(nodes)), key=lambda each: (nodes[each].id != focus, -ends[each], each))
    labels = _labels(nodes, points, sizes, order, plane)
    marks += joined(
        _node(node, f"{node.id}{graph.query}", points[place], sizes[place], labels.get(place), focused=node.id == focus)
        for place, node in enumerate(nodes)
    )
    return Picture(marks=marks, height=height, width=plane.width, room=room)


def _edges(graph: _Graph, points: Sequence[Point], sizes: Sequence[float]) -> Iterator[Markup]:
    nodes, edges, pairs = graph.nodes, graph.edges, graph.pairs
    several = Counter(tuple(sorted(pair)) for pair in pairs)
    met = Counter[tuple[int, ...]]()
    for edge, (source, target) in zip(edges, pairs, strict=True):
        both = tuple(sorted((source, target)))
        met[both] += 1
        # Parallel edges bend evenly to both sides of the straight line, whatever the direction of each.
        bend = (met[both] - (several[both] + 1) / 2) * _BEND * (1 if source < target else -1)
        tooltip = f"{nodes[source].title} {_WORDS[edge.kind]} {nodes[target].title} ({_weight(edge):.2f})"
        yield _edge(edge, tooltip, (points[source], points[target]), (sizes[source], sizes[target]), bend)


def _edge(
    edge: RelationOut, tooltip: str, ends: tuple[Point, Point], sizes: tuple[float, float], bend: float
) -> Markup:
    """A curve from the rim of one node to the rim of the other, with an arrow head."""
    (x0, y0), (x1, y1) = ends
    long = math.dist(*ends) or 1.0
    normal = (y0 - y1) / long, (x1 - x0) / long
    middle = (x0 + x1) / 2 + normal[0] * bend * 2, (y0 + y1) / 2 + normal[1] * bend * 2
    width = 1.2 + 2.3 * _weight(edge)
    head = _before(edge.kind)
    begin = _toward(ends[0], middle, sizes[0] + 2.0)
    tip = _toward(ends[1], middle, sizes[1] + 2.0)
    stop = _toward(tip, middle, head)
    path = f"M{_place(begin)} Q{_place(middle)} {_place(stop)}"
    kind = _class(edge.kind)
    line = element("path", d=path, class_=f"chart-edge {kind}", stroke_width=width)
    return element("g", element("title", tooltip), line, _head(edge.kind, tip, middle))


def _head(kind: RelationKind, tip: Point, before: Point) -> Markup:
    """The arrow head of a kind: full for supports, hollow for derived from, a bar for contradicts, two for supersedes,
    and none for similar, which has no direction.
    """
    if kind in _SYMMETRIC:
        return NOTHING
    long = _before(kind) if kind is RelationKind.CONTRADICTS else _HEAD
    at, drawn = _toward(tip, before, long), f"chart-head {_class(kind)}"
    half = _HEAD * 0.55 / long
    across = (tip[1] - at[1]) * half, (at[0] - tip[0]) * half
    left, right = (at[0] + across[0], at[1] + across[1]), (at[0] - across[0], at[1] - across[1])
    if kind is RelationKind.CONTRADICTS:
        return element("path", d=f"M{_place(left)} L{_place(right)}", class_=f"{drawn} chart-bar-head")
    marks = element("path", d=f"M{_place(tip)} L{_place(left)} L{_place(right)} Z", class_=drawn)
    if kind is RelationKind.SUPERSEDES:
        second = _toward(at, before, _HEAD)
        moved = [(x + second[0] - at[0], y + second[1] - at[1]) for x, y in (left, right)]
        back = f"M{_place(at)} L{_place(moved[0])} L{_place(moved[1])} Z"
        marks += element("path", d=back, class_=drawn)
    return marks


def _before(kind: RelationKind) -> float:
    """The distance in pixels from the end of the line to the tip of its arrow head, so that they do not overlap."""
    if kind in _SYMMETRIC:
        return 0.0
    return 3.0 if kind is RelationKind.CONTRADICTS else _HEAD * 0.7


def _node(node: GraphNode, page: str, at: Point, size: float, label: Markup | None, *, focused: bool) -> Markup:
    circle = element("circle", cx=at[0], cy=at[1], r=size, class_="chart-node chart-focus" if focused else "chart-node")
    # An invisible larger circle makes the node easier to touch.
    reach = element("circle", cx=at[0], cy=at[1], r=14.0, class_="chart-reach")
    return element("a", element("title", node.title), reach, circle, label, href=f"/memories/{page}")


def _labels(
    nodes: Sequence[GraphNode], points: Sequence[Point], sizes: Sequence[float], order: Sequence[int], plane: Plane
) -> dict[int, Markup]:
    """Titles that overlap no node and no other title, placed in the given order; a node without room has no title."""
    taken = np.zeros((2 * len(nodes), 4))
    taken[: len(nodes)] = [(x - size, y - size, x + size, y + size) for (x, y), size in zip(points, sizes, strict=True)]
    labels = dict[int, Markup]()
    for place in order:
        words = fitted(nodes[place].title, min(LABEL, 2 * plane.beside - 8.0), SMALL)
        wide = text_width(words, SMALL)
        for left, base, box in _beside(points[place], sizes[place], wide):
            inside = box[0] >= 0 and box[2] <= plane.width
            if words and inside and not _meets(box, taken[: len(nodes) + len(labels)]):
                taken[len(nodes) + len(labels)] = box
                labels[place] = element("text", words, x=left, y=base, class_="chart-label", font_size=SMALL)
                break
    return labels


Box = tuple[float, float, float, float]


def _beside(at: Point, size: float, wide: float) -> Iterator[tuple[float, float, Box]]:
    """(left, base line, bounding box) of a title below, above, to the right and to the left of its node."""
    x, y = at
    below, above = y + size + _HIGH - 1.0, y - size - 5.0
    for left, base in (
        (x - wide / 2, below),
        (x - wide / 2, above),
        (x + size + 5, y + 4),
        (x - size - 5 - wide, y + 4),
    ):
        yield left, base, (left, base - _HIGH + 4.0, left + wide, base + 3.0)


def _meets(box: Box, others: NDArray[np.float64]) -> bool:
    """Whether the box overlaps any of the others, an array of shape (n, 4)."""
    left, top, right, bottom = others.T
    return bool(((box[0] < right) & (left < box[2]) & (box[1] < bottom) & (top < box[3])).any())


def _legend(edges: Sequence[RelationOut]) -> Markup:
    given = [kind for kind in RelationKind if any(edge.kind is kind for edge in edges)]
    if not given:
        return NOTHING
    return key([(_sample(kind), _WORDS[kind]) for kind in given], label="Kinds of relation; the wider, the heavier")


def _sample(kind: RelationKind) -> Markup:
    tip, begin = (38.0, 7.0), (1.0, 7.0)
    stop = _toward(tip, begin, _before(kind))
    line = element("path", d=f"M{_place(begin)} L{_place(stop)}", class_=f"chart-edge {_class(kind)}", stroke_width=2.0)
    return swatch(line + _head(kind, tip, begin), width=40.0)


def _description(nodes: Sequence[GraphNode], edges: Sequence[RelationOut], known: int, outside: int) -> str:
    joined_ones = {end for edge in edges for end in (edge.source, edge.target)}
    alone = sum(node.id not in joined_ones for node in nodes)
    kinds = Counter(edge.kind for edge in edges)
    parts = [f"{count} {_WORDS[kind]}" for kind in RelationKind if (count := kinds[kind])]
    if alone:
        parts.append(f"{alone} joined to nothing here")
    if known > len(nodes):
        parts.append(f"the {len(nodes)} most connected of {known:,}")
    if outside:
        parts.append(f"{counted(outside, 'relation')} to what is not drawn")
    return (", ".join(parts) + ".") if parts else ""


def _class(kind: RelationKind) -> str:
    return f"chart-{kind.value.replace('_', '-')}"


def _weight(edge: RelationOut) -> float:
    return min(max(finite(edge.weight) or 0.0, 0.0), 1.0)


def _toward(begin: Point, end: Point, far: float) -> Point:
    long = math.dist(begin, end) or 1.0
    return begin[0] + (end[0] - begin[0]) * far / long, begin[1] + (end[1] - begin[1]) * far / long


def _place(point: Point) -> str:
    return f"{number(point[0])} {number(point[1])}"
