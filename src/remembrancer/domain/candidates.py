"""The candidates that an index returns for a question, before scoring."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field
from typing import TYPE_CHECKING
from uuid import UUID

from remembrancer.domain.strength import Exposure
from remembrancer.values import dataclass

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


@dataclass(frozen=True, slots=True, kw_only=True)
class States:
    """The changeable state of several memories: parallel arrays of length n.

    Times are microseconds since 1970 UTC, 0 for never. A memory's time span is from `occurred_from` to `occurred_at`,
    both included. `importance`, `importance_floor` and `confidence` are in [0, 1]; `priority` is 1 to 10; `stability`
    is in days; `level` is a `domain.scope.Level`. `exposed` counts the exposures of each kind; `exposed_at` is the time
    of the last. `worked` and `failed` are those of a memory's Usage, at least 0.
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
    worked: NDArray[np.float32]
    failed: NDArray[np.float32]
    exposed: Mapping[Exposure, NDArray[np.int32]]
    exposed_at: Mapping[Exposure, NDArray[np.int64]]


@dataclass(frozen=True, slots=True, kw_only=True)
class ContextFeatures:
    """Context features of each candidate's best turn: parallel arrays of length n.

    - `neighbour_coverage`, in [0, 1]: the share of the question's idf in terms that the turn lacks and an adjacent turn
      has; terms found only two turns away count 3/4.
    - `session`: the greatest bm25 of any turn of the turn's session.
    - `speaker_match`: 1 if the turn's speaker or role is, or may be, one that the question asks about, else 0.
    - `flags`: flags of the cue, as `domain.memory.CueFlag`.
    - `rank`: from 1, by coverage + `neighbour_coverage`; 0 if this search did not return the candidate.
    - `stream`: the number of the best cue's session; -1 without a session.
    """

    neighbour_coverage: NDArray[np.float32]
    session: NDArray[np.float32]
    speaker_match: NDArray[np.float32]
    flags: NDArray[np.int32]
    rank: NDArray[np.int32]
    stream: NDArray[np.int32]


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidates:
    """The candidates for a question: parallel arrays of length n, newest first, then by id. NaN and rank 0 mean absent.

    `similarity`: cosine in [-1, 1]. `bm25`: at least 0, comparable within this answer only; no text can exceed
    `bm25_bound` for this question. `coverage`, in [0, 1]: the share of the question's idf in the best cue.
    `dense_rank`, `lexical_rank`: from 1; 0 if that search did not return the candidate, which may still have a score.
    `cue`: the ordinal of the best cue; `ref`: the store's id of that cue.
    """

    ids: Sequence[UUID]
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
    """The number of memories that the filter kept."""
    without_vector: int
    """The number of visible memories with a cue that has no vector yet."""
    context_features: ContextFeatures | None = None
    """None if not requested, the question has no term, or there are no cues."""
    degraded: Mapping[str, str] = field(default_factory=dict[str, str])
    """The parts that did not work, by name, with the reason, as in `Recall.degraded`."""
    idf: NDArray[np.float64] | None = None
    """The inverse document frequency of each term of the question, in order. None without terms, or if the index does
    not return them.
    """
    preferences: NDArray[np.int8] | None = None
    """`domain.preference.Stated` of each memory. None if not requested."""
    has_left_out_tags: bool | None = None
    """Whether any memory of the workspace, of any reader and time, has a tag that the filter leaves out. None: the
    index does not know.
    """
