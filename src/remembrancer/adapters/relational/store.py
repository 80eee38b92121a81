"""The Store over a relational database: each method runs one function in one transaction."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Collection, Iterable, Sequence
from datetime import UTC, datetime
from functools import partial
from types import CoroutineType
from typing import TYPE_CHECKING, Any, Concatenate, ParamSpec, TypeVar

from remembrancer.adapters import relational
from remembrancer.adapters.relational.connection import EVERY_WORKSPACE
from remembrancer.adapters.relational.database import Database, Snapshot
from remembrancer.adapters.relational.feed import RelationalView
from remembrancer.ports.audit import TOUCHED, acts_of

if TYPE_CHECKING:
    from pathlib import Path

    from remembrancer.adapters.relational.connection import Connection
    from remembrancer.adapters.relational.dialect import Backend
    from remembrancer.domain.audit import Touched
    from remembrancer.domain.erasure import Erasure, Removal, Removed
    from remembrancer.domain.memory import Analyse
    from remembrancer.domain.scope import Scope
    from remembrancer.ports.candidate_source import CandidateSource
    from remembrancer.ports.changes import ReadView
    from remembrancer.ports.embeddings import PendingCue
    from remembrancer.ports.inspection import Finding
    from remembrancer.ports.journal import Aged, Appended, Entry
    from remembrancer.ports.notifications import Subscription
    from remembrancer.ports.transfer import BackupReport, ExportRow, OnPages

P = ParamSpec("P")
T = TypeVar("T")


def _reads(
    work: Callable[[], Callable[Concatenate[Connection, P], T]], *, everywhere: bool = False, brief: bool = False
) -> Callable[Concatenate[RelationalStore, P], CoroutineType[Any, Any, T]]:
    """A store method that runs a function in a read transaction. `work` returns the function when the method is called,
    so that its module is loaded only then. `everywhere`: it takes no scope, and reads every workspace. `brief`: as of
    `Database.read`.
    """

    async def method(store: RelationalStore, /, *args: P.args, **kwargs: P.kwargs) -> T:
        workspace = EVERY_WORKSPACE if everywhere else _workspace_of(args[0])
        return await store.database.read(
            lambda connection: work()(connection, *args, **kwargs), workspace=workspace, brief=brief
        )

    return method


def _writes(
    work: Callable[[], Callable[Concatenate[Connection, P], T]],
) -> Callable[Concatenate[RelationalStore, P], CoroutineType[Any, Any, T]]:
    """Like `_reads`, but in a write transaction, which is written completely or not at all, with its entry in the audit
    trail.
    """

    async def method(store: RelationalStore, /, *args: P.args, **kwargs: P.kwargs) -> T:
        function = work()
        record = store.recorder(function.__name__, *args, **kwargs)

        def write(connection: Connection) -> T:
            done = function(connection, *args, **kwargs)
            record(connection, done)
            return done

        return await store.database.write(write, workspace=_workspace_of(args[0]))

    return method


def _now() -> datetime:
    return datetime.now(UTC)


def _scope_of(whose: Any) -> Scope:
    """The scope of a Scope or a Reader."""
    return getattr(whose, "scope", whose)


def _workspace_of(whose: Any) -> str:
    return _scope_of(whose).workspace


class RelationalStore:
    """The record store in a relational database, such as an SQLite file."""

    def __init__(self, backend: Backend, *, analyse: Analyse) -> None:
        """Opens the database. Raises StoreUnavailable or Unsupported."""
        self._backend = backend
        self.database = Database(backend, analyse=analyse)
        self._analyse = analyse
        self._trails = relational.trail.Trails()
        self._swept: dict[tuple[str, str, bool], int] = {}
        """For each workspace, model, and whether token embeddings are wanted: the number up to which every cue has its
        vector or waits for a retry.
        """

    insert = _writes(lambda: relational.memories.insert)
    insert_many = _writes(lambda: relational.memories.insert_many)
    revise = _writes(lambda: relational.memories.revise)
    adjust = _writes(lambda: relational.memories.adjust)
    supersede = _writes(lambda: relational.memories.supersede)
    relate = _writes(lambda: relational.memories.relate)
    set_status = _writes(lambda: relational.memories.set_status)
    commit = _writes(lambda: relational.effect.commit)
    get = _reads(lambda: relational.lookup.get)
    by_topic = _reads(lambda: relational.lookup.by_topic)
    memories = _reads(lambda: relational.lookup.memories)
    workspace_memories = _reads(lambda: relational.lookup.workspace_memories)
    cues = _reads(lambda: relational.lookup.cues)
    revisions = _reads(lambda: relational.lookup.revisions)
    relations = _reads(lambda: relational.lookup.relations)
    hubs = _reads(lambda: relational.lookup.hubs)
    audit = _reads(lambda: relational.memories.audit)
    states = _reads(lambda: relational.health.states)

    events = _reads(lambda: relational.journal.events)
    recorded = _reads(lambda: relational.journal.recorded)
    provenance = _reads(lambda: relational.journal.provenance)
    count_events = _reads(lambda: relational.journal.count_events)
    events_by_day = _reads(lambda: relational.journal.events_by_day)
    set_priority = _writes(lambda: relational.journal.set_priority)
    priority_changes = _reads(lambda: relational.journal.priority_changes)
    tails = _reads(lambda: relational.streams.tails)
    tail = _reads(lambda: relational.streams.tail)
    conversations = _reads(lambda: relational.streams.conversations)
    stream_events = _reads(lambda: relational.streams.stream_events)

    unreviewed = _reads(lambda: relational.reviews.unreviewed)
    exposed_in = _reads(lambda: relational.reviews.exposed_in)
    reviews = _reads(lambda: relational.reviews.reviews)
    add_credits = _writes(lambda: relational.outcomes.add_credits)
    credits = _reads(lambda: relational.outcomes.credits)

    put_run = _writes(lambda: relational.work.put_run)
    runs = _reads(lambda: relational.work.runs)
    defer = _writes(lambda: relational.work.defer)
    settle = _writes(lambda: relational.work.settle)
    deferrals = _reads(lambda: relational.work.deferrals)
    log_call = _writes(lambda: relational.work.log_call)
    spending = _reads(lambda: relational.work.spending)

    put_key = _writes(lambda: relational.access.put_key)
    keys = _reads(lambda: relational.access.keys)
    revoke_key = _writes(lambda: relational.access.revoke_key)
    key_of = _reads(lambda: relational.access.key_of, everywhere=True, brief=True)
    has_keys = _reads(lambda: relational.access.has_keys, everywhere=True, brief=True)
    claim = _writes(lambda: relational.access.claim)
    answer = _writes(lambda: relational.access.answer)
    release = _writes(lambda: relational.access.release)

    pending_of = _reads(lambda: relational.embeddings.pending_of)
    embedded = _reads(lambda: relational.embeddings.embedded)
    put_vectors = _writes(lambda: relational.embeddings.put_vectors)
    defer_vectors = _writes(lambda: relational.embeddings.defer_vectors)
    failed_vectors = _reads(lambda: relational.embeddings.failed_vectors)
    vectors = _reads(lambda: relational.embeddings.vectors)
    spaces = _reads(lambda: relational.spaces.spaces)
    space_sizes = _reads(lambda: relational.spaces.space_sizes)
    build_space = _writes(lambda: relational.spaces.build_space)
    answer_with = _writes(lambda: relational.spaces.answer_with)

    health_inputs = _reads(lambda: relational.health.health_inputs)
    put_snapshot = _writes(lambda: relational.health.put_snapshot)
    snapshots = _reads(lambda: relational.health.snapshots)
    crews = _reads(lambda: relational.health.crews)
    stats = _reads(lambda: relational.inspection.stats)

    keep_recall = _writes(lambda: relational.recalls.keep_recall)
    kept_recall = _reads(lambda: relational.recalls.kept_recall)
    ids_ending = _reads(lambda: relational.inspection.ids_ending)
    drop_recall = _writes(lambda: relational.recalls.drop_recall)

    lying_in = _reads(lambda: relational.tracing.lying_in)
    traces = _reads(lambda: relational.tracing.traces)
    erasures = _reads(lambda: relational.tracing.erasures)

    put_rule = _writes(lambda: relational.retention.put_rule)
    rules = _reads(lambda: relational.retention.rules)
    drop_rule = _writes(lambda: relational.retention.drop_rule)
    put_hold = _writes(lambda: relational.retention.put_hold)
    holds = _reads(lambda: relational.retention.holds)
    release_hold = _writes(lambda: relational.retention.release_hold)

    put_index_token = _writes(lambda: relational.index_files.put_index_token)

    trail = _reads(lambda: relational.trail.trail)
    trail_head = _reads(lambda: relational.trail.trail_head)
    trail_names = _reads(lambda: relational.trail.trail_names)

    def recorder(self, method: str, /, *args: Any, **kwargs: Any) -> Callable[..., None]:
        """A function that adds the entry of a call to the audit trail, when it is given the call's result. Who acts is
        read now, because the writing thread does not know.
        """
        touched_by, act_of, scope = TOUCHED.get(method), acts_of(method, _now), _scope_of(args[0])

        def record(connection: Connection, done: object, *, forgetting: Collection[str] = ()) -> None:
            touched = None if touched_by is None else touched_by(done, *args, **kwargs)
            if touched is not None:
                self._trails.add(connection, scope, act_of(scope, touched), forgetting=forgetting)

        return record

    async def _write(self, scope: Scope, work: Callable[[Connection], T], record: Callable[[Connection, T], None]) -> T:
        """Run `work` and `record` its result in one transaction."""

        def write(connection: Connection) -> T:
            done = work(connection)
            record(connection, done)
            return done

        return await self.database.write(write, workspace=scope.workspace)

    async def read(self, work: Callable[[ReadView], T]) -> T:
        return await self.database.read(lambda connection: work(RelationalView(connection)), longer=True)

    async def append(self, scope: Scope, entries: Sequence[Entry]) -> tuple[Appended, ...]:
        record = self.recorder("append", scope, entries)
        return await self._write(scope, lambda c: relational.journal.append(c, scope, entries, self._analyse), record)

    async def archive(self, scope: Scope, aged: Aged, *, at: datetime, limit: int) -> int:
        record = self.recorder("archive", scope)
        return await self._write(
            scope, lambda c: relational.archive.archive(c, scope, aged, at, limit, self._analyse), record
        )

    async def pending(
        self, scope: Scope, model: str, *, limit: int, now: datetime, before: int = 0, token_embeddings: bool = False
    ) -> tuple[PendingCue, ...]:
        def work(connection: Connection) -> tuple[PendingCue, ...]:
            # Without it, each batch of a sweep would read all cues that have vectors.
            mark, of = self._swept.get((scope.workspace, model, token_embeddings), 0), relational.embeddings
            fresh = of.untried(
                connection, scope, model, limit, after=mark, before=before, token_embeddings=token_embeddings
            )
            self._swept[scope.workspace, model, token_embeddings] = (
                fresh[0].ref - 1 if fresh else of.last_cue(connection, scope)
            )
            return fresh + of.due_again(connection, scope, model, limit - len(fresh), now, before=before)

        return await self.database.read(work, workspace=scope.workspace)

    async def drop_vectors(self, scope: Scope, model: str) -> int:
        record = self.recorder("drop_vectors", scope, model)
        dropped = await self._write(scope, lambda c: relational.embeddings.drop_vectors(c, scope, model), record)
        self._unswept(scope, model)
        return dropped

    async def drop_space(self, scope: Scope, model: str, *, at: datetime) -> int:
        record = self.recorder("drop_space", scope, model)
        dropped = await self._write(scope, lambda c: relational.spaces.drop_space(c, scope, model, at=at), record)
        self._unswept(scope, model)
        return dropped

    def _unswept(self, scope: Scope, model: str) -> None:
        for token_embeddings in (False, True):
            self._swept.pop((scope.workspace, model, token_embeddings), None)

    async def erase(self, scope: Scope, removal: Removal, receipt: Erasure) -> Removed:
        record = self.recorder("erase", scope, removal, receipt)

        def erase(connection: Connection) -> Removed:
            names = relational.trail.names_of(connection, scope, removal, receipt.asked)
            removed = relational.removing.erase(connection, scope, removal, receipt, self._analyse)
            record(connection, removed, forgetting=names)
            return removed

        return await self.database.write(erase, workspace=scope.workspace)

    async def purge(self, scope: Scope, *, at: datetime) -> str:
        last = await self.database.read(lambda c: relational.tracing.last_due(c, scope), workspace=scope.workspace)
        if last is None:
            return ""
        return await self.database.alone(
            lambda c: relational.tracing.purge(c, self._backend, scope, at),
            workspace=scope.workspace,
            patience_s=relational.tracing.PATIENCE_S,
        )

    async def copies(self, scope: Scope) -> tuple[str, ...]:
        return await self.database.read(lambda _: self._backend.copies())

    async def check(self, scope: Scope, model: str | None) -> tuple[Finding, ...]:
        return await self.database.read(
            lambda c: relational.inspection.check(c, self._backend, scope, model), workspace=scope.workspace
        )

    async def export(self, scope: Scope) -> AsyncIterator[ExportRow]:
        async with self.database.snapshot(scope.workspace) as snapshot:
            for record in relational.exporting.KINDS:
                async for row in _record_rows(snapshot, scope.workspace, record):
                    yield row

    async def import_rows(self, scope: Scope, rows: Iterable[ExportRow], *, dry_run: bool = False) -> int:
        adding, record = relational.importing.import_rows, self.recorder("import_rows", scope, dry_run=dry_run)
        return await self._write(scope, lambda c: adding(c, scope, rows, self._analyse, dry_run), record)

    async def add_to_trail(self, scope: Scope, acts: Sequence[Touched]) -> None:
        made = list(map(partial(acts_of("note", _now), scope), acts))

        def add(connection: Connection) -> None:
            for act in made:
                self._trails.add(connection, scope, act)

        await self.database.write(add, workspace=scope.workspace)

    async def backup(self, path: Path, *, on_pages: OnPages | None = None) -> BackupReport:
        async with self.database.snapshot() as snapshot:
            return await snapshot.read(lambda c: self._backend.back_up(c, path, on_pages))

    def subscribe(self, scope: Scope, wake: Callable[[], None]) -> Subscription:
        return self._backend.subscribe(scope.workspace, wake)

    def candidate_source(self, model: str | None, dim: int, *, install: bool) -> CandidateSource | None:
        """See `Backend.candidate_source`."""
        return self._backend.candidate_source(model, dim, install=install)

    async def close(self) -> None:
        await asyncio.to_thread(self.database.close)  # the last writes may wait for another process's lock


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
