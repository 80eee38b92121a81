"""Exact search over a few memories: each score follows from its definition. The simple and the textbook index
use it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Hashable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final, Protocol
from uuid import UUID

import numpy as np

from remembrancer.domain.candidates import Candidates, ContextFeatures, States
from remembrancer.domain.preference import Stated
from remembrancer.errors import EmbedderMismatch
from remembrancer.ports.index import Bm25, SearchRequest
from remembrancer.values import dataclass

if TYPE_CHECKING:
    from numpy.typing import NDArray

NAN: Final = float("nan")


@dataclass(frozen=True, slots=True)
class ExactCue:
    """A cue. `terms`: count of each term; `length`: number of terms; `vector`: of the requested model."""

    ref: int
    ordinal: int
    terms: Mapping[Any, int]
    length: int
    vector: NDArray[np.float32] | None


@dataclass(frozen=True, slots=True)
class ExactMemory:
    """A memory. `cues`: in the order of their ordinals. `then`: it happened in one of the requested periods. `stated`:
    whether it states a preference.
    """

    id: UUID
    cues: Sequence[ExactCue]
    then: bool
    stated: Stated = Stated.NOTHING


@dataclass(frozen=True, slots=True)
class ExactScores:
    """BM25 and coverage by cue number; cues that do not match are absent. `idf`: of each term, in the order of the
    query.
    """

    bm25: Mapping[int, float]
    coverage: Mapping[int, float]
    bound: float
    idf: Sequence[float] = ()


@dataclass(frozen=True, slots=True)
class FoundMemory:
    """A memory with its scores. `best`: the cue with the best sum of both searches; `telling`: the cue with the best
    BM25.
    """

    memory: ExactMemory
    similarity: float
    bm25: float
    coverage: float
    best: ExactCue
    telling: ExactCue


class ContextLeg(Protocol):
    def worth(self, memory: ExactMemory) -> float:
        """The coverage of the query by one of the memory's turns and its neighbours; 0 for none."""
        ...

    def context_features(self, chosen: Sequence[FoundMemory], ranks: Sequence[int]) -> ContextFeatures: ...


def bm25(memories: Sequence[ExactMemory], terms: Sequence[Hashable], numbers: Bm25) -> ExactScores:
    """BM25 over the cues of these memories alone, as `ports.index.Bm25` defines it."""
    cues = [cue for memory in memories for cue in memory.cues]
    if not cues:
        return ExactScores({}, {}, 0.0)
    mean = sum(cue.length for cue in cues) / len(cues)
    holding = {term: sum(term in cue.terms for cue in cues) for term in terms}
    idf = {term: math.log(1 + (len(cues) + numbers.background - n + 0.5) / (n + 0.5)) for term, n in holding.items()}
    scores: dict[int, float] = {}
    coverage: dict[int, float] = {}
    for cue in cues:
        present = {term: cue.terms[term] for term in terms if term in cue.terms}
        if present:
            k = numbers.k1 * (1 - numbers.b + numbers.b * cue.length / mean)
            scores[cue.ref] = sum(idf[term] * n * (numbers.k1 + 1) / (n + k) for term, n in present.items())
            coverage[cue.ref] = sum(idf[term] for term in present) / sum(idf.values())
    return ExactScores(scores, coverage, sum(idf.values()) * (numbers.k1 + 1), tuple(idf.values()))


def answer(
    memories: Sequence[ExactMemory],
    request: SearchRequest,
    vector: NDArray[np.float32] | None,
    lexical: ExactScores | None,
    *,
    states: Callable[[Collection[UUID]], States],
    context: ContextLeg | None = None,
) -> Candidates:
    """The answer of an index that computes every score exactly.

    `memories`: all that the reader may see and the filter keeps, newest first, then by id. `states`: returns the states
    of memories by id.

    Raises EmbedderMismatch for a vector of another dimension than a cue's.
    """
    found = [_fold(memory, _cosines(memory, vector), lexical) for memory in memories if memory.cues]
    dense_rank = _ranks(found, lambda one: one.similarity, request.depth)
    lexical_rank = _ranks(found, lambda one: one.bm25 or NAN, request.depth)
    context_rank = {} if context is None else _ranks(found, lambda one: context.worth(one.memory) or NAN, request.depth)
    then = [one.memory.id for one in found if one.memory.then][: request.depth]
    stated = [one.memory.id for one in found if request.preferences and one.memory.stated][: request.depth]
    brought = {*dense_rank, *lexical_rank, *context_rank, *then, *stated}
    chosen = [one for one in found if one.memory.id in brought]
    ids = tuple(one.memory.id for one in chosen)
    return Candidates(
        ids=ids,
        cue=np.array([one.best.ordinal for one in chosen], dtype=np.int32),
        ref=np.array([one.best.ref for one in chosen], dtype=np.int64),
        similarity=np.array([one.similarity for one in chosen], dtype=np.float32),
        bm25=np.array([one.bm25 for one in chosen], dtype=np.float32),
        coverage=np.array([one.coverage for one in chosen], dtype=np.float32),
        dense_rank=np.array([dense_rank.get(one, 0) for one in ids], dtype=np.int32),
        lexical_rank=np.array([lexical_rank.get(one, 0) for one in ids], dtype=np.int32),
        states=states(ids),
        bm25_bound=0.0 if lexical is None else lexical.bound,
        visible=len(memories),
        without_vector=0
        if request.model is None
        else sum(any(cue.vector is None for cue in memory.cues) for memory in memories),
        idf=np.array(lexical.idf) if lexical is not None and lexical.idf else None,
        preferences=np.array([one.memory.stated for one in chosen], dtype=np.int8) if request.preferences else None,
        context_features=None
        if context is None
        else context.context_features(chosen, [context_rank.get(one, 0) for one in ids]),
    )


def _cosines(memory: ExactMemory, vector: NDArray[np.float32] | None) -> dict[int, float]:
    """Cosine similarities by cue number, for the cues that have a vector."""
    cosines: dict[int, float] = {}
    for cue in memory.cues:
        if vector is not None and cue.vector is not None:
            if len(cue.vector) != len(vector):
                raise EmbedderMismatch(f"the question's vector has {len(vector)} dimensions, not {len(cue.vector)}")
            cosines[cue.ref] = float(np.dot(cue.vector.astype(np.float64), vector.astype(np.float64)))
    return cosines


def _fold(memory: ExactMemory, cosines: Mapping[int, float], lexical: ExactScores | None) -> FoundMemory:
    """The scores of a memory from those of its cues. Of equal cues the one with the lowest ordinal counts."""
    scores: Mapping[int, float] = {} if lexical is None else lexical.bm25
    bound = lexical.bound if lexical is not None and lexical.bound > 0 else 1.0
    telling = max(memory.cues, key=lambda cue: scores.get(cue.ref, 0.0))
    return FoundMemory(
        memory=memory,
        similarity=max(cosines.values(), default=NAN),
        bm25=NAN if lexical is None else lexical.bm25.get(telling.ref, 0.0),
        coverage=NAN if lexical is None else lexical.coverage.get(telling.ref, 0.0),
        best=max(memory.cues, key=lambda cue: max(cosines.get(cue.ref, 0.0), 0.0) + scores.get(cue.ref, 0.0) / bound),
        telling=telling,
    )


def _ranks(found: Sequence[FoundMemory], score: Callable[[FoundMemory], float], depth: int) -> dict[UUID, int]:
    """The ranks, from 1, of the best `depth` memories by score. Scores are compared as float32, as they are reported;
    among equals the newest memory comes first. A memory with the score NaN has no rank.
    """
    scores = [(-float(np.float32(score(one))), one.memory.id) for one in found]
    present = sorted((one for one in scores if not math.isnan(one[0])), key=lambda one: one[0])
    return {memory_id: rank for rank, (_, memory_id) in enumerate(present[:depth], start=1)}
