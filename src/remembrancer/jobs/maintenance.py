"""Maintenance: run the jobs that are due, one after another, and return their reports."""

from __future__ import annotations

import logging
from collections.abc import Collection
from dataclasses import replace

from remembrancer.domain.audit import Door
from remembrancer.domain.job import Job, Run
from remembrancer.engine.erase import purge
from remembrancer.errors import RemembrancerError, StoreUnavailable, without_words
from remembrancer.jobs.indexer import IndexReport
from remembrancer.jobs.sweeps import BrokenOff, JobReport, NotDue, Sweeper, counted, jobs_of
from remembrancer.policies.schedule import UNHURRIED
from remembrancer.ports.audit import acting, calling

_log = logging.getLogger("remembrancer")


async def maintain(
    sweeper: Sweeper, only: Collection[Job] | None = None, *, force: bool = False
) -> dict[str, JobReport]:
    """Run each job of the preset that is due, or those of `only`; with `force`, whether due or not.

    Returns their reports by name, in the order they ran. A failed job does not prevent the others. Unfinished purges of
    erasures are continued first. Raises StoreUnavailable, because no job can run without the store.
    """
    ctx, scope = sweeper.ctx, sweeper.scope
    await purge(ctx, scope, at=ctx.clock())
    reports: dict[str, JobReport] = {}
    runs = await ctx.store.runs(scope)
    for job in jobs_of(ctx.preset) if only is None else [job for job in Job if job in only]:
        last, schedule = runs.get(job.value), ctx.preset.schedule
        at = schedule.next_run(job, last)
        if not force and at is not None and job in UNHURRIED and not schedule.is_due(job, last, ctx.clock()):
            reports[job.value] = NotDue(next_run=at)
            continue
        reports[job.value] = await run_job(sweeper, job, force=force)
    first = reports.get(Job.INDEX.value)
    formed = any(counted(report).done for name, report in reports.items() if name != Job.INDEX.value)
    if formed and isinstance(first, IndexReport) and not first.down:
        # Index memories formed by the other jobs, so that they can be found by meaning now.
        again = await run_job(sweeper, Job.INDEX)
        if isinstance(again, IndexReport):
            again = replace(again, indexed=first.indexed + again.indexed, deferred=first.deferred + again.deferred)
            again = replace(again, reused=first.reused + again.reused)
            again = replace(again, reason="" if again.indexed and not again.deferred else again.reason or first.reason)
        reports[Job.INDEX.value] = again
    return reports


async def run_job(sweeper: Sweeper, job: Job, *, force: bool = False) -> JobReport:
    """One run of a job; its outcome is recorded even if it failed. Raises StoreUnavailable."""
    ctx = sweeper.ctx
    started_at = ctx.clock()
    error = ""
    try:
        with acting(door=Door.JOB), calling(job.value, ctx.clock):
            report = await sweeper.run(job, force=force)
    except StoreUnavailable:
        raise
    except RemembrancerError as failure:
        error = str(failure)
        report = BrokenOff(reason=error)
    except Exception as failure:  # noqa: BLE001  a fault of ours in one job must not keep the others from running
        _log.error("the job %s broke off", job.value, exc_info=without_words(failure))
        error = f"{type(failure).__name__}: {failure}"
        report = BrokenOff(reason=error)
    numbers = counted(report)
    run = Run(
        job=job.value,
        started_at=started_at,
        ended_at=max(started_at, ctx.clock()),
        done=numbers.done,
        failed=numbers.failed,
        left=numbers.left,
        reason=report.reason,
        error=error,
    )
    await ctx.store.put_run(sweeper.scope, run)
    return report
