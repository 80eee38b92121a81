"""Which engine function each job runs, and which jobs a preset has."""

from __future__ import annotations

from typing import assert_never

from remembrancer.domain.job import Job
from remembrancer.domain.scope import Scope
from remembrancer.engine.clusters import consolidate_clusters
from remembrancer.engine.compact import compact
from remembrancer.engine.context import Context
from remembrancer.engine.extract import extract_deferred
from remembrancer.engine.facts import draw_facts
from remembrancer.engine.health import take_snapshots
from remembrancer.engine.promote import promote_recurring
from remembrancer.engine.retain import retain
from remembrancer.engine.review import review
from remembrancer.engine.rules import learn_rules
from remembrancer.engine.segment import segment
from remembrancer.engine.sleep import sleep
from remembrancer.jobs.indexer import Indexer, OnIndexed
from remembrancer.jobs.reports import ExtractionReport, HealthReport, JobReport
from remembrancer.presets.spec import Preset
from remembrancer.values import dataclass


@dataclass(frozen=True, slots=True)
class Sweeper:
    """Runs the jobs of one workspace. `force`: also process what a job's own rules would leave for later."""

    ctx: Context
    scope: Scope
    indexer: Indexer
    on_indexed: OnIndexed | None = None

    async def run(self, job: Job, *, force: bool = False) -> JobReport:  # noqa: C901, PLR0911, PLR0912  a case for each
        """One sweep. Raises what prevents all of it; what prevents a part is in the report."""
        ctx, scope = self.ctx, self.scope
        match job:
            case Job.INDEX:
                return await self.indexer.run(self.on_indexed)
            case Job.SEGMENT:
                return await segment(ctx, scope)
            case Job.EXTRACT:
                sessions = await extract_deferred(ctx, scope)
                return ExtractionReport(sessions=sessions, reason="" if sessions else "no session waits")
            case Job.REVIEW:
                return await review(ctx, scope)
            case Job.FACTS:
                return await draw_facts(ctx, scope, force=force)
            case Job.SLEEP:
                return await sleep(ctx, scope)
            case Job.RULES:
                return await learn_rules(ctx, scope, force=force)
            case Job.CLUSTERS:
                return await consolidate_clusters(ctx, scope)
            case Job.COMPACT:
                return await compact(ctx, scope)
            case Job.PROMOTE:
                return await promote_recurring(ctx, scope)
            case Job.RETAIN:
                return await retain(ctx, scope)
            case Job.HEALTH:
                # Once a day is enough: a purge may rewrite the whole file, and another process may prevent it for long.
                await ctx.store.purge(scope, at=ctx.clock())
                taken = await take_snapshots(ctx, scope, force=force)
                return HealthReport(taken=taken, reason="" if taken else "taken today already")
            case _:
                assert_never(job)


def jobs_of(preset: Preset) -> tuple[Job, ...]:
    """The jobs that have something to do under the preset, in the order they run."""
    has = {
        Job.SEGMENT: preset.segmentation,
        Job.EXTRACT: preset.extraction,
        Job.REVIEW: preset.review,
        Job.FACTS: preset.facts,
        Job.SLEEP: preset.sleep,
        Job.RULES: preset.rules,
        Job.CLUSTERS: preset.clusters,
        Job.COMPACT: preset.compaction,
        Job.PROMOTE: preset.promotion,
        Job.RETAIN: preset.retention,
    }
    return tuple(job for job in Job if job not in has or has[job] is not None)
