"""The Store over a relational database: each method is one function, run whole in one transaction."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterable, Sequence
from datetime import datetime
from functools import partial
from types import CoroutineType
from typing import Any, Concatenate, ParamSpec, TypeVar

from remembrancer.adapters import relational
from remembrancer.adapters.relational import embeddings, inspection, tracing
from remembrancer.adapters.relational.access import answer, claim, has_keys, key_of, keys, put_key, release, revoke_key
from remembrancer.adapters.relational.connection import Connection
from remembrancer.adapters.relational.database import Database, Snapshot
from remembrancer.adapters.relational.dialect import Backend
from remembrancer.adapters.relational.effect import commit
from remembrancer.adapters.relational.embeddings import defer_vectors, pending_of, put_vectors, vectors
from remembrancer.adapters.relational.feed import RelationalView
from remembrancer.adapters.relational.health import crews, put_snapshot, snapshots, states, vitals
from remembrancer.adapters.relational.inspection import stats
from remembrancer.adapters.relational.journal import (
    append,
    count_events,
    events,
    events_by_day,
    priority_changes,
    provenance,
    recorded,
    set_priority,
)
from remembrancer.adapters.relational.lookup import (
    by_topic,
    cues,
    get,
    hubs,
    memories,
    relations,
    revisions,
    workspace_memories,
)
from remembrancer.adapters.relational.memories import adjust, audit, insert, relate, revise, set_status, supersede
from remembrancer.adapters.relational.reviews import exposed_in, reviews, unreviewed
from remembrancer.adapters.relational.streams import stream_events, tail, tails
from remembrancer.adapters.relational.tracing import erasures, lying_in, traces
from remembrancer.adapters.relational.work import defer, deferrals, log_call, put_run, runs, settle, spending
from remembrancer.domain.erasure import Erasure, Removal, Removed
from remembrancer.domain.memory import Analyse
from remembrancer.domain.scope import Scope
from remembrancer.ports.changes import ReadView
from remembrancer.ports.embeddings import PendingCue
from remembrancer.ports.inspection import Finding
from remembrancer.ports.journal import Aged, Appended, Entry
from remembrancer.ports.transfer import ExportRow

P = ParamSpec("P")
T = TypeVar("T")


def _reads(
    work: Callable[Concatenate[Connection, P], T],
) -> Callable[Concatenate[RelationalStore, P], CoroutineType[Any, Any, T]]:
    """A method of the store that runs this function in a read transaction."""

    async def method(store: RelationalStore, /, *args: P.args, **kwargs: P.kwargs) -> T:
        return await store.database.read(lambda connection: work(connection, *args, **kwargs))

    return method


def _writes(
    work: Callable[Concatenate[Connection, P], T],
) -> Callable[Concatenate[RelationalStore, P], CoroutineType[Any, Any, T]]:
    """A method of the store that runs this function in a write transaction. All of it is written, or nothing."""

    async def method(store: RelationalStore, /, *args: P.args, **kwargs: P.kwargs) -> T:
        return await store.database.write(lambda connection: work(connection, *args, **kwargs))

    return method


class RelationalStore:
    """Records in tables, in a database such as an SQLite file."""

    def __init__(self, backend: Backend, *, analyse: Analyse) -> None:
        """Opens the database. Raises StoreUnavailable or Unsupported."""
        self._backend = backend
        self.database = Database(backend, analyse=analyse)
        self._analyse = analyse
        self._swept: dict[tuple[str, str, bool], int] = {}
        """By workspace, model, and whether with token embeddings: all cues up to this number have them or wait."""

    insert = _writes(insert)
    revise = _writes(revise)
    adjust = _writes(adjust)
    supersede = _writes(supersede)
    relate = _writes(relate)
    set_status = _writes(set_status)
    commit = _writes(commit)
    get = _reads(get)
    by_topic = _reads(by_topic)
    memories = _reads(memories)
    workspace_memories = _reads(workspace_memories)
    cues = _reads(cues)
    revisions = _reads(revisions)
    relations = _reads(relations)
    hubs = _reads(hubs)
    audit = _reads(audit)
    states = _reads(states)

    events = _reads(events)
    recorded = _reads(recorded)
    provenance = _reads(provenance)
    count_events = _reads(count_events)
    events_by_day = _reads(events_by_day)
    set_priority = _writes(set_priority)
    priority_changes = _reads(priority_changes)
    tails = _reads(tails)
    tail = _reads(tail)
    stream_events = _reads(stream_events)

    unreviewed = _reads(unreviewed)
    exposed_in = _reads(exposed_in)
    reviews = _reads(reviews)

    put_run = _writes(put_run)
    runs = _reads(runs)
    defer = _writes(defer)
    settle = _writes(settle)
    deferrals = _reads(deferrals)
    log_call = _writes(log_call)
    spending = _reads(spending)

    put_key = _writes(put_key)
    keys = _reads(keys)
    revoke_key = _writes(revoke_key)
    key_of = _reads(key_of)
    has_keys = _reads(has_keys)
    claim = _writes(claim)
    answer = _writes(answer)
    release = _writes(release)

    pending_of = _reads(pending_of)
    put_vectors = _writes(put_vectors)
    defer_vectors = _writes(defer_vectors)
    vectors = _reads(vectors)

    vitals = _reads(vitals)
    put_snapshot = _writes(put_snapshot)
    snapshots = _reads(snapshots)
    crews = _reads(crews)
    stats = _reads(stats)

    lying_in = _reads(lying_in)
    traces = _reads(traces)
    erasures = _reads(erasures)

    async def read(self, work: Callable[[ReadView], T]) -> T:
        return await self.database.read(lambda connection: work(RelationalView(connection)), longer=True)

    async def append(self, scope: Scope, entries: Sequence[Entry]) -> tuple[Appended, ...]:
        return await self.database.write(lambda c: append(c, scope, entries, self._analyse))

    async def archive(self, scope: Scope, aged: Aged, *, at: datetime, limit: int) -> int:
        return await self.database.write(lambda c: relational.archive.archive(c, scope, aged, at, limit, self._analyse))

    async def pending(
        self, scope: Scope, model: str, *, limit: int, now: datetime, before: int = 0, words: bool = False
    ) -> tuple[PendingCue, ...]:
        def work(connection: Connection) -> tuple[PendingCue, ...]:
            # Without it, each batch of a sweep over a large database would read past all cues that have vectors.
            mark = self._swept.get((scope.workspace, model, words), 0)
            fresh = embeddings.untried(connection, scope, model, limit, after=mark, before=before, words=words)
            self._swept[scope.workspace, model, words] = fresh[0].ref - 1 if fresh else embeddings.last_cue(connection)
            return fresh + embeddings.due_again(connection, scope, model, limit - len(fresh), now, before=before)

        return await self.database.read(work)

    async def erase(self, scope: Scope, removal: Removal, receipt: Erasure) -> Removed:
        return await self.database.write(lambda c: relational.removing.erase(c, scope, removal, receipt, self._analyse))

    async def purge(self, scope: Scope, *, at: datetime) -> str:
        if not await self.database.read(lambda c: tracing.is_due(c, scope)):
            return ""
        return await self.database.alone(
            lambda c: tracing.purge(c, self._backend, scope, at), patience_s=tracing.PATIENCE_S
        )

    async def copies(self, scope: Scope) -> tuple[str, ...]:
        return await self.database.read(lambda _: self._backend.copies())

    async def check(self, scope: Scope, model: str | None) -> tuple[Finding, ...]:
        return await self.database.read(lambda c: inspection.check(c, self._backend, scope, model))

    async def export(self, scope: Scope) -> AsyncIterator[ExportRow]:
        async with self.database.snapshot() as snapshot:
            for record in relational.exporting.KINDS:
                async for row in _record_rows(snapshot, scope.workspace, record):
                    yield row

    async def import_rows(self, scope: Scope, rows: Iterable[ExportRow], *, dry_run: bool = False) -> int:
        adding = relational.importing.import_rows
        return await self.database.write(lambda c: adding(c, scope, rows, self._analyse, dry_run))

    async def close(self) -> None:
        await asyncio.to_thread(self.database.close)  # the last writes may be waiting for another process's lock


async def _record_rows(snapshot: Snapshot, workspace: str, record: str) -> AsyncIterator[ExportRow]:
    """Every export row of one kind, a page at a time."""
    position: object = None
    while True:
        rows, position = await snapshot.read(
            partial(relational.exporting.export_page, workspace=workspace, record=record, after=position)
        )
        for row in rows:
            yield row
        if position is None:
            return
