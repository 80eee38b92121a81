"""Work outside of requests: tasks that a request starts and leaves running, and the jobs of each workspace."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Coroutine
from types import TracebackType
from typing import Any, Final, Self

from remembrancer.adapters.siblings.locks import ProcessLocks
from remembrancer.domain.job import Job
from remembrancer.errors import Conflict
from remembrancer.facade import AsyncRemembrancer
from remembrancer.jobs.sweeps import BrokenOff, JobReport
from remembrancer.jobs.worker import Stop

_log = logging.getLogger("remembrancer.server")


class Background:
    """Runs coroutines, at most one of each name at a time, in all processes that have the same `locks`. They are
    cancelled when the server ends.
    """

    def __init__(self, locks: ProcessLocks | None = None) -> None:
        self._locks = locks
        self._tasks: dict[str, asyncio.Task[None]] = {}

    def refuse_second(self, name: str) -> None:
        """Raises Conflict while work of that name is running."""
        if name in self._tasks or not (self._locks is None or self._locks.is_free(name)):
            raise Conflict(f"{name} is already running; try again when it is done")

    def begin(self, name: str, work: Coroutine[Any, Any, None]) -> None:
        """Start `work`, which reports its own errors. Raises Conflict if work of that name is running."""
        try:
            self.refuse_second(name)
        except Conflict:
            work.close()
            raise
        if self._locks is not None:
            self._locks.take(name)
        task = asyncio.get_running_loop().create_task(work, name=f"remembrancer {name}")
        self._tasks[name] = task
        task.add_done_callback(lambda done: self._ended(name, done))

    async def settled(self) -> None:
        """Wait until no work is running."""
        while self._tasks:
            await asyncio.wait(self._tasks.values())

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for task in self._tasks.values():
            task.cancel()
        await self.settled()

    def _ended(self, name: str, task: asyncio.Task[None]) -> None:
        del self._tasks[name]
        if self._locks is not None:
            self._locks.release(name)
        error = None if task.cancelled() else task.exception()
        if error is not None:
            # Without the error's message, which may quote a memory.
            _log.error("%s broke off: unforeseen %s", name.partition(" ")[0], type(error).__name__)


GRACE_SECONDS: Final = 30.0
"""The time that a running job may take after the server is asked to stop. Cancelling it loses nothing
that was written.
"""


class JobRunner:
    """Runs jobs from when it is entered until `stop` is set: those of the server's own workspace, and those of other
    workspaces from their first request on.
    """

    def __init__(self, memory: AsyncRemembrancer, stop: Stop) -> None:
        self._memory = memory
        self._stop = stop
        self._workers: dict[str, asyncio.Task[None]] = {}
        self._open = False

    def work_for(self, memory: AsyncRemembrancer) -> None:
        """Start the jobs of the memory's workspace, if they are not running. Without effect before and after the runner
        is entered.
        """
        workspace = memory.scope.workspace
        if self._open and workspace not in self._workers:
            work = self._memory.of_workspace(workspace).jobs.work(self._stop, on_run=_log_failure)
            self._workers[workspace] = asyncio.create_task(work, name=f"remembrancer-worker {workspace}")

    async def __aenter__(self) -> Self:
        self._open = True
        self.work_for(self._memory)
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._open = False
        self._stop.set()
        workers = self._workers.values()
        try:
            if kind is None and workers:
                await asyncio.wait(workers, timeout=GRACE_SECONDS)
        finally:
            for worker in workers:
                worker.cancel()
            await asyncio.gather(*workers, return_exceptions=True)


def _log_failure(job: Job, report: JobReport) -> None:
    """Log a job that failed. `jobs` shows the reason, which may quote a memory."""
    if isinstance(report, BrokenOff):
        _log.warning("the job %s broke off; `remembrancer jobs` says why", job.value)
