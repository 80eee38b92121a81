"""Row-level security: what a statement without a condition on the workspace sees and writes on PostgreSQL."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from typing import TypeVar

import psycopg
import pytest
from postgres_server import USER, Schemas

from remembrancer.adapters.relational.columns import add_row
from remembrancer.adapters.relational.connection import EVERY_WORKSPACE, Connection
from remembrancer.adapters.relational.feed import RelationalView
from remembrancer.adapters.relational.postgres import schema
from remembrancer.adapters.relational.postgres.dialect import WORKSPACE, PostgresDialect, written
from remembrancer.adapters.relational.postgres.server import PostgresServer
from remembrancer.adapters.relational.store import RelationalStore
from remembrancer.errors import NotFound, StoreUnavailable
from remembrancer.language.cues import analysed
from remembrancer.ports.inspection import Finding
from remembrancer.testing.contract.wall import SIBLING
from remembrancer.testing.contract.world import populate
from remembrancer.testing.doubles import NOW, SCOPE

T = TypeVar("T")
DIALECT = PostgresDialect()
WORKSPACES = "SELECT DISTINCT workspace FROM {} ORDER BY 1"
UNRESTRICTED = {"cues_words", "events_words", "archive_words"}
"""Tables that show every row, because a policy would keep PostgreSQL from searching their full-text index."""


def filled(url: str) -> RelationalStore:
    """A store of two workspaces, with rows in every table."""

    async def fill() -> RelationalStore:
        store = RelationalStore(PostgresServer(url), analyse=analysed)
        for scope in (SCOPE, SIBLING):
            await populate(store, scope)
            pending = await store.pending(scope, "down", limit=1, now=NOW)
            await store.defer_vectors(scope, "down", [cue.ref for cue in pending], error="no answer", now=NOW)
            erasure = (scope.workspace, b"0" * 16, 0, "{}")
            await store.database.write(
                lambda c, row=erasure: add_row(c, "erasures", ("workspace", "id", "at", "receipt"), row),
                workspace=scope.workspace,
            )
        return store

    return asyncio.run(fill())


@pytest.fixture(scope="module")
def url(server_of_postgres: Schemas) -> Iterator[str]:
    yield server_of_postgres.take()
    server_of_postgres.empty()


@pytest.fixture(scope="module")
def store(url: str) -> Iterator[RelationalStore]:
    store = filled(url)
    yield store
    store.database.close()


@pytest.fixture
def superuser(url: str) -> Iterator[psycopg.Connection]:
    with psycopg.connect(as_superuser(url)) as connection:
        yield connection


def as_superuser(url: str) -> str:
    return url.replace(f"{USER}@", "postgres@")


def in_transaction(store: RelationalStore, work: Callable[[Connection], T], workspace: str = SCOPE.workspace) -> T:
    return asyncio.run(store.database.read(work, workspace=workspace))


def seen(connection: Connection) -> dict[str, list[str]]:
    """The workspaces of the rows that a statement without any condition reads, by table."""
    return {
        table: [workspace for (workspace,) in connection.execute(WORKSPACES.format(table))]
        for table in schema.names()
        if table not in UNRESTRICTED
    }


def found(store: RelationalStore) -> Finding:
    return next(finding for finding in asyncio.run(store.check(SCOPE, None)) if finding.check == "row-level security")


def test_a_statement_without_a_condition_sees_the_rows_of_its_transaction_s_workspace(store: RelationalStore) -> None:
    workspaces = {table: shown for table, shown in in_transaction(store, seen).items() if shown}
    assert len(workspaces) > 25
    assert workspaces == {table: [SCOPE.workspace] for table in workspaces}


def test_a_statement_of_a_view_sees_the_rows_of_the_workspace_last_asked_about(store: RelationalStore) -> None:
    def read(connection: Connection) -> list[list[str]]:
        view, told = RelationalView(connection), list[list[str]]()
        for scope in (SCOPE, SIBLING, SCOPE):
            view.cues_with_phrase(scope, ("the",))
            told.append([one for (one,) in connection.execute(WORKSPACES.format("memories"))])
        return told

    assert in_transaction(store, read, workspace="") == [[SCOPE.workspace], [SIBLING.workspace], [SCOPE.workspace]]


def test_a_transaction_that_names_no_workspace_sees_nothing(store: RelationalStore) -> None:
    assert set(map(tuple, in_transaction(store, seen, workspace="").values())) == {()}


def test_one_for_every_workspace_sees_the_keys_only(store: RelationalStore) -> None:
    told = in_transaction(store, seen, workspace=EVERY_WORKSPACE)
    assert {table: workspaces for table, workspaces in told.items() if workspaces} == {
        "api_keys": [SCOPE.workspace, SIBLING.workspace]
    }


@pytest.mark.parametrize(
    "statement",
    [
        "INSERT INTO positions (workspace, last) VALUES ('rival', 9) ON CONFLICT (workspace) DO UPDATE SET last = 9",
        "INSERT INTO runs VALUES ('another', 'j', 1, 1, 0, 0, 0, '', '')",
        "INSERT INTO cues_words (workspace, n, words) SELECT 'rival', n, words FROM cues_words",
        "UPDATE memories SET workspace = 'rival'",
    ],
)
def test_a_write_into_another_workspace_is_refused(store: RelationalStore, statement: str) -> None:
    with pytest.raises(StoreUnavailable, match="row-level security"):
        asyncio.run(store.database.write(lambda c: c.execute(statement), workspace=SCOPE.workspace))


def test_a_write_without_a_condition_changes_no_row_of_another_workspace(store: RelationalStore) -> None:
    told: list[object] = []

    def rows_of(connection: Connection, workspace: str) -> list[object]:
        connection.within(workspace)
        statements = (
            "SELECT id, text FROM memories ORDER BY id",
            f"SELECT count(*) FROM cues_words WHERE workspace = {WORKSPACE}",
        )
        return [list(connection.execute(statement)) for statement in statements]

    def write(connection: Connection) -> None:
        told.append(rows_of(connection, SIBLING.workspace))
        connection.within(SCOPE.workspace)
        connection.execute("UPDATE memories SET text = 'lost'")
        connection.execute("DELETE FROM cues_words")
        told.append(rows_of(connection, SIBLING.workspace))
        raise NotFound("memory", "so that nothing is written")

    with pytest.raises(NotFound):
        asyncio.run(store.database.write(write, workspace=SCOPE.workspace))
    before, after = told
    assert before == after


def test_writes_of_one_group_are_each_within_their_own_workspace(store: RelationalStore) -> None:
    async def together() -> tuple[object, ...]:
        def workspaces(connection: Connection) -> list[str]:
            return [one for (one,) in connection.execute(WORKSPACES.format("memories"))]

        def failing(connection: Connection) -> None:
            raise StoreUnavailable(str(workspaces(connection)))

        write = store.database.write
        return await asyncio.gather(
            write(workspaces, workspace="acme"),
            write(failing, workspace="rival"),
            write(workspaces, workspace="acme"),
            write(workspaces, workspace="rival"),
            return_exceptions=True,
        )

    one, failed, two, three = asyncio.run(together())
    assert (one, str(failed), two, three) == (["acme"], "['rival']", ["acme"], ["rival"])


def test_a_row_refers_to_none_of_another_workspace_not_even_for_a_superuser(
    store: RelationalStore, superuser: psycopg.Connection
) -> None:
    with pytest.raises(psycopg.IntegrityError):
        superuser.execute("UPDATE revisions SET workspace = CASE workspace WHEN 'acme' THEN 'rival' ELSE 'acme' END")


def test_every_key_but_that_of_api_keys_has_the_workspace(store: RelationalStore) -> None:
    def keys(connection: Connection) -> list[str]:
        rows = connection.execute(
            "SELECT i.indexrelid::regclass::text FROM pg_index i JOIN pg_class c ON c.oid = i.indrelid"
            " WHERE i.indisunique AND c.relnamespace = current_schema()::regnamespace AND c.relname <> 'remembrancer'"
            " AND NOT EXISTS (SELECT 1 FROM pg_attribute a WHERE a.attrelid = i.indexrelid AND a.attname = 'workspace')"
        )
        return [name for (name,) in rows]

    assert in_transaction(store, keys) == ["api_keys_digest_key"]


def test_no_reference_leaves_its_workspace(store: RelationalStore) -> None:
    def references(connection: Connection) -> list[tuple[str, ...]]:
        return list(
            connection.execute(
                "SELECT DISTINCT (SELECT a.attname FROM pg_attribute a WHERE a.attrelid = c.conrelid"
                " AND a.attnum = c.conkey[2]), (SELECT a.attname FROM pg_attribute a WHERE a.attrelid = c.confrelid"
                " AND a.attnum = c.confkey[2]) FROM pg_constraint c WHERE c.contype = 'f'"
                " AND c.connamespace = current_schema()::regnamespace"
            )
        )

    assert in_transaction(store, references) == [("workspace", "workspace")]


@pytest.mark.parametrize(
    ("condition", "indexed"),
    [
        (f"m.n IN {DIALECT.matches('events')}", "events_by_words Index Cond: (words @@"),
        (f"{DIALECT.beginning} = ?", " AND (beginning = "),
        ("m.tags LIKE '%\"pinned\"%' AND m.title = ?", "memories_pinned"),
    ],
)
def test_an_index_is_searched_though_rows_are_checked(
    store: RelationalStore, superuser: psycopg.Connection, condition: str, indexed: str
) -> None:
    # As if there were many rows.
    superuser.execute("UPDATE pg_class SET reltuples = 1e6, relpages = 1 WHERE relname IN ('events_words', 'memories')")
    superuser.execute(f"SET LOCAL ROLE {USER}; SET LOCAL remembrancer.workspace = 'acme'".encode())
    statement = f"EXPLAIN (COSTS OFF) SELECT m.id FROM memories m WHERE m.workspace = ? AND {condition}"
    lines = superuser.execute(written(statement), ("acme", "'pump'"))
    plan = " ".join(line.strip() for (line,) in lines)
    superuser.rollback()
    assert indexed in plan


def test_the_doctor_says_for_which_user_it_is_in_force(store: RelationalStore) -> None:
    assert (found(store).detail, found(store).warning) == (f"in force for the user {USER}", False)


def test_the_doctor_warns_a_superuser(url: str) -> None:
    store = RelationalStore(PostgresServer(as_superuser(url)), analyse=analysed)
    finding = found(store)
    store.database.close()
    assert finding.warning
    assert "not in force for the user postgres" in finding.detail
