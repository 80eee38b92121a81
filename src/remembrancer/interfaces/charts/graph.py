"""A node-link diagram of speakers, names, conversations and memories, and of the links among them."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Final

import numpy as np
from markupsafe import Markup

from remembrancer.engine.graph import Link, LinkKind, NodeKind
from remembrancer.interfaces.charts.frame import ContainerWidths, Picture, empty, figure, key, swatch
from remembrancer.interfaces.charts.layout import MOST, Arrangement, Plane, arranged, laid_out
from remembrancer.interfaces.charts.panel import Point
from remembrancer.interfaces.charts.scale import finite
from remembrancer.interfaces.charts.svg import NOTHING, SMALL, element, fitted, joined, number, text_width
from remembrancer.interfaces.text import counted
from remembrancer.values import dataclass

if TYPE_CHECKING:
    from numpy.typing import NDArray

WIDE: Final = Plane(width=620.0, edge=96.0, apart=42.0, beside=60.0, above=30.0)
NARROW: Final = Plane(width=296.0, edge=86.0, apart=34.0, beside=46.0, above=28.0)
RADIUS, FOCUS = 7.0, 11.0
LABEL: Final = 124.0
"""The width of a title in pixels; the tooltip has the whole title."""
_HIGH: Final = 16.0
_BEND: Final = 18.0
"""Pixels between the middles of edges between the same two memories."""
_HEAD: Final = 8.0
KINDS: Final = {
    NodeKind.SPEAKER: "speaker",
    NodeKind.CONVERSATION: "conversation",
    NodeKind.EPISODE: "episode",
    NodeKind.MEMORY: "memory",
    NodeKind.NAME: "name",
}
"""The kinds of nodes in words, in the order of the legend."""
WORDS: Final = {
    LinkKind.TAKES_PART_IN: "takes part in",
    LinkKind.SAID_BY: "said by",
    LinkKind.PART_OF: "part of",
    LinkKind.MENTIONS: "mentions",
    LinkKind.SIMILAR: "similar to",
    LinkKind.SUPPORTS: "supports",
    LinkKind.CONTRADICTS: "contradicts",
    LinkKind.DERIVED_FROM: "derived from",
    LinkKind.SUPERSEDES: "supersedes",
}
"""Links in words, from their source to their target. `BACKWARDS`: from the target to the source."""
BACKWARDS: Final = {
    LinkKind.TAKES_PART_IN: "in it spoke",
    LinkKind.SAID_BY: "said",
    LinkKind.PART_OF: "consists of",
    LinkKind.MENTIONS: "mentioned by",
    LinkKind.SIMILAR: "similar to",
    LinkKind.SUPPORTS: "supported by",
    LinkKind.CONTRADICTS: "contradicted by",
    LinkKind.DERIVED_FROM: "source of",
    LinkKind.SUPERSEDES: "superseded by",
}
_HEADED: Final = frozenset({LinkKind.SUPPORTS, LinkKind.CONTRADICTS, LinkKind.DERIVED_FROM, LinkKind.SUPERSEDES})
"""Relations with a direction. The direction of the links from turns follows from the kinds of their ends."""
_MANY_TURNS: Final = 20
"""A link that stands for as many turns is drawn as wide as a relation of weight 1."""


@dataclass(frozen=True, slots=True)
class GraphNode:
    """A node: its title, and the address of the page behind it."""

    id: str
    title: str
    kind: NodeKind
    page: str


@dataclass(frozen=True, slots=True)
class _Graph:
    """A graph to draw. `pairs`: for each edge, the indexes of its source and target in `nodes`."""

    nodes: Sequence[GraphNode]
    edges: Sequence[Link]
    pairs: Sequence[tuple[int, int]]
    arrangement: Arrangement
    focus: str | None


def link_graph(nodes: Sequence[GraphNode], edges: Sequence[Link], *, focus: str | None = None) -> Markup:
    """A figure with a node for each of `nodes`, which leads to its page, and an edge for each link; `focus` is
    highlighted.

    Of more than MOST nodes only `focus` and those with the most links are drawn. Links to other nodes are left out.
    """
    shown = _chosen(nodes, edges, focus)
    if not shown:
        return empty("graph", "Nothing to draw", "Speakers, names and memories appear here once something is recorded.")
    index = {node.id: place for place, node in enumerate(shown)}
    inner = [edge for edge in edges if edge.source in index and edge.target in index and edge.source != edge.target]
    title = f"{counted(len(shown), 'node')}, {counted(len(inner), 'link')}"
    description = _description(shown, inner, len({node.id for node in nodes}), len(edges) - len(inner))
    pairs = [(index[edge.source], index[edge.target]) for edge in inner]
    graph = _Graph(shown, inner, pairs, arranged(len(shown), pairs), focus)
    pictures = [_drawn(graph, WIDE, ContainerWidths.WIDE), _drawn(graph, NARROW, ContainerWidths.NARROW)]
    below = _legend(shown, inner)
    return figure("graph", title=title, description=description, pictures=pictures, below=below, linked=True)


def _chosen(nodes: Sequence[GraphNode], edges: Sequence[Link], focus: str | None) -> list[GraphNode]:
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
        _node(node, points[place], sizes[place], labels.get(place), focused=node.id == focus)
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
        tooltip = f"{nodes[source].title} {WORDS[edge.kind]} {nodes[target].title} ({_extent(edge)})"
        yield _edge(edge, tooltip, (points[source], points[target]), (sizes[source], sizes[target]), bend)


def _edge(edge: Link, tooltip: str, ends: tuple[Point, Point], sizes: tuple[float, float], bend: float) -> Markup:
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


def _head(kind: LinkKind, tip: Point, before: Point) -> Markup:
    """The arrow head of a kind: full for supports, hollow for derived from, a bar for contradicts, two for supersedes,
    and none for the others.
    """
    if kind not in _HEADED:
        return NOTHING
    long = _before(kind) if kind is LinkKind.CONTRADICTS else _HEAD
    at, drawn = _toward(tip, before, long), f"chart-head {_class(kind)}"
    half = _HEAD * 0.55 / long
    across = (tip[1] - at[1]) * half, (at[0] - tip[0]) * half
    left, right = (at[0] + across[0], at[1] + across[1]), (at[0] - across[0], at[1] - across[1])
    if kind is LinkKind.CONTRADICTS:
        return element("path", d=f"M{_place(left)} L{_place(right)}", class_=f"{drawn} chart-bar-head")
    marks = element("path", d=f"M{_place(tip)} L{_place(left)} L{_place(right)} Z", class_=drawn)
    if kind is LinkKind.SUPERSEDES:
        second = _toward(at, before, _HEAD)
        moved = [(x + second[0] - at[0], y + second[1] - at[1]) for x, y in (left, right)]
        back = f"M{_place(at)} L{_place(moved[0])} L{_place(moved[1])} Z"
        marks += element("path", d=back, class_=drawn)
    return marks


def _before(kind: LinkKind) -> float:
    """The distance in pixels from the end of the line to the tip of its arrow head, so that they do not overlap."""
    if kind not in _HEADED:
        return 0.0
    return 3.0 if kind is LinkKind.CONTRADICTS else _HEAD * 0.7


def _node(node: GraphNode, at: Point, size: float, label: Markup | None, *, focused: bool) -> Markup:
    mark = _mark(node.kind, at, size, focused=focused)
    # An invisible larger circle makes the node easier to touch.
    reach = element("circle", cx=at[0], cy=at[1], r=14.0, class_="chart-reach")
    title = element("title", f"{KINDS[node.kind]}: {node.title}")
    return element("a", title, reach, mark, label, href=node.page)


def _mark(kind: NodeKind, at: Point, size: float, *, focused: bool = False) -> Markup:
    """The mark of a kind, which differs in shape too: a disc for a speaker, a square for a conversation or episode, a
    diamond for a name, a ring for a memory.
    """
    drawn = f"chart-node chart-of-{kind}{' chart-focus' if focused else ''}"
    (x, y), half = at, size * 0.9
    match kind:
        case NodeKind.CONVERSATION | NodeKind.EPISODE:
            round_off = half * 0.45 if kind is NodeKind.CONVERSATION else 0.0
            return element("rect", x=x - half, y=y - half, width=2 * half, height=2 * half, rx=round_off, class_=drawn)
        case NodeKind.NAME:
            far = size * 1.15
            path = f"M{_place((x, y - far))} L{_place((x + far, y))} L{_place((x, y + far))} L{_place((x - far, y))} Z"
            return element("path", d=path, class_=drawn)
        case NodeKind.SPEAKER | NodeKind.MEMORY:
            return element("circle", cx=x, cy=y, r=size if kind is NodeKind.SPEAKER else size * 0.75, class_=drawn)


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


def _legend(nodes: Sequence[GraphNode], edges: Sequence[Link]) -> Markup:
    """The kinds of nodes, each in its colour, and the kinds of relations, which differ in their lines."""
    kinds, lines = {node.kind for node in nodes}, {edge.kind for edge in edges if edge.is_relation}
    marks = [(swatch(_mark(kind, (9.0, 7.0), 5.5)), words) for kind, words in KINDS.items() if kind in kinds]
    relations = [(_sample(kind), WORDS[kind]) for kind in LinkKind if kind in lines]
    return key([*marks, *relations], label="Kinds of nodes, and of relations between memories")


def _sample(kind: LinkKind) -> Markup:
    tip, begin = (38.0, 7.0), (1.0, 7.0)
    stop = _toward(tip, begin, _before(kind))
    line = element("path", d=f"M{_place(begin)} L{_place(stop)}", class_=f"chart-edge {_class(kind)}", stroke_width=2.0)
    return swatch(line + _head(kind, tip, begin), width=40.0)


def _description(nodes: Sequence[GraphNode], edges: Sequence[Link], known: int, outside: int) -> str:
    joined_ones = {end for edge in edges for end in (edge.source, edge.target)}
    alone = sum(node.id not in joined_ones for node in nodes)
    kinds = Counter(node.kind for node in nodes)
    parts = [counted(count, words) for kind, words in KINDS.items() if (count := kinds[kind])]
    if alone:
        parts.append(f"{alone} joined to nothing here")
    if known > len(nodes):
        parts.append(f"the {len(nodes)} most connected of {known:,}")
    if outside:
        parts.append(f"{counted(outside, 'link')} to what is not drawn")
    return (", ".join(parts) + ".") if parts else ""


def _class(kind: LinkKind) -> str:
    return f"chart-{kind.value.replace('_', '-')}"


def _weight(edge: Link) -> float:
    """The weight of a relation, or the share that a link's turns are of many, in [0, 1]."""
    weight = finite(edge.weight) or 0.0 if edge.is_relation else edge.turns / _MANY_TURNS
    return min(max(weight, 0.0), 1.0)


def _extent(edge: Link) -> str:
    return f"weight {_weight(edge):.2f}" if edge.is_relation else counted(edge.turns, "turn")


def _toward(begin: Point, end: Point, far: float) -> Point:
    long = math.dist(begin, end) or 1.0
    return begin[0] + (end[0] - begin[0]) * far / long, begin[1] + (end[1] - begin[1]) * far / long


def _place(point: Point) -> str:
    return f"{number(point[0])} {number(point[1])}"
