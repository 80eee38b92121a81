"""What the search legs bring before anything is scored."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING
from uuid import UUID

from remembrancer.domain.strength import Exposure

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


@dataclass(frozen=True, slots=True, kw_only=True)
class States:
    """What time and use act on, for several memories: parallel arrays of length n.

    Times in microseconds since 1970 UTC; 0 where it never happened. It happened from `occurred_from` to `occurred_at`,
    both ends belonging to it. `importance`, `importance_floor`, `confidence` in [0, 1]; `priority` 1 to 10; `stability`
    in days; `level` as `domain.scope.Level`.
    `exposed` counts each kind of exposure, `exposed_at` says when the last one was.
    """

    occurred_from: NDArray[np.int64]
    occurred_at: NDArray[np.int64]
    importance: NDArray[np.float32]
    importance_floor: NDArray[np.float32]
    confidence: NDArray[np.float32]
    priority: NDArray[np.int32]
    stability: NDArray[np.float32]
    reviewed_at: NDArray[np.int64]
    level: NDArray[np.int32]
    exposed: Mapping[Exposure, NDArray[np.int32]]
    exposed_at: Mapping[Exposure, NDArray[np.int64]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Surroundings:
    """What stands around each candidate's best turn, as parallel arrays of length n.

    `nearby` in [0, 1]: the share of the question's idf in words that stand not in the turn but in the one next to it,
    and 3/4 of that of words that only the one after that holds, on either side. `session`: the greatest bm25 of any
    turn of its session. `spoken` 1 where one of those asked about speaks, or may, else 0. `marks` as
    `domain.memory.Mark`. `rank` from 1 in the leg that this is, by coverage + nearby; 0 where that leg did not bring
    the row. `stream`: which session its best cue is a turn of, a number that says nothing but which are of the same
    one; -1 for none. `idf`: of each term of the question, in its order.
    """

    nearby: NDArray[np.float32]
    session: NDArray[np.float32]
    spoken: NDArray[np.float32]
    marks: NDArray[np.int32]
    rank: NDArray[np.int32]
    stream: NDArray[np.int32]
    idf: NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidates:
    """What the legs brought: parallel arrays of length n, newest first, then by id. NaN and 0 mean absent.

    `similarity` cosine in [-1, 1]. `bm25` raw, at least 0, comparable within this answer only; `bm25_bound` is what
    no text can exceed for this question. `coverage` in [0, 1]: the share of the question's idf that the best cue holds.
    `dense_rank`, `lexical_rank` from 1; 0 where that leg did not bring the row (it may still have a score).
    `cue` is the ordinal of the best cue, `ref` what the store calls that cue where it is asked for its words.
    """

    ids: tuple[UUID, ...]
    cue: NDArray[np.int32]
    ref: NDArray[np.int64]
    similarity: NDArray[np.float32]
    bm25: NDArray[np.float32]
    coverage: NDArray[np.float32]
    dense_rank: NDArray[np.int32]
    lexical_rank: NDArray[np.int32]
    states: States
    bm25_bound: float
    visible: int
    """How many memories passed the filter."""
    without_vector: int
    """How many of those await an index sweep for `model`."""
    surroundings: Surroundings | None = None
    """None where they were not asked for, there is no term to look for, or nothing to look in."""
