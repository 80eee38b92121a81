"""What a PostgreSQL server does otherwise than a file: connections, locks, restarts, and other programs' tables."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from concurrent.futures import TimeoutError as StillWaiting
from datetime import UTC, datetime

import psycopg
import pytest
from older_tables import undone
from postgres_server import Schemas

from remembrancer import Remembrancer
from remembrancer.adapters.relational import feed, schema
from remembrancer.adapters.relational.connection import Connection
from remembrancer.adapters.relational.database import Database
from remembrancer.adapters.relational.postgres import dialect, server
from remembrancer.adapters.relational.postgres.dialect import APPLICATION, LOCK
from remembrancer.adapters.relational.postgres.server import PostgresServer, without_password
from remembrancer.domain.scope import Scope
from remembrancer.errors import InvalidInput, StoreUnavailable, Unsupported
from remembrancer.language.cues import analysed

NOON = datetime(2026, 3, 4, 12, tzinfo=UTC)
MODELS = "SELECT count(*) FROM vector_models"
SAID = ("The pump of line 3 leaks.", "Ana repaired the pump on Monday.", "Lunch is at noon.", "Line 3 runs again.")
QUESTION = "which pump leaks?"


@pytest.fixture
def url(postgres: Schemas) -> str:
    return postgres.take()


@pytest.fixture
def memory(url: str) -> Iterator[Remembrancer]:
    with Remembrancer.open(url, embedder="none", workspace="acme") as rem:
        yield rem


@pytest.fixture
def admin(url: str) -> Iterator[psycopg.Connection]:
    with psycopg.connect(url, autocommit=True) as connection:
        yield connection


def answers(address: str) -> list[tuple[str, float, dict[str, float | None]]]:
    with Remembrancer.open(address, embedder="none", clock=lambda: NOON) as rem:
        for text in SAID:
            rem.observe(text, occurred_at=NOON)
        hits = rem.recall(QUESTION, explain=True)
        return [(hit.memory.text, hit.score, dict(hit.explanation.signals)) for hit in hits]


def test_it_answers_as_a_file_does_to_the_last_digit(url: str) -> None:
    assert answers(url) == answers(":memory:")


def test_two_processes_number_the_events_of_a_session_without_a_gap(url: str) -> None:
    with (
        Remembrancer.open(url, embedder="none", session="s") as one,
        Remembrancer.open(url, embedder="none", session="s") as two,
        ThreadPoolExecutor(8) as threads,
    ):

        def record(number: int) -> int:
            return (one, two)[number % 2].observe(f"event {number}").seq

        recorded = list(threads.map(record, range(60)))
    assert sorted(recorded) == list(range(1, 61))


def test_a_memory_of_one_topic_told_by_two_at_once_is_one(url: str) -> None:
    with (
        Remembrancer.open(url, embedder="none", agent="a") as one,
        Remembrancer.open(url, embedder="none", agent="a") as two,
        ThreadPoolExecutor(8) as threads,
    ):

        def tell(number: int) -> None:
            (one, two)[number % 2].remember(f"Sprint {number}", topic_key="sprint")

        list(threads.map(tell, range(20)))
        assert len([memory for memory in one.recent(limit=100) if memory.superseded_by is None]) == 1


class TestALockedWorkspace:
    @pytest.fixture(autouse=True)
    def locked(self, memory: Remembrancer, admin: psycopg.Connection) -> Iterator[psycopg.Connection]:
        """A transaction of another process that writes to the workspace."""
        admin.execute("BEGIN")
        admin.execute(
            "SELECT pg_advisory_xact_lock(hashtextextended(current_schema() || ' acme', %s::bigint))", (LOCK,)
        )
        yield admin
        admin.execute("ROLLBACK")

    def test_holds_up_writes_until_it_ends(self, memory: Remembrancer, locked: psycopg.Connection) -> None:
        with ThreadPoolExecutor(1) as threads:
            writing: Future[object] = threads.submit(memory.observe, "later")
            with pytest.raises(StillWaiting):
                writing.result(timeout=0.3)
            locked.execute("COMMIT")
            assert writing.result(timeout=10)

    def test_holds_up_no_other_workspace(self, url: str) -> None:
        with Remembrancer.open(url, embedder="none", workspace="other") as other:
            assert other.observe("now").seq == 1

    def test_holds_up_no_recall(self, memory: Remembrancer) -> None:
        assert list(memory.recall(QUESTION)) == []


def test_a_read_sees_one_snapshot(url: str) -> None:
    database = Database(PostgresServer(url), analyse=analysed)

    def counted_twice(connection: Connection) -> tuple[int, int]:
        before: int = connection.execute(MODELS).get
        with psycopg.connect(url, autocommit=True) as other:
            other.execute("SET remembrancer.workspace = 'w'; INSERT INTO vector_models VALUES ('w', 'm', 4)")
        return before, connection.execute(MODELS).get

    assert asyncio.run(database.read(counted_twice, workspace="w")) == (0, 0)
    database.close()


def test_a_large_workspace_is_received_in_parts(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(feed, "FEW", 10)
    monkeypatch.setattr(dialect, "STREAMED_ROWS", 7)
    with Remembrancer.open(url, embedder="none", workspace="acme") as rem:
        rem.observe_many([{"text": f"event {number}"} for number in range(30)])
    database = Database(PostgresServer(url), analyse=analysed)

    def received(connection: Connection) -> tuple[int, int, int]:
        changes = feed.RelationalView(connection).changes(Scope(workspace="acme"), after=0, model=None)
        first, open_cursors = next(changes), "SELECT count(*) FROM pg_cursors"
        open_then: int = connection.execute(open_cursors).get
        return len({first.id, *(one.id for one in changes)}), open_then, connection.execute(open_cursors).get

    assert asyncio.run(database.read(received, workspace="acme")) == (30, 1, 0)
    database.close()


def test_a_server_that_closed_every_connection_is_asked_again(memory: Remembrancer, admin: psycopg.Connection) -> None:
    memory.observe(SAID[0])
    assert memory.recall(QUESTION)
    admin.execute("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = %s", (APPLICATION,))
    memory.observe(SAID[1])
    assert len(memory.recent()) == 2


def test_many_that_open_an_empty_database_at_once_make_its_tables_once(url: str) -> None:
    with ThreadPoolExecutor(6) as threads:

        def join(_: int) -> Remembrancer:
            return Remembrancer.open(url, embedder="none")

        opened = list(threads.map(join, range(6)))
    for number, rem in enumerate(opened):
        rem.observe(f"event {number}")
    assert len(opened[0].recent(limit=10)) == 6
    for rem in opened:
        rem.close()


def test_another_programs_tables_are_left_alone(url: str, admin: psycopg.Connection) -> None:
    admin.execute("DROP SCHEMA IF EXISTS theirs CASCADE; CREATE SCHEMA theirs; CREATE TABLE theirs.orders (n int)")
    with pytest.raises(StoreUnavailable, match="another program's tables, such as orders"):
        Remembrancer.open(url.rsplit("%3D", 1)[0] + "%3Dtheirs", embedder="none")


def test_tables_of_a_newer_version_are_refused(url: str, admin: psycopg.Connection, memory: Remembrancer) -> None:
    admin.execute("UPDATE remembrancer SET version = version + 1")
    try:
        with pytest.raises(Unsupported, match="upgrade remembrancer"):
            Remembrancer.open(url, embedder="none")
    finally:
        admin.execute("UPDATE remembrancer SET version = version - 1")


def test_older_tables_are_migrated_by_the_statements_of_a_file(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    with Remembrancer.open(url, embedder="none") as rem:
        rem.observe(SAID[0])
    number = schema.current_version() + 1
    step = schema.Migration(number, "CREATE TABLE later (n INTEGER PRIMARY KEY, word TEXT, seen REAL) WITHOUT ROWID;")
    steps = (*schema.migrations(), step)
    monkeypatch.setattr(schema, "migrations", lambda: steps)
    monkeypatch.setattr(schema, "current_version", lambda: number)
    with Remembrancer.open(url, embedder="none") as rem:
        assert len(rem.recent()) == 1
    with psycopg.connect(url, autocommit=True) as admin:
        assert admin.execute("SELECT version, (SELECT count(*) FROM later) FROM remembrancer").fetchone() == (number, 0)
        admin.execute(f"DROP TABLE later; UPDATE remembrancer SET version = {number - 1}".encode())


def test_turns_of_older_tables_state_preferences(url: str) -> None:
    with Remembrancer.open(url, embedder="none", workspace="older") as rem:
        turn = rem.observe("Always answer in French.", role="user")
    with psycopg.connect(url, autocommit=True) as admin:
        version = admin.execute("SELECT version FROM remembrancer").fetchone()
        admin.execute("ALTER TABLE memories NO FORCE ROW LEVEL SECURITY")
        assert admin.execute("UPDATE memories SET tags = '[]' WHERE workspace = 'older'").rowcount == 1
        admin.execute((undone(25) + "UPDATE remembrancer SET version = 25").encode())
    with Remembrancer.open(url, embedder="none", workspace="older") as rem:
        assert [one.tags for one in rem.recent()] == [("preference", "instruction", "always")], turn
    with psycopg.connect(url, autocommit=True) as admin:
        assert admin.execute("SELECT version FROM remembrancer").fetchone() == version


def test_a_server_that_is_not_there_is_named_without_the_password() -> None:
    with pytest.raises(StoreUnavailable, match="does not answer") as caught:
        Remembrancer.open("postgresql://ana:secret@127.0.0.1:9/memory", embedder="none")
    assert "postgresql://ana@127.0.0.1:9/memory" in str(caught.value)
    assert "secret" not in str(caught.value)


def test_an_address_that_cannot_be_read_says_what_one_is() -> None:
    with pytest.raises(InvalidInput, match="postgresql://user:password@host:port/database"):
        Remembrancer.open("postgresql://host/base?no_such_parameter=1", embedder="none")


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("postgresql://ana:pw@db.example:5433/memory", "postgresql://ana@db.example:5433/memory"),
        ("postgresql://db/memory?password=pw", "postgresql://db/memory"),
        ("postgresql://ana:p%40w@/memory?host=/run", "postgresql://ana@/memory"),
    ],
)
def test_no_message_shows_a_password(url: str, shown: str) -> None:
    assert without_password(url) == shown


def test_a_word_longer_than_a_tsvector_takes_is_found(memory: Remembrancer) -> None:
    word = "x" * 3_000
    memory.observe(f"The token is {word}.")
    assert len(memory.journal.list(query=word)) == 1


def test_the_doctor_finds_nothing_to_repair(memory: Remembrancer) -> None:
    memory.observe(SAID[0])
    findings = {finding.check: finding.ok for finding in memory.health.doctor()}
    assert findings["postgresql"]
    assert findings["full text"]


def test_a_backup_is_the_servers_own(memory: Remembrancer, tmp_path: object) -> None:
    with pytest.raises(Unsupported, match="pg_dump"):
        memory.backup(f"{tmp_path}/copy.db")


class TestTheNumberOfConnections:
    def test_is_limited_by_the_address(self, url: str, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(server, "CONNECT_TIMEOUT_S", 0.01)
        backend = PostgresServer(f"{url}&connections=6&application_name=counted")
        opened = [backend.connect() for _ in range(6)]
        with pytest.raises(StoreUnavailable, match="all 6 connections of this process are in use"):
            backend.connect()
        opened[0].close()
        opened[0].close()
        opened[0] = backend.connect()
        with pytest.raises(StoreUnavailable):
            backend.connect()
        for connection in opened:
            connection.close()

    def test_is_enough_for_everything_at_once_when_it_is_the_least(self, url: str) -> None:
        with (
            Remembrancer.open(f"{url}&connections=6", embedder="none") as rem,
            ThreadPoolExecutor(8) as threads,
        ):

            def use(number: int) -> int:
                rem.of_workspace(f"w{number}").observe(f"event {number}")
                return len(rem.of_workspace(f"w{number}").recent())

            assert set(threads.map(use, range(24))) == {1}

    @pytest.mark.parametrize("number", ["5", "1001", "many", ""])
    def test_outside_of_its_range_is_refused(self, url: str, number: str) -> None:
        with pytest.raises(InvalidInput, match=r"connections: .*a whole number from 6 to 1000"):
            Remembrancer.open(f"{url}&connections={number}", embedder="none")

    def test_that_the_server_refuses_is_explained(self, url: str) -> None:
        with psycopg.connect(url, autocommit=True) as admin:
            user = admin.info.user
        message = f'FATAL:  too many connections for role "{user}"'
        with (
            pytest.raises(StoreUnavailable, match="raise the server's max_connections"),
            PostgresServer(url).translated(),
        ):
            raise psycopg.OperationalError(message)


def test_the_address_may_name_the_connections(url: str) -> None:
    with (
        Remembrancer.open(f"{url}&application_name=ours", embedder="none"),
        psycopg.connect(url, autocommit=True) as admin,
    ):
        [[count]] = admin.execute("SELECT count(*) FROM pg_stat_activity WHERE application_name = 'ours'")
    assert count == 1


def test_a_statement_that_takes_too_long_is_ended(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    database = Database(PostgresServer(url), analyse=analysed)

    def sleeping(connection: Connection) -> None:
        assert connection.execute("SHOW statement_timeout").get == "10min"
        connection.execute("SET LOCAL statement_timeout = 1")
        connection.execute("SELECT pg_sleep(60)")

    for run in (database.read, database.write):
        with pytest.raises(StoreUnavailable, match="took too long"):
            asyncio.run(run(sleeping))
    database.close()
