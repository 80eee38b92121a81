"""The read view of the reference store: a snapshot for several reads, indexes and health metrics."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any, cast
from uuid import UUID

from remembrancer.adapters.reference import journal
from remembrancer.adapters.reference.rows import Rows
from remembrancer.domain.candidates import States
from remembrancer.domain.event import Event
from remembrancer.domain.instants import micros, microseconds
from remembrancer.domain.journal import ListingPosition
from remembrancer.domain.listing import USUAL, MemoryListing, MemoryPlace
from remembrancer.domain.memory import Cue, IndexedCue, Memory, Status
from remembrancer.domain.past import at_revisions
from remembrancer.domain.query import Filter
from remembrancer.domain.relation import Relation
from remembrancer.domain.scope import Reader, Scope
from remembrancer.domain.selection import OF_STATE, excluded_by
from remembrancer.domain.strength import Exposure
from remembrancer.ports.changes import (
    AROUND,
    NEVER,
    ChangedCue,
    ChangedMemory,
    CueTurn,
    CueWords,
    WorkspaceState,
    current_span,
    packed_terms,
)
from remembrancer.ports.inspection import HealthInputs
from remembrancer.ports.journal import EventFilter, FoundEvent
from remembrancer.ports.states import states_of

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


class ReferenceView:
    """The rows of every workspace. They do not change, because writes work on copies."""

    def __init__(self, workspaces: Mapping[str, Rows], at: datetime | None = None) -> None:
        self._workspaces = workspaces
        self._at = at

    @property
    def at(self) -> datetime | None:
        return self._at

    def as_of(self, at: datetime) -> ReferenceView:
        return ReferenceView(self._workspaces, at)

    def rows(self, scope: Scope) -> Rows:
        """The rows of one workspace, as they were at the time of this view."""
        rows = self._workspaces.get(scope.workspace, Rows())
        return rows if self._at is None else rows.as_of(self._at)

    def state(self, scope: Scope) -> WorkspaceState:
        rows = self.rows(scope)
        return WorkspaceState(rows.change, len(rows.erasures), rows.answering)

    def changes(self, scope: Scope, *, after: int, model: str | None, one_in: int = 1) -> Iterator[ChangedMemory]:
        rows = self.rows(scope)
        cues = rows.cues_by_memory()
        for memory_id, change in sorted(rows.changes.items(), key=lambda one: one[1]):
            if change > after and memory_id in cues and memory_id.int % one_in == 0:
                yield _changed(rows, rows.memories[memory_id], cues[memory_id], model)

    def count_changed(self, scope: Scope, *, after: int) -> int:
        return sum(change > after for change in self._workspaces.get(scope.workspace, Rows()).changes.values())

    def changed(self, scope: Scope, ids: Sequence[UUID], *, model: str | None) -> Iterator[ChangedMemory]:
        wanted = set(ids)
        return (one for one in self.changes(scope, after=0, model=model) if one.id in wanted)

    def memories_of(self, scope: Scope, refs: Sequence[int]) -> list[UUID]:
        used = self.rows(scope).cues_in_use()
        return list({used[ref].cue.memory_id for ref in refs if ref in used})

    def passages(self, reader: Reader, where: Filter, ids: Sequence[UUID]) -> list[CueWords]:
        cues = self.rows(reader.scope).cues_by_memory()
        return self._passages(reader, where, [one for memory_id in ids for one in cues.get(memory_id, ())], {})

    def around(self, reader: Reader, where: Filter, ids: Sequence[UUID]) -> list[CueWords]:
        rows = self.rows(reader.scope)
        saying: dict[UUID, set[UUID]] = {}
        for indexed in rows.cues_in_use().values():
            if indexed.cue.event_id is not None:
                saying.setdefault(indexed.cue.event_id, set()).add(indexed.cue.memory_id)
        streams: dict[Scope, list[UUID]] = {}
        for event in sorted((rows.events[turn] for turn in saying), key=lambda event: event.seq):
            streams.setdefault(event.scope, []).append(event.id)
        found: dict[UUID, int] = {}
        used = rows.cues_in_use().items()
        for turns in streams.values():
            for place, turn in enumerate(turns):
                if saying[turn].intersection(ids):
                    near = turns[max(place - AROUND, 0) : place + AROUND + 1]
                    last = NEVER if place + AROUND >= len(turns) else rows.events[near[-1]].seq
                    found |= {one: max(last, found.get(one, 0)) for one in near}
        return self._passages(reader, where, [(ref, one) for ref, one in used if one.cue.event_id in found], found)

    def newest(
        self,
        reader: Reader,
        where: Filter,
        *,
        limit: int,
        spans: Sequence[tuple[datetime, datetime]] = (),
        phrase: Sequence[str] = (),
    ) -> list[UUID]:
        rows = self.rows(reader.scope)
        those = set(rows.cues_by_memory())
        if phrase:
            those &= set(self.memories_of(reader.scope, self.cues_with_phrase(reader.scope, phrase)))
        kept = [
            memory
            for memory in self._kept(reader, where)
            if memory.id in those
            and (not spans or any(memory.occurred_to >= start and memory.occurred_from < end for start, end in spans))
        ]
        return [one.id for one in sorted(kept, key=lambda one: (-micros(one.occurred_to), one.id))[:limit]]

    def with_terms(self, reader: Reader, where: Filter, weights: Mapping[str, float], *, limit: int) -> list[UUID]:
        rows = self.rows(reader.scope)
        cues = rows.cues_by_memory()
        told = {
            memory.id: [weights.keys() & set(indexed.terms) for _, indexed in cues.get(memory.id, ())]
            for memory in self._kept(reader, where)
        }
        best = {
            one: max(sum(weights[term] for term in terms) for terms in several)
            for one, several in told.items()
            if any(several)
        }
        order = sorted(best, key=lambda one: (-best[one], -micros(rows.memories[one].occurred_to), one))
        return order[:limit]

    def index_token(self, scope: Scope, model: str | None) -> bytes | None:
        return self.rows(scope).index_tokens.get(model)

    def token_embeddings(self, scope: Scope, model: str, refs: Sequence[int]) -> dict[int, NDArray[np.uint8]]:
        vectors = self.rows(scope).vectors
        stored = {ref: vectors[ref, model].token_embeddings for ref in refs if (ref, model) in vectors}
        return {ref: words for ref, words in stored.items() if words is not None}

    def erased(self, scope: Scope, *, after: int) -> frozenset[UUID]:
        receipts = self.rows(scope).erasures[after:]
        return frozenset(gone for one in receipts for gone in (*one.memories, *one.derived, *one.rebuilt))

    def cues_with_phrase(self, scope: Scope, words: Sequence[str]) -> list[int]:
        return [ref for ref, indexed in self.rows(scope).cues.items() if _holds(indexed.tokens, tuple(words))]

    def get(self, reader: Reader, ids: Sequence[UUID]) -> dict[UUID, Memory]:
        rows = self.rows(reader.scope)
        seen = {memory_id: rows.visible(reader, memory_id) for memory_id in ids}
        return {memory_id: memory for memory_id, memory in seen.items() if memory is not None}

    def at_revisions(self, reader: Reader, revisions: Mapping[UUID, int]) -> dict[UUID, tuple[Memory, tuple[Cue, ...]]]:
        rows = self.rows(reader.scope)
        spans = ((indexed.cue, rows.spans[ref].first, rows.spans[ref].last) for ref, indexed in rows.cues.items())
        return at_revisions(reader, revisions, self.get(reader, list(revisions)), rows.revisions.values(), spans)

    def cues(self, reader: Reader, ids: Sequence[UUID]) -> dict[UUID, tuple[Cue, ...]]:
        cues = self.rows(reader.scope).cues_by_memory()
        return {
            memory_id: tuple(indexed.cue for _, indexed in cues.get(memory_id, ()))
            for memory_id in self.get(reader, ids)
        }

    def memories(
        self,
        reader: Reader,
        where: Filter,
        *,
        limit: int,
        oldest_first: bool = False,
        after: MemoryPlace | None = None,
        listing: MemoryListing = USUAL,
    ) -> tuple[Memory, ...]:
        rows, order = self.rows(reader.scope), listing.order
        places = [
            (memory, MemoryPlace.of(memory, order))
            for memory in rows.visible_memories(reader)
            if order.value_of(memory) is not None and _is_listed(rows, memory, where, listing)
        ]
        places.sort(key=lambda one: one[0].id)
        places.sort(key=lambda one: cast("Any", one[1].value), reverse=not oldest_first)
        kept = [
            memory for memory, place in places if after is None or _comes_after(place, after, oldest_first=oldest_first)
        ]
        return tuple(kept[:limit])

    def events(
        self,
        reader: Reader,
        where: EventFilter,
        *,
        limit: int,
        oldest_first: bool = False,
        after: ListingPosition | None = None,
    ) -> tuple[Event, ...]:
        rows = self.rows(reader.scope)
        return journal.events(rows, reader, where, limit=limit, oldest_first=oldest_first, after=after)

    def count_events(self, reader: Reader, where: EventFilter) -> int:
        return journal.count_events(self.rows(reader.scope), reader, where)

    def events_by_words(
        self, reader: Reader, where: EventFilter, weights: Mapping[str, int], *, limit: int, skip: int = 0
    ) -> tuple[FoundEvent, ...]:
        return journal.events_by_words(self.rows(reader.scope), reader, where, weights, limit=limit, skip=skip)

    def relations(self, reader: Reader, ids: Sequence[UUID]) -> tuple[Relation, ...]:
        seen = self.rows(reader.scope).visible_relations(reader)
        near = [edge for edge in seen if edge.source in ids or edge.target in ids]
        return tuple(sorted(near, key=lambda edge: (edge.created_at, edge.source, edge.target, edge.kind)))

    def states(self, reader: Reader, where: Filter) -> tuple[tuple[UUID, ...], States]:
        kept = sorted(self._kept(reader, where), key=lambda memory: memory.id)
        return tuple(memory.id for memory in kept), states_of(kept)

    def vectors(self, reader: Reader, model: str, ids: Sequence[UUID]) -> dict[UUID, NDArray[np.float32]]:
        rows = self.rows(reader.scope)
        first: dict[UUID, NDArray[np.float32]] = {}
        for memory_id in self.get(reader, ids):
            for ref, _ in rows.cues_of(memory_id):
                if (ref, model) in rows.vectors:
                    first.setdefault(memory_id, rows.vectors[ref, model].vector)
        return first

    def _passages(
        self, reader: Reader, where: Filter, cues: Sequence[tuple[int, IndexedCue]], read_to: Mapping[UUID, int]
    ) -> list[CueWords]:
        rows, kept = self.rows(reader.scope), {memory.id for memory in self._kept(reader, where)}
        read = [(indexed.cue, _changed_cue(rows, ref, indexed, None)) for ref, indexed in cues]
        return [
            CueWords(
                one.memory_id,
                micros(rows.memories[one.memory_id].occurred_to),
                one.memory_id in kept,
                0 if one.event_id is None else read_to.get(one.event_id, 0),
                cue.ref,
                cue.terms,
                cue.length,
                cue.turn,
            )
            for one, cue in read
        ]

    def _kept(self, reader: Reader, where: Filter) -> list[Memory]:
        seen = self.rows(reader.scope).visible_memories(reader)
        return [memory for memory in seen if not excluded_by(memory, where)]


def _changed(rows: Rows, memory: Memory, cues: Sequence[tuple[int, IndexedCue]], model: str | None) -> ChangedMemory:
    scope, strength, usage = memory.scope, memory.strength, memory.strength.usage
    current_from, current_until = current_span(
        micros(memory.recorded_at),
        micros(memory.valid_from),
        micros(memory.valid_until),
        memory.superseded_by is not None,
        micros(memory.superseded_at),
        memory.status is not Status.ACTIVE,
        micros(memory.retired_at),
    )
    return ChangedMemory(
        id=memory.id,
        revision=memory.revision,
        project=scope.project or "",
        crew=scope.crew or "",
        agent=scope.agent or "",
        session=scope.session or "",
        visibility=memory.visibility,
        tier=memory.tier,
        kind=memory.kind,
        source=memory.source or "",
        occurred_from=micros(memory.occurred_from),
        occurred_to=micros(memory.occurred_to),
        current_from=current_from,
        current_until=current_until,
        last_reviewed_at=microseconds(strength.last_reviewed_at),
        last_retrieved_at=microseconds(usage.last_retrieved_at),
        last_shown_at=microseconds(usage.last_shown_at),
        last_used_at=microseconds(usage.last_used_at),
        importance=strength.importance,
        importance_floor=strength.importance_floor,
        confidence=strength.confidence,
        stability=strength.stability,
        priority=strength.priority,
        retrieved=usage.retrieved,
        shown=usage.shown,
        used=usage.used,
        worked=usage.worked,
        failed=usage.failed,
        tags=memory.tags,
        metadata=memory.metadata,
        cues=[_changed_cue(rows, ref, indexed, model) for ref, indexed in cues],
    )


def _changed_cue(rows: Rows, ref: int, indexed: IndexedCue, model: str | None) -> ChangedCue:
    stored = None if model is None else rows.vectors.get((ref, model))
    event = rows.event_of(indexed.cue)
    return ChangedCue(
        ref=ref,
        terms=packed_terms(indexed.terms),
        length=len(indexed.terms),
        vector=None if stored is None else stored.vector,
        flags=int(indexed.flags),
        turn=None
        if event is None
        else CueTurn(event.scope, event.seq, micros(event.occurred_at), event.role, event.actor or ""),
    )


def _holds(tokens: tuple[str, ...], phrase: tuple[str, ...]) -> bool:
    return any(tokens[start : start + len(phrase)] == phrase for start in range(len(tokens)))


def _is_listed(rows: Rows, memory: Memory, where: Filter, listing: MemoryListing) -> bool:
    excluded = set(excluded_by(memory, where)) - OF_STATE
    if excluded or not listing.state.of(memory, where.current_at):
        return False
    if listing.speaker not in (None, memory.speaker):
        return False
    if not listing.words:
        return True
    passages = [set(indexed.tokens) for _, indexed in rows.cues_of(memory.id)]
    return any(all(word & passage for word in listing.words) for passage in passages)


def _comes_after(place: MemoryPlace, after: MemoryPlace, *, oldest_first: bool) -> bool:
    if place.value == after.value:
        return place.id > after.id
    return (cast("Any", place.value) > after.value) is oldest_first


def health_inputs(
    rows: Rows, reader: Reader, where: Filter, *, model: str | None, shown_since: datetime
) -> HealthInputs:
    seen = {memory.id: memory for memory in rows.visible_memories(reader)}
    kept = sorted((memory for memory in seen.values() if not excluded_by(memory, where)), key=lambda memory: memory.id)
    with_vector = {memory.id for memory in kept if rows.has_all_vectors(memory.id, model)}
    edges = [
        (edge.source, edge.target)
        for edge in rows.relations.values()
        if edge.source != edge.target and edge.source in seen and edge.target in seen
    ]
    joined = {end for ends in edges for end in ends}
    ids = {memory.id for memory in kept}
    shown = [
        one
        for one in rows.exposures.values()
        if one.memory_id in ids and one.exposure is Exposure.SHOWN and one.at >= shown_since
    ]
    shown.sort(key=lambda one: (one.at, one.memory_id))
    return HealthInputs(
        ids=tuple(memory.id for memory in kept),
        occurred=tuple(memory.occurred_to for memory in kept),
        with_vector=len(with_vector),
        related=len(with_vector & joined),
        shown=tuple(one.similarity for one in shown if one.similarity is not None),
    )
