"""The reference store: each method of the Store protocol, over the rows of one workspace at a time."""

from __future__ import annotations

from collections import Counter
from collections.abc import AsyncIterator, Callable, Collection, Generator, Iterable, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, date, datetime
from itertools import count
from typing import TYPE_CHECKING, TypeVar
from uuid import UUID

import numpy as np

from remembrancer.adapters.reference import access, erasing, exchange, journal, memories, work
from remembrancer.adapters.reference.memories import commit, require_same_workspace
from remembrancer.adapters.reference.rows import Failure, Rows, StoredVector
from remembrancer.adapters.reference.view import ReferenceView, health_inputs
from remembrancer.domain.api_key import ApiKey
from remembrancer.domain.candidates import States
from remembrancer.domain.effect import Effect
from remembrancer.domain.erasure import Erasure, ErasureSelection, Removal, Removed, Traces, completed
from remembrancer.domain.event import SPEAKERS, Event, Priority, archived
from remembrancer.domain.health import HealthSnapshot
from remembrancer.domain.job import Deferral, Run
from remembrancer.domain.journal import ListingPosition, PriorityChange, Stretch
from remembrancer.domain.listing import MemoryPlace
from remembrancer.domain.memory import Analyse, Cue, Memory, MemoryWrite, Revision, Status
from remembrancer.domain.query import Filter
from remembrancer.domain.relation import Relation
from remembrancer.domain.reply import ClaimOutcome, IdempotencyClaim, Reply
from remembrancer.domain.review import Evidence, Review
from remembrancer.domain.scope import Reader, Scope
from remembrancer.domain.spending import ModelCall, Spent
from remembrancer.domain.stream import CONTEXT_GAP, Tail
from remembrancer.domain.strength import Adjustment, Exposed, Exposure, Strength
from remembrancer.errors import Conflict, InvalidInput, StoreUnavailable
from remembrancer.policies.admission.formation import analysed
from remembrancer.policies.ranking.selection import excluded_by
from remembrancer.ports.changes import ReadView
from remembrancer.ports.embeddings import MAX_SAID_CHARS, CueVector, PendingCue, Said
from remembrancer.ports.exchange import row_to_record
from remembrancer.ports.inspection import Finding, HealthInputs, Stats
from remembrancer.ports.journal import Aged, Appended, Entry, EventFilter
from remembrancer.ports.memories import Audited
from remembrancer.ports.transfer import ExportRow

if TYPE_CHECKING:
    from numpy.typing import NDArray

T = TypeVar("T")


class ReferenceStore:
    """A Store in memory for comparison. It has no index and no cache: each answer follows from its definition."""

    def __init__(self, analyse: Analyse = analysed) -> None:
        self._analyse = analyse
        self._workspaces: dict[str, Rows] = {}
        self._new_ref = count(1).__next__
        self._closed = False

    async def read(self, work: Callable[[ReadView], T]) -> T:
        return work(self.view())

    async def append(self, scope: Scope, entries: Sequence[Entry]) -> tuple[Appended, ...]:
        with self._writing(scope) as rows:
            return tuple(self._append(rows, scope, entry) for entry in entries)

    async def insert(self, scope: Scope, write: MemoryWrite) -> tuple[Memory, bool]:
        with self._writing(scope) as rows:
            memory = write.memory
            require_same_workspace("memory.scope", scope, memory.scope)
            known = rows.memory_with_key(memory.scope, memory.key)
            if known is None:
                return memories.add(rows, scope, write, self._new_ref), True
            # A revised memory has another text than the first write under its key, so only the keys are compared.
            if known.text != memory.text and known.revision == 1:
                raise Conflict(f"key {memory.key!r} holds another text, in memory {known.id}")
            return known, False

    async def revise(self, scope: Scope, write: MemoryWrite, *, expected_revision: int, at: datetime) -> Memory:
        with self._writing(scope) as rows:
            return memories.revise(rows, scope, write, expected_revision, at, self._new_ref)

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
            # All memories are looked up first: an adjustment may put one of them out of the reader's sight.
            found = {memory_id: rows.seen(reader, memory_id) for memory_id in ids}
            adjusted = {memory_id: memories.adjust(rows, memory, change, at) for memory_id, memory in found.items()}
            memories.expose(rows, exposed)
            return adjusted

    async def supersede(self, reader: Reader, old: UUID, new: UUID | None, *, at: datetime) -> Memory:
        with self._writing(reader.scope) as rows:
            memory = rows.seen(reader, old)
            if new is None:
                memories.invalidate(rows, memory, at)
            else:
                memories.supersede(rows, memory, rows.seen(reader, new), at)
            return rows.memories[old]

    async def relate(self, reader: Reader, relations: Sequence[Relation]) -> int:
        with self._writing(reader.scope) as rows:
            for edge in relations:
                rows.seen(reader, edge.source)
                rows.seen(reader, edge.target)
            return sum(rows.put_relation(edge) for edge in relations)

    async def set_status(self, reader: Reader, memory_id: UUID, status: Status, *, at: datetime) -> Memory:
        with self._writing(reader.scope) as rows:
            memories.move(rows, rows.seen(reader, memory_id), status, at)
            return rows.memories[memory_id]

    async def commit(self, scope: Scope, effect: Effect, *, at: datetime) -> None:
        with self._writing(scope) as rows:
            commit(rows, scope, effect, at, self._new_ref)

    async def tails(
        self, scope: Scope, *, at_least: int, silent_since: datetime, limit: int, after: Scope | None = None
    ) -> tuple[Tail, ...]:
        rows = self._reading(scope)
        return journal.tails(rows, at_least=at_least, silent_since=silent_since, limit=limit, after=after)

    async def tail(self, stream: Scope) -> Tail | None:
        return journal.tail(self._reading(stream), stream)

    async def stream_events(self, stream: Scope, *, after: int, limit: int) -> tuple[Event, ...]:
        return tuple(journal.events_behind(self._reading(stream), stream, after)[:limit])

    async def workspace_memories(
        self, scope: Scope, where: Filter, *, limit: int, after: Memory | None = None, unconsolidated: bool = False
    ) -> tuple[Memory, ...]:
        def place(memory: Memory) -> tuple[datetime, UUID]:
            return memory.occurred_to, memory.id

        kept = [
            memory
            for memory in self._reading(scope).memories.values()
            if not excluded_by(memory, where)
            and (after is None or place(memory) > place(after))
            and not (unconsolidated and memory.consolidated_at is not None)
        ]
        return tuple(sorted(kept, key=place)[:limit])

    async def unreviewed(self, scope: Scope, exposure: Exposure, *, limit: int) -> tuple[Evidence, ...]:
        return work.unreviewed(self._reading(scope), exposure, limit)

    async def exposed_in(self, scope: Scope, session: str, exposure: Exposure) -> tuple[UUID, ...]:
        exposed = self._reading(scope).exposures.values()
        return tuple(sorted({one.memory_id for one in exposed if one.session == session and one.exposure is exposure}))

    async def reviews(self, reader: Reader, memory_id: UUID) -> tuple[Review, ...]:
        rows = self._reading(reader.scope)
        if rows.visible(reader, memory_id) is None:
            return ()
        return tuple(review for (owner, _), review in sorted(rows.reviews.items()) if owner == memory_id)

    async def archive(self, scope: Scope, aged: Aged, *, at: datetime, limit: int) -> int:
        with self._writing(scope) as rows:
            return journal.archive(rows, aged, at=at, limit=limit)

    async def put_run(self, scope: Scope, run: Run) -> None:
        with self._writing(scope) as rows:
            rows.runs[run.job] = run

    async def runs(self, scope: Scope) -> Mapping[str, Run]:
        return dict(sorted(self._reading(scope).runs.items()))

    async def defer(self, scope: Scope, job: str, item: str, *, error: str, now: datetime) -> Deferral:
        with self._writing(scope) as rows:
            return work.defer(rows, job, item, error=error, now=now)

    async def settle(self, scope: Scope, job: str, items: Sequence[str]) -> None:
        with self._writing(scope) as rows:
            for item in items:
                rows.deferrals.pop((job, item), None)

    async def deferrals(self, scope: Scope, job: str | None = None) -> tuple[Deferral, ...]:
        return work.deferrals(self._reading(scope), job)

    async def log_call(self, scope: Scope, call: ModelCall) -> None:
        with self._writing(scope) as rows:
            rows.calls.append(call)

    async def spending(self, scope: Scope, *, since: datetime | None = None) -> tuple[Spent, ...]:
        return work.spending(self._reading(scope), since)

    async def put_key(self, scope: Scope, key: ApiKey) -> None:
        if key.workspace != scope.workspace:
            raise InvalidInput("key.workspace", key.workspace, repr(scope.workspace))
        if await self.key_of(key.digest) is not None:
            raise Conflict("a key with that digest is there already")
        with self._writing(scope) as rows:
            if key.id in rows.keys:
                raise Conflict(f"key {key.id} is there already")
            rows.keys[key.id] = key

    async def keys(self, scope: Scope) -> tuple[ApiKey, ...]:
        kept = self._reading(scope).keys.values()
        return tuple(sorted(kept, key=lambda key: (key.created_at, key.id), reverse=True))

    async def revoke_key(self, scope: Scope, key_id: UUID, *, at: datetime) -> ApiKey:
        with self._writing(scope) as rows:
            return access.revoke_key(rows, key_id, at)

    async def key_of(self, digest: bytes) -> ApiKey | None:
        return next((key for key in self._all_keys() if key.digest == digest), None)

    async def has_keys(self, *, at: datetime) -> bool:
        return any(key.usable_at(at) for key in self._all_keys())

    async def claim(self, scope: Scope, claim: IdempotencyClaim, *, forget_before: datetime) -> ClaimOutcome:
        with self._writing(scope) as rows:
            return access.claim(rows, claim, forget_before)

    async def answer(self, scope: Scope, claim: IdempotencyClaim, reply: Reply) -> None:
        with self._writing(scope) as rows:
            access.answer(rows, claim, reply)

    async def release(self, scope: Scope, claim: IdempotencyClaim) -> None:
        with self._writing(scope) as rows:
            access.release(rows, claim)

    async def get(self, reader: Reader, ids: Sequence[UUID]) -> Mapping[UUID, Memory]:
        return self.view().get(reader, ids)

    async def cues(self, reader: Reader, ids: Sequence[UUID]) -> Mapping[UUID, tuple[Cue, ...]]:
        return self.view().cues(reader, ids)

    async def revisions(self, reader: Reader, memory_id: UUID) -> tuple[Revision, ...]:
        rows = self._reading(reader.scope)
        if rows.visible(reader, memory_id) is None:
            return ()
        return tuple(revision for (owner, _), revision in sorted(rows.revisions.items()) if owner == memory_id)

    async def relations(self, reader: Reader, ids: Sequence[UUID]) -> tuple[Relation, ...]:
        return self.view().relations(reader, ids)

    async def hubs(self, reader: Reader, where: Filter, *, limit: int) -> Mapping[UUID, int]:
        rows = self._reading(reader.scope)
        kept = {memory.id for memory in rows.visible_memories(reader) if not excluded_by(memory, where)}
        among = [edge for edge in rows.relations.values() if edge.source in kept and edge.target in kept]
        counts = Counter(end for edge in among for end in (edge.source, edge.target))
        return dict(sorted(counts.items(), key=lambda pair: (-pair[1], pair[0]))[:limit])

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
        self,
        reader: Reader,
        where: Filter,
        *,
        limit: int,
        oldest_first: bool = False,
        after: MemoryPlace | None = None,
    ) -> tuple[Memory, ...]:
        return self.view().memories(reader, where, limit=limit, oldest_first=oldest_first, after=after)

    async def events(
        self,
        reader: Reader,
        where: EventFilter,
        *,
        limit: int,
        oldest_first: bool = False,
        after: ListingPosition | None = None,
    ) -> tuple[Event, ...]:
        rows = self._reading(reader.scope)
        listed = journal.events(rows, reader, where, self._analyse, oldest_first=oldest_first, after=after)
        return tuple(listed[:limit])

    async def count_events(self, reader: Reader, where: EventFilter) -> int:
        events = self._reading(reader.scope).visible_events(reader, archived=where.archived)
        return sum(journal.keeps(where, event, self._analyse) for event in events)

    async def events_by_day(self, reader: Reader, where: EventFilter) -> Mapping[date, int]:
        events = self._reading(reader.scope).visible_events(reader, archived=where.archived)
        kept = (event for event in events if journal.keeps(where, event, self._analyse))
        return dict(sorted(Counter(event.occurred_at.astimezone(UTC).date() for event in kept).items()))

    async def recorded(self, reader: Reader, where: EventFilter, *, after: int | None = None, limit: int) -> Stretch:
        return journal.recorded(self._reading(reader.scope), reader, where, self._analyse, after=after, limit=limit)

    async def set_priority(
        self,
        reader: Reader,
        event_id: UUID,
        priority: Priority,
        *,
        by: str,
        reason: str,
        at: datetime,
        change: Callable[[Memory, Sequence[Event], Sequence[Event]], Strength],
    ) -> PriorityChange:
        with self._writing(reader.scope) as rows:
            return journal.set_priority(rows, reader, event_id, priority, by=by, reason=reason, at=at, change=change)

    async def priority_changes(self, reader: Reader, event_id: UUID) -> tuple[PriorityChange, ...]:
        return journal.priority_changes(self._reading(reader.scope), reader, event_id)

    async def states(self, reader: Reader, where: Filter) -> tuple[tuple[UUID, ...], States]:
        return self.view().states(reader, where)

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

    async def pending_of(
        self, scope: Scope, model: str, memory_id: UUID, *, before: int = 0, words: bool = False
    ) -> tuple[PendingCue, ...]:
        rows = self._reading(scope)
        return tuple(
            PendingCue(ref, memory_id, indexed.cue.text, indexed.cue.heading, *_spoken(rows, indexed.cue, before))
            for ref, indexed in rows.cues_of(memory_id)
            if _is_missing(rows.vectors.get((ref, model)), words=words)
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
                    words = None if given.words is None else given.words.copy()
                    rows.vectors[place] = StoredVector(vector, given.truncated, at, words)
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
                    rows.failures[ref, model] = Failure(tries, now + work.wait_after(tries))

    async def vectors(self, reader: Reader, model: str, ids: Sequence[UUID]) -> Mapping[UUID, NDArray[np.float32]]:
        return self.view().vectors(reader, model, ids)

    async def health_inputs(
        self, reader: Reader, where: Filter, *, model: str | None, shown_since: datetime
    ) -> HealthInputs:
        return health_inputs(self._reading(reader.scope), reader, where, model, shown_since)

    async def put_snapshot(self, scope: Scope, snapshot: HealthSnapshot) -> None:
        with self._writing(scope) as rows:
            rows.health[snapshot.crew or "", snapshot.day] = snapshot

    async def snapshots(self, scope: Scope, crew: str | None, *, limit: int) -> tuple[HealthSnapshot, ...]:
        kept = [snapshot for snapshot in self._reading(scope).health.values() if snapshot.crew == crew]
        return tuple(sorted(kept, key=lambda snapshot: snapshot.day, reverse=True)[:limit])

    async def crews(self, scope: Scope) -> tuple[str, ...]:
        crews = {memory.scope.crew for memory in self._reading(scope).memories.values()}
        return tuple(sorted(crew for crew in crews if crew is not None))

    async def lying_in(self, scope: Scope, choice: ErasureSelection) -> tuple[frozenset[UUID], frozenset[UUID]]:
        return erasing.lying_in(self._reading(scope), choice)

    async def traces(self, scope: Scope, *, memories: Collection[UUID], events: Collection[UUID]) -> Traces:
        return erasing.traces(self._reading(scope), memories, events)

    async def erase(self, scope: Scope, removal: Removal, receipt: Erasure) -> Removed:
        rows = self._reading(scope).copy()
        removed = erasing.erase(rows, removal, receipt, self._analyse, self._new_ref)
        if not receipt.dry_run:
            rows.erasures.append(completed(receipt, removed))
            self._keep(scope, rows)
        return removed

    async def purge(self, scope: Scope, *, at: datetime) -> str:
        """Note the time. There is no file to purge."""
        with self._writing(scope) as rows:
            rows.erasures = [one if one.purged_at else replace(one, purged_at=at) for one in rows.erasures]
        return ""

    async def copies(self, scope: Scope) -> tuple[str, ...]:
        self._reading(scope)
        return ()

    async def erasures(self, scope: Scope, *, limit: int) -> tuple[Erasure, ...]:
        return tuple(reversed(self._reading(scope).erasures))[:limit]

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
            relations=len(rows.visible_relations(reader)),
            oldest=min((memory.occurred_from for memory in memories), default=None),
            newest=max((memory.occurred_to for memory in memories), default=None),
            bytes=0,
        )

    async def check(self, scope: Scope, model: str | None) -> tuple[Finding, ...]:
        """Only that the rows can be read: nothing here is derived from them."""
        rows = self._reading(scope)
        return (Finding("rows", True, f"{len(rows.memories)} memories, {len(rows.events)} events"),)

    async def export(self, scope: Scope) -> AsyncIterator[ExportRow]:
        for row in exchange.export(self._reading(scope)):
            yield row

    async def import_rows(self, scope: Scope, rows: Iterable[ExportRow], *, dry_run: bool = False) -> int:
        records = [row_to_record(row, scope.workspace) for row in rows]
        held = self._reading(scope).copy()
        new = exchange.take_in(held, records, self._analyse, self._new_ref)
        if not dry_run:
            self._keep(scope, held)
        return new

    async def close(self) -> None:
        self._closed = True

    def _append(self, rows: Rows, scope: Scope, entry: Entry) -> Appended:
        event = entry.event
        require_same_workspace("event.scope", scope, event.scope)
        known = rows.event_with_key(event.scope, event.key)
        if known is not None:
            # The archive has only the beginning of the text to compare with.
            if known.text != (archived(event).text if known.id in rows.archive else event.text):
                raise Conflict(f"key {event.key!r} holds another text, in event {known.id}")
            return Appended(known, created=False)
        if event.id in rows.events or event.id in rows.archive:
            raise Conflict(f"event {event.id} is already recorded")
        recorded = replace(event, seq=rows.last_seq(event.scope) + 1)
        rows.record(recorded)
        if entry.memory is not None:
            memories.add(rows, scope, entry.memory, self._new_ref)
        return Appended(recorded, created=True)

    def _reading(self, scope: Scope) -> Rows:
        if self._closed:
            raise StoreUnavailable("the store is closed")
        return self._workspaces.get(scope.workspace, Rows())

    def view(self) -> ReferenceView:
        """The rows as they are now."""
        if self._closed:
            raise StoreUnavailable("the store is closed")
        return ReferenceView(dict(self._workspaces))

    def _all_keys(self) -> list[ApiKey]:
        """The keys to all workspaces."""
        if self._closed:
            raise StoreUnavailable("the store is closed")
        return [key for rows in self._workspaces.values() for key in rows.keys.values()]

    @contextmanager
    def _writing(self, scope: Scope) -> Generator[Rows, None, None]:
        """A copy of the rows to write to. It replaces them unless an error is raised."""
        rows = self._reading(scope).copy()
        yield rows
        self._keep(scope, rows)

    def _keep(self, scope: Scope, rows: Rows) -> None:
        rows.number_changes(self._reading(scope))
        self._workspaces[scope.workspace] = rows


def _is_missing(stored: StoredVector | None, *, words: bool) -> bool:
    return stored is None or (words and stored.words is None)


def _spoken(rows: Rows, cue: Cue, before: int) -> tuple[str, tuple[Said, ...]]:
    """The speaker of a turn, and up to `before` turns before it in their order, none from before a gap."""
    event = rows.event_of(cue)
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
