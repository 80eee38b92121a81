"""The reference store: the protocol, method by method, over one workspace's rows at a time."""

from __future__ import annotations

from collections import Counter
from collections.abc import AsyncIterator, Callable, Generator, Iterable, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from datetime import datetime, timedelta
from itertools import count
from typing import TYPE_CHECKING, Final
from uuid import UUID

import numpy as np

from remembrancer.adapters.reference import exchange
from remembrancer.adapters.reference.health import vitals
from remembrancer.adapters.reference.rows import Failure, Rows, StoredVector
from remembrancer.adapters.reference.search import participants, search
from remembrancer.domain.candidates import Candidates, States
from remembrancer.domain.event import SPEAKERS, Event
from remembrancer.domain.health import HealthSnapshot
from remembrancer.domain.memory import Cue, Memory, MemoryWrite, Revision, Status, holds
from remembrancer.domain.query import Filter
from remembrancer.domain.relation import Relation, RelationKind
from remembrancer.domain.scope import Reader, Scope
from remembrancer.domain.strength import Adjustment, Exposed, Strength
from remembrancer.errors import Conflict, InvalidInput, NotFound, StoreUnavailable
from remembrancer.policies.dynamics import MICROSECOND, states_of
from remembrancer.policies.formation import analysed
from remembrancer.policies.selection import excluded_by
from remembrancer.ports.exchange import Analyse, row_to_record
from remembrancer.ports.store import (
    CONTEXT_GAP,
    MAX_SAID_CHARS,
    Appended,
    Audited,
    CueVector,
    Entry,
    EventFilter,
    ExportRow,
    Finding,
    PendingCue,
    Said,
    SearchRequest,
    Stats,
    Vitals,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

FIRST_WAIT: Final = timedelta(seconds=30)
LONGEST_WAIT: Final = timedelta(days=1)


class ReferenceStore:
    """A `Store` in memory, written to be read: no index, no cache, every answer computed from its definition."""

    def __init__(self, analyse: Analyse = analysed) -> None:
        self._analyse = analyse
        self._workspaces: dict[str, Rows] = {}
        self._refs = count(1)
        self._closed = False

    async def append(self, scope: Scope, entries: Sequence[Entry]) -> tuple[Appended, ...]:
        with self._writing(scope) as rows:
            return tuple(self._append(rows, scope, entry) for entry in entries)

    async def insert(self, scope: Scope, write: MemoryWrite) -> tuple[Memory, bool]:
        with self._writing(scope) as rows:
            memory = write.memory
            _require_same_workspace("memory.scope", scope, memory.scope)
            known = rows.memory_with_key(memory.scope, memory.key)
            if known is None:
                return self._add(rows, scope, write), True
            # A revised memory no longer says what came with its key; the key alone shows that it is the same one.
            if known.text != memory.text and known.revision == 1:
                raise Conflict(f"key {memory.key!r} holds another text, in memory {known.id}")
            return known, False

    async def revise(self, scope: Scope, write: MemoryWrite, *, expected_revision: int, at: datetime) -> Memory:
        with self._writing(scope) as rows:
            _require_same_workspace("memory.scope", scope, write.memory.scope)
            before = rows.memories.get(write.memory.id)
            if before is None:
                raise NotFound("memory", write.memory.id)
            if before.superseded_by is not None:
                raise Conflict(f"memory {before.id} is superseded by {before.superseded_by}")
            if before.revision != expected_revision:
                raise Conflict(f"memory {before.id} is at revision {before.revision}, not {expected_revision}")
            after = replace(
                write.memory,
                revision=expected_revision + 1,
                status=before.status,
                retired_at=before.retired_at,
                superseded_by=None,
                superseded_at=None,
                strength=replace(
                    write.memory.strength,
                    usage=before.strength.usage,
                    confidence=before.strength.confidence,
                    stability=before.strength.stability,
                    difficulty=before.strength.difficulty,
                    last_reviewed_at=before.strength.last_reviewed_at,
                ),
            )
            rows.revisions[before.id, before.revision] = Revision(
                memory_id=before.id,
                number=before.revision,
                title=before.title,
                text=before.text,
                replaced_at=at,
            )
            self._put(rows, replace(write, memory=after))
            return after

    async def by_topic(self, scope: Scope, topic_key: str) -> Memory | None:
        return self._reading(scope).active_with_topic(scope, topic_key)

    async def adjust(
        self,
        reader: Reader,
        ids: Sequence[UUID],
        change: Callable[[Strength], Adjustment],
        *,
        at: datetime,
        exposed: Sequence[Exposed] = (),
    ) -> Mapping[UUID, Strength]:
        with self._writing(reader.scope) as rows:
            for one in exposed:
                rows.seen(reader, one.memory_id)
            # All are looked up first: one of them may, for what became of it, be out of the reader's sight after.
            found = {memory_id: rows.seen(reader, memory_id) for memory_id in ids}
            adjusted: dict[UUID, Strength] = {}
            for memory_id, memory in found.items():
                adjustment = change(memory.strength)
                adjusted[memory_id] = adjustment.strength
                rows.memories[memory_id] = replace(memory, strength=adjustment.strength)
                if adjustment.retire and memory.status is Status.ACTIVE:
                    rows.memories[memory_id] = replace(rows.memories[memory_id], status=Status.RETIRED, retired_at=at)
                    rows.audit.add(Audited(memory_id, "retired", adjustment.retire, at))
            for one in exposed:
                rows.exposures.setdefault((one.memory_id, one.exposure, one.at), one)
            return adjusted

    async def supersede(self, reader: Reader, old: UUID, new: UUID | None, *, at: datetime) -> Memory:
        with self._writing(reader.scope) as rows:
            memory = rows.seen(reader, old)
            if new is None:
                return _invalidate(rows, memory, at)
            successor = rows.seen(reader, new)
            if memory.superseded_by == new:
                return memory
            if memory.superseded_by is not None:
                raise Conflict(f"memory {old} is superseded by {memory.superseded_by}")
            if not holds(successor, at):
                raise Conflict(f"memory {new} holds no more itself")
            if old in _successors(rows, new):
                raise Conflict(f"memory {new} is, in the end, superseded by {old}")
            rows.memories[old] = replace(memory, superseded_by=new, superseded_at=at)
            edge = Relation(new, old, RelationKind.SUPERSEDES, 1.0, at)
            rows.relations.setdefault((edge.source, edge.target, edge.kind), edge)
            rows.audit.add(Audited(old, "superseded", f"by {new}", at))
            return rows.memories[old]

    async def relate(self, reader: Reader, relations: Sequence[Relation]) -> int:
        with self._writing(reader.scope) as rows:
            for edge in relations:
                rows.seen(reader, edge.source)
                rows.seen(reader, edge.target)
            return sum(rows.put_relation(edge) for edge in relations)

    async def set_status(self, reader: Reader, memory_id: UUID, status: Status, *, at: datetime) -> Memory:
        with self._writing(reader.scope) as rows:
            memory = rows.seen(reader, memory_id)
            if memory.status is status:
                return memory
            changed = replace(memory, status=status, retired_at=None if status is Status.ACTIVE else at)
            rows.put_memory(changed)
            return changed

    async def get(self, reader: Reader, ids: Sequence[UUID]) -> Mapping[UUID, Memory]:
        rows = self._reading(reader.scope)
        seen = {memory_id: rows.visible(reader, memory_id) for memory_id in ids}
        return {memory_id: memory for memory_id, memory in seen.items() if memory is not None}

    async def cues(self, reader: Reader, ids: Sequence[UUID]) -> Mapping[UUID, tuple[Cue, ...]]:
        rows = self._reading(reader.scope)
        return {
            memory_id: tuple(indexed.cue for _, indexed in rows.cues_of(memory_id))
            for memory_id in await self.get(reader, ids)
        }

    async def revisions(self, reader: Reader, memory_id: UUID) -> tuple[Revision, ...]:
        rows = self._reading(reader.scope)
        if rows.visible(reader, memory_id) is None:
            return ()
        return tuple(revision for (owner, _), revision in sorted(rows.revisions.items()) if owner == memory_id)

    async def relations(self, reader: Reader, ids: Sequence[UUID]) -> tuple[Relation, ...]:
        rows = self._reading(reader.scope)
        near = [edge for edge in _seen_relations(rows, reader) if edge.source in ids or edge.target in ids]
        return tuple(sorted(near, key=lambda edge: (edge.created_at, edge.source, edge.target, edge.kind)))

    async def audit(self, reader: Reader, memory_id: UUID) -> tuple[Audited, ...]:
        rows = self._reading(reader.scope)
        if rows.visible(reader, memory_id) is None:
            return ()
        lines = [line for line in rows.audit if line.memory_id == memory_id]
        return tuple(sorted(lines, key=lambda line: (line.at, line.action, line.reason)))

    async def provenance(self, reader: Reader, memory_id: UUID) -> tuple[Event, ...]:
        rows = self._reading(reader.scope)
        if rows.visible(reader, memory_id) is None:
            return ()
        seen = {event.id: event for event in rows.visible_events(reader)}
        return tuple(seen[event_id] for event_id in rows.provenance[memory_id] if event_id in seen)

    async def memories(
        self, reader: Reader, where: Filter, *, limit: int, oldest_first: bool = False
    ) -> tuple[Memory, ...]:
        rows = self._reading(reader.scope)
        kept = [memory for memory in rows.visible_memories(reader) if not excluded_by(memory, where)]
        kept.sort(key=lambda memory: memory.id)
        kept.sort(key=lambda memory: memory.occurred_to, reverse=not oldest_first)
        return tuple(kept[:limit])

    async def events(
        self, reader: Reader, where: EventFilter, *, limit: int, oldest_first: bool = False
    ) -> tuple[Event, ...]:
        rows = self._reading(reader.scope)
        kept = [event for event in rows.visible_events(reader) if _keeps(where, event)]
        kept.sort(key=lambda event: (event.occurred_at, event.seq, event.id), reverse=not oldest_first)
        return tuple(kept[:limit])

    async def count_events(self, reader: Reader, where: EventFilter) -> int:
        return sum(_keeps(where, event) for event in self._reading(reader.scope).visible_events(reader))

    async def states(self, reader: Reader, where: Filter) -> tuple[tuple[UUID, ...], States]:
        rows = self._reading(reader.scope)
        kept = [memory for memory in rows.visible_memories(reader) if not excluded_by(memory, where)]
        kept.sort(key=lambda memory: memory.id)
        return tuple(memory.id for memory in kept), states_of(kept)

    async def search(self, reader: Reader, request: SearchRequest) -> Candidates:
        return search(self._reading(reader.scope), reader, request)

    async def participants(self, reader: Reader, where: Filter, *, model: str | None) -> frozenset[str]:
        return participants(self._reading(reader.scope), reader, where)

    async def pending(
        self, scope: Scope, model: str, *, limit: int, now: datetime, before: int = 0, words: bool = False
    ) -> tuple[PendingCue, ...]:
        rows = self._reading(scope)
        failed = {ref: failure for (ref, name), failure in rows.failures.items() if name == model}
        due = [
            ref
            for ref in rows.cues
            if _is_missing(rows.vectors.get((ref, model)), words=words)
            and (ref not in failed or failed[ref].retry_at <= now)
        ]
        due.sort(key=lambda ref: (failed[ref].count if ref in failed else 0, ref))
        cues = {ref: rows.cues[ref].cue for ref in due[:limit]}
        return tuple(
            PendingCue(ref, cue.memory_id, cue.text, cue.heading, *_spoken(rows, cue, before))
            for ref, cue in cues.items()
        )

    async def put_vectors(
        self,
        scope: Scope,
        model: str,
        vectors: Sequence[CueVector],
        *,
        at: datetime,
        relations: Sequence[Relation] = (),
    ) -> int:
        with self._writing(scope) as rows:
            rows.require_dim(model, [given.vector.shape[0] for given in vectors])
            new = 0
            for given in vectors:
                place = (given.ref, model)
                if given.ref in rows.cues and _is_missing(rows.vectors.get(place), words=given.words is not None):
                    vector = np.array(given.vector, dtype=np.float32)
                    rows.vectors[place] = StoredVector(vector, given.truncated, at, given.words)
                    rows.failures.pop(place, None)
                    new += 1
            for edge in relations:
                if edge.source in rows.memories and edge.target in rows.memories:
                    rows.relations.setdefault((edge.source, edge.target, edge.kind), edge)
            return new

    async def defer_vectors(self, scope: Scope, model: str, refs: Sequence[int], *, error: str, now: datetime) -> None:
        with self._writing(scope) as rows:
            for ref in refs:
                if ref in rows.cues:
                    failed = rows.failures.get((ref, model))
                    tries = 1 if failed is None else failed.count + 1
                    # Past eleven doublings the day is the longest wait anyway; more would overflow a timedelta.
                    wait = min(FIRST_WAIT * 2 ** min(tries - 1, 12), LONGEST_WAIT)
                    rows.failures[ref, model] = Failure(tries, now + wait)

    async def vectors(self, reader: Reader, model: str, ids: Sequence[UUID]) -> Mapping[UUID, NDArray[np.float32]]:
        rows = self._reading(reader.scope)
        first: dict[UUID, NDArray[np.float32]] = {}
        for memory_id in await self.get(reader, ids):
            for ref, _ in rows.cues_of(memory_id):
                if (ref, model) in rows.vectors:
                    first.setdefault(memory_id, rows.vectors[ref, model].vector)
        return first

    async def words(self, reader: Reader, model: str, cues: Mapping[UUID, int]) -> Mapping[UUID, NDArray[np.uint8]]:
        rows = self._reading(reader.scope)
        found: dict[UUID, NDArray[np.uint8]] = {}
        for memory_id in await self.get(reader, list(cues)):
            for ref, indexed in rows.cues_of(memory_id):
                stored = rows.vectors.get((ref, model))
                if indexed.cue.ordinal == cues[memory_id] and stored is not None and stored.words is not None:
                    found[memory_id] = stored.words
        return found

    async def vitals(self, reader: Reader, where: Filter, *, model: str | None, shown_since: datetime) -> Vitals:
        return vitals(self._reading(reader.scope), reader, where, model, shown_since)

    async def put_snapshot(self, scope: Scope, snapshot: HealthSnapshot) -> None:
        with self._writing(scope) as rows:
            rows.health[snapshot.crew or "", snapshot.day] = snapshot

    async def snapshots(self, scope: Scope, crew: str | None, *, limit: int) -> tuple[HealthSnapshot, ...]:
        kept = [snapshot for snapshot in self._reading(scope).health.values() if snapshot.crew == crew]
        return tuple(sorted(kept, key=lambda snapshot: snapshot.day, reverse=True)[:limit])

    async def crews(self, scope: Scope) -> tuple[str, ...]:
        crews = {memory.scope.crew for memory in self._reading(scope).memories.values()}
        return tuple(sorted(crew for crew in crews if crew is not None))

    async def stats(self, reader: Reader) -> Stats:
        rows = self._reading(reader.scope)
        events = rows.visible_events(reader)
        memories = rows.visible_memories(reader)
        owners = {memory.id for memory in memories}
        refs = {ref for ref, indexed in rows.cues.items() if indexed.cue.memory_id in owners}
        vectors = {at: stored for at, stored in rows.vectors.items() if at[0] in refs}
        return Stats(
            events=len(events),
            memories=dict(Counter(memory.status.value for memory in memories)),
            cues=len(refs),
            vectors=dict(Counter(model for _, model in vectors)),
            truncated=sum(stored.truncated for stored in vectors.values()),
            relations=len(_seen_relations(rows, reader)),
            oldest=min((memory.occurred_from for memory in memories), default=None),
            newest=max((memory.occurred_to for memory in memories), default=None),
            bytes=0,
        )

    async def check(self, scope: Scope, model: str | None) -> tuple[Finding, ...]:
        """Nothing is derived here, so nothing can drift; what remains is whether the rows can be read."""
        rows = self._reading(scope)
        return (Finding("rows", True, f"{len(rows.memories)} memories, {len(rows.events)} events"),)

    async def export(self, scope: Scope) -> AsyncIterator[ExportRow]:
        for row in exchange.export(self._reading(scope)):
            yield row

    async def import_rows(self, scope: Scope, rows: Iterable[ExportRow], *, dry_run: bool = False) -> int:
        records = [row_to_record(row, scope.workspace) for row in rows]
        held = self._reading(scope).copy()
        new = exchange.take_in(held, records, self._analyse, lambda: next(self._refs))
        if not dry_run:
            self._workspaces[scope.workspace] = held
        return new

    async def close(self) -> None:
        self._closed = True

    def _append(self, rows: Rows, scope: Scope, entry: Entry) -> Appended:
        event = entry.event
        _require_same_workspace("event.scope", scope, event.scope)
        known = rows.event_with_key(event.scope, event.key)
        if known is not None:
            if known.text != event.text:
                raise Conflict(f"key {event.key!r} holds another text, in event {known.id}")
            return Appended(known, created=False)
        if event.id in rows.events:
            raise Conflict(f"event {event.id} is already recorded")
        recorded = replace(event, seq=rows.next_seq(event.scope))
        rows.events[recorded.id] = recorded
        if entry.memory is not None:
            self._add(rows, scope, entry.memory)
        return Appended(recorded, created=True)

    def _add(self, rows: Rows, scope: Scope, write: MemoryWrite) -> Memory:
        _require_same_workspace("memory.scope", scope, write.memory.scope)
        if write.memory.id in rows.memories:
            raise Conflict(f"memory {write.memory.id} is already there")
        self._put(rows, write)
        return write.memory

    def _put(self, rows: Rows, write: MemoryWrite) -> None:
        turns = [indexed.cue.event_id for indexed in write.cues if indexed.cue.event_id is not None]
        for event_id in (*write.event_ids, *turns):
            if event_id not in rows.events:
                raise NotFound("event", event_id)
        memory_id = write.memory.id
        rows.put_memory(write.memory)
        # What a memory said before came from somewhere too: revising adds to its provenance.
        rows.provenance[memory_id] = tuple(dict.fromkeys((*rows.provenance.get(memory_id, ()), *write.event_ids)))
        rows.remove_cues(memory_id)
        for indexed in write.cues:
            rows.cues[next(self._refs)] = indexed

    def _reading(self, scope: Scope) -> Rows:
        if self._closed:
            raise StoreUnavailable("the store is closed")
        return self._workspaces.get(scope.workspace, Rows())

    @contextmanager
    def _writing(self, scope: Scope) -> Generator[Rows, None, None]:
        """A copy of the rows to write to, which takes their place only when nothing was raised."""
        rows = self._reading(scope).copy()
        yield rows
        self._workspaces[scope.workspace] = rows


def _is_missing(stored: StoredVector | None, *, words: bool) -> bool:
    return stored is None or (words and stored.words is None)


def _spoken(rows: Rows, cue: Cue, before: int) -> tuple[str, tuple[Said, ...]]:
    """Who speaks a turn, and up to `before` turns before it, none across a gap, the last one last."""
    event = None if cue.event_id is None else rows.events[cue.event_id]
    if event is None:
        return "", ()
    said: list[Said] = []
    at = event.occurred_at
    earlier = [other for other in rows.events.values() if other.scope == event.scope and other.seq < event.seq]
    turns = sorted((other for other in earlier if other.role in SPEAKERS), key=lambda other: -other.seq)
    for other in turns[:before]:
        if abs(at - other.occurred_at) > CONTEXT_GAP:
            break
        said.append(Said(other.actor or "", other.text[-MAX_SAID_CHARS:]))
        at = other.occurred_at
    speaker = event.actor or "" if event.role in SPEAKERS else ""
    return speaker, tuple(reversed(said))


def _require_same_workspace(argument: str, scope: Scope, owner: Scope) -> None:
    if owner.workspace != scope.workspace:
        raise InvalidInput(argument, owner.workspace, f"a scope in workspace {scope.workspace!r}")


def _keeps(where: EventFilter, event: Event) -> bool:
    return (
        (where.ids is None or event.id in where.ids)
        and (where.agent is None or event.scope.agent == where.agent)
        and (where.session is None or event.scope.session == where.session)
        and (where.types is None or event.type in where.types)
        and event.type not in where.without_types
        and (where.recorded_after is None or event.recorded_at > where.recorded_after)
        and (where.since is None or event.occurred_at >= where.since)
        and (where.until is None or event.occurred_at < where.until)
    )


def _seen_relations(rows: Rows, reader: Reader) -> list[Relation]:
    seen = {memory.id for memory in rows.visible_memories(reader)}
    return [edge for edge in rows.relations.values() if edge.source in seen and edge.target in seen]


def _invalidate(rows: Rows, memory: Memory, at: datetime) -> Memory:
    ended = memory.valid_until is not None and memory.valid_until <= at
    if ended or memory.superseded_by is not None:
        return memory
    # What was to hold only from later on never does: an interval cannot end before it begins.
    until = at if memory.valid_from is None else max(at, memory.valid_from + MICROSECOND)
    rows.memories[memory.id] = replace(memory, valid_until=until)
    rows.audit.add(Audited(memory.id, "invalidated", "", at))
    return rows.memories[memory.id]


def _successors(rows: Rows, memory_id: UUID) -> list[UUID]:
    """The memory and, in order, all that supersede it."""
    chain: list[UUID] = []
    following: UUID | None = memory_id
    while following is not None and following not in chain:
        chain.append(following)
        following = rows.memories[following].superseded_by if following in rows.memories else None
    return chain
