"""The n-th statement fails, for each n until one run meets no failure: all of a write, or none of it.

Each attempt follows the failed one before in the same store: it is another try of the same write, since every row is as
it was, and comes one statement further.
"""

from __future__ import annotations

import asyncio
import itertools
import re
import shutil
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any, Final, cast
from uuid import UUID

import apsw
import numpy as np
import psycopg
import pytest
from filled_schema import FilledSchema
from postgres_server import USER, Schemas
from searched import SearchedStore

from remembrancer.adapters.reference import ReferenceStore
from remembrancer.adapters.relational.connection import Connection
from remembrancer.adapters.relational.postgres import dialect as postgres_dialect
from remembrancer.adapters.relational.sqlite import file as sqlite_file
from remembrancer.adapters.relational.sqlite.dialect import connect
from remembrancer.adapters.relational.sqlite.file import SqliteFile
from remembrancer.adapters.relational.store import RelationalStore
from remembrancer.domain.effect import Effect, StatusChange
from remembrancer.domain.event import Priority
from remembrancer.domain.memory import Memory, MemoryDraft, Status
from remembrancer.domain.relation import Relation, RelationKind
from remembrancer.domain.scope import Scope
from remembrancer.domain.stream import Cursor
from remembrancer.domain.strength import Adjustment, Exposed, Exposure, Strength
from remembrancer.engine import record
from remembrancer.engine.context import Context
from remembrancer.errors import StoreUnavailable
from remembrancer.index.resident import ResidentIndex
from remembrancer.language.cues import analysed
from remembrancer.policies.admission.formation import Formation, memory_of_event
from remembrancer.ports.embeddings import CueVector
from remembrancer.ports.exchange import RECORDS
from remembrancer.ports.journal import Aged, Entry
from remembrancer.ports.outcomes import Judged
from remembrancer.ports.store import Store
from remembrancer.ports.transfer import ExportRow
from remembrancer.presets.default import DEFAULT
from remembrancer.testing.contract.audit import done_by
from remembrancer.testing.contract.base import MODEL
from remembrancer.testing.contract.erasing import OF_DEPLOY, a_receipt
from remembrancer.testing.contract.finding import request
from remembrancer.testing.contract.world import (
    CONVERSATION,
    DEPLOY,
    OLD,
    OOM,
    OUTCOME,
    PROBES,
    REVIEWED_AT,
    TOPIC,
    TURNS,
    a_credit,
    a_review,
    a_snapshot,
    populate,
)
from remembrancer.testing.doubles import (
    NOW,
    READER,
    SCOPE,
    FixedClock,
    a_memory,
    a_vector,
    an_event,
    indexed,
)

COPIED: Final = replace(SCOPE, workspace="copied")
Write = Callable[[Store], Awaitable[object]]


class Statements:
    """Fails the statement at `at`, counted from when it is armed, and every later one if the fault is lasting."""

    def __init__(self, error: Callable[[], apsw.Error], *, lasting: bool) -> None:
        self._error = error
        self._lasting = lasting
        self._at = 0
        self._count = 0

    def arm(self, at: int) -> None:
        self._at, self._count = at, 0

    def disarm(self) -> bool:
        """Stop failing statements. Returns whether one failed."""
        struck = 0 < self._at <= self._count
        self._at = 0
        return struck

    def trace(self, _cursor: object, _statement: str, _bindings: object) -> bool:
        self._count += 1
        if self._at and (self._count == self._at or (self._lasting and self._count > self._at)):
            raise self._error()
        return True


async def _observe(store: Store) -> object:
    events = [an_event("first", event_id=UUID(int=901)), an_event("second", event_id=UUID(int=902), key="k-902")]
    return await store.append(SCOPE, [Entry(event, memory_of_event(event, Formation())) for event in events])


async def _remember(store: Store) -> object:
    memory = replace(a_memory("a new memory", memory_id=UUID(int=903)), topic_key="new", key="k-903")
    return await store.insert(SCOPE, indexed(memory, "one", "two", event_ids=TURNS))


async def _remember_a_topic_anew(store: Store) -> object:
    ctx = Context(
        store=store,
        index=ResidentIndex(),
        embedder=None,
        without_embedder="",
        preset=DEFAULT,
        clock=FixedClock(),
        stopwatch=lambda: 0.0,
        new_id=lambda _: UUID(int=904),
    )
    return await record.remember(ctx, SCOPE, MemoryDraft(text="checkout needs four gigabytes", topic_key=TOPIC))


async def _revise(store: Store) -> object:
    write = indexed(a_memory("said anew", memory_id=DEPLOY), "three", "four", event_ids=TURNS)
    return await store.revise(SCOPE, write, expected_revision=1, at=NOW)


async def _put_vectors(store: Store) -> object:
    pending = await store.pending(SCOPE, MODEL, limit=9, now=NOW, before=3)
    words = np.array([[32], [64]], dtype=np.uint8)
    return await store.put_vectors(
        SCOPE, MODEL, [CueVector(cue.ref, a_vector(1, 2, 3), False, words) for cue in pending], at=NOW
    )


async def _defer_vectors(store: Store) -> object:
    pending = await store.pending(SCOPE, MODEL, limit=9, now=NOW)
    return await store.defer_vectors(SCOPE, MODEL, [cue.ref for cue in pending], error="no answer", now=NOW)


async def _adjust(store: Store) -> object:
    """Feedback on one memory that retires another and logs an exposure: all of it is written or none."""

    def change(strength: Strength) -> Adjustment:
        return Adjustment(replace(strength, importance=1.0), "harmed too often" if strength.priority == 8 else "")

    exposed = [Exposed(OLD, Exposure.SHOWN, NOW, 0.5), Exposed(DEPLOY, Exposure.USED, NOW)]
    return await store.adjust(READER, [DEPLOY, OOM], change, at=NOW, exposed=exposed)


async def _supersede(store: Store) -> object:
    return await store.supersede(READER, OLD, OOM, at=NOW)


async def _invalidate(store: Store) -> object:
    return await store.supersede(READER, OLD, None, at=NOW)


async def _relate(store: Store) -> object:
    edges = [
        Relation(OLD, OOM, RelationKind.SUPPORTS, 0.5, NOW),
        Relation(DEPLOY, OLD, RelationKind.SIMILAR, 0.5, NOW),  # there, with another weight
    ]
    return await store.relate(READER, edges)


async def _commit(store: Store) -> object:
    """An effect with an item in each of its parts."""
    formed = replace(a_memory("formed anew", memory_id=UUID(int=905)), topic_key="new", key="k-905")
    effect = Effect(
        expected={DEPLOY: 1, OLD: 1},
        consolidated=frozenset({OLD}),
        cursor=Cursor(stream=SCOPE, expected=1, to=2, note={"topic": "the end"}),
        inserted=(indexed(formed, "one", "two", event_ids=TURNS),),
        revised=(indexed(a_memory("said anew", memory_id=DEPLOY), "three", event_ids=TURNS),),
        status_changes=(
            StatusChange(OOM, Status.COMPACTED, "condensed"),
            StatusChange(CONVERSATION, Status.ACTIVE, "undone"),
        ),
        superseded=((OLD, formed.id), (CONVERSATION, None)),
        related=(Relation(formed.id, DEPLOY, RelationKind.DERIVED_FROM, 1.0, NOW),),
        adjusted={OOM: _weakened, DEPLOY: _weakened},
        reviewed=(a_review(at=REVIEWED_AT + timedelta(days=1), previous=REVIEWED_AT),),
    )
    return await store.commit(SCOPE, effect, at=NOW + timedelta(hours=3))


def _weakened(strength: Strength) -> Adjustment:
    return Adjustment(replace(strength, importance=strength.importance / 2), "faded" if strength.priority == 5 else "")


async def _archive(store: Store) -> object:
    """Archive all events without a memory."""
    everything = Aged(types=frozenset({"*"}), keep=frozenset(), before=NOW + timedelta(days=1))
    return await store.archive(SCOPE, everything, at=NOW, limit=9)


def _lifted(memory: Memory, _before: object, _after: object) -> Strength:
    return replace(memory.strength, importance=0.9, importance_floor=0.8)


async def _mark(store: Store) -> object:
    """Change the priority of an event that two memories were formed from."""
    return await store.set_priority(
        READER, TURNS[0], Priority.PIN, by="LEAD", reason="keep", at=NOW + timedelta(hours=3), change=_lifted
    )


async def _put_snapshot(store: Store) -> object:
    return await store.put_snapshot(SCOPE, a_snapshot(None, score=1.0))


async def _retire(store: Store) -> object:
    return await store.set_status(READER, DEPLOY, Status.RETIRED, at=NOW)


async def _import(store: Store) -> object:
    """One row of each kind."""
    source = ReferenceStore()
    memory = a_memory("to be copied")
    await source.append(SCOPE, [Entry(an_event("said"), indexed(memory, event_ids=[an_event("said").id]))])
    await source.revise(SCOPE, indexed(replace(memory, text="copied")), expected_revision=1, at=NOW)
    cues = await source.pending(SCOPE, MODEL, limit=9, now=NOW)
    words = np.array([[128]], dtype=np.uint8)
    vectors = [CueVector(cue.ref, a_vector(1, 0), False, words) for cue in cues]
    await source.put_vectors(SCOPE, MODEL, vectors, at=NOW)
    await source.relate(READER, [Relation(memory.id, memory.id, RelationKind.SIMILAR, 1.0, NOW)])
    exposed = [Exposed(memory.id, Exposure.SHOWN, NOW, 0.5)]
    await source.adjust(READER, [memory.id], lambda was: Adjustment(was, "harmed"), at=NOW, exposed=exposed)
    credit = a_credit(memory.id)
    await source.add_credits(READER, OUTCOME, [memory.id], lambda it: Judged(it.strength, credit), at=NOW)
    await source.put_snapshot(SCOPE, a_snapshot(None))
    said = an_event("said").id
    await source.set_priority(READER, said, Priority.PIN, by="LEAD", reason="", at=NOW, change=_lifted)
    await source.append(SCOPE, [Entry(replace(an_event("a probe"), type="network.probe"))])
    await source.archive(SCOPE, replace(PROBES, before=NOW + timedelta(days=1)), at=NOW, limit=9)
    cursor = Cursor(stream=SCOPE, expected=0, to=1)
    await source.commit(SCOPE, Effect(cursor=cursor, reviewed=(a_review(memory.id),)), at=NOW)
    rows = [row async for row in source.export(SCOPE)]
    assert {str(row["record"]) for row in rows} == set(RECORDS)
    return await store.import_rows(COPIED, rows)


async def _erase(store: Store) -> object:
    """Erase the memory about the deploy, its turns, and everything derived from them."""
    return await store.erase(SCOPE, OF_DEPLOY, a_receipt())


WRITES: Final[dict[str, Write]] = {
    "observe": _observe,
    "remember": _remember,
    "remember a topic anew": _remember_a_topic_anew,
    "revise": _revise,
    "put vectors": _put_vectors,
    "defer vectors": _defer_vectors,
    "adjust": _adjust,
    "supersede": _supersede,
    "invalidate": _invalidate,
    "relate": _relate,
    "commit": _commit,
    "archive": _archive,
    "erase": _erase,
    "mark": _mark,
    "put a snapshot": _put_snapshot,
    "retire": _retire,
    "import": _import,
}


@pytest.fixture(params=["one failure", "failing from then on"])
def statements(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Statements:
    """Watches every connection that the store makes."""
    watched = Statements(lambda: apsw.IOError("injected"), lasting=request.param == "failing from then on")

    def watching(path: str, **given: Any) -> Connection:
        connection = connect(path, **given)
        if path != ":memory:":
            cast("apsw.Connection", connection).exec_trace = watched.trace
        return connection

    monkeypatch.setattr(sqlite_file, "connect", watching)
    return watched


@pytest.mark.parametrize("name", WRITES)
def test_a_write_that_fails_at_any_statement_leaves_nothing_and_can_be_tried_again(
    tmp_path: Path, statements: Statements, name: str
) -> None:
    filled = tmp_path / "filled.db"
    asyncio.run(_fill(filled))
    scope = COPIED if name == "import" else SCOPE
    before, after = asyncio.run(_untouched(_copy(filled, "clean"), WRITES[name], scope))

    async def attempts() -> list[Any]:
        store = await _searched(_copy(filled, "faulted"))
        try:
            for at in itertools.count(1):
                statements.arm(at)
                try:
                    await WRITES[name](store)
                except StoreUnavailable:
                    assert statements.disarm()
                else:
                    assert not statements.disarm()
                    assert at > 3  # the transaction's own statements, at least
                    return await _rows(store, scope)
                assert await _rows(store, scope) == before, f"statement {at}"
                assert all(finding.ok for finding in await store.check(SCOPE, None)), f"statement {at}"
            raise AssertionError
        finally:
            await store.close()

    assert asyncio.run(attempts()) == after


async def _untouched(path: Path, write: Write, scope: Scope) -> tuple[list[Any], list[Any]]:
    """The workspace's rows before and after a run without a fault."""
    store = await _searched(path)
    before = await _rows(store, scope)
    await write(store)
    after = await _rows(store, scope)
    await store.close()
    return before, after


async def _fill(path: Path) -> None:
    store = RelationalStore(SqliteFile(str(path)), analyse=analysed)
    await populate(store, SCOPE)
    await store.close()


def _copy(filled: Path, name: str) -> Path:
    """A copy of the file, complete because its last connection is closed."""
    return Path(shutil.copy(filled, filled.with_name(f"{name}.db")))


async def _searched(path: Path) -> SearchedStore:
    """A store that has its index in memory."""
    store = SearchedStore(str(path))
    await store.search(READER, request("deploy", context_features=True))
    return store


async def _rows(store: Store, scope: Scope) -> list[Any]:
    """The rows of an export, and the entries of the audit trail."""
    rows: list[Any] = [row async for row in store.export(scope)]
    return [*rows, *map(done_by, await store.trail(scope, limit=99))]


def test_a_file_whose_making_fails_at_any_statement_can_be_made_again(tmp_path: Path, statements: Statements) -> None:
    for at in range(1, 10_000):
        path = tmp_path / f"{at}.db"
        statements.arm(at)
        with suppress(StoreUnavailable):
            asyncio.run(RelationalStore(SqliteFile(str(path)), analyse=analysed).close())
        struck = statements.disarm()
        assert asyncio.run(_sound(path)), f"statement {at}"
        if not struck:
            return


async def _sound(path: Path) -> bool:
    store = RelationalStore(SqliteFile(str(path)), analyse=analysed)
    try:
        return all(finding.ok for finding in await store.check(SCOPE, None))
    finally:
        await store.close()


# ── on a server ──────────────────────────────────────────────────────────────────────────────────────────────────────

OF_A_TRANSACTION: Final = (b"BEGIN", b"SELECT pg_advisory", b"SAVEPOINT", b"RELEASE", b"COMMIT")
STEP: Final = 40
"""A connection is lost at each of these statements, and at one in so many of the others."""
REFUSED: Final = b"DO $$ BEGIN RAISE EXCEPTION 'injected' USING ERRCODE = 'disk_full'; END $$"
"""The server fails, and with it the transaction, until the rollback to its savepoint."""


class Messages:
    """Fails the statement at `at`, counted from when it is armed. If the server is `lost`, the connection is closed
    there, and none can be made until it is disarmed; otherwise the server refuses the statement.
    """

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self._at = self._count = 0
        self._lost = False
        self._connected = postgres_dialect.connected
        self._execute = psycopg.Cursor.execute
        self.failed = b""
        """The last statement that failed."""
        for name in ("execute", "executemany", "copy"):
            monkeypatch.setattr(psycopg.Cursor, name, self._watching(getattr(psycopg.Cursor, name)))
        monkeypatch.setattr(postgres_dialect, "connected", self._connect)

    def arm(self, at: int, *, lost: bool) -> None:
        self._at, self._count, self._lost = at, 0, lost

    def disarm(self) -> bool:
        """Stop failing statements. Returns whether one failed."""
        struck = 0 < self._at <= self._count
        self._at = 0
        return struck

    def _watching(self, call: Callable[..., Any]) -> Callable[..., Any]:
        def watched(cursor: psycopg.Cursor[Any], statement: bytes, *args: Any, **kwargs: Any) -> Any:
            if self._at and not (
                cursor.connection.closed or statement.startswith(b"SET lock_timeout")
            ):  # on connecting
                self._count += 1
                if self._count == self._at:
                    self._strike(cursor, statement)
            return call(cursor, statement, *args, **kwargs)

        return watched

    def _strike(self, cursor: psycopg.Cursor[Any], statement: bytes) -> None:
        self.failed = statement
        if self._lost:
            cursor.connection.close()
        else:
            self._execute(cursor, REFUSED)

    def _connect(self, url: str) -> psycopg.Connection[tuple[Any, ...]]:
        if self._lost and 0 < self._at <= self._count:
            raise psycopg.OperationalError("injected")
        return self._connected(url)


@pytest.fixture
def messages(monkeypatch: pytest.MonkeyPatch) -> Messages:
    """Watches every connection to a server."""
    return Messages(monkeypatch)


@pytest.fixture(scope="module")
def schema(server_of_postgres: Schemas) -> FilledSchema:
    return FilledSchema.of(server_of_postgres)


@pytest.mark.parametrize("name", WRITES)
def test_a_write_that_fails_at_any_statement_on_a_server_leaves_nothing_and_can_be_tried_again(
    schema: FilledSchema, messages: Messages, name: str
) -> None:
    """The server refuses each statement, which aborts the transaction until the rollback to the savepoint."""
    write, scope = WRITES[name], COPIED if name == "import" else SCOPE
    after = asyncio.run(_untouched_on_a_server(schema, write, scope))

    async def attempts() -> list[ExportRow]:
        store = schema.store()
        try:
            for at in itertools.count(1):
                if not await _failed(store, write, messages, at, lost=False):
                    assert at > len(OF_A_TRANSACTION)
                    assert all(finding.ok for finding in await store.check(SCOPE, None))
                    return await _rows(store, scope)
                assert schema.contents() == schema.filled, f"statement {at}"
                if at % STEP == 0 or messages.failed.startswith(OF_A_TRANSACTION):
                    assert await _failed(store, write, messages, at, lost=True)
                    assert schema.contents() == schema.filled, f"connection lost at statement {at}"
            raise AssertionError
        finally:
            await store.close()

    assert asyncio.run(attempts()) == after


async def _untouched_on_a_server(schema: FilledSchema, write: Write, scope: Scope) -> list[ExportRow]:
    """The workspace's rows after a run without a fault."""
    store = schema.store()
    try:
        await write(store)
        return await _rows(store, scope)
    finally:
        await store.close()


async def _failed(store: Store, write: Write, messages: Messages, at: int, *, lost: bool) -> bool:
    messages.arm(at, lost=lost)
    try:
        await write(store)
    except StoreUnavailable:
        assert messages.disarm()
        return True
    messages.disarm()
    return False


def test_tables_whose_making_fails_at_any_statement_can_be_made_again(schema: FilledSchema, messages: Messages) -> None:
    """Each attempt is another try after the one before."""
    schema.schemas.execute(schema.address, f"CREATE SCHEMA made_again AUTHORIZATION {USER}")
    address = re.sub("(?<=search_path%3D)[^&]*", "made_again", schema.address)
    tries = ((at, lost) for at in itertools.count(1) for lost in (False, True))
    assert next(at for at, lost in tries if not _fails_to_make(schema, address, messages, at, lost=lost)) > 6
    store = schema.schemas.connections.open_store(address)
    try:
        assert all(finding.ok for finding in asyncio.run(store.check(SCOPE, None)))
    finally:
        asyncio.run(store.close())
        schema.schemas.execute(schema.address, "DROP SCHEMA made_again CASCADE")


def _fails_to_make(schema: FilledSchema, address: str, messages: Messages, at: int, *, lost: bool) -> bool:
    messages.arm(at, lost=lost)
    try:
        store = schema.schemas.connections.open_store(address)
    except StoreUnavailable:
        assert messages.disarm()
        return True
    messages.disarm()
    asyncio.run(store.close())
    return False
