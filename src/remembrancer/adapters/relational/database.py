"""Connections, threads and transactions of one database.

A writer thread puts up to 256 waiting writes into one transaction (group commit). Each of several has its own
savepoint: if it fails, the others are still written. A file has one such thread, a server several: each writes for some
workspaces. A few reader threads have a connection each; work with many reads, such as a recall, has its own reader
threads. A function runs in one of these threads from beginning to end, in one transaction.
"""

from __future__ import annotations

import asyncio
import os
import queue
import threading
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager, suppress
from itertools import groupby
from typing import TYPE_CHECKING, Any, Final, Protocol, TypeVar
from zlib import crc32

from remembrancer.adapters.relational.connection import EVERY_WORKSPACE, LOCK_TIMEOUT_S, Connection
from remembrancer.errors import RemembrancerError, StoreUnavailable
from remembrancer.values import dataclass

if TYPE_CHECKING:
    from remembrancer.adapters.relational.dialect import Backend
    from remembrancer.domain.memory import Analyse

T = TypeVar("T")

GROUP: Final = 256
READERS: Final = 2
"""The threads for short reads, and those for longer ones."""


@dataclass(slots=True)
class _Write:
    work: Callable[[Connection], Any]
    result: asyncio.Future[Any]
    workspace: str
    alone: bool = False
    """Work that runs outside group commit."""


_Outcome = tuple[asyncio.Future[Any], Any, BaseException | None]
"""A caller with the value for it, or the failure."""


class _Read(Protocol):
    def __call__(self, work: Callable[[Connection], T]) -> Awaitable[T]: ...


@dataclass(frozen=True, slots=True)
class Snapshot:
    """An unchanging state of the database. `read` runs a function on one snapshot of the database."""

    read: _Read


class Database:
    """One open database.

    Raises StoreUnavailable or Unsupported, with the database's name, if it cannot be opened.
    """

    def __init__(self, backend: Backend, *, analyse: Analyse, readers: int = READERS) -> None:
        """`analyse` fills columns that older tables lack when they are migrated."""
        self.name = backend.name
        self._backend = backend
        self._local = threading.local()
        self._reading: list[Connection] = []
        self._at_once: Connection | None = None
        """The connection of reads in the calling thread, one at a time."""
        self._one_at_once = threading.Lock()
        self._entrance = _Entrance(self.name)
        self._closing = threading.Lock()
        with backend.translated():
            writing = backend.prepare(analyse)
        # The others connect when a workspace of theirs is first written to.
        self._lanes = [_Lane(backend, writing), *(_Lane(backend, None) for _ in range(1, backend.lanes))]
        # A private database is its one connection: reads go through the writer's thread.
        self._readers = None if backend.is_private else ThreadPoolExecutor(readers, "remembrancer-reader")
        # Separate threads, so that a short read does not wait behind recalls.
        self._longer = None if backend.is_private else ThreadPoolExecutor(readers, "remembrancer-longer")

    async def write(self, work: Callable[[Connection], T], *, workspace: str = "") -> T:
        """Run `work` in its own savepoint of a write transaction, within a workspace. Returns after the commit.

        Writes of one workspace run one after another, in all processes; those of others may run at the same time, if
        the database supports it.
        """
        return await self._submit(work, workspace)

    async def alone(
        self, work: Callable[[Connection], T], *, workspace: str = "", patience_s: float = LOCK_TIMEOUT_S
    ) -> T:
        """Run `work` on the workspace's writing connection, between two transactions. Each of its statements waits for
        the locks of other connections, up to `patience_s`.
        """

        def impatient(connection: Connection) -> T:
            connection.wait_for_locks(patience_s)
            try:
                return work(connection)
            finally:
                connection.wait_for_locks(LOCK_TIMEOUT_S)

        return await self._submit(impatient, workspace, alone=True)

    async def read(
        self, work: Callable[[Connection], T], *, workspace: str = "", longer: bool = False, brief: bool = False
    ) -> T:
        """Run `work` in a read transaction: all its statements see one snapshot.

        `workspace`: the one that it reads; "": `work` says which one. `longer`: the work reads more than a row or two
        and runs in separate threads. `brief`: it reads one row by its key. In a file that takes a tenth of the time of
        a change of threads, so it runs in the calling thread, unless it would have to wait for another connection.
        """
        if brief and self._backend.is_file and (found := self._read_at_once(work, workspace)) is not None:
            return found[0]
        threads = self._longer if longer else self._readers
        if threads is None:
            return await self.write(work, workspace=workspace)
        result: asyncio.Future[T] = asyncio.get_running_loop().create_future()

        def answer() -> None:
            if result.cancelled():
                return
            try:
                value = self._read(work, workspace)
            except BaseException as error:  # noqa: BLE001  its caller gets it
                _answer([(result, None, error)])
            else:
                _answer([(result, value, None)])

        with self._entrance:
            threads.submit(answer)
        return await result

    def _read_at_once(self, work: Callable[[Connection], T], workspace: str) -> tuple[T] | None:
        """The result of `work` in the calling thread; None if another call reads now, or if the read fails: in another
        thread it waits for locks, or raises the error.
        """
        if not self._one_at_once.acquire(blocking=False):
            return None
        try:
            with self._entrance:  # `close` waits for what has begun
                connection = self._at_once
            with self._backend.translated():
                if connection is None:
                    connection = self._at_once = self._backend.connect(reading=True)
                    connection.wait_for_locks(0)
                    self._reading.append(connection)
                return (self._read_on(connection, work, workspace),)
        except (self._backend.failure, RemembrancerError):
            return None
        finally:
            self._one_at_once.release()

    @asynccontextmanager
    async def snapshot(self, workspace: str = EVERY_WORKSPACE) -> AsyncGenerator[Snapshot]:
        """One snapshot of the database for many reads in a workspace, taken when the first begins."""
        copied = await self.write(self._backend.copy) if self._backend.is_private else None
        # Its own thread: a caller cancelled during a read must not close the connection in use.
        thread = ThreadPoolExecutor(1, "remembrancer-snapshot")
        loop = asyncio.get_running_loop()

        def read_in_thread(connection: Connection, work: Callable[[Connection], T]) -> T:
            with self._backend.translated():
                return work(connection)

        async def read(work: Callable[[Connection], T]) -> T:
            with self._entrance:
                result = thread.submit(read_in_thread, connection, work)
            return await asyncio.wrap_future(result)

        try:
            with self._entrance:
                opened = thread.submit(self._snapshot, copied, workspace)
            connection = await asyncio.wrap_future(opened)
            try:
                yield Snapshot(read)
            finally:
                await loop.run_in_executor(thread, connection.close)
        finally:
            await asyncio.to_thread(thread.shutdown)

    def close(self) -> None:
        """Finish the waiting writes and close all connections. A second call waits for the first and does nothing."""
        with self._closing:
            if not self._entrance.shut():
                return
            for lane in self._lanes:
                lane.close()
            for threads in (self._readers, self._longer):
                if threads is not None:
                    threads.shutdown()
            with self._one_at_once:
                for connection in self._reading:
                    connection.close()
            self._backend.close()

    def _submit(self, work: Callable[[Connection], T], workspace: str, *, alone: bool = False) -> asyncio.Future[T]:
        lane = self._lanes[crc32(workspace.encode()) % len(self._lanes)]
        result: asyncio.Future[T] = asyncio.get_running_loop().create_future()
        with self._entrance:
            lane.put(_Write(work, result, workspace, alone))
        return result

    def _snapshot(self, copied: Connection | None, workspace: str) -> Connection:
        with self._backend.translated():
            connection = self._backend.connect(reading=True) if copied is None else copied
            connection.execute(connection.dialect.begin_reading)
            connection.within(workspace)
            return connection

    def _read(self, work: Callable[[Connection], T], workspace: str) -> T:
        """The result of `work` on this thread's connection."""
        with self._backend.translated():
            connection: Connection | None = getattr(self._local, "connection", None)
            if connection is None:
                connection = self._local.connection = self._backend.connect(reading=True)
                self._reading.append(connection)
            return self._read_on(connection, work, workspace)

    def _read_on(self, connection: Connection, work: Callable[[Connection], T], workspace: str) -> T:
        """The result of `work` in a read transaction."""
        connection.execute(connection.dialect.begin_reading)
        try:
            if workspace:
                connection.within(workspace)
            return work(connection)
        finally:
            self._end(connection)

    def _end(self, connection: Connection) -> None:
        """End the read transaction. If that fails, close its connection: it would see an old state and block purges."""
        try:
            _roll_back(connection)
        except BaseException:
            if connection is self._at_once:
                self._at_once = None
            else:
                self._local.connection = None
            self._reading.remove(connection)
            connection.close()
            raise


class _Entrance:
    """Held while work is submitted, so that none is submitted after closing. Raises StoreUnavailable if closed."""

    def __init__(self, name: str) -> None:
        """`name`: that of the database."""
        self._door = threading.Lock()
        self._is_shut = False
        self._name = name
        self._process = os.getpid()

    def __enter__(self) -> None:
        if os.getpid() != self._process:  # a forked process has no threads: its work would wait forever
            raise StoreUnavailable(
                f"{self._name}: opened before this process was forked; open it again in this process"
            )
        self._door.acquire()
        if self._is_shut:
            self._door.release()
            raise StoreUnavailable(f"{self._name}: already closed")

    def __exit__(self, *_: object) -> None:
        self._door.release()

    def shut(self) -> bool:
        """Let no more work in. Returns whether this call shut it; False: an earlier one did."""
        with self._door:
            was_open, self._is_shut = not self._is_shut, True
            return was_open


class _Lane:
    """A thread that writes: it puts the waiting writes into one transaction after another, on its own connection."""

    def __init__(self, backend: Backend, connection: Connection | None) -> None:
        """`connection`: None: made at the first write."""
        self._queue: queue.SimpleQueue[_Write | None] = queue.SimpleQueue()
        self._backend = backend
        self._connection = connection
        self._thread = threading.Thread(target=self._write_loop, name="remembrancer-writer", daemon=True)
        self._started = threading.Lock()

    def put(self, write: _Write) -> None:
        self._queue.put(write)
        with self._started:
            if self._thread.ident is None:
                self._thread.start()

    def close(self) -> None:
        """Finish the waiting writes, then close the connection."""
        self._queue.put(None)
        if self._thread.ident is not None:
            self._thread.join()
        if self._connection is not None:
            self._connection.close()

    @property
    def _writing(self) -> Connection:
        if self._connection is None:
            self._connection = self._backend.connect()
        return self._connection

    def _write_loop(self) -> None:
        open_for_more = True
        while open_for_more:
            group = [self._queue.get()]
            while group[-1] is not None and len(group) < GROUP:
                try:
                    group.append(self._queue.get_nowait())
                except queue.Empty:
                    break
            open_for_more = group[-1] is not None
            # Skips writes whose caller was cancelled before they began.
            writes = [write for write in group if write is not None and not write.result.cancelled()]
            for alone, several in groupby(writes, key=lambda write: write.alone):
                if alone:
                    for write in several:
                        self._run_alone(write)
                else:
                    self._commit(list(several))

    def _run_alone(self, write: _Write) -> None:
        try:
            with self._backend.translated():
                _roll_back(self._writing)  # if the last rollback failed
                self._backend.require_in_place()
                value = write.work(self._writing)
        except BaseException as error:  # noqa: BLE001  the writer's outer edge: its thread must outlive any failure
            with suppress(self._backend.failure):
                _roll_back(self._writing)
            _answer([(write.result, None, error)])
        else:
            _answer([(write.result, value, None)])

    def _commit(self, writes: list[_Write]) -> None:
        """Run the writes in one transaction. Each gets its result after the commit."""
        outcomes: list[tuple[_Write, Any, BaseException | None]] = []
        try:
            with self._backend.translated():
                _roll_back(self._writing)  # if the last rollback failed
                self._writing.execute(self._writing.dialect.begin_writing)
                self._writing.dialect.serialise(self._writing, sorted({write.workspace for write in writes}))
                self._backend.require_in_place()
                if len(writes) == 1:
                    outcomes.append((writes[0], self._run(writes[0]), None))  # its failure is that of the transaction
                else:
                    outcomes.extend(self._apply(write) for write in writes)
                self._writing.execute("COMMIT")
                self._backend.require_in_place()  # again: a write is acknowledged only where it will be found
        except BaseException as error:  # noqa: BLE001  the writer's outer edge: its thread must outlive any failure
            # The whole transaction failed (no lock, disk full at commit): nothing of it was written.
            with suppress(self._backend.failure):  # if this also fails, the next transaction begins with a rollback
                _roll_back(self._writing)
            _answer([(write.result, None, error) for write in writes])
            return
        _answer([(write.result, value, failure) for write, value, failure in outcomes])
        if workspaces := sorted({write.workspace for write, _, failure in outcomes if failure is None}):
            with suppress(self._backend.failure):  # whoever waits for a notification also reads without one
                self._backend.notify(self._writing, workspaces)

    def _apply(self, write: _Write) -> tuple[_Write, Any, BaseException | None]:
        self._writing.execute("SAVEPOINT one")
        try:
            value = self._run(write)
        except BaseException as error:
            if not self._writing.in_transaction:
                raise  # the database ended the whole transaction
            self._writing.execute("ROLLBACK TO SAVEPOINT one")
            self._writing.execute("RELEASE SAVEPOINT one")
            return write, None, error
        self._writing.execute("RELEASE SAVEPOINT one")
        return write, value, None

    def _run(self, write: _Write) -> Any:
        with self._backend.translated():
            self._writing.within(write.workspace)
            return write.work(self._writing)


def _answer(outcomes: Sequence[_Outcome]) -> None:
    """Give each caller its outcome: each event loop is woken once for all of its callers."""
    callers: dict[asyncio.AbstractEventLoop, list[_Outcome]] = {}
    for outcome in outcomes:
        callers.setdefault(outcome[0].get_loop(), []).append(outcome)
    for loop, several in callers.items():
        with suppress(RuntimeError):  # a closed loop: nobody waits any more
            loop.call_soon_threadsafe(_settle, several)


def _settle(outcomes: Sequence[_Outcome]) -> None:
    for caller, value, failure in outcomes:
        if caller.cancelled():
            continue
        if failure is None:
            caller.set_result(value)
        else:
            caller.set_exception(failure)


def _roll_back(connection: Connection) -> None:
    """End a transaction, unless the database has ended it by itself, as SQLite does on some errors."""
    if connection.in_transaction:
        connection.execute("ROLLBACK")
