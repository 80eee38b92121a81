"""The Store over a relational database: each method is one function, run whole in one transaction."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Collection, Coroutine, Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import date, datetime
from functools import partial
from typing import TYPE_CHECKING, Any, Final, TypeVar
from uuid import UUID

from remembrancer.adapters.relational import (
    access,
    embeddings,
    exporting,
    health,
    importing,
    inspection,
    journal,
    lookup,
    memories,
    purging,
    reviews,
    spending,
    states,
    streams,
    tracing,
    work,
)
from remembrancer.adapters.relational.archive import archive
from remembrancer.adapters.relational.connection import Connection
from remembrancer.adapters.relational.database import Database, Snapshot
from remembrancer.adapters.relational.dialect import Backend
from remembrancer.adapters.relational.effect import commit
from remembrancer.adapters.relational.priorities import priority_changes, set_priority
from remembrancer.adapters.relational.removing import erase
from remembrancer.adapters.relational.resident.cache import ResidentIndexes
from remembrancer.adapters.relational.resident.index import SCANNED
from remembrancer.domain.api_key import ApiKey
from remembrancer.domain.candidates import Candidates, States
from remembrancer.domain.effect import Effect
from remembrancer.domain.erasure import Choice, Erasure, Removal, Removed, Traces
from remembrancer.domain.event import Event, Priority
from remembrancer.domain.health import HealthSnapshot
from remembrancer.domain.job import Deferral, Run
from remembrancer.domain.journal import Place, PriorityChange, Stretch
from remembrancer.domain.listing import MemoryPlace
from remembrancer.domain.memory import Cue, Memory, MemoryWrite, Revision, Status
from remembrancer.domain.query import Filter
from remembrancer.domain.relation import Relation
from remembrancer.domain.reply import Claim, ClaimOutcome, Reply
from remembrancer.domain.review import Evidence, Review
from remembrancer.domain.scope import Reader, Scope
from remembrancer.domain.spending import ModelCall, Spent
from remembrancer.domain.stream import Tail
from remembrancer.domain.strength import Adjustment, Exposed, Exposure, Strength
from remembrancer.errors import InvalidInput
from remembrancer.ports.embeddings import CueVector, PendingCue
from remembrancer.ports.exchange import RECORDS, Analyse
from remembrancer.ports.inspection import Finding, Stats, Vitals
from remembrancer.ports.journal import Aged, Appended, Entry, EventFilter
from remembrancer.ports.memories import Audited
from remembrancer.ports.one_thread import Beside
from remembrancer.ports.store import SearchRequest
from remembrancer.ports.transfer import ExportRow

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

T = TypeVar("T")

DEFAULT_INDEX_BYTES: Final = 1 << 30


class RelationalStore:
    """Records in tables, in a database such as an SQLite file."""

    def __init__(
        self, backend: Backend, *, analyse: Analyse, index_bytes: int = DEFAULT_INDEX_BYTES, scanned: int = SCANNED
    ) -> None:
        """Opens the database. `index_bytes`: the budget of the resident indexes. `scanned`: up to this number of texts
        in a workspace, each is compared by meaning; of more, only those whose signs are near.

        Raises StoreUnavailable or Unsupported.
        """
        self._backend = backend
        self._database = Database(backend, analyse=analyse)
        self._indexes = ResidentIndexes(index_bytes, scanned=scanned)
        self._analyse = analyse
        self._swept: dict[tuple[str, str, bool], int] = {}
        """By workspace, model, and whether words count: up to this number every cue has its vector, or waits."""

    async def in_one_thread(self, work: Callable[[Beside | None], Coroutine[Any, Any, T]]) -> T:
        return await self._database.in_one_thread(work)

    async def append(self, scope: Scope, entries: Sequence[Entry]) -> tuple[Appended, ...]:
        return await self._database.write(lambda c: journal.append(c, scope, entries, self._analyse))

    async def insert(self, scope: Scope, write: MemoryWrite) -> tuple[Memory, bool]:
        return await self._database.write(lambda c: memories.insert(c, scope, write))

    async def revise(self, scope: Scope, write: MemoryWrite, *, expected_revision: int, at: datetime) -> Memory:
        return await self._database.write(lambda c: memories.revise(c, scope, write, expected_revision, at))

    async def by_topic(self, scope: Scope, topic_key: str) -> Memory | None:
        return await self._database.read(lambda c: lookup.by_topic(c, scope, topic_key))

    async def adjust(
        self,
        reader: Reader,
        ids: Sequence[UUID],
        change: Callable[[Strength], Adjustment],
        *,
        at: datetime,
        exposed: Sequence[Exposed] = (),
    ) -> Mapping[UUID, Strength]:
        return await self._database.write(lambda c: memories.adjust(c, reader, ids, change, at, exposed))

    async def supersede(self, reader: Reader, old: UUID, new: UUID | None, *, at: datetime) -> Memory:
        return await self._database.write(lambda c: memories.supersede(c, reader, old, new, at))

    async def relate(self, reader: Reader, relations: Sequence[Relation]) -> int:
        return await self._database.write(lambda c: memories.relate(c, reader, relations))

    async def set_status(self, reader: Reader, memory_id: UUID, status: Status, *, at: datetime) -> Memory:
        return await self._database.write(lambda c: memories.set_status(c, reader, memory_id, status, at))

    async def commit(self, scope: Scope, effect: Effect, *, at: datetime) -> None:
        await self._database.write(lambda c: commit(c, scope, effect, at))

    async def tails(
        self, scope: Scope, *, at_least: int, silent_since: datetime, limit: int, after: Scope | None = None
    ) -> tuple[Tail, ...]:
        return await self._database.read(lambda c: streams.tails(c, scope, at_least, silent_since, limit, after))

    async def tail(self, stream: Scope) -> Tail | None:
        return await self._database.read(lambda c: streams.tail(c, stream))

    async def stream_events(self, stream: Scope, *, after: int, limit: int) -> tuple[Event, ...]:
        return await self._database.read(lambda c: streams.stream_events(c, stream, after, limit))

    async def workspace_memories(
        self, scope: Scope, where: Filter, *, limit: int, after: Memory | None = None, unconsolidated: bool = False
    ) -> tuple[Memory, ...]:
        return await self._database.read(
            lambda c: lookup.workspace_memories(c, scope, where, limit, after, unconsolidated)
        )

    async def unreviewed(self, scope: Scope, exposure: Exposure, *, limit: int) -> tuple[Evidence, ...]:
        return await self._database.read(lambda c: reviews.unreviewed(c, scope, exposure, limit))

    async def exposed_in(self, scope: Scope, session: str, exposure: Exposure) -> tuple[UUID, ...]:
        return await self._database.read(lambda c: reviews.exposed_in(c, scope, session, exposure))

    async def reviews(self, reader: Reader, memory_id: UUID) -> tuple[Review, ...]:
        return await self._database.read(lambda c: reviews.reviews(c, reader, memory_id))

    async def archive(self, scope: Scope, aged: Aged, *, at: datetime, limit: int) -> int:
        return await self._database.write(lambda c: archive(c, scope, aged, at, limit, self._analyse))

    async def put_run(self, scope: Scope, run: Run) -> None:
        await self._database.write(lambda c: work.put_run(c, scope, run))

    async def runs(self, scope: Scope) -> Mapping[str, Run]:
        return await self._database.read(lambda c: work.runs(c, scope))

    async def defer(self, scope: Scope, job: str, item: str, *, error: str, now: datetime) -> Deferral:
        return await self._database.write(lambda c: work.defer(c, scope, job, item, error, now))

    async def settle(self, scope: Scope, job: str, items: Sequence[str]) -> None:
        await self._database.write(lambda c: work.settle(c, scope, job, items))

    async def deferrals(self, scope: Scope, job: str | None = None) -> tuple[Deferral, ...]:
        return await self._database.read(lambda c: work.deferrals(c, scope, job))

    async def log_call(self, scope: Scope, call: ModelCall) -> None:
        await self._database.write(lambda c: spending.log_call(c, scope, call))

    async def spending(self, scope: Scope, *, since: datetime | None = None) -> tuple[Spent, ...]:
        return await self._database.read(lambda c: spending.spending(c, scope, since))

    async def put_key(self, scope: Scope, key: ApiKey) -> None:
        await self._database.write(lambda c: access.put_key(c, scope, key))

    async def keys(self, scope: Scope) -> tuple[ApiKey, ...]:
        return await self._database.read(lambda c: access.keys(c, scope))

    async def revoke_key(self, scope: Scope, key_id: UUID, *, at: datetime) -> ApiKey:
        return await self._database.write(lambda c: access.revoke_key(c, scope, key_id, at))

    async def key_of(self, digest: bytes) -> ApiKey | None:
        return await self._database.read(lambda c: access.key_of(c, digest))

    async def has_keys(self, *, at: datetime) -> bool:
        return await self._database.read(lambda c: access.has_keys(c, at))

    async def claim(self, scope: Scope, claim: Claim, *, forget_before: datetime) -> ClaimOutcome:
        return await self._database.write(lambda c: access.claim(c, scope, claim, forget_before))

    async def answer(self, scope: Scope, claim: Claim, reply: Reply) -> None:
        await self._database.write(lambda c: access.answer(c, scope, claim, reply))

    async def release(self, scope: Scope, claim: Claim) -> None:
        await self._database.write(lambda c: access.release(c, scope, claim))

    async def get(self, reader: Reader, ids: Sequence[UUID]) -> Mapping[UUID, Memory]:
        return await self._database.read(lambda c: lookup.get(c, reader, ids))

    async def cues(self, reader: Reader, ids: Sequence[UUID]) -> Mapping[UUID, tuple[Cue, ...]]:
        return await self._database.read(lambda c: lookup.cues(c, reader, ids))

    async def revisions(self, reader: Reader, memory_id: UUID) -> tuple[Revision, ...]:
        return await self._database.read(lambda c: lookup.revisions(c, reader, memory_id))

    async def relations(self, reader: Reader, ids: Sequence[UUID]) -> tuple[Relation, ...]:
        return await self._database.read(lambda c: lookup.relations(c, reader, ids))

    async def hubs(self, reader: Reader, where: Filter, *, limit: int) -> Mapping[UUID, int]:
        return await self._database.read(lambda c: lookup.hubs(c, reader, where, limit))

    async def audit(self, reader: Reader, memory_id: UUID) -> tuple[Audited, ...]:
        return await self._database.read(lambda c: memories.audit(c, reader, memory_id))

    async def provenance(self, reader: Reader, memory_id: UUID) -> tuple[Event, ...]:
        return await self._database.read(lambda c: journal.provenance(c, reader, memory_id))

    async def memories(
        self,
        reader: Reader,
        where: Filter,
        *,
        limit: int,
        oldest_first: bool = False,
        after: MemoryPlace | None = None,
    ) -> tuple[Memory, ...]:
        return await self._database.read(lambda c: lookup.memories(c, reader, where, limit, oldest_first, after))

    async def events(
        self,
        reader: Reader,
        where: EventFilter,
        *,
        limit: int,
        oldest_first: bool = False,
        after: Place | None = None,
    ) -> tuple[Event, ...]:
        return await self._database.read(lambda c: journal.events(c, reader, where, limit, oldest_first, after))

    async def recorded(self, reader: Reader, where: EventFilter, *, after: int | None = None, limit: int) -> Stretch:
        return await self._database.read(lambda c: journal.recorded(c, reader, where, after, limit))

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
        wanted = PriorityChange(event_id=event_id, previous=priority, priority=priority, by=by, reason=reason, at=at)
        return await self._database.write(lambda c: set_priority(c, reader, wanted, change))

    async def priority_changes(self, reader: Reader, event_id: UUID) -> tuple[PriorityChange, ...]:
        return await self._database.read(lambda c: priority_changes(c, reader, event_id))

    async def count_events(self, reader: Reader, where: EventFilter) -> int:
        return await self._database.read(lambda c: journal.count_events(c, reader, where))

    async def events_by_day(self, reader: Reader, where: EventFilter) -> Mapping[date, int]:
        return await self._database.read(lambda c: journal.events_by_day(c, reader, where))

    async def states(self, reader: Reader, where: Filter) -> tuple[tuple[UUID, ...], States]:
        return await self._database.read(lambda c: states.states(c, reader, where))

    async def search(self, reader: Reader, request: SearchRequest) -> Candidates:
        if request.vector is not None and request.model is None:
            raise InvalidInput("model", None, "the model of the vector")
        if request.lexical is not None and request.lexical.is_empty:
            request = replace(request, lexical=None)
        return await self._database.read(lambda c: self._indexes.search(c, reader, request))

    async def participants(self, reader: Reader, where: Filter, *, model: str | None) -> frozenset[str]:
        return await self._database.read(lambda c: self._indexes.participants(c, reader, where, model))

    async def pending(
        self, scope: Scope, model: str, *, limit: int, now: datetime, before: int = 0, words: bool = False
    ) -> tuple[PendingCue, ...]:
        def work(connection: Connection) -> tuple[PendingCue, ...]:
            # Without this mark a sweep over a large file would walk past every indexed cue at each batch.
            mark = self._swept.get((scope.workspace, model, words), 0)
            fresh = embeddings.untried(connection, scope, model, limit, after=mark, before=before, words=words)
            self._swept[scope.workspace, model, words] = fresh[0].ref - 1 if fresh else embeddings.last_cue(connection)
            return fresh + embeddings.due_again(connection, scope, model, limit - len(fresh), now, before=before)

        return await self._database.read(work)

    async def pending_of(
        self, scope: Scope, model: str, memory_id: UUID, *, before: int = 0, words: bool = False
    ) -> tuple[PendingCue, ...]:
        return await self._database.read(
            lambda c: embeddings.missing_of(c, scope, model, memory_id, before=before, words=words)
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
        return await self._database.write(lambda c: embeddings.put_vectors(c, scope, model, vectors, at, relations))

    async def defer_vectors(self, scope: Scope, model: str, refs: Sequence[int], *, error: str, now: datetime) -> None:
        await self._database.write(lambda c: embeddings.defer_vectors(c, scope, model, refs, error, now))

    async def vectors(self, reader: Reader, model: str, ids: Sequence[UUID]) -> Mapping[UUID, NDArray[np.float32]]:
        return await self._database.read(lambda c: embeddings.vectors(c, reader, model, ids))

    async def words(self, reader: Reader, model: str, refs: Sequence[int]) -> Mapping[int, NDArray[np.uint8]]:
        return await self._database.read(lambda c: self._indexes.words(c, reader, model, refs))

    async def vitals(self, reader: Reader, where: Filter, *, model: str | None, shown_since: datetime) -> Vitals:
        return await self._database.read(lambda c: health.vitals(c, reader, where, model, shown_since))

    async def put_snapshot(self, scope: Scope, snapshot: HealthSnapshot) -> None:
        await self._database.write(lambda c: health.put_snapshot(c, scope, snapshot))

    async def snapshots(self, scope: Scope, crew: str | None, *, limit: int) -> tuple[HealthSnapshot, ...]:
        return await self._database.read(lambda c: health.snapshots(c, scope, crew, limit))

    async def crews(self, scope: Scope) -> tuple[str, ...]:
        return await self._database.read(lambda c: health.crews(c, scope))

    async def lying_in(self, scope: Scope, choice: Choice) -> tuple[frozenset[UUID], frozenset[UUID]]:
        return await self._database.read(lambda c: tracing.lying_in(c, scope, choice))

    async def traces(self, scope: Scope, *, memories: Collection[UUID], events: Collection[UUID]) -> Traces:
        return await self._database.read(lambda c: tracing.traces(c, scope, memories, events))

    async def erase(self, scope: Scope, removal: Removal, receipt: Erasure) -> Removed:
        return await self._database.write(lambda c: erase(c, scope, removal, receipt, self._analyse))

    async def purge(self, scope: Scope, *, at: datetime) -> str:
        if not await self._database.read(lambda c: purging.is_due(c, scope)):
            return ""
        return await self._database.alone(
            lambda c: purging.purge(c, self._backend, scope, at), patience_s=purging.PATIENCE_S
        )

    async def copies(self, scope: Scope) -> tuple[str, ...]:
        return await self._database.read(lambda _: self._backend.copies())

    async def erasures(self, scope: Scope, *, limit: int) -> tuple[Erasure, ...]:
        return await self._database.read(lambda c: purging.erasures(c, scope, limit))

    async def stats(self, reader: Reader) -> Stats:
        return await self._database.read(lambda c: inspection.stats(c, reader))

    async def check(self, scope: Scope, model: str | None) -> tuple[Finding, ...]:
        return await self._database.read(lambda c: inspection.check(c, self._backend, scope, model))

    async def export(self, scope: Scope) -> AsyncIterator[ExportRow]:
        async with self._database.snapshot() as snapshot:
            for record in RECORDS:
                async for row in _record_rows(snapshot, scope.workspace, record):
                    yield row

    async def import_rows(self, scope: Scope, rows: Iterable[ExportRow], *, dry_run: bool = False) -> int:
        return await self._database.write(lambda c: importing.import_rows(c, scope, rows, self._analyse, dry_run))

    async def close(self) -> None:
        await asyncio.to_thread(self._database.close)  # the last writes may be waiting for another process's lock


async def _record_rows(snapshot: Snapshot, workspace: str, record: str) -> AsyncIterator[ExportRow]:
    """Every export row of one kind, a page at a time."""
    position: object = None
    while True:
        rows, position = await snapshot.read(
            partial(exporting.export_page, workspace=workspace, record=record, after=position)
        )
        for row in rows:
            yield row
        if position is None:
            return
