"""The textbook index: over the textbook store's rows, each number by its definition. What other indexes agree with."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import field
from datetime import datetime
from itertools import pairwise
from typing import TYPE_CHECKING, Final
from uuid import UUID

import numpy as np

from remembrancer.adapters.reference.rows import Rows
from remembrancer.adapters.reference.view import ReferenceView
from remembrancer.domain.candidates import Candidates, ContextFeatures
from remembrancer.domain.event import SPEAKERS
from remembrancer.domain.memory import IndexedCue, Memory
from remembrancer.domain.query import Filter, LexicalQuery
from remembrancer.domain.scope import Reader, Scope
from remembrancer.index.context import RULES
from remembrancer.index.postings import BM25
from remembrancer.policies.forgetting.dynamics import microseconds, states_of
from remembrancer.policies.ranking.selection import excluded_by
from remembrancer.ports.changes import ChangeFeed
from remembrancer.ports.index import Capabilities, SearchRequest
from remembrancer.values import dataclass

if TYPE_CHECKING:
    from numpy.typing import NDArray

NAN: Final = float("nan")


class TextbookIndex:
    """Keeps nothing: every answer is worked out anew. It reads the rows of a `ReferenceStore`, and of no other."""

    @property
    def capabilities(self) -> Capabilities:
        return Capabilities(bm25=BM25, phrases=True, context=RULES, token_embeddings=True)

    def search(self, feed: ChangeFeed, reader: Reader, request: SearchRequest) -> TextbookSearch:
        return TextbookSearch(_rows(feed, reader), reader, request)

    def participants(self, feed: ChangeFeed, reader: Reader, where: Filter, *, model: str | None) -> frozenset[str]:
        rows = _rows(feed, reader)
        cues = rows.cues_by_memory()
        events = [
            rows.event_of(indexed.cue)
            for memory in rows.visible_memories(reader)
            if not excluded_by(memory, where)
            for _, indexed in cues.get(memory.id, [])
        ]
        return frozenset(event.actor for event in events if event and event.actor and event.role in SPEAKERS)

    def token_embeddings(
        self, feed: ChangeFeed, reader: Reader, model: str, refs: Sequence[int]
    ) -> Mapping[int, NDArray[np.uint8]]:
        rows = _rows(feed, reader)
        cues = {ref: rows.cues[ref].cue for ref in refs if ref in rows.cues}
        seen = [ref for ref, cue in cues.items() if rows.visible(reader, cue.memory_id) is not None]
        return feed.token_embeddings(reader.scope, model, seen)

    async def close(self) -> None:
        """Nothing is open."""


@dataclass(frozen=True, slots=True)
class TextbookSearch:
    rows: Rows
    reader: Reader
    request: SearchRequest

    def candidates(self, vector: NDArray[np.float32] | None = None) -> Candidates:
        self.request.require_model(vector)
        return _search(self.rows, self.reader, self.request, vector)


def _rows(feed: ChangeFeed, reader: Reader) -> Rows:
    if not isinstance(feed, ReferenceView):
        raise TypeError(f"the textbook index reads the textbook store, not {type(feed).__name__}")
    return feed.rows(reader.scope)


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
    """The refs of the cue that answers best by both legs, and of the best lexical-only one."""


def _search(rows: Rows, reader: Reader, request: SearchRequest, vector: NDArray[np.float32] | None) -> Candidates:
    kept = [memory for memory in rows.visible_memories(reader) if not excluded_by(memory, request.where)]
    all_cues = rows.cues_by_memory()
    cues = {memory.id: all_cues.get(memory.id, []) for memory in kept}
    visible_cues = {ref: indexed for pairs in cues.values() for ref, indexed in pairs}

    similarity = _similarities(rows, visible_cues, request.model, vector)
    lexical = None if request.lexical is None else _lexical(visible_cues, request.lexical)
    found = [_fold(memory, cues[memory.id], similarity, lexical) for memory in kept if cues[memory.id]]

    dense_rank = _ranks(found, {one.memory.id: one.similarity for one in found}, request.depth)
    matched = {one.memory.id: one.bm25 for one in found if one.bm25 > 0}
    lexical_rank = _ranks(found, matched, request.depth)
    around = None
    if request.context_features and lexical is not None and lexical.idf:
        around = _Around(rows, visible_cues, lexical.idf)
    context_rank = {} if around is None else _ranks(found, _in_context(found, cues, around, lexical), request.depth)
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
        idf=np.array(list(lexical.idf.values())) if lexical is not None and lexical.idf else None,
        context_features=None
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


def _in_context(
    found: Sequence[_Found],
    cues: Mapping[UUID, Sequence[tuple[int, IndexedCue]]],
    around: _Around,
    lexical: _Lexical | None,
) -> dict[UUID, float]:
    """How much of the question stands in each memory's turns and around them, where anything does."""
    covered: Mapping[int, float] = {} if lexical is None else lexical.coverage
    worth = {
        one.memory.id: max(
            covered.get(ref, 0.0) + around.neighbour_coverage(indexed) for ref, indexed in cues[one.memory.id]
        )
        for one in found
    }
    return {memory_id: value for memory_id, value in worth.items() if value > 0}


def _similarities(
    rows: Rows, cues: Mapping[int, IndexedCue], model: str | None, vector: NDArray[np.float32] | None
) -> dict[int, float]:
    """Cosine by cue ref, for the cues that have a vector of the model."""
    if vector is None or model is None:
        return {}
    rows.require_dim(model, [vector.shape[0]])
    question = vector.astype(np.float64)
    similarity: dict[int, float] = {}
    for ref in cues:
        stored = rows.vectors.get((ref, model))
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
    """BM25 over these cues alone, as `ports.index.Bm25` defines it."""
    if not cues:
        return _Lexical(bm25={}, coverage={}, bound=0.0)
    count = len(cues)
    mean = sum(len(indexed.terms) for indexed in cues.values()) / count
    idf: dict[str, float] = {}
    for term in terms:
        holding = sum(term in indexed.terms for indexed in cues.values())
        idf[term] = math.log(1 + (count + BM25.background - holding + 0.5) / (holding + 0.5))
    bm25: dict[int, float] = {}
    coverage: dict[int, float] = {}
    for ref, indexed in cues.items():
        present = [term for term in terms if term in indexed.terms]
        if not present:
            continue
        repeats = Counter(indexed.terms)
        length = 1 - BM25.b + BM25.b * len(indexed.terms) / mean
        bm25[ref] = sum(
            idf[term] * repeats[term] * (BM25.k1 + 1) / (repeats[term] + BM25.k1 * length) for term in present
        )
        coverage[ref] = sum(idf[term] for term in present) / sum(idf.values())
    return _Lexical(bm25=bm25, coverage=coverage, bound=sum(idf.values()) * (BM25.k1 + 1), idf=idf)


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


class _Around:
    """The turns of a workspace in the order of their streams, and of each the terms that the reader may see."""

    def __init__(self, rows: Rows, visible: Mapping[int, IndexedCue], idf: Mapping[str, float]) -> None:
        self._rows = rows
        self._idf = idf
        self._terms: dict[UUID, set[str]] = {}
        self._briefly: dict[UUID, set[str]] = {}
        """Those of the cues that are brief."""
        self._beside: dict[UUID, list[UUID]] = {}
        turns: set[UUID] = set()
        for ref, indexed in rows.cues.items():
            event_id = indexed.cue.event_id
            if event_id is not None:
                turns.add(event_id)
                told = idf.keys() & set(indexed.terms) if ref in visible else set[str]()
                self._terms.setdefault(event_id, set()).update(told)
                brief = len(indexed.terms) <= RULES.brief_terms
                self._briefly.setdefault(event_id, set()).update(told if brief else ())
        in_order = sorted((rows.events[turn] for turn in turns), key=lambda event: event.seq)
        for scope in {event.scope for event in in_order}:
            for one, other in pairwise(event for event in in_order if event.scope == scope):
                if abs(other.occurred_at - one.occurred_at) <= RULES.gap:
                    self._beside.setdefault(one.id, []).append(other.id)
                    self._beside.setdefault(other.id, []).append(one.id)

    def neighbour_coverage(self, indexed: IndexedCue) -> float:
        """The share of the question's idf that stands around the cue's turn and not in it."""
        turn = indexed.cue.event_id
        if turn is None:
            return 0.0
        beside = self._beside.get(turn, [])
        farther = {two for one in beside for two in self._beside[one]}
        near = {term for one in beside for term in self._briefly[one]} - self._terms[turn]
        far = {term for two in farther for term in self._briefly[two]} - self._terms[turn] - near
        worth = sum(self._idf[term] for term in near) + RULES.next_but_one * sum(self._idf[term] for term in far)
        return worth / sum(self._idf.values())

    def told(
        self,
        turns: Sequence[tuple[IndexedCue, int]],
        best: Sequence[IndexedCue],
        ranks: Sequence[int],
        bm25: Mapping[int, float],
        request: SearchRequest,
    ) -> ContextFeatures:
        """Of each candidate its turn, with its ref, its best cue, and its rank in this leg."""
        return ContextFeatures(
            neighbour_coverage=np.array([self.neighbour_coverage(turn) for turn, _ in turns], dtype=np.float32),
            session=np.array([self._session(turn, ref, bm25) for turn, ref in turns], dtype=np.float32),
            speaker_match=np.array([self._speaker_match(cue, request) for cue in best], dtype=np.float32),
            flags=np.array([int(cue.flags) for cue in best], dtype=np.int32),
            rank=np.array(ranks, dtype=np.int32),
            stream=self._streams(best),
        )

    def _streams(self, best: Sequence[IndexedCue]) -> NDArray[np.int32]:
        numbers: dict[Scope, int] = {}
        events = [self._rows.event_of(cue.cue) for cue in best]
        return np.array(
            [
                -1 if event is None or event.scope.session is None else numbers.setdefault(event.scope, len(numbers))
                for event in events
            ],
            dtype=np.int32,
        )

    def _session(self, indexed: IndexedCue, ref: int, bm25: Mapping[int, float]) -> float:
        event = self._rows.event_of(indexed.cue)
        if event is None or event.scope.session is None:
            return bm25.get(ref, 0.0)
        return max(
            (
                score
                for other, score in bm25.items()
                if (speaker_match := self._rows.event_of(self._rows.cues[other].cue)) is not None
                and speaker_match.scope == event.scope
            ),
            default=0.0,
        )

    def _speaker_match(self, indexed: IndexedCue, request: SearchRequest) -> bool:
        event = self._rows.event_of(indexed.cue)
        if event is None:
            return bool(request.roles)
        if event.role not in SPEAKERS:
            return False
        return event.actor in request.speakers or event.role in request.roles
