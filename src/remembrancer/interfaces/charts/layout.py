"""Graph layout: the distance between two nodes approximates the number of edges between them.

Each connected component is laid out by stress majorization (Gansner, Koren and North 2004, "Graph drawing by stress
majorization"), which starts from classical scaling. The components are then put side by side, largest first.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import TYPE_CHECKING, Final

import numpy as np

from remembrancer.errors import InvalidInput
from remembrancer.values import dataclass

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Points = NDArray[np.float64]
    """Shape (nodes, 2): x and y."""

MOST: Final = 200
"""The most nodes of a layout."""
_TURNS, _ITERATIONS = 24, 80
_SETTLED: Final = 0.005
"""Iteration ends when no node moves farther than this, in edge lengths."""
_PUSHES: Final = 60
_SEED: Final = 7
_LEAST_SHRUNK: Final = 0.6
"""A component that is scaled to the width keeps at least this share of its height."""


@dataclass(frozen=True, slots=True)
class Plane:
    """Sizes in pixels: the width available, the wanted length of an edge, the least distance between two nodes, and
    the margins of a component: left and right of it (`beside`), above and below it (`above`).
    """

    width: float
    edge: float
    apart: float
    beside: float
    above: float


@dataclass(frozen=True, slots=True)
class Arrangement:
    """A layout before it is fitted to a width: for each connected component, largest first, the indexes of its nodes
    and their positions around (0, 0), in edge lengths.
    """

    count: int
    parts: tuple[tuple[list[int], Points], ...]


def arranged(count: int, edges: Sequence[tuple[int, int]]) -> Arrangement:
    """Lay out a graph of `count` nodes, independently of the width it will be drawn in. Deterministic.

    `edges` are pairs of indexes below `count`, in any order and direction. Raises InvalidInput for more than MOST nodes
    and for indexes out of range.
    """
    if not 0 <= count <= MOST:
        raise InvalidInput("count", count, f"0 to {MOST} nodes")
    near = _neighbours(count, edges)
    parts = sorted(_parts(near), key=lambda part: (-len(part), part))
    return Arrangement(count, tuple((part, _stress(_distances(part, near))) for part in parts))


def laid_out(graph: Arrangement, room: Plane) -> tuple[Points, float]:
    """The position of each node in pixels, shape (count, 2), and the height of the whole."""
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
    """The sorted nodes of each connected component."""
    parts, seen = list[list[int]](), set[int]()
    for start in range(len(near)):
        if start not in seen:
            reached = sorted(_steps_from(start, near))
            seen.update(reached)
            parts.append(reached)
    return parts


def _steps_from(start: int, near: Sequence[Sequence[int]]) -> dict[int, int]:
    """The number of edges to each node that can be reached."""
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
    """Positions whose distances approximate `distances`, with the weight 1 / distance²."""
    count = len(distances)
    if count == 1:
        return np.zeros((1, 2))
    places = _scaled(distances)
    # Nodes at the same position would never separate, as there is no direction between them.
    places += np.random.default_rng(_SEED).uniform(-0.1, 0.1, places.shape)
    weights = 1.0 / np.square(distances + np.eye(count)) - np.eye(count)
    laplacian = np.diag(weights.sum(axis=1)) - weights
    # Only differences matter, so the first node is fixed at 0 to make the system solvable.
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
    """The distance between each two nodes, and its x and y components."""
    across = places[:, None, 0] - places[None, :, 0]
    down = places[:, None, 1] - places[None, :, 1]
    return np.hypot(across, down), across, down


def _scaled(distances: NDArray[np.float64]) -> Points:
    """Classical multidimensional scaling to two dimensions."""
    squares = np.square(distances)
    centred = -0.5 * (squares - squares.mean(axis=0) - squares.mean(axis=1)[:, None] + squares.mean())
    # Subspace iteration finds the two leading eigenvectors well enough for a start, and much faster than `eigh`.
    axes = np.random.default_rng(_SEED).standard_normal((len(distances), 2))
    lengths = np.zeros((2, 2))
    for _ in range(_TURNS):
        axes, lengths = np.linalg.qr(centred @ axes)
    return axes * np.sqrt(np.abs(np.diag(lengths)))


def _turned(places: Points) -> Points:
    """Rotated so that the longest side is horizontal and the first node is on the upper left."""
    places = places - places.mean(axis=0)
    _, _, axes = np.linalg.svd(places, full_matrices=False)
    turned = places @ axes.T
    return turned * np.where(turned[0] > 0, -1.0, 1.0)


def _fitting(places: Points, room: Plane) -> Points:
    """Rotated by 90° if the available width is narrow, and scaled down if still too wide."""
    across, down = np.ptp(places, axis=0)
    if across > room.width - 2 * room.beside and down < across and room.width < 3 * room.edge + 2 * room.beside:
        places = places[:, ::-1]
        across = down
    shrunk = min((room.width - 2 * room.beside) / max(float(across), 1e-9), 1.0)
    return places * np.array([shrunk, max(shrunk, _LEAST_SHRUNK)])


def _spread(places: Points, room: Plane) -> Points:
    """Push nodes apart until no two are nearer than `apart`, for at most _PUSHES rounds, and keep them in the width."""
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
    """Places components from left to right, in rows as high as their highest component."""

    def __init__(self, room: Plane) -> None:
        self._width, self._margin = room.width, np.array([room.beside, room.above])
        self._left, self._top, self.height = 0.0, 0.0, 0.0
        self._widths, self._counts = list[float](), list[int]()

    def put(self, places: Points) -> Points:
        """The positions, moved to the next free place."""
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
        """The nodes and the width of each row; `parts` in the order in which they were put."""
        waiting = iter(parts)
        for count, width in zip(self._counts, self._widths, strict=True):
            yield [node for part in islice(waiting, count) for node in part], width
