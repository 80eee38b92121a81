"""Threads, transactions and closing of one file."""

from __future__ import annotations

import asyncio
import contextlib
import gc
import os
import threading
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path
from typing import Any, TypeVar, cast

import apsw
import pytest

from remembrancer.adapters.relational.connection import Connection
from remembrancer.adapters.relational.database import GROUP, Database
from remembrancer.adapters.relational.sqlite import file as sqlite_file
from remembrancer.adapters.relational.sqlite.dialect import SqliteConnection, connect
from remembrancer.adapters.relational.sqlite.file import SqliteFile
from remembrancer.errors import Conflict, StoreUnavailable
from remembrancer.language.cues import analysed

T = TypeVar("T")
PATIENCE = 20.0
"""Seconds until a test that waits for what never happens gives up."""


@pytest.fixture(params=["a file", "in memory"])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    return ":memory:" if request.param == "in memory" else str(tmp_path / "notes.db")


@pytest.fixture
def file(tmp_path: Path) -> str:
    return str(tmp_path / "notes.db")


def run(path: str, work: Callable[[Database], Awaitable[T]]) -> T:
    """The result of `work` on a database with a table of numbers."""

    async def whole() -> T:
        opened = Database(SqliteFile(path), analyse=analysed)
        try:
            await opened.write(lambda c: c.execute("CREATE TABLE IF NOT EXISTS noted (n INTEGER PRIMARY KEY)").get)
            return await asyncio.wait_for(work(opened), PATIENCE)
        finally:
            await asyncio.to_thread(opened.close)

    return asyncio.run(whole())


def note(number: int) -> Callable[[Connection], int]:
    def work(connection: Connection) -> int:
        connection.execute("INSERT INTO noted VALUES (?)", (number,))
        return number

    return work


def noted(connection: Connection) -> list[int]:
    return [number for (number,) in connection.execute("SELECT n FROM noted ORDER BY n")]


def noted_in(path: str) -> list[int]:
    """The numbers as another program reads them from the file."""
    connection = connect(path)
    try:
        return noted(connection)
    finally:
        connection.close()


class Held:
    """Blocks the writer's thread inside a write until it is released, so that later writes wait in the queue."""

    def __init__(self) -> None:
        self._begun = threading.Event()
        self._let_go = threading.Event()

    def work(self, _: Connection) -> None:
        self._begun.set()
        assert self._let_go.wait(PATIENCE)

    async def begun(self) -> None:
        assert await asyncio.to_thread(self._begun.wait, PATIENCE)

    def let_go(self) -> None:
        self._let_go.set()


async def behind(opened: Database, *works: Callable[[Connection], Any]) -> list[asyncio.Task[Any]]:
    """Tasks whose writes wait behind one that blocks the thread; the first task is the blocking one."""
    held = Held()
    first = asyncio.create_task(opened.write(held.work))
    await held.begun()
    waiting = [asyncio.create_task(opened.write(work)) for work in works]
    await asyncio.sleep(0)  # each has handed in its work
    held.let_go()
    return [first, *waiting]


# ── group commit ─────────────────────────────────────────────────────────────────────────────────────────────────────


def test_many_writes_at_once_all_land(place: str) -> None:
    async def work(opened: Database) -> list[int]:
        await asyncio.gather(*(opened.write(note(number)) for number in range(200)))
        return await opened.read(noted)

    assert run(place, work) == list(range(200))


def test_writes_that_wait_together_are_committed_together(file: str) -> None:
    async def work(opened: Database) -> int:
        watching = connect(file)
        before = watching.pragma("data_version")
        commits = 0
        for task in (await behind(opened, *(note(number) for number in range(GROUP))))[1:]:
            await task
            after = watching.pragma("data_version")
            commits, before = commits + (after != before), after
        watching.close()
        return commits

    assert run(file, work) == 1


def test_each_write_gets_its_own_result(place: str) -> None:
    async def work(opened: Database) -> list[int]:
        return await asyncio.gather(*(opened.write(note(number)) for number in (7, 3, 5)))

    assert run(place, work) == [7, 3, 5]


def test_a_failing_write_fails_alone(place: str) -> None:
    async def work(opened: Database) -> tuple[list[Any], list[int]]:
        tasks = await behind(opened, note(1), note(2), note(1), note(3))
        results = await asyncio.gather(*tasks[1:], return_exceptions=True)
        return [result if isinstance(result, int) else type(result) for result in results], await opened.read(noted)

    assert run(place, work) == ([1, 2, Conflict, 3], [1, 2, 3])


def test_half_a_write_is_taken_back(place: str) -> None:
    def half(connection: Connection) -> None:
        note(1)(connection)
        raise Conflict("changed its mind")

    async def work(opened: Database) -> list[int]:
        with pytest.raises(Conflict):
            await opened.write(half)
        return await opened.read(noted)

    assert run(place, work) == []


def test_savepoints_left_open_by_a_failing_write_are_taken_back(place: str) -> None:
    def half(connection: Connection) -> None:
        connection.execute("SAVEPOINT its_own")
        note(1)(connection)
        raise Conflict("changed its mind")

    async def work(opened: Database) -> list[int]:
        with pytest.raises(Conflict):
            await opened.write(half)
        await opened.write(note(2))
        return await opened.read(noted)

    assert run(place, work) == [2]


def test_when_the_transaction_fails_every_write_of_the_group_does(file: str) -> None:
    def give_up(connection: Connection) -> None:
        connection.execute("ROLLBACK")  # as SQLite itself does on some errors
        raise Conflict("gave up")

    async def work(opened: Database) -> tuple[list[type], list[int]]:
        tasks = await behind(opened, note(1), give_up, note(2))
        results = await asyncio.gather(*tasks[1:], return_exceptions=True)
        return [type(result) for result in results], await opened.read(noted)

    assert run(file, work) == ([Conflict] * 3, [])


def test_the_writer_continues_after_any_failure(place: str) -> None:
    def broken(_: Connection) -> None:
        raise ZeroDivisionError

    async def work(opened: Database) -> list[int]:
        with pytest.raises(ZeroDivisionError):
            await opened.write(broken)
        await opened.write(note(1))
        return await opened.read(noted)

    assert run(place, work) == [1]


def test_an_acknowledged_write_is_in_the_file(file: str) -> None:
    async def work(opened: Database) -> list[int]:
        await opened.write(note(1))
        return noted_in(file)

    assert run(file, work) == [1]


# ── cancellation ─────────────────────────────────────────────────────────────────────────────────────────────────────


def test_a_write_cancelled_while_it_waits_is_not_made(place: str) -> None:
    async def work(opened: Database) -> list[int]:
        held = Held()
        first = asyncio.create_task(opened.write(held.work))
        await held.begun()
        cancelled, kept = asyncio.create_task(opened.write(note(1))), asyncio.create_task(opened.write(note(2)))
        await asyncio.sleep(0)
        cancelled.cancel()
        with pytest.raises(asyncio.CancelledError):
            await cancelled
        held.let_go()
        await asyncio.gather(first, kept)
        return await opened.read(noted)

    assert run(place, work) == [2]


def test_writes_of_two_event_loops_are_answered_in_their_own(file: str) -> None:
    opened = Database(SqliteFile(file), analyse=analysed)
    found: list[list[int]] = []

    async def several(first: int) -> list[int]:
        return list(await asyncio.gather(*(opened.write(note(first + number)) for number in range(50))))

    asyncio.run(opened.write(lambda c: c.execute("CREATE TABLE noted (n INTEGER PRIMARY KEY)").get))

    def in_a_loop_of_its_own(first: int) -> None:
        found.append(asyncio.run(several(first)))

    loops = [threading.Thread(target=in_a_loop_of_its_own, args=(first,)) for first in (0, 50)]
    for loop in loops:
        loop.start()
    for loop in loops:
        loop.join(PATIENCE)
    opened.close()
    assert sorted(found) == [[*range(50)], [*range(50, 100)]]


def test_a_write_whose_event_loop_is_closed_does_not_stop_the_writer(file: str) -> None:
    opened = Database(SqliteFile(file), analyse=analysed)
    asyncio.run(opened.write(lambda c: c.execute("CREATE TABLE noted (n INTEGER PRIMARY KEY)").get))
    held = Held()

    async def left() -> None:
        task = asyncio.create_task(opened.write(held.work))
        await held.begun()
        task.cancel()

    with contextlib.suppress(asyncio.CancelledError):
        asyncio.run(left())
    held.let_go()
    assert asyncio.run(opened.write(note(1))) == 1
    opened.close()


def test_a_write_cancelled_once_begun_is_made_whole(place: str) -> None:
    async def work(opened: Database) -> list[int]:
        held = Held()

        def begun(connection: Connection) -> None:
            note(1)(connection)
            held.work(connection)
            note(2)(connection)

        task = asyncio.create_task(opened.write(begun))
        await held.begun()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        held.let_go()
        await opened.write(note(3))  # writes are made in their order: when this one is, the one before it is whole
        return await opened.read(noted)

    assert run(place, work) == [1, 2, 3]


def test_snapshots_left_in_the_middle_of_a_read_release_the_file(file: str) -> None:
    async def left(opened: Database) -> None:
        held = Held()

        async def read() -> None:
            async with opened.snapshot() as snapshot:
                await snapshot.read(held.work)

        task = asyncio.create_task(read())
        await held.begun()
        task.cancel()
        held.let_go()
        with pytest.raises(asyncio.CancelledError):
            await task

    async def work(opened: Database) -> int:
        await left(opened)
        before = open_files()  # SQLite keeps one in hand for the next connection
        for _ in range(5):
            await left(opened)
        return open_files() - before

    assert run(file, work) == 0


# ── reading ──────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_all_statements_of_a_read_see_one_state(file: str) -> None:
    async def work(opened: Database) -> tuple[list[int], list[int]]:
        held = Held()

        def twice(connection: Connection) -> tuple[list[int], list[int]]:
            first = noted(connection)
            held.work(connection)
            return first, noted(connection)

        reading = asyncio.create_task(opened.read(twice))
        await held.begun()
        await opened.write(note(1))
        held.let_go()
        return await reading

    assert run(file, work) == ([], [])


def test_a_snapshot_does_not_see_later_writes(place: str) -> None:
    async def work(opened: Database) -> tuple[list[int], list[int]]:
        await opened.write(note(1))
        async with opened.snapshot() as snapshot:
            before = await snapshot.read(noted)
            await opened.write(note(2))
            return before, await snapshot.read(noted)

    assert run(place, work) == ([1], [1])


def test_a_reading_connection_cannot_write(file: str) -> None:
    async def work(opened: Database) -> None:
        with pytest.raises(StoreUnavailable, match="read-only"):
            await opened.read(note(1))

    run(file, work)


def test_a_read_works_after_one_that_failed(file: str) -> None:
    def broken(_: Connection) -> None:
        raise ZeroDivisionError

    async def work(opened: Database) -> list[int]:
        for _ in range(4):  # more than there are readers
            with pytest.raises(ZeroDivisionError):
                await opened.read(broken)
        await opened.write(note(1))
        return await opened.read(noted)

    assert run(file, work) == [1]


def test_reads_do_not_wait_for_a_write(file: str) -> None:
    async def work(opened: Database) -> list[int]:
        held = Held()
        writing = asyncio.create_task(opened.write(held.work))
        await held.begun()
        read = await opened.read(noted)
        held.let_go()
        await writing
        return read

    assert run(file, work) == []


def test_a_read_whose_transaction_cannot_be_ended_does_not_hold_the_log(
    file: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    failing: list[str] = []

    def trace(_cursor: object, statement: str, _bindings: object) -> bool:
        if statement in failing:
            failing.remove(statement)
            raise apsw.IOError("injected")
        return True

    def watched(path: str, **given: Any) -> SqliteConnection:
        connection = connect(path, **given)
        cast("apsw.Connection", connection).exec_trace = trace
        return connection

    async def work(opened: Database) -> bool:
        await opened.write(note(1))
        failing.append("ROLLBACK")
        with pytest.raises(StoreUnavailable):
            await opened.read(noted)
        await opened.write(note(2))
        emptied = "PRAGMA wal_checkpoint(TRUNCATE)"
        held, *_ = await opened.alone(lambda c: c.execute(emptied).get, patience_s=0.05)
        return bool(held)

    monkeypatch.setattr(sqlite_file, "connect", watched)
    assert not run(file, work)


# ── other processes ──────────────────────────────────────────────────────────────────────────────────────────────────


def test_a_lock_held_too_long_by_another_process_is_reported(file: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sqlite_file, "LOCK_TIMEOUT_S", 0.05)
    other = connect(file)

    async def work(opened: Database) -> list[int]:
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(StoreUnavailable, match=r"notes\.db: another process held the write lock"):
            await opened.write(note(1))
        other.execute("ROLLBACK")
        await opened.write(note(2))
        return await opened.read(noted)

    assert run(file, work) == [2]
    other.close()


def test_a_file_can_be_opened_while_another_process_writes_to_it(file: str, monkeypatch: pytest.MonkeyPatch) -> None:
    run(file, lambda opened: opened.write(note(1)))
    monkeypatch.setattr(sqlite_file, "LOCK_TIMEOUT_S", 0.05)
    other = connect(file)
    other.execute("BEGIN IMMEDIATE")
    opened = Database(SqliteFile(file), analyse=analysed)
    opened.close()
    other.execute("ROLLBACK")
    other.close()


def test_a_forked_process_is_refused_instead_of_left_waiting(file: str, monkeypatch: pytest.MonkeyPatch) -> None:
    opened = Database(SqliteFile(file), analyse=analysed)
    with monkeypatch.context() as child:
        child.setattr(os, "getpid", lambda: -1)
        with pytest.raises(StoreUnavailable, match="forked"):
            asyncio.run(opened.read(noted))
    opened.close()


# ── closing ──────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_closing_finishes_queued_writes(file: str) -> None:
    async def work() -> list[int]:
        opened = Database(SqliteFile(file), analyse=analysed)
        await opened.write(lambda c: c.execute("CREATE TABLE noted (n INTEGER PRIMARY KEY)").get)
        held = Held()
        first = asyncio.create_task(opened.write(held.work))
        await held.begun()
        waiting = [asyncio.create_task(opened.write(note(number))) for number in range(50)]
        await asyncio.sleep(0)
        closing = asyncio.create_task(asyncio.to_thread(opened.close))
        held.let_go()
        await closing
        await first
        return await asyncio.gather(*waiting)

    assert asyncio.run(work()) == noted_in(file) == list(range(50))


@pytest.mark.parametrize("call", ["write", "read"])
def test_use_after_closing_is_refused(place: str, call: str) -> None:
    opened = Database(SqliteFile(place), analyse=analysed)
    opened.close()
    with pytest.raises(StoreUnavailable, match="already closed"):
        asyncio.run(getattr(opened, call)(noted))


def test_a_snapshot_after_closing_is_refused(place: str) -> None:
    async def work() -> None:
        opened = Database(SqliteFile(place), analyse=analysed)
        opened.close()
        with pytest.raises(StoreUnavailable, match="already closed"):
            async with opened.snapshot():
                pass

    asyncio.run(work())


def test_closing_twice_is_harmless(place: str) -> None:
    opened = Database(SqliteFile(place), analyse=analysed)
    opened.close()
    opened.close()


def test_closing_leaves_one_file(file: str) -> None:
    run(file, lambda opened: opened.write(note(1)))
    assert [entry.name for entry in Path(file).parent.iterdir()] == ["notes.db"]


def test_closing_releases_every_file_and_thread(file: str) -> None:
    async def everything(opened: Database) -> None:
        await asyncio.gather(*(opened.read(noted) for _ in range(8)), opened.write(note(1)))
        async with opened.snapshot() as snapshot:
            await snapshot.read(noted)

    before = open_files(), threads()
    run(file, everything)
    assert (open_files(), threads()) == before


def test_a_file_that_cannot_be_opened_is_released(file: str) -> None:
    Path(file).write_bytes(b"no database " * 1000)
    before = open_files(), threads()
    with pytest.raises(StoreUnavailable):
        Database(SqliteFile(file), analyse=analysed)
    assert (open_files(), threads()) == before


def open_files() -> int:
    """The number of files that this process has open."""
    gc.collect()
    return len(list(Path("/proc/self/fd").iterdir())) if Path("/proc/self/fd").is_dir() else 0


def threads() -> list[str]:
    return sorted(thread.name for thread in threading.enumerate() if thread.name.startswith("remembrancer"))


# ── durability ───────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(("full_sync", "level"), [(False, 1), (True, 2)])
def test_a_commit_waits_for_the_disk_only_when_asked(file: str, full_sync: bool, level: int) -> None:
    opened = Database(SqliteFile(file, full_sync=full_sync), analyse=analysed)
    told = asyncio.run(_pragma(opened, "synchronous"))
    opened.close()
    assert told == level


def test_the_log_is_written_ahead(file: str) -> None:
    assert run(file, lambda opened: _pragma(opened, "journal_mode")) == "wal"


def test_statements_are_not_prepared_anew_for_each_bound_value(file: str) -> None:
    async def is_stable(opened: Database) -> bool:
        stable = apsw.SQLITE_DBCONFIG_ENABLE_QPSG
        return await opened.write(lambda c: bool(cast("SqliteConnection", c).config(stable, -1)))

    assert run(file, is_stable)


async def _pragma(opened: Database, name: str) -> Any:
    return await opened.write(lambda connection: connection.execute(f"PRAGMA {name}").get)


@pytest.fixture(autouse=True)
def no_thread_is_left() -> Iterator[None]:
    before = threads()  # what tests of other modules have left open is not for this one to tell
    yield
    assert threads() == before


def test_a_longer_read_leaves_the_event_loop_to_others(file: str) -> None:
    async def work(opened: Database) -> bool:
        return await opened.read(lambda _: threading.get_ident(), longer=True) != threading.get_ident()

    assert run(file, work)


def test_a_short_read_does_not_wait_for_longer_ones(file: str) -> None:
    async def work(opened: Database) -> int:
        done = threading.Event()
        longer = [asyncio.ensure_future(opened.read(lambda _: done.wait(2 * PATIENCE), longer=True)) for _ in range(10)]
        try:
            return await asyncio.wait_for(opened.read(lambda c: c.execute("SELECT 3").get), PATIENCE / 2)
        finally:
            done.set()
            await asyncio.gather(*longer)

    assert run(file, work) == 3


def test_a_longer_read_sees_earlier_writes(place: str) -> None:
    async def work(opened: Database) -> int:
        await opened.write(note(7))
        return await opened.read(lambda c: c.execute("SELECT n FROM noted").get, longer=True)

    assert run(place, work) == 7


def test_a_longer_read_sees_one_state_of_the_file(file: str) -> None:
    async def work(opened: Database) -> tuple[int, int]:
        read, written = threading.Event(), threading.Event()

        def counted(connection: Connection) -> int:
            return connection.execute("SELECT count(*) FROM noted").get

        def twice(connection: Connection) -> tuple[int, int]:
            before = counted(connection)
            read.set()
            written.wait(PATIENCE)
            return before, counted(connection)

        await opened.write(note(7))
        both = asyncio.ensure_future(opened.read(twice, longer=True))
        await asyncio.to_thread(read.wait, PATIENCE)
        await opened.write(note(8))
        written.set()
        return await both

    assert run(file, work) == (1, 1)


def test_a_longer_read_is_refused_once_closed(file: str) -> None:
    async def whole() -> None:
        opened = Database(SqliteFile(file), analyse=analysed)
        opened.close()
        with pytest.raises(StoreUnavailable, match="closed"):
            await opened.read(lambda c: c.execute("SELECT 1").get, longer=True)

    asyncio.run(whole())


# ── reads in the calling thread ──────────────────────────────────────────────────────────────────────────────────────


def thread_that_reads(connection: Connection) -> str:
    connection.execute("SELECT 1")
    return threading.current_thread().name


def test_a_brief_read_of_a_file_runs_in_the_calling_thread(file: str) -> None:
    names = run(file, lambda opened: opened.read(thread_that_reads, brief=True)), threading.current_thread().name
    assert names[0] == names[1]


def test_a_brief_read_in_memory_runs_where_the_only_connection_is() -> None:
    assert run(":memory:", lambda opened: opened.read(thread_that_reads, brief=True)) == "remembrancer-writer"


def test_a_brief_read_sees_earlier_writes(place: str) -> None:
    async def work(opened: Database) -> list[list[int]]:
        seen: list[list[int]] = []
        for number in (1, 2):
            await opened.write(note(number))
            seen.append(await opened.read(noted, brief=True))
        return seen

    assert run(place, work) == [[1], [1, 2]]


def test_a_brief_read_that_would_wait_for_a_lock_waits_in_another_thread(file: str) -> None:
    def locked_here(connection: Connection) -> str:
        if threading.current_thread() is threading.main_thread():
            raise apsw.BusyError("injected")
        return thread_that_reads(connection)

    assert run(file, lambda opened: opened.read(locked_here, brief=True)).startswith("remembrancer-reader")


def test_a_brief_read_that_fails_raises_its_error(file: str) -> None:
    def failing(connection: Connection) -> None:
        connection.execute("SELECT n FROM nowhere")

    with pytest.raises(StoreUnavailable, match="nowhere"):
        run(file, lambda opened: opened.read(failing, brief=True))


def test_brief_reads_of_two_event_loops_do_not_disturb_each_other(file: str) -> None:
    async def work(opened: Database) -> tuple[str, list[int]]:
        reads = threading.Event()
        done = threading.Event()

        def slow(connection: Connection) -> list[int]:
            reads.set()
            assert done.wait(PATIENCE)
            return noted(connection)

        await opened.write(note(1))
        other = asyncio.create_task(asyncio.to_thread(lambda: asyncio.run(opened.read(slow, brief=True))))
        assert await asyncio.to_thread(reads.wait, PATIENCE)
        name = await opened.read(thread_that_reads, brief=True)
        done.set()
        return name, await other

    name, found = run(file, work)
    assert name.startswith("remembrancer-reader")
    assert found == [1]


def test_a_brief_read_is_refused_once_closed(file: str) -> None:
    async def whole() -> None:
        opened = Database(SqliteFile(file), analyse=analysed)
        await opened.read(thread_that_reads, brief=True)
        opened.close()
        with pytest.raises(StoreUnavailable, match="closed"):
            await opened.read(thread_that_reads, brief=True)

    asyncio.run(whole())
