"""The jobs on a schedule, in this process, until told to stop.

Any number of workers may share a file: work lists are derived from what is there, and an effect that another worker was
faster with is not written twice. The same sweeps can be driven by any other scheduler.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection
from datetime import timedelta
from typing import Final

from remembrancer.domain.job import Job
from remembrancer.jobs.maintenance import run_job
from remembrancer.jobs.reports import BrokenOff, Report
from remembrancer.jobs.stop import Stop
from remembrancer.jobs.sweeps import Sweeper, jobs_of

OnRun = Callable[[Job, Report], None]
"""Told of each run when it has ended."""

LONGEST_WAIT: Final = timedelta(minutes=1)
"""So long a worker sleeps at most: another worker's runs, or a clock that was set, move what is due."""
AFTER_TROUBLE: Final = timedelta(seconds=30)
"""How long it waits when not even the store answered."""


async def work(
    sweeper: Sweeper, stop: Stop | asyncio.Event, *, only: Collection[Job] | None = None, on_run: OnRun | None = None
) -> None:
    """Run each job whenever it is due, until `stop` is set: at once what was missed, then each at its time.

    What fails is noted and tried again; nothing but `stop` ends this. A run under way is finished first: cancel the
    task to break it off, which loses nothing that was written.
    """
    jobs = [job for job in jobs_of(sweeper.ctx.preset) if only is None or job in only]
    while not stop.is_set():
        try:
            wait = await _round(sweeper, jobs, stop, on_run)
        except Exception as error:  # noqa: BLE001  the worker's outer edge: the next round finds the same work
            wait = AFTER_TROUBLE
            if on_run is not None:
                on_run(jobs[0], BrokenOff(reason=str(error) or type(error).__name__))
        await _pause(stop, wait)


async def _round(
    sweeper: Sweeper, jobs: Collection[Job], stop: Stop | asyncio.Event, on_run: OnRun | None
) -> timedelta:
    """Run what is due, and say how long until something is again."""
    ctx, schedule = sweeper.ctx, sweeper.ctx.preset.schedule
    for job in jobs:
        runs = await ctx.store.runs(sweeper.scope)  # another worker may have run it meanwhile
        if not stop.is_set() and schedule.is_due(job, runs.get(job.value), ctx.clock()):
            report = await run_job(sweeper, job)
            if on_run is not None:
                on_run(job, report)
    runs = await ctx.store.runs(sweeper.scope)
    now = ctx.clock()
    waits = [at - now for job in jobs if (at := schedule.next_run(job, runs.get(job.value))) is not None]
    return max(timedelta(0), min([*waits, LONGEST_WAIT]))


async def _pause(stop: Stop | asyncio.Event, wait: timedelta) -> None:
    # Not wait_for: before Python 3.12 it loses a cancellation that comes as the event is set.
    try:
        async with asyncio.timeout(wait.total_seconds()):
            await stop.wait()
    except TimeoutError:
        return
