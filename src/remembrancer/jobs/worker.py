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
from remembrancer.errors import InvalidInput, StoreUnavailable
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

    What fails is noted and tried again; nothing but `stop`, or `on_run`, ends this. A run under way is finished first:
    cancel the task to break it off, which loses nothing that was written. Raises InvalidInput where the preset has none
    of the jobs in `only`.
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
    """Run what is due, and say how long until something is again."""
    for job in jobs:
        trouble = False
        try:
            report = await _run_if_due(sweeper, job, stop)
        except Exception as error:  # noqa: BLE001  the worker's outer edge: the next round finds the same work
            trouble, report = True, BrokenOff(reason=str(error) or type(error).__name__)
        if report is not None and on_run is not None:
            on_run(job, report)
        if trouble:
            return AFTER_TROUBLE
    return await _until_due(sweeper, jobs)


async def _run_if_due(sweeper: Sweeper, job: Job, stop: Stop | asyncio.Event) -> Report | None:
    ctx = sweeper.ctx
    runs = await ctx.store.runs(sweeper.scope)  # another worker may have run it meanwhile
    if stop.is_set() or not ctx.preset.schedule.is_due(job, runs.get(job.value), ctx.clock()):
        return None
    return await run_job(sweeper, job)


async def _until_due(sweeper: Sweeper, jobs: Collection[Job]) -> timedelta:
    schedule = sweeper.ctx.preset.schedule
    try:
        runs = await sweeper.ctx.store.runs(sweeper.scope)
    except StoreUnavailable:  # if it lasts, the next round tells of it
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
