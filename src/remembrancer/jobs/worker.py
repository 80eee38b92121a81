"""The worker: runs the jobs on a schedule in this process until it is stopped.

Any number of workers may share a store: work lists are derived from the stored state, and an effect that another worker
wrote first is not written again. Another scheduler can run the same sweeps.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Collection
from datetime import timedelta
from typing import Final

from remembrancer.domain.job import Job
from remembrancer.errors import InvalidInput, StoreUnavailable
from remembrancer.jobs.maintenance import run_job
from remembrancer.jobs.sweeps import BrokenOff, JobReport, Sweeper, jobs_of


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
    sweeper: Sweeper, stop: Stop | asyncio.Event, *, only: Collection[Job] | None = None, on_run: OnRun | None = None
) -> None:
    """Run each job whenever it is due, until `stop` is set: overdue jobs at once, then each at its time.

    Failures are recorded and retried; only `stop` or `on_run` ends this. A running job is finished first. Cancelling
    the task interrupts it; written results stay. Raises InvalidInput if the preset has none of the jobs in `only`.
    """
    of_preset = jobs_of(sweeper.ctx.preset)
    jobs = [job for job in of_preset if only is None or job in only]
    if not jobs:
        raise InvalidInput("only", ", ".join(only or ()), "jobs of the preset: " + ", ".join(of_preset))
    while not stop.is_set():
        await _pause(stop, await _round(sweeper, jobs, stop, on_run))


async def _round(
    sweeper: Sweeper, jobs: Collection[Job], stop: Stop | asyncio.Event, on_run: OnRun | None
) -> timedelta:
    """Run due jobs; returns the time until the next one is due."""
    for job in jobs:
        trouble = False
        try:
            report = await _run_if_due(sweeper, job, stop)
        except Exception as error:  # noqa: BLE001  outermost handler: the next round finds the same work
            trouble, report = True, BrokenOff(reason=str(error) or type(error).__name__)
        if report is not None and on_run is not None:
            on_run(job, report)
        if trouble:
            return AFTER_TROUBLE
    return await _until_due(sweeper, jobs)


async def _run_if_due(sweeper: Sweeper, job: Job, stop: Stop | asyncio.Event) -> JobReport | None:
    ctx = sweeper.ctx
    runs = await ctx.store.runs(sweeper.scope)  # another worker may have run it in the meantime
    if stop.is_set() or not ctx.preset.schedule.is_due(job, runs.get(job.value), ctx.clock()):
        return None
    return await run_job(sweeper, job)


async def _until_due(sweeper: Sweeper, jobs: Collection[Job]) -> timedelta:
    schedule = sweeper.ctx.preset.schedule
    try:
        runs = await sweeper.ctx.store.runs(sweeper.scope)
    except StoreUnavailable:  # if the failure lasts, the next round reports it
        return AFTER_TROUBLE
    now = sweeper.ctx.clock()
    waits = [at - now for job in jobs if (at := schedule.next_run(job, runs.get(job.value))) is not None]
    return max(timedelta(0), min([*waits, LONGEST_WAIT]))


async def _pause(stop: Stop | asyncio.Event, wait: timedelta) -> None:
    # Not wait_for: before Python 3.12 it loses a cancellation that comes as the event is set.
    try:
        async with asyncio.timeout(wait.total_seconds()):
            await stop.wait()
    except TimeoutError:
        return
