"""Where the nodes of a graph stand: as far apart as they are joined by edges, as nearly as a plane allows.

Each connected part is laid out by stress majorization (Gansner, Koren and North 2004, "Graph drawing by stress
majorization"), begun from classical scaling; the parts are then put side by side, what is joined to nothing last.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, Final

import numpy as np

from remembrancer.errors import InvalidInput

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Points = NDArray[np.float64]
    """Shape (nodes, 2): across and down."""

MOST: Final = 200
"""Nodes."""
_TURNS, _ITERATIONS = 24, 80
_SETTLED: Final = 0.005
"""Of the length of an edge: what moves less, stays."""
_PUSHES: Final = 60
_SEED: Final = 7
_LEAST_SHRUNK: Final = 0.6
"""Of what is too wide, no more than that is taken off its height."""


@dataclass(frozen=True, slots=True)
class Room:
    """Pixels: the width there is, how long an edge would best be, how far two nodes are apart at least, and what is
    left free beside a part of the graph, and above and below it.
    """

    width: float
    edge: float
    apart: float
    beside: float
    above: float


@dataclass(frozen=True, slots=True)
class Arrangement:
    """How a graph lies in a plane without bounds: the indexes of each connected part, the greatest first, and the
    places of its nodes, in lengths of an edge, around (0, 0).
    """

    count: int
    parts: tuple[tuple[list[int], Points], ...]


def arranged(count: int, edges: Sequence[tuple[int, int]]) -> Arrangement:
    """Lay out a graph, once for all rooms it is to be drawn in.

    `edges` are pairs of indexes below `count`, in any order and direction. The same input has the same places. Raises
    InvalidInput for more than MOST nodes and for edges of nodes that there are not.
    """
    if not 0 <= count <= MOST:
        raise InvalidInput("count", count, f"0 to {MOST} nodes")
    near = _neighbours(count, edges)
    parts = sorted(_parts(near), key=lambda part: (-len(part), part))
    return Arrangement(count, tuple((part, _stress(_distances(part, near))) for part in parts))


def laid_out(graph: Arrangement, room: Room) -> tuple[Points, float]:
    """The place of each node in pixels, shape (count, 2), and the height that all take."""
    places = np.zeros((graph.count, 2))
    shelves = _Shelves(room)
    for part, own in graph.parts:
        places[part] = shelves.put(_spread(_fitting(own * room.edge, room), room))
    for row, width in shelves.rows([part for part, _ in graph.parts]):
        places[row, 0] += (room.width - width) / 2
    return places, shelves.height


def _neighbours(count: int, edges: Sequence[tuple[int, int]]) -> list[list[int]]:
    near: list[set[int]] = [set() for _ in range(count)]
    for source, target in edges:
        if not (0 <= source < count and 0 <= target < count):
            raise InvalidInput("edges", (source, target), f"pairs of indexes from 0 to {count - 1}")
        if source != target:
            near[source].add(target)
            near[target].add(source)
    return [sorted(each) for each in near]


def _parts(near: Sequence[Sequence[int]]) -> list[list[int]]:
    """The nodes of each connected part, in their order."""
    parts, seen = list[list[int]](), set[int]()
    for start in range(len(near)):
        if start not in seen:
            reached = sorted(_steps_from(start, near))
            seen.update(reached)
            parts.append(reached)
    return parts


def _steps_from(start: int, near: Sequence[Sequence[int]]) -> dict[int, int]:
    """How many edges away each node is that can be reached."""
    steps, waiting = {start: 0}, deque([start])
    while waiting:
        node = waiting.popleft()
        for other in near[node]:
            if other not in steps:
                steps[other] = steps[node] + 1
                waiting.append(other)
    return steps


def _distances(part: Sequence[int], near: Sequence[Sequence[int]]) -> NDArray[np.float64]:
    steps = [_steps_from(node, near) for node in part]
    return np.array([[steps[row][node] for node in part] for row in range(len(part))], dtype=np.float64)


def _stress(distances: NDArray[np.float64]) -> Points:
    """Places whose distances are as near to those asked for as can be, near ones weighing more (1 / distance²)."""
    count = len(distances)
    if count == 1:
        return np.zeros((1, 2))
    places = _scaled(distances)
    # What stands in one place would never part: there is no direction to go.
    places += np.random.default_rng(_SEED).uniform(-0.1, 0.1, places.shape)
    weights = 1.0 / np.square(distances + np.eye(count)) - np.eye(count)
    laplacian = np.diag(weights.sum(axis=1)) - weights
    # Solvable with the first node held at 0: only differences count.
    inverse = np.linalg.inv(laplacian[1:, 1:])
    wanted = weights * distances
    for _ in range(_ITERATIONS):
        apart, _, _ = _between(places)
        ratio = wanted / np.maximum(apart, 1e-9)
        np.fill_diagonal(ratio, 0.0)
        pulled = ratio.sum(axis=1)[:, None] * places - ratio @ places
        moved = np.vstack([np.zeros((1, 2)), inverse @ pulled[1:]])
        settled = np.abs(moved - places).max() < _SETTLED
        places = moved
        if settled:
            break
    return _turned(places)


def _between(places: Points) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
    """How far each two are apart, across and down."""
    across = places[:, None, 0] - places[None, :, 0]
    down = places[:, None, 1] - places[None, :, 1]
    return np.hypot(across, down), across, down


def _scaled(distances: NDArray[np.float64]) -> Points:
    """Classical multidimensional scaling: the two axes along which most is apart."""
    squares = np.square(distances)
    centred = -0.5 * (squares - squares.mean(axis=0) - squares.mean(axis=1)[:, None] + squares.mean())
    # The two axes by turning two at random again and again: near enough for a beginning, and far sooner than all axes.
    axes = np.random.default_rng(_SEED).standard_normal((len(distances), 2))
    lengths = np.zeros((2, 2))
    for _ in range(_TURNS):
        axes, lengths = np.linalg.qr(centred @ axes)
    return axes * np.sqrt(np.abs(np.diag(lengths)))


def _turned(places: Points) -> Points:
    """With the longest side across, and the first node to the left and above: an axis has no sign of its own."""
    places = places - places.mean(axis=0)
    _, _, axes = np.linalg.svd(places, full_matrices=False)
    turned = places @ axes.T
    return turned * np.where(turned[0] > 0, -1.0, 1.0)


def _fitting(places: Points, room: Room) -> Points:
    """Turned upright in a narrow room, and made smaller where it is still too wide."""
    across, down = np.ptp(places, axis=0)
    if across > room.width - 2 * room.beside and down < across and room.width < 3 * room.edge + 2 * room.beside:
        places = places[:, ::-1]
        across = down
    shrunk = min((room.width - 2 * room.beside) / max(float(across), 1e-9), 1.0)
    return places * np.array([shrunk, max(shrunk, _LEAST_SHRUNK)])


def _spread(places: Points, room: Room) -> Points:
    """Pushed apart until no two are nearer than `apart`, or long enough; none leaves the width."""
    half = (room.width - 2 * room.beside) / 2
    places = places - (places.max(axis=0) + places.min(axis=0)) / 2
    for _ in range(_PUSHES):
        apart, across, down = _between(places)
        np.fill_diagonal(apart, np.inf)
        if apart.min() >= room.apart:
            break
        push = 0.35 * np.maximum(room.apart - apart, 0.0) / np.maximum(apart, 1e-9)
        places = places + np.column_stack([(push * across).sum(axis=1), (push * down).sum(axis=1)])
        places[:, 0] = np.clip(places[:, 0], -half, half)
    return places


class _Shelves:
    """Parts side by side, from the left, in rows as high as their highest."""

    def __init__(self, room: Room) -> None:
        self._width, self._margin = room.width, np.array([room.beside, room.above])
        self._left, self._top, self.height = 0.0, 0.0, 0.0
        self._widths, self._counts = list[float](), list[int]()

    def put(self, places: Points) -> Points:
        """The places moved to where there is room."""
        across, down = np.ptp(places, axis=0) + 2 * self._margin
        if not self._counts or self._left + across > self._width + 1e-6:
            self._left, self._top = 0.0, self.height
            self._widths.append(0.0)
            self._counts.append(0)
        moved = places - places.min(axis=0) + self._margin + np.array([self._left, self._top])
        self._left += float(across)
        self._widths[-1] = self._left
        self._counts[-1] += 1
        self.height = max(self.height, self._top + float(down))
        return moved

    def rows(self, parts: Sequence[Sequence[int]]) -> Iterator[tuple[list[int], float]]:
        """The nodes of each row, and its width; `parts` in the order they were put."""
        waiting = iter(parts)
        for count, width in zip(self._counts, self._widths, strict=True):
            yield [node for part in islice(waiting, count) for node in part], width
