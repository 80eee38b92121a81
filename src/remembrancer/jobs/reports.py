"""Reports of jobs, and the counts that all of them have."""

from __future__ import annotations

from datetime import datetime
from typing import assert_never

from remembrancer.domain.health import HealthSnapshot
from remembrancer.engine.clusters import ClustersReport
from remembrancer.engine.compact import CompactionReport
from remembrancer.engine.extract import ExtractReport
from remembrancer.engine.facts import FactsReport
from remembrancer.engine.promote import PromotionReport
from remembrancer.engine.retain import RetentionReport
from remembrancer.engine.review import ReviewReport
from remembrancer.engine.rules import RulesReport
from remembrancer.engine.segment import SegmentReport
from remembrancer.engine.sleep import SleepReport
from remembrancer.jobs.indexer import IndexReport
from remembrancer.values import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class HealthReport:
    """The snapshots that were taken, the workspace's first. `reason`: why none; empty otherwise."""

    taken: tuple[HealthSnapshot, ...]
    reason: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ExtractionReport:
    """The learnings of sessions for which the model had failed when they ended."""

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
    """The run ended with an error. What it had written stays; the next run continues from there."""

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
"""The result of a job. `reason` says why nothing was done or something was left."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Counted:
    """Numbers of items: done, deferred after a failure, and left for a later run."""

    done: int = 0
    failed: int = 0
    left: int = 0


def counted(report: JobReport) -> Counted:  # noqa: C901, PLR0911, PLR0912  a case for each
    """The counts of a report."""
    match report:
        case IndexReport():
            return Counted(done=report.indexed, failed=report.deferred)
        case HealthReport():
            return Counted(done=len(report.taken))
        case SegmentReport():
            return Counted(done=report.episodes, failed=report.failed, left=report.left)
        case ExtractionReport():
            return Counted(
                done=sum(len(one.learned) for one in report.sessions),
                failed=sum(bool(one.failed) for one in report.sessions),
                left=sum(one.left for one in report.sessions),
            )
        case ReviewReport():
            return Counted(done=len(report.reviews), failed=report.failed, left=report.left)
        case FactsReport():
            done = len(report.new) + len(report.reinforced) + len(report.updated) + len(report.invalidated)
            return Counted(done=done, failed=report.failed, left=report.left)
        case SleepReport():
            return Counted(done=len(report.slept), failed=report.failed, left=report.left)
        case RulesReport():
            return Counted(done=len(report.learned), failed=report.failed, left=report.left)
        case ClustersReport():
            return Counted(done=len(report.consolidated), failed=report.failed, left=report.left)
        case CompactionReport():
            return Counted(done=len(report.merged), left=report.left)
        case PromotionReport():
            return Counted(done=len(report.promoted) + len(report.supported), left=report.left)
        case RetentionReport():
            return Counted(done=report.archived)
        case NotDue() | BrokenOff():
            return Counted()
        case _:
            assert_never(report)
