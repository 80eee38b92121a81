"""The engine function of each job, the jobs of a preset, and the reports of jobs."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Final, assert_never

from remembrancer.domain.health import HealthSnapshot
from remembrancer.domain.job import Job
from remembrancer.domain.scope import Scope
from remembrancer.engine.clusters import ClustersReport, consolidate_clusters
from remembrancer.engine.compact import CompactionReport, compact
from remembrancer.engine.context import Context
from remembrancer.engine.erase import purge
from remembrancer.engine.extract import ExtractReport, extract_deferred
from remembrancer.engine.facts import FactsReport, draw_facts
from remembrancer.engine.flag import flag_older
from remembrancer.engine.health import take_snapshots
from remembrancer.engine.promote import PromotionReport, promote_recurring
from remembrancer.engine.retain import RetentionReport, retain
from remembrancer.engine.review import ReviewReport, review
from remembrancer.engine.rules import RulesReport, learn_rules
from remembrancer.engine.segment import SegmentReport, segment
from remembrancer.engine.sleep import SleepReport, sleep
from remembrancer.jobs.indexer import Indexer, IndexReport, OnIndexed
from remembrancer.presets.spec import Preset
from remembrancer.values import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class HealthReport:
    """The snapshots taken, the workspace's first. `reason`: why none was taken; empty otherwise."""

    taken: tuple[HealthSnapshot, ...]
    reason: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ExtractionReport:
    """Learnings extracted from sessions whose extraction had failed when they ended."""

    sessions: tuple[ExtractReport, ...]
    reason: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class NotDue:
    """The job has run recently and is due again at `next_run`."""

    next_run: datetime

    @property
    def reason(self) -> str:
        return f"not due before {self.next_run.isoformat(timespec='minutes')}"


@dataclass(frozen=True, slots=True, kw_only=True)
class BrokenOff:
    """The run ended with an error. Its completed writes stay; the next run continues from there."""

    reason: str


JobReport = (
    IndexReport
    | HealthReport
    | SegmentReport
    | ExtractionReport
    | ReviewReport
    | FactsReport
    | SleepReport
    | RulesReport
    | ClustersReport
    | CompactionReport
    | PromotionReport
    | RetentionReport
    | NotDue
    | BrokenOff
)
"""The result of a job. `reason`: why nothing was done or items were left."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Counted:
    """Numbers of items: done, deferred after a failure, and left for a later run."""

    done: int = 0
    failed: int = 0
    left: int = 0


_DONE: Final[Mapping[type, tuple[str, ...]]] = {
    IndexReport: ("indexed",),
    HealthReport: ("taken",),
    SegmentReport: ("episodes",),
    ReviewReport: ("reviews",),
    FactsReport: ("new", "reinforced", "updated", "invalidated"),
    SleepReport: ("slept",),
    RulesReport: ("learned",),
    ClustersReport: ("consolidated",),
    CompactionReport: ("merged",),
    PromotionReport: ("promoted", "supported"),
    RetentionReport: ("archived", "erased"),
    NotDue: (),
    BrokenOff: (),
}
"""The fields of each report that hold the work done: a number, or the items."""


def counted(report: JobReport) -> Counted:
    """The counts of a report."""
    if isinstance(report, ExtractionReport):
        return Counted(
            done=sum(len(one.learned) for one in report.sessions),
            failed=sum(bool(one.failed) for one in report.sessions),
            left=sum(one.left for one in report.sessions),
        )
    done = [getattr(report, name) for name in _DONE[type(report)]]
    return Counted(
        done=sum(each if isinstance(each, int) else len(each) for each in done),
        failed=report.deferred if isinstance(report, IndexReport) else getattr(report, "failed", 0),
        left=getattr(report, "left", 0),
    )


@dataclass(frozen=True, slots=True)
class Sweeper:
    """Runs the jobs of one workspace. `force`: also process items that the rules of a job would leave for later."""

    ctx: Context
    scope: Scope
    indexer: Indexer
    on_indexed: OnIndexed | None = None

    def in_workspace(self, workspace: str) -> Sweeper:
        """A sweeper of another workspace."""
        scope = Scope(workspace=workspace)
        return Sweeper(self.ctx, scope, Indexer(self.ctx, scope))

    async def run(self, job: Job, *, force: bool = False) -> JobReport:  # noqa: C901, PLR0911, PLR0912  a case for each
        """One sweep. Raises errors that prevent all of it; errors of single items are in the report."""
        ctx, scope = self.ctx, self.scope
        match job:
            case Job.INDEX:
                return await self.indexer.run(self.on_indexed)
            case Job.SEGMENT:
                return await segment(ctx, scope)
            case Job.EXTRACT:
                sessions = await extract_deferred(ctx, scope)
                return ExtractionReport(
                    sessions=sessions, reason="" if sessions else "there are no ended sessions to process"
                )
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
                # Once a day is enough: a purge may rewrite the whole file, and other processes may block it for long.
                await purge(ctx, scope, at=ctx.clock())
                await flag_older(ctx, scope)
                taken = await take_snapshots(ctx, scope, force=force)
                return HealthReport(taken=taken, reason="" if taken else "taken today already")
            case _:
                assert_never(job)


def jobs_of(preset: Preset) -> tuple[Job, ...]:
    """The jobs that the preset enables, in the order they run."""
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
    }
    return tuple(job for job in Job if job not in has or has[job] is not None)
