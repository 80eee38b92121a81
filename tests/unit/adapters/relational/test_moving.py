"""A whole store is moved between SQLite and PostgreSQL, whatever interrupts it, and no row differs."""

from __future__ import annotations

import asyncio
import json
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Final

import psycopg
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from postgres_server import Schemas

from remembrancer import Remembrancer, compose
from remembrancer.adapters.relational import moving
from remembrancer.adapters.relational.dialect import Backend
from remembrancer.adapters.relational.postgres.server import PostgresServer
from remembrancer.adapters.relational.schema import OF_FILES, tables
from remembrancer.adapters.relational.sqlite.dialect import connect
from remembrancer.adapters.relational.sqlite.file import SqliteFile
from remembrancer.adapters.relational.store import RelationalStore
from remembrancer.errors import Conflict, InvalidInput, StoreUnavailable, Unsupported
from remembrancer.language.cues import analysed
from remembrancer.ports.transfer import MoveReport, OnMoved
from remembrancer.testing.contract.world import populate
from remembrancer.testing.doubles import SCOPE

SCRIPT: Final = Path(__file__).parents[3] / "fixtures" / "killed_move.py"
OTHER: Final = replace(SCOPE, workspace="globex")
ERASED: Final = "Quokkas juggle vermilion zithers"
KILLS: Final = (2, 9, 21, 30)
"""Reports of progress at which a move is killed."""


def opened(path: Path | str, workspace: str = "acme") -> Remembrancer:
    return Remembrancer.open(str(path), embedder="none", workspace=workspace, settings={"background_index": False})


async def _fill(path: Path) -> None:
    store = RelationalStore(SqliteFile(str(path)), analyse=analysed)
    await populate(store, SCOPE)
    await populate(store, OTHER, prefix="globex: ")
    await store.close()


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A file with a row in every table, in two workspaces."""
    path = tmp_path_factory.mktemp("world") / "world.db"
    asyncio.run(_fill(path))
    with opened(path) as memory:
        gone = memory.remember(ERASED)
        memory.erase(ids=[gone.id])
    return path


@pytest.fixture
def source(world: Path, tmp_path: Path) -> Path:
    return Path(shutil.copy(world, tmp_path / "source.db"))


@pytest.fixture
def url(postgres: Schemas) -> Iterator[str]:
    address = postgres.take()
    yield address
    with psycopg.connect(address, autocommit=True) as connection:
        if connection.execute("SELECT to_regclass('remembrancer')").fetchone() != (None,):
            connection.execute("UPDATE remembrancer SET version = abs(version)")  # the schema is used again


def backend(url: Path | str, *, read_only: bool = False) -> Backend:
    server = "://" in str(url)
    return PostgresServer(str(url), read_only=read_only) if server else SqliteFile(str(url), read_only=read_only)


def moved(source: Path | str, target: Path | str, on_moved: OnMoved | None = None, page_rows: int = 3) -> MoveReport:
    here = backend(source, read_only=True)
    return moving.move(here, backend(target), analyse=analysed, on_moved=on_moved, page_rows=page_rows)


def digests(report: MoveReport) -> dict[tuple[str, str], str]:
    return {(one.table, one.workspace): one.digest for one in report.tables}


class Stopped(Exception):
    """Raised by the tests in the middle of a move."""


def stopping_at(phase: str, reports: int = 1) -> OnMoved:
    seen = 0

    def on_moved(now: str, done: int, total: int) -> None:
        nonlocal seen
        seen += now == phase
        if seen == reports:
            raise Stopped

    return on_moved


@pytest.fixture(autouse=True)
def every_row_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(moving, "REPORTED", 1)


def test_the_world_has_a_row_in_every_table(world: Path) -> None:
    connection = connect(str(world))
    empty = [table.name for table in tables() if connection.execute(f"SELECT 1 FROM {table.name}").get is None]
    connection.close()
    assert empty in ([], ["vector_retries"])


def test_the_tables_are_read_from_the_schema_as_the_database_reads_it(world: Path) -> None:
    with closing(connect(str(world))) as connection:
        names = (
            "SELECT name FROM pragma_table_list WHERE schema = 'main' AND type = 'table' AND name NOT LIKE 'sqlite%'"
        )
        assert {table.name for table in tables()} == {name for (name,) in connection.execute(names)} - OF_FILES
        for table in tables():
            columns = list(connection.execute("SELECT name, type, pk FROM pragma_table_info(?)", (table.name,)))
            parents = connection.execute('SELECT "from", "table" FROM pragma_foreign_key_list(?)', (table.name,))
            assert table.columns == tuple(name for name, _, _ in columns)
            assert table.key == tuple(name for _, name in sorted((place, name) for name, _, place in columns if place))
            assert table.reals == {name for name, kind, _ in columns if kind == "REAL"}
            assert set(table.parents) == set(parents)


def test_a_store_is_the_same_there_and_back(source: Path, url: str, tmp_path: Path) -> None:
    there = moved(source, url)
    back = moved(url, tmp_path / "back.db")
    assert (there.is_whole, back.is_whole) == (True, True)
    assert there.copied_rows == back.copied_rows == there.rows == back.rows
    assert digests(there) == digests(back) == {(one.table, one.workspace): one.target_digest for one in back.tables}
    with opened(source) as before, opened(tmp_path / "back.db") as after:
        before.export(tmp_path / "before.jsonl")
        after.export(tmp_path / "after.jsonl")
        assert after.health.doctor() == before.health.doctor()
    assert (tmp_path / "before.jsonl").read_bytes() == (tmp_path / "after.jsonl").read_bytes()


def test_the_next_rows_get_the_numbers_that_the_source_would_give(source: Path, url: str, tmp_path: Path) -> None:
    moved(source, url)
    moved(url, tmp_path / "back.db")
    given_numbers: list[object] = []
    for place in (source, url, tmp_path / "back.db"):
        with opened(place) as memory:
            memory.observe("Ana repaired the pump", session="tuesday", key="next")
        here = backend(place, read_only=True)
        with closing(here.connect()) as connection:
            here.read_everything(connection)
            given_numbers.append(
                [
                    connection.execute(f"SELECT max(n) FROM {table.name}").get
                    for table in tables()
                    if table.key == ("n",)
                ]
                + [connection.execute("SELECT last FROM changes WHERE workspace = 'acme'").get]
            )
    assert given_numbers[0] == given_numbers[1] == given_numbers[2]


def test_what_was_moved_is_found_by_its_words(source: Path, url: str) -> None:
    with opened(source) as before:
        before.observe("The question is: to be or not to be.")
    moved(source, url)
    with opened(source) as before, opened(url) as after:
        for question in ("two gigabytes of memory", "to be or not to be"):
            found = [one.id for one in after.recall(question)]
            assert found == [one.id for one in before.recall(question)]
            assert found
        assert after.health.doctor()


def test_the_source_keeps_each_byte(source: Path, tmp_path: Path) -> None:
    with opened(source) as memory:  # a log beside the file, which a last connection would write into it
        memory.observe("Something in the log")
        files = [Path(f"{source}{suffix}") for suffix in ("", "-wal")]
        before = [file.read_bytes() for file in files]
        moved(source, tmp_path / "target.db")
        assert [file.read_bytes() for file in files] == before
    before = [source.read_bytes()]
    moved(source, tmp_path / "again.db")
    compose.asked_before(str(source), 5)
    assert [source.read_bytes()] == before


@pytest.mark.parametrize("on_server", [False, True], ids=["file", "server"])
def test_an_unfinished_target_cannot_be_opened(source: Path, tmp_path: Path, url: str, on_server: bool) -> None:
    target = url if on_server else str(tmp_path / "target.db")
    with pytest.raises(Stopped):
        moved(source, target, stopping_at("verifying"))
    with pytest.raises(StoreUnavailable, match="run the same `remembrancer migrate` again"):
        opened(target)
    with pytest.raises(StoreUnavailable, match="unfinished"):
        moved(target, tmp_path / "third.db")
    assert moved(source, target).is_whole
    opened(target).close()


def test_a_dry_run_counts_what_is_missing_and_makes_nothing(source: Path, tmp_path: Path) -> None:
    target = tmp_path / "target.db"
    dry = compose.move_store(str(source), str(target), dry_run=True)
    assert (dry.copied_rows, target.exists()) == (dry.rows, False)
    with pytest.raises(Stopped):
        moved(source, target, stopping_at("copying", 5))
    rest = compose.move_store(str(source), str(target), dry_run=True)
    assert 0 < rest.copied_rows < rest.rows
    assert moved(source, target).copied_rows == rest.copied_rows


def changed(path: Path) -> None:
    """New rows, changed ones, and erased ones."""
    with opened(path) as memory:
        memory.observe("Bo fixed the pump", session="friday")
        old = memory.remember("The pump is in hall 3", topic_key="pump")
        memory.remember("The pump is in hall 4", topic_key="pump")
        memory.feedback(old.id, "helpful")
        event = memory.observe("Said by mistake", session="friday")
        memory.scoped(role="LEAD").journal.set_priority(memory.journal.list(limit=3)[-1].id, "high")
        memory.erase(events=[event.id])


@pytest.mark.parametrize("on_server", [False, True], ids=["file", "server"])
def test_the_second_run_brings_what_changed_since_the_first(
    source: Path, tmp_path: Path, url: str, on_server: bool
) -> None:
    target = url if on_server else str(tmp_path / "target.db")
    with opened(source) as memory:
        gone = memory.remember(f"{ERASED} again")
    with pytest.raises(Stopped):
        moved(source, target, stopping_at("verifying"))
    with opened(source) as memory:
        memory.erase(ids=[gone.id])
    changed(source)
    report = moved(source, target)
    assert report.is_whole
    assert 0 < report.removed_rows < report.copied_rows < report.rows
    if not on_server:
        assert b"quokkas" not in Path(target).read_bytes().lower()


def test_a_source_that_is_written_to_leaves_the_target_unfinished(source: Path, tmp_path: Path) -> None:
    target = tmp_path / "target.db"
    written: list[str] = []

    def on_moved(phase: str, done: int, total: int) -> None:
        if phase == "verifying" and not written:
            with opened(source) as memory:
                written.append(memory.observe("Meanwhile").text)
                memory.remember("Two more")

    report = moved(source, target, on_moved)
    assert (report.difference, report.written_memories, report.is_whole) == ("", 2, False)
    assert {"events", "memories"} <= set(report.written)
    with pytest.raises(StoreUnavailable, match="unfinished"):
        opened(target)
    again = moved(source, target)
    assert (again.is_whole, again.rows) == (True, report.rows + again.copied_rows - again.removed_rows)


def test_a_store_with_other_rows_is_refused_and_not_changed(source: Path, tmp_path: Path) -> None:
    target = tmp_path / "target.db"
    with opened(target) as memory:
        memory.remember("My own")
    before = target.read_bytes()
    with pytest.raises(Conflict, match="is a store already, and differs"):
        moved(source, target)
    assert target.read_bytes() == before


def test_a_target_that_is_equal_is_only_verified(source: Path, tmp_path: Path) -> None:
    moved(source, tmp_path / "target.db")
    again = moved(source, tmp_path / "target.db")
    assert (again.copied_rows, again.is_whole) == (0, True)


def test_a_target_that_is_open_elsewhere_is_refused(source: Path, tmp_path: Path) -> None:
    with opened(tmp_path / "target.db"), pytest.raises(StoreUnavailable, match="open in another process"):
        moved(source, tmp_path / "target.db")


@pytest.mark.parametrize(
    ("statement", "told"),
    [
        ("UPDATE memories SET importance = 0.125 WHERE n = 3", "memories n=3: differs in importance"),
        ("DELETE FROM reviews", "reviews memory=2, at=1772615160000000: missing in the target"),
        ("INSERT INTO positions VALUES ('other', 1)", "positions workspace=other: only in the target"),
    ],
)
def test_a_difference_is_named_by_table_and_key(source: Path, tmp_path: Path, statement: str, told: str) -> None:
    target = tmp_path / "target.db"
    moved(source, target)
    with closing(connect(str(target))) as connection:
        connection.execute(statement)
    report = compose.compare_stores(str(source), str(target))
    assert (report.is_whole, report.difference) == (False, told)


def test_an_older_source_is_not_migrated(source: Path, tmp_path: Path) -> None:
    connection = connect(str(source))
    connection.execute("PRAGMA user_version = 19")
    connection.close()
    before = source.read_bytes()
    with pytest.raises(Unsupported, match="which reading does not migrate"):
        moved(source, tmp_path / "target.db")
    assert source.read_bytes() == before


@pytest.mark.parametrize("address", [":memory:", "redis://localhost/1"])
def test_what_is_neither_a_file_nor_postgresql_is_refused(source: Path, address: str) -> None:
    with pytest.raises(InvalidInput, match="target"):
        compose.move_store(str(source), address)


def test_a_server_that_does_not_answer_is_told_without_the_password(source: Path) -> None:
    with pytest.raises(StoreUnavailable, match="the server does not answer") as told:
        compose.move_store(str(source), "postgresql://ana:secret@127.0.0.1:1/memory")
    assert "secret" not in str(told.value)


def test_a_full_disk_stops_a_move_that_goes_on_later(
    source: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with opened(source) as memory:
        memory.remember("As long as a report. " * 3_000)
    target, usual = SqliteFile(str(tmp_path / "target.db")), SqliteFile.fill

    def cramped(self: SqliteFile, analyse: Callable[..., object]) -> object:
        connection = usual(self, analyse)  # pyright: ignore[reportArgumentType]
        pages = connection.execute("PRAGMA page_count").get
        connection.execute(f"PRAGMA max_page_count = {pages + 4}")
        return connection

    here = SqliteFile(str(source), read_only=True)
    with monkeypatch.context() as patch:
        patch.setattr(SqliteFile, "fill", cramped)
        with pytest.raises(StoreUnavailable, match="disk"):
            moving.move(here, target, analyse=analysed)
    assert moving.move(here, SqliteFile(str(tmp_path / "target.db")), analyse=analysed).is_whole


def test_a_killed_move_goes_on_and_ends_equal(source: Path, tmp_path: Path, url: str) -> None:
    orders = [
        {"path": str(source), "target": target, "at": at}
        for target in (str(tmp_path / "target.db"), url)
        for at in (*KILLS, 0)
    ]
    ran = subprocess.run(
        [sys.executable, str(SCRIPT)],
        input="\n".join(map(json.dumps, orders)),
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    ended = [json.loads(line) for line in ran.stdout.splitlines()]
    assert ended[:4] == ended[5:9] == ["killed"] * 4, ended
    assert ended[4].isdecimal()
    assert ended[9].isdecimal()
    assert compose.compare_stores(str(source), str(tmp_path / "target.db")).is_whole
    assert compose.compare_stores(str(source), url).is_whole


@settings(max_examples=3)
@given(st.lists(st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), min_size=1), max_size=6))
def test_any_text_is_the_same_there_and_back(tmp_path_factory: pytest.TempPathFactory, texts: list[str]) -> None:
    folder = tmp_path_factory.mktemp("any")
    with opened(folder / "a.db") as memory:
        for text in texts:
            if text.strip():
                memory.observe(text, payload={"said": text})
    there, back = moved(folder / "a.db", folder / "b.db"), moved(folder / "b.db", folder / "c.db")
    assert digests(there) == digests(back)
