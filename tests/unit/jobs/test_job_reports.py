"""The counts of every job report."""

from __future__ import annotations

from datetime import UTC, date
from typing import Final
from uuid import UUID

import pytest

from remembrancer.domain.health import HealthSnapshot, Metrics
from remembrancer.domain.review import Rating, Review
from remembrancer.engine.clusters import ClustersReport, Consolidated
from remembrancer.engine.compact import CompactionReport, Merged
from remembrancer.engine.extract import ExtractReport
from remembrancer.engine.facts import FactsReport
from remembrancer.engine.promote import Promoted, PromotionReport
from remembrancer.engine.retain import RetentionReport
from remembrancer.engine.review import ReviewReport
from remembrancer.engine.rules import RulesReport
from remembrancer.engine.segment import SegmentReport
from remembrancer.engine.sleep import SleepReport, Slept
from remembrancer.jobs.indexer import IndexReport
from remembrancer.jobs.sweeps import BrokenOff, Counted, ExtractionReport, HealthReport, JobReport, NotDue, counted
from remembrancer.policies.learning.extraction import ExtractionScope
from remembrancer.testing.doubles import NOW

A, B, C, D, E = (UUID(int=number) for number in range(1, 6))
SNAPSHOT: Final = HealthSnapshot(
    crew=None,
    day=date(2026, 3, 4),
    taken_at=NOW.astimezone(UTC),
    metrics=Metrics(freshness=None, coverage=None, coherence=None, efficiency=None, reachability=None),
    score=None,
)
REVIEW: Final = Review(
    memory_id=A,
    rating=Rating.GOOD,
    at=NOW,
    evidence_until=NOW,
    previous=None,
    stability_before=1.0,
    stability=2.0,
    difficulty_before=5.0,
    difficulty=5.0,
    by="a model",
)
LEARNED: Final = ExtractReport(session="monday", learned=(A, B), failed={ExtractionScope.TEAM: "down"}, left=3)

REPORTS: Final[tuple[tuple[JobReport, Counted], ...]] = (
    (IndexReport(indexed=5, deferred=2), Counted(done=5, failed=2)),
    (HealthReport(taken=(SNAPSHOT, SNAPSHOT)), Counted(done=2)),
    (SegmentReport(streams=9, episodes=4, turns=20, failed=2, left=3), Counted(done=4, failed=2, left=3)),
    (ExtractionReport(sessions=(LEARNED, LEARNED)), Counted(done=4, failed=2, left=6)),
    (ReviewReport(reviews=(REVIEW,), failed=2, left=3), Counted(done=1, failed=2, left=3)),
    (
        FactsReport(episodes=9, new=(A, B), reinforced=(C,), updated=(D,), invalidated=(E,), failed=2, left=3),
        Counted(done=5, failed=2, left=3),
    ),
    (
        SleepReport(slept=(Slept(memory_id=A, sources=(B, C), by="aaak"),), failed=2, left=3),
        Counted(done=1, failed=2, left=3),
    ),
    (RulesReport(learned=(A,), known=4, owners=2, failed=2, left=3), Counted(done=1, failed=2, left=3)),
    (
        ClustersReport(consolidated=(Consolidated(memory_id=A, sources=(B, C, D), by="a model"),), failed=2, left=3),
        Counted(done=1, failed=2, left=3),
    ),
    (CompactionReport(merged=(Merged(memory_id=A, gone=(B, C)),), left=3), Counted(done=1, left=3)),
    (
        PromotionReport(
            promoted=(Promoted(memory_id=A, sources=(B, C)),), supported=(Promoted(memory_id=D, sources=(E,)),), left=3
        ),
        Counted(done=2, left=3),
    ),
    (RetentionReport(archived=7, more=True), Counted(done=7)),
    (NotDue(next_run=NOW), Counted()),
    (BrokenOff(reason="it is down"), Counted()),
)


@pytest.mark.parametrize(("report", "numbers"), REPORTS, ids=lambda value: type(value).__name__)
def test_a_report_has_the_counts_of_done_failed_and_left(report: JobReport, numbers: Counted) -> None:
    assert counted(report) == numbers
