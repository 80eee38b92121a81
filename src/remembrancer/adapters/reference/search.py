"""Search over the rows a reader may see, each number by its definition."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Final
from uuid import UUID

import numpy as np

from remembrancer.adapters.reference.rows import Rows
from remembrancer.adapters.reference.surroundings import Around
from remembrancer.domain.candidates import Candidates
from remembrancer.domain.event import SPEAKERS
from remembrancer.domain.memory import IndexedCue, Memory
from remembrancer.domain.query import Filter, LexicalQuery
from remembrancer.domain.scope import Reader
from remembrancer.errors import InvalidInput
from remembrancer.policies.forgetting.dynamics import microseconds, states_of
from remembrancer.policies.ranking.selection import excluded_by
from remembrancer.ports.store import SearchRequest

K1: Final = 0.9
B: Final = 0.4
BACKGROUND: Final = 100
"""Texts without any of the question's words, counted in beside those there are (decision 0008)."""
NAN: Final = float("nan")


@dataclass(frozen=True, slots=True)
class _Lexical:
    """BM25 and coverage by cue ref; cues that do not match are absent."""

    bm25: Mapping[int, float]
    coverage: Mapping[int, float]
    bound: float
    idf: Mapping[str, float] = field(default_factory=dict[str, float])


@dataclass(frozen=True, slots=True)
class _Found:
    memory: Memory
    cue: int
    similarity: float
    bm25: float
    coverage: float
    best: int
    turn: int
    """The refs of the cue that answers best by both legs, and of the one that does by words alone."""


def search(rows: Rows, reader: Reader, request: SearchRequest) -> Candidates:
    kept = [memory for memory in rows.visible_memories(reader) if not excluded_by(memory, request.where)]
    all_cues = rows.cues_by_memory()
    cues = {memory.id: all_cues.get(memory.id, []) for memory in kept}
    visible_cues = {ref: indexed for pairs in cues.values() for ref, indexed in pairs}

    similarity = _similarities(rows, visible_cues, request)
    lexical = None
    if request.lexical is not None and not request.lexical.is_empty:
        lexical = _lexical(visible_cues, request.lexical)
    found = [_fold(memory, cues[memory.id], similarity, lexical) for memory in kept if cues[memory.id]]

    dense_rank = _ranks(found, {one.memory.id: one.similarity for one in found}, request.depth)
    matched = {one.memory.id: one.bm25 for one in found if one.bm25 > 0}
    lexical_rank = _ranks(found, matched, request.depth)
    around = None
    if request.surroundings and lexical is not None and lexical.idf:
        around = Around(rows, visible_cues, lexical.idf)
    context_rank = {} if around is None else _ranks(found, _in_company(found, cues, around, lexical), request.depth)
    then = sorted((one for one in found if _happened_in(one.memory, request.any_at)), key=_newest_first)
    brought = dense_rank.keys() | lexical_rank.keys() | context_rank.keys()
    brought |= {one.memory.id for one in then[: request.depth]}
    chosen = [one for one in found if one.memory.id in brought]
    chosen.sort(key=_newest_first)
    return Candidates(
        ids=tuple(one.memory.id for one in chosen),
        cue=np.array([one.cue for one in chosen], dtype=np.int32),
        ref=np.array([one.best for one in chosen], dtype=np.int64),
        similarity=np.array([one.similarity for one in chosen], dtype=np.float32),
        bm25=np.array([one.bm25 for one in chosen], dtype=np.float32),
        coverage=np.array([one.coverage for one in chosen], dtype=np.float32),
        dense_rank=np.array([dense_rank.get(one.memory.id, 0) for one in chosen], dtype=np.int32),
        lexical_rank=np.array([lexical_rank.get(one.memory.id, 0) for one in chosen], dtype=np.int32),
        states=states_of([one.memory for one in chosen]),
        bm25_bound=0.0 if lexical is None else lexical.bound,
        visible=len(kept),
        without_vector=_without_vector(rows, cues, request.model),
        surroundings=None
        if around is None or lexical is None
        else around.told(
            [(visible_cues[one.turn], one.turn) for one in chosen],
            [visible_cues[one.best] for one in chosen],
            [context_rank.get(one.memory.id, 0) for one in chosen],
            lexical.bm25,
            request,
        ),
    )


def _happened_in(memory: Memory, times: Sequence[tuple[datetime, datetime]]) -> bool:
    return any(memory.occurred_to >= start and memory.occurred_from < end for start, end in times)


def _in_company(
    found: Sequence[_Found],
    cues: Mapping[UUID, Sequence[tuple[int, IndexedCue]]],
    around: Around,
    lexical: _Lexical | None,
) -> dict[UUID, float]:
    """How much of the question stands in each memory's turns and around them, where anything does."""
    covered: Mapping[int, float] = {} if lexical is None else lexical.coverage
    worth = {
        one.memory.id: max(covered.get(ref, 0.0) + around.nearby(indexed) for ref, indexed in cues[one.memory.id])
        for one in found
    }
    return {memory_id: value for memory_id, value in worth.items() if value > 0}


def participants(rows: Rows, reader: Reader, where: Filter) -> frozenset[str]:
    cues = rows.cues_by_memory()
    named = [
        rows.events[indexed.cue.event_id]
        for memory in rows.visible_memories(reader)
        if not excluded_by(memory, where)
        for _, indexed in cues.get(memory.id, [])
        if indexed.cue.event_id is not None
    ]
    return frozenset(event.actor for event in named if event.actor and event.role in SPEAKERS)


def _similarities(rows: Rows, cues: Mapping[int, IndexedCue], request: SearchRequest) -> dict[int, float]:
    """Cosine by cue ref, for the cues that have a vector of the model."""
    vector = request.given_vector()
    if vector is None:
        return {}
    if request.model is None:
        raise InvalidInput("model", None, "the model of the vector")
    rows.require_dim(request.model, [vector.shape[0]])
    question = vector.astype(np.float64)
    similarity: dict[int, float] = {}
    for ref in cues:
        stored = rows.vectors.get((ref, request.model))
        if stored is not None:
            similarity[ref] = float(np.dot(stored.vector.astype(np.float64), question))
    return similarity


def _lexical(cues: Mapping[int, IndexedCue], query: LexicalQuery) -> _Lexical:
    return _terms(cues, query.terms) if query.terms else _phrase(cues, query.phrase)


def _phrase(cues: Mapping[int, IndexedCue], phrase: tuple[str, ...]) -> _Lexical:
    matching = {ref: 1.0 for ref, indexed in cues.items() if _contains(indexed.tokens, phrase)}
    return _Lexical(bm25=matching, coverage=matching, bound=1.0)


def _contains(tokens: tuple[str, ...], phrase: tuple[str, ...]) -> bool:
    return any(tokens[start : start + len(phrase)] == phrase for start in range(len(tokens)))


def _terms(cues: Mapping[int, IndexedCue], terms: tuple[str, ...]) -> _Lexical:
    """BM25 with the idf that is never negative, over these cues alone.

    Source: Robertson and Zaragoza 2009, with ln(1 + …) as in Lucene.
    """
    if not cues:
        return _Lexical(bm25={}, coverage={}, bound=0.0)
    count = len(cues)
    mean = sum(len(indexed.terms) for indexed in cues.values()) / count
    idf: dict[str, float] = {}
    for term in terms:
        holding = sum(term in indexed.terms for indexed in cues.values())
        idf[term] = math.log(1 + (count + BACKGROUND - holding + 0.5) / (holding + 0.5))
    bm25: dict[int, float] = {}
    coverage: dict[int, float] = {}
    for ref, indexed in cues.items():
        present = [term for term in terms if term in indexed.terms]
        if not present:
            continue
        repeats = Counter(indexed.terms)
        length = 1 - B + B * len(indexed.terms) / mean
        bm25[ref] = sum(idf[term] * repeats[term] * (K1 + 1) / (repeats[term] + K1 * length) for term in present)
        coverage[ref] = sum(idf[term] for term in present) / sum(idf.values())
    return _Lexical(bm25=bm25, coverage=coverage, bound=sum(idf.values()) * (K1 + 1), idf=idf)


def _fold(
    memory: Memory,
    cues: Sequence[tuple[int, IndexedCue]],
    similarity: Mapping[int, float],
    lexical: _Lexical | None,
) -> _Found:
    """A memory by its cues, which come by ordinal: `max` takes the first of equals, so the lowest ordinal."""

    def worth(ref: int) -> float:
        dense = max(similarity.get(ref, 0.0), 0.0)
        words = 0.0 if lexical is None or lexical.bound <= 0 else lexical.bm25.get(ref, 0.0) / lexical.bound
        return dense + words

    refs = [ref for ref, _ in cues]
    best = max(refs, key=worth)
    similarities = [similarity[ref] for ref in refs if ref in similarity]
    bm25, coverage, telling = NAN, NAN, refs[0]
    if lexical is not None:
        telling = max(refs, key=lambda ref: lexical.bm25.get(ref, 0.0))
        bm25, coverage = lexical.bm25.get(telling, 0.0), lexical.coverage.get(telling, 0.0)
    return _Found(
        memory=memory,
        cue=next(indexed.cue.ordinal for ref, indexed in cues if ref == best),
        similarity=max(similarities) if similarities else NAN,
        bm25=bm25,
        coverage=coverage,
        best=best,
        turn=telling,
    )


def _ranks(found: Sequence[_Found], scores: Mapping[UUID, float], depth: int) -> dict[UUID, int]:
    """Rank from 1 of the best `depth`, by the score as the answer reports it (float32): equal there is a tie."""
    present = [one for one in found if not math.isnan(scores.get(one.memory.id, NAN))]
    present.sort(key=lambda one: (-float(np.float32(scores[one.memory.id])), *_newest_first(one)))
    return {one.memory.id: rank for rank, one in enumerate(present[:depth], start=1)}


def _newest_first(one: _Found) -> tuple[int, UUID]:
    return (-microseconds(one.memory.occurred_to), one.memory.id)


def _without_vector(rows: Rows, cues: Mapping[UUID, Sequence[tuple[int, IndexedCue]]], model: str | None) -> int:
    if model is None:
        return 0
    return sum(any((ref, model) not in rows.vectors for ref, _ in pairs) for pairs in cues.values())
