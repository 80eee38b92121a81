"""The worker: puts jobs into a queue when they are due, and runs what the queue passes to it, until it is stopped.

Any number of workers may share a store: work lists are derived from the stored state, and an effect that another worker
wrote first is not written again. A shared queue also keeps them from doing the same work at once.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Collection
from datetime import timedelta
from typing import TYPE_CHECKING, Final

from remembrancer.domain.audit import PROCESS
from remembrancer.domain.job import Job
from remembrancer.errors import InvalidInput, StoreUnavailable
from remembrancer.jobs.embedded import EmbeddedQueue
from remembrancer.jobs.maintenance import run_job
from remembrancer.jobs.sweeps import BrokenOff, JobReport, Sweeper, jobs_of
from remembrancer.ports.audit import acting

if TYPE_CHECKING:
    from remembrancer.ports.job_queue import JobQueue, PutSweep


class Stop:
    """A signal that can be set from any thread and wakes all waiters."""

    def __init__(self) -> None:
        self._told = False
        self._door = threading.Lock()
        self._waiting: set[tuple[asyncio.AbstractEventLoop, asyncio.Event]] = set()

    def set(self) -> None:
        """Set the signal. Setting it again has no effect."""
        with self._door:
            self._told = True
            for loop, heard in self._waiting:
                loop.call_soon_threadsafe(heard.set)

    def is_set(self) -> bool:
        return self._told

    async def wait(self) -> None:
        """Wait until it is set."""
        here = (asyncio.get_running_loop(), asyncio.Event())
        with self._door:
            if self._told:
                return
            self._waiting.add(here)
        try:
            await here[1].wait()
        finally:
            with self._door:
                self._waiting.discard(here)


OnRun = Callable[[Job, JobReport], None]
"""Called after each run."""

LONGEST_WAIT: Final = timedelta(minutes=1)
"""The longest sleep of a worker, because runs of other workers or a changed clock may make a job due earlier."""
AFTER_TROUBLE: Final = timedelta(seconds=30)
"""The wait after the store failed."""


async def work(
    sweeper: Sweeper,
    stop: Stop | asyncio.Event,
    *,
    queue: JobQueue | None = None,
    only: Collection[Job] | None = None,
    on_run: OnRun | None = None,
) -> None:
    """Put each job into the queue whenever it is due, and run what the queue passes to this process, until `stop` is
    set: overdue jobs at once, then each at its time. `queue`: None: this process runs all of them.

    Failures are recorded and retried; only `stop` or `on_run` ends this. A running job is finished first. Cancelling
    the task interrupts it; written results stay. Raises InvalidInput if the preset has none of the jobs in `only`.
    """
    of_preset = jobs_of(sweeper.ctx.preset)
    jobs = [job for job in of_preset if only is None or job in only]
    if not jobs:
        raise InvalidInput("only", ", ".join(only or ()), "jobs of the preset: " + ", ".join(of_preset))
    worker = _Worker(sweeper, stop, on_run)
    async with (queue or EmbeddedQueue()).serving(sweeper.scope.workspace, jobs, worker.run) as put:
        while not stop.is_set():
            await _pause(stop, await worker.round(jobs, put), worker.ended)
            worker.require_listener()


class _Worker:
    """Decides what is due in one workspace, and runs what it is asked to."""

    def __init__(self, sweeper: Sweeper, stop: Stop | asyncio.Event, on_run: OnRun | None) -> None:
        self._sweeper = sweeper
        self._stop = stop
        self._on_run = on_run
        self._in_trouble = False
        self._failure: BaseException | None = None
        self.ended = asyncio.Event()

    async def round(self, jobs: Collection[Job], put: PutSweep) -> timedelta:
        """Put due jobs into the queue; returns the time until the next one is due."""
        self._in_trouble = False
        waiting: set[Job] = set()
        for job in jobs:
            try:
                if await self._is_due(self._sweeper, job) and not await put(self._sweeper.scope.workspace, job):
                    waiting.add(job)
            except Exception as error:  # noqa: BLE001  outermost handler: the next round finds the same work
                self._trouble(job, error)
            self.require_listener()
            if self._in_trouble:
                return AFTER_TROUBLE
        return await self._until_due(jobs, waiting)

    async def run(self, workspace: str, job: Job) -> None:
        """Run a job of any workspace, unless another worker has done so since it was put."""
        own = workspace == self._sweeper.scope.workspace
        sweeper = self._sweeper if own else self._sweeper.in_workspace(workspace)
        try:
            # The index is also put when cues arrive, before it is due.
            if job is Job.INDEX or await self._is_due(sweeper, job):
                with acting(principal=PROCESS, name=None):  # whoever began the worker, nobody asked for this run
                    self._tell(job, await run_job(sweeper, job))
        except Exception as error:  # noqa: BLE001  outermost handler: the next round finds the same work
            self._trouble(job, error)

    def require_listener(self) -> None:
        """Raises the error of `on_run`, which ends the worker."""
        if self._failure is not None:
            raise self._failure

    def _trouble(self, job: Job, error: Exception) -> None:
        self._in_trouble = True
        self._tell(job, BrokenOff(reason=str(error) or type(error).__name__))

    def _tell(self, job: Job, report: JobReport) -> None:
        try:
            if self._on_run is not None and self._failure is None:
                self._on_run(job, report)
        except BaseException as error:  # noqa: BLE001  `require_listener` raises it in the worker's own task
            self._failure = error
            self.ended.set()

    async def _is_due(self, sweeper: Sweeper, job: Job) -> bool:
        ctx = sweeper.ctx
        runs = await ctx.store.runs(sweeper.scope)  # another worker may have run it in the meantime
        return not self._stop.is_set() and ctx.preset.schedule.is_due(job, runs.get(job.value), ctx.clock())

    async def _until_due(self, jobs: Collection[Job], waiting: Collection[Job]) -> timedelta:
        """`waiting`: jobs in the queue, which count as started now."""
        schedule = self._sweeper.ctx.preset.schedule
        try:
            runs = await self._sweeper.ctx.store.runs(self._sweeper.scope)
        except StoreUnavailable:  # if the failure lasts, the next round reports it
            return AFTER_TROUBLE
        now = self._sweeper.ctx.clock()
        due = [at - now for job in jobs if job not in waiting and (at := schedule.next_run(job, runs.get(job.value)))]
        return max(timedelta(0), min([*due, *map(schedule.every, waiting), LONGEST_WAIT]))


async def _pause(stop: Stop | asyncio.Event, wait: timedelta, ended: asyncio.Event) -> None:
    waiting = [asyncio.ensure_future(event.wait()) for event in (stop, ended)]
    try:
        await asyncio.wait(waiting, timeout=wait.total_seconds(), return_when=asyncio.FIRST_COMPLETED)
    finally:
        for one in waiting:
            one.cancel()
