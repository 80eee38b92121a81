"""The textbook index: computes each score by its definition, over a reference store. Other indexes are compared with
it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING
from uuid import UUID

import numpy as np

from remembrancer.adapters.reference.rows import Rows
from remembrancer.adapters.reference.view import ReferenceView
from remembrancer.domain.candidates import Candidates, ContextFeatures
from remembrancer.domain.event import SPEAKERS
from remembrancer.domain.instants import micros
from remembrancer.domain.memory import IndexedCue
from remembrancer.domain.preference import stated
from remembrancer.domain.query import Filter, LexicalQuery
from remembrancer.domain.scope import Reader, Scope
from remembrancer.domain.selection import excluded_by
from remembrancer.index.context import RULES
from remembrancer.index.postings import BM25
from remembrancer.ports.changes import ChangeFeed
from remembrancer.ports.index import Capabilities, SearchRequest
from remembrancer.ports.states import states_of
from remembrancer.testing.exact import ExactCue, ExactMemory, ExactScores, FoundMemory, answer, bm25
from remembrancer.values import dataclass

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from remembrancer.domain.scope import Scope
    from remembrancer.ports.store import Store


class TextbookIndex:
    """An index without any state: every answer is computed from the rows. It reads only the rows of a
    `ReferenceStore`.
    """

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

    async def save(self, store: Store) -> None:
        """Does nothing: it has no files."""

    def prepare(self, model: str, dim: int) -> None:
        """Does nothing: every search reads the records."""

    async def purge(self, store: Store, scope: Scope) -> str:
        return ""

    async def close(self) -> None:
        """Does nothing: there is nothing to release."""


@dataclass(frozen=True, slots=True)
class TextbookSearch:
    rows: Rows
    reader: Reader
    request: SearchRequest

    def candidates(self, vector: NDArray[np.float32] | None = None) -> Candidates:
        rows, request = self.rows, self.request
        request.require_model(vector)
        if vector is not None and request.model is not None:
            rows.require_dim(request.model, [vector.shape[0]])
        kept = [memory for memory in rows.visible_memories(self.reader) if not excluded_by(memory, request.where)]
        kept.sort(key=lambda memory: (-micros(memory.occurred_to), memory.id))
        cues = rows.cues_by_memory()
        memories = [
            ExactMemory(
                memory.id,
                [_exact(rows, ref, indexed, request.model) for ref, indexed in cues.get(memory.id, [])],
                any(memory.occurred_to >= start and memory.occurred_from < end for start, end in request.any_at),
                stated(memory.kind, memory.tags),
            )
            for memory in kept
        ]
        lexical = _lexical(rows, memories, request.lexical)
        around = (
            _Around(rows, memories, lexical, request) if request.context_features and lexical and lexical.idf else None
        )
        return answer(
            memories,
            request,
            vector,
            lexical,
            states=lambda ids: states_of([rows.memories[one] for one in ids]),
            context=around,
        )


def _rows(feed: ChangeFeed, reader: Reader) -> Rows:
    if not isinstance(feed, ReferenceView):
        raise TypeError(f"the textbook index reads the textbook store, not {type(feed).__name__}")
    return feed.rows(reader.scope)


def _exact(rows: Rows, ref: int, indexed: IndexedCue, model: str | None) -> ExactCue:
    stored = None if model is None else rows.vectors.get((ref, model))
    terms = Counter(indexed.terms)
    return ExactCue(ref, indexed.cue.ordinal, terms, len(indexed.terms), None if stored is None else stored.vector)


def _lexical(rows: Rows, memories: Sequence[ExactMemory], query: LexicalQuery | None) -> ExactScores | None:
    if query is None or query.terms:
        return None if query is None else bm25(memories, query.terms, BM25)
    told = {cue.ref: rows.cues[cue.ref].tokens for memory in memories for cue in memory.cues}
    matching = {ref: 1.0 for ref, tokens in told.items() if _contains(tokens, query.phrase)}
    return ExactScores(matching, matching, 1.0)


def _contains(tokens: tuple[str, ...], phrase: tuple[str, ...]) -> bool:
    return any(tokens[start : start + len(phrase)] == phrase for start in range(len(tokens)))


class _Around:
    """The turns of a workspace in the order of their streams, with those of their terms that the reader may see."""

    def __init__(
        self, rows: Rows, memories: Sequence[ExactMemory], lexical: ExactScores, request: SearchRequest
    ) -> None:
        self._rows = rows
        self._lexical = lexical
        self._request = request
        asked = () if request.lexical is None else request.lexical.terms
        self._idf = dict(zip(asked, lexical.idf, strict=True))
        self._terms: dict[UUID, set[str]] = {}
        self._briefly: dict[UUID, set[str]] = {}
        """The same terms by turn, from short cues only."""
        self._beside: dict[UUID, list[UUID]] = {}
        visible = {cue.ref for memory in memories for cue in memory.cues}
        turns: set[UUID] = set()
        for ref, indexed in rows.cues_in_use().items():
            event_id = indexed.cue.event_id
            if event_id is not None:
                turns.add(event_id)
                told = self._idf.keys() & set(indexed.terms) if ref in visible else set[str]()
                self._terms.setdefault(event_id, set()).update(told)
                brief = len(indexed.terms) <= RULES.brief_terms
                self._briefly.setdefault(event_id, set()).update(told if brief else ())
        in_order = sorted((rows.events[turn] for turn in turns), key=lambda event: event.seq)
        for scope in {event.scope for event in in_order}:
            for one, other in pairwise(event for event in in_order if event.scope == scope):
                if abs(other.occurred_at - one.occurred_at) <= RULES.gap:
                    self._beside.setdefault(one.id, []).append(other.id)
                    self._beside.setdefault(other.id, []).append(one.id)

    def worth(self, memory: ExactMemory) -> float:
        return max(self._lexical.coverage.get(cue.ref, 0.0) + self._neighbour_coverage(cue) for cue in memory.cues)

    def context_features(self, chosen: Sequence[FoundMemory], ranks: Sequence[int]) -> ContextFeatures:
        best = [self._rows.cues[one.best.ref] for one in chosen]
        return ContextFeatures(
            neighbour_coverage=np.array([self._neighbour_coverage(one.telling) for one in chosen], dtype=np.float32),
            session=np.array([self._session(one.telling) for one in chosen], dtype=np.float32),
            speaker_match=np.array([self._spoken(cue) for cue in best], dtype=np.float32),
            flags=np.array([int(cue.flags) for cue in best], dtype=np.int32),
            rank=np.array(ranks, dtype=np.int32),
            stream=self._streams(best),
        )

    def _neighbour_coverage(self, cue: ExactCue) -> float:
        """The idf share of the query terms that occur in neighbouring turns but not in the cue's own turn."""
        turn = self._rows.cues[cue.ref].cue.event_id
        if turn is None:
            return 0.0
        beside = self._beside.get(turn, [])
        farther = {two for one in beside for two in self._beside[one]}
        near = {term for one in beside for term in self._briefly[one]} - self._terms[turn]
        far = {term for two in farther for term in self._briefly[two]} - self._terms[turn] - near
        worth = sum(self._idf[term] for term in near) + RULES.next_but_one * sum(self._idf[term] for term in far)
        return worth / sum(self._idf.values())

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

    def _session(self, cue: ExactCue) -> float:
        """The greatest BM25 of any turn of the cue's session."""
        event, scores = self._rows.event_of(self._rows.cues[cue.ref].cue), self._lexical.bm25
        if event is None or event.scope.session is None:
            return scores.get(cue.ref, 0.0)
        said = {ref: self._rows.event_of(self._rows.cues[ref].cue) for ref in scores}
        return max((scores[ref] for ref, turn in said.items() if turn and turn.scope == event.scope), default=0.0)

    def _spoken(self, indexed: IndexedCue) -> bool:
        event = self._rows.event_of(indexed.cue)
        if event is None:
            return bool(self._request.roles)
        if event.role not in SPEAKERS:
            return False
        return event.actor in self._request.speakers or event.role in self._request.roles
