"""A queue of sweeps that several workers share, made of procrastinate's jobs.

A row of procrastinate says that a sweep of a workspace is to be run and, while it runs, by which worker. It says
nothing about the sweep's work, which is derived from the memory: losing a row loses no work.
"""

from __future__ import annotations

import asyncio
import logging
import os
import socket
from collections.abc import AsyncGenerator, Callable, Collection, Generator, Iterable
from contextlib import asynccontextmanager, contextmanager, suppress
from hashlib import sha256
from typing import Any, Final

from procrastinate import App, PsycopgConnector
from procrastinate.exceptions import AlreadyEnqueued, ConnectorException, ProcrastinateException
from procrastinate.jobs import Job as Row
from procrastinate.jobs import Status
from procrastinate.worker import Worker

from remembrancer.adapters.distributed import tables
from remembrancer.adapters.relational.postgres.dialect import APPLICATION, CONNECT_TIMEOUT_S
from remembrancer.adapters.relational.postgres.server import PostgresServer
from remembrancer.domain.job import Job
from remembrancer.errors import RemembrancerError, StoreUnavailable
from remembrancer.ports.job_queue import PutSweep, RunSweep

TASK: Final = "remembrancer.sweep"
HEARTBEAT_S: Final = 5.0
"""The seconds between two signs of life of a worker, and between two looks for workers without any."""
STALLED_S: Final = 20.0
"""A worker without a sign of life for so many seconds counts as dead: its sweeps are put again."""
POLL_S: Final = 1.0
"""A sweep that waited for another run of itself starts within this time. Others start at once, by LISTEN."""
AT_ONCE: Final = 4
"""The most sweeps that run at once in a process."""
SETTLE_S: Final = 0.02
"""Announcements within this time are put together."""
STATEMENT_TIMEOUT_S: Final = 30
CLOSING_S: Final = 30.0
"""The most time that closing waits for announcements."""
CONNECTIONS: Final = AT_ONCE
"""The most connections of a process to its queue, besides the one that listens."""
_log = logging.getLogger("remembrancer")
logging.getLogger("procrastinate").addHandler(logging.NullHandler())  # it would print what is logged here in one line


class ProcrastinateQueue:
    """See `JobQueue`."""

    shared = True

    def __init__(self, url: str, *, group: str, heartbeat_s: float = HEARTBEAT_S, stalled_s: float = STALLED_S) -> None:
        """`group`: the preset and models of the workers. Workers of other groups of the same database have queues of
        their own, because they would do the same sweep differently.
        """
        self._server = PostgresServer(url)
        self._group = sha256(group.encode()).hexdigest()[:12]
        self.heartbeat_s = heartbeat_s
        self.stalled_s = stalled_s
        self._opening = asyncio.Lock()
        self._app: App | None = None
        self._crews: dict[frozenset[Job], _Crew] = {}
        self._announced: set[tuple[str, Job]] = set()
        self._announcing: asyncio.Task[None] | None = None

    def name_of(self, job: Job) -> str:
        """The queue of a job. NOTIFY, which procrastinate uses, allows 40 bytes."""
        return f"{job}-{self._group}"

    @asynccontextmanager
    async def serving(self, workspace: str, jobs: Collection[Job], run: RunSweep) -> AsyncGenerator[PutSweep]:
        key = frozenset(jobs)
        crew = self._crews.setdefault(key, _Crew(self, key))
        crew.enter(workspace, run)

        async def put(workspace: str, job: Job) -> bool:
            crew.require_alive()
            await self.put(workspace, job)
            return False

        try:
            yield put
        except asyncio.CancelledError:
            crew.cancel()
            raise
        finally:
            if crew.is_last:
                self._crews.pop(key, None)
            await crew.leave(workspace, run)

    async def put(self, workspace: str, job: Job) -> None:
        """Have the sweep run soon by any worker of the group. Raises StoreUnavailable."""
        await self.opened()
        with self._translated():
            sweep = f"{workspace}/{job}@{self._group}"
            await self._put(self.name_of(job), sweep, -list(Job).index(job), {"workspace": workspace, "job": job.value})

    async def put_again(self, rows: Iterable[Row]) -> None:
        """End these rows, whose worker does not run them, and put their sweeps again."""
        manager = (await self.opened()).job_manager
        for row in rows:
            with self._translated(), suppress(ConnectorException):  # another worker was faster
                await manager.finish_job(row, Status.FAILED, delete_job=True)
                _log.warning("the job %s was not finished by its worker; it is run again", row.task_kwargs.get("job"))
                await self._put(row.queue, row.queueing_lock or "", row.priority, row.task_kwargs)

    async def _put(self, queue: str, sweep: str, priority: int, arguments: dict[str, Any]) -> None:
        app = await self.opened()
        if list(await app.job_manager.list_jobs_async(queueing_lock=sweep, status=Status.TODO.value)):
            return  # rather than a conflict, which the server would log
        deferrer = app.configure_task(TASK, queue=queue, lock=sweep, queueing_lock=sweep, priority=priority)
        with suppress(AlreadyEnqueued):
            await deferrer.defer_async(**arguments)

    def announce(self, workspace: str, job: Job) -> None:
        self._announced.add((workspace, job))
        if self._announcing is None or self._announcing.done():
            self._announcing = asyncio.get_running_loop().create_task(self._announce(), name="remembrancer-announcing")

    async def _announce(self) -> None:
        while self._announced:
            await asyncio.sleep(SETTLE_S)
            announced, self._announced = self._announced, set()
            for workspace, job in announced:
                try:
                    await self.put(workspace, job)
                except RemembrancerError as error:
                    _log.warning("new memories wait until their job is due: %s", error)
                    return

    def takes_turn(self, workspace: str) -> bool:
        return False  # who runs a sweep is the worker that it is passed to

    def listen(self, heard: Callable[[str], None]) -> None:
        return  # announcements are sweeps, which are passed to `run`

    async def close(self) -> None:
        if self._announcing is not None:
            _, late = await asyncio.wait([self._announcing], timeout=CLOSING_S)
            if late:
                _log.warning("new memories wait until their job is due: the job queue is too slow")
            self._announcing.cancel()
        async with self._opening:
            app, self._app = self._app, None
            if app is not None:
                await app.close_async()

    async def opened(self) -> App:
        """The app, with a pool of connections and its tables in place. Raises StoreUnavailable, Unsupported."""
        async with self._opening:
            if self._app is None:
                schema = await asyncio.to_thread(self._prepare)
                app = App(connector=self._connector(schema))
                app.task(name=TASK, pass_context=True)(_sweep)
                with self._translated(), self._server.translated():
                    await app.open_async()
                self._app = app
            return self._app

    def _prepare(self) -> str:
        with self._server.translated():
            connection = self._server.connect()
            try:
                return tables.prepare(connection, self._server.name)
            finally:
                connection.close()

    def _connector(self, schema: str) -> PsycopgConnector:
        setting = f"SET search_path TO {schema}; SET statement_timeout TO '{STATEMENT_TIMEOUT_S}s'"

        async def configure(connection: Any) -> None:
            await connection.execute(setting)
            await connection.commit()

        return PsycopgConnector(
            conninfo=self._server.address,
            kwargs={"connect_timeout": CONNECT_TIMEOUT_S, "application_name": APPLICATION},
            configure=configure,
            min_size=1,
            max_size=CONNECTIONS,
            timeout=CONNECT_TIMEOUT_S,
        )

    @contextmanager
    def _translated(self) -> Generator[None]:
        try:
            yield
        except ConnectorException as error:
            cause = " ".join(str(error.__cause__ or error).split())
            raise StoreUnavailable(f"{self._server.name}: the job queue does not answer ({cause})") from error


async def _sweep(context: Any, workspace: str, job: str) -> None:
    crew: _Crew = context.additional_context["crew"]
    await crew.run(context.job.id or 0, workspace, Job(job))


async def _waited(event: asyncio.Event, seconds: float) -> bool:
    """Wait for the event; returns whether it came in time."""
    with suppress(TimeoutError):
        async with asyncio.timeout(seconds):
            await event.wait()
    return event.is_set()


class _Crew:
    """A worker of procrastinate in this process, for some jobs. It starts again if the server was away."""

    def __init__(self, queue: ProcrastinateQueue, jobs: frozenset[Job]) -> None:
        self._queue = queue
        self._jobs = jobs
        self._serving: list[tuple[str, RunSweep]] = []
        self._worker: Worker | None = None
        self._task: asyncio.Task[None] | None = None
        self._stopping = asyncio.Event()
        self._ended = asyncio.Event()
        self._under_way: dict[int, asyncio.Future[None]] = {}  # by the row's id
        self._suspected: set[int] = set()

    @property
    def is_last(self) -> bool:
        return len(self._serving) == 1

    def enter(self, workspace: str, run: RunSweep) -> None:
        self._serving.append((workspace, run))
        if self._task is None:
            self._task = asyncio.get_running_loop().create_task(self._work(), name="remembrancer-crew")

    def require_alive(self) -> None:
        """Raises the error that ended the worker."""
        if self._task is not None and self._task.done():
            self._task.result()

    def cancel(self) -> None:
        """Cancel the sweeps under way, unless others use the worker."""
        if self.is_last:
            for task in self._under_way.values():
                task.cancel()

    async def leave(self, workspace: str, run: RunSweep) -> None:
        """Finish the sweeps under way, and stop, unless others use the worker."""
        if self.is_last and self._task is not None:
            self._stopping.set()
            if self._worker is not None:
                self._worker.stop()
            try:
                await asyncio.shield(self._task)
            except asyncio.CancelledError:
                self.cancel()
                await self._task
                raise
        self._serving.remove((workspace, run))

    async def run(self, row: int, workspace: str, job: Job) -> None:
        run = next((run for served, run in self._serving if served == workspace), self._serving[0][1])
        self._under_way[row] = asyncio.ensure_future(run(workspace, job))
        try:
            await self._under_way[row]
        finally:
            del self._under_way[row]

    async def _work(self) -> None:
        watching = asyncio.get_running_loop().create_task(self._watch(), name="remembrancer-watch")
        try:
            while not self._stopping.is_set():
                try:
                    app = await self._queue.opened()
                    if not self._stopping.is_set():
                        self._worker = self._new_worker(app)
                        await self._worker.run()  # it also ends if a connection breaks
                    reason = "a connection to the database broke"
                except (ProcrastinateException, RemembrancerError) as error:
                    reason = " ".join(str(error.__cause__ or error).split())
                if not self._stopping.is_set():
                    _log.warning("the worker starts again: %s", reason)
                await _waited(self._stopping, POLL_S)
        finally:
            self._ended.set()  # not cancelled: a pool of connections may lose a cancellation
            await watching

    def _new_worker(self, app: App) -> Worker:
        return Worker(
            app,
            queues=sorted(map(self._queue.name_of, self._jobs)),
            name=f"{socket.gethostname()}:{os.getpid()}",
            concurrency=AT_ONCE,
            fetch_job_polling_interval=POLL_S,
            delete_jobs="always",
            additional_context={"crew": self},
            install_signal_handlers=False,
            update_heartbeat_interval=self._queue.heartbeat_s,
            stalled_worker_timeout=self._queue.stalled_s,
        )

    async def _watch(self) -> None:
        while not await _waited(self._ended, self._queue.heartbeat_s):
            with suppress(ProcrastinateException, RemembrancerError):  # the worker itself reports it
                if self._stopping.is_set():
                    await self._sign_of_life()
                else:
                    await self._queue.put_again(await self._abandoned())

    async def _sign_of_life(self) -> None:
        """Procrastinate's worker gives none while it waits for its last sweeps to finish."""
        if self._worker is not None and self._worker.worker_id is not None:
            await (await self._queue.opened()).job_manager.update_heartbeat(self._worker.worker_id)

    async def _abandoned(self) -> list[Row]:
        """Rows of workers that are dead, and own rows that were not ended because the server was away just then."""
        manager = (await self._queue.opened()).job_manager
        stalled = list(await manager.get_stalled_jobs(task_name=TASK, seconds_since_heartbeat=self._queue.stalled_s))
        if self._worker is None or self._worker.worker_id is None:
            return stalled
        own = await manager.list_jobs_async(task=TASK, status=Status.DOING.value, worker_id=self._worker.worker_id)
        idle = {row.id: row for row in own if row.id is not None and row.id not in self._under_way}
        twice = [row for number, row in idle.items() if number in self._suspected]
        self._suspected = set(idle)  # a row may just have been taken, or be about to be ended
        return stalled + twice
