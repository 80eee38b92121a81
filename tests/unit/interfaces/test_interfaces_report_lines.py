"""The report of a run in one sentence, also if nothing was done."""

from __future__ import annotations

from datetime import UTC, datetime
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
from remembrancer.interfaces.cli.report_lines import line
from remembrancer.jobs.indexer import IndexReport
from remembrancer.jobs.sweeps import BrokenOff, ExtractionReport, HealthReport, JobReport, NotDue
from remembrancer.policies.learning.extraction import ExtractionScope

AT = datetime(2026, 3, 4, 9, 0, tzinfo=UTC)
ID = UUID("01981c0e-7a44-7d0c-9f3e-0a1b2c3d4e5f")
NO_MODEL = "no language model is set (llm)"


def snapshot(score: float | None) -> HealthSnapshot:
    metrics = Metrics(freshness=score, coverage=None, coherence=None, efficiency=None, reachability=None)
    return HealthSnapshot(crew=None, day=AT.date(), taken_at=AT, metrics=metrics, score=score)


def rated(rating: Rating) -> Review:
    return Review(
        memory_id=ID,
        rating=rating,
        at=AT,
        evidence_until=AT,
        previous=None,
        stability_before=1.0,
        stability=2.0,
        difficulty_before=5.0,
        difficulty=5.0,
        by="openai:m",
    )


def read(*, learned: int = 0, failed: str = "") -> ExtractReport:
    return ExtractReport(
        session="monday",
        learned=(ID,) * learned,
        scopes={} if failed else {ExtractionScope.TEAM: learned},
        failed={ExtractionScope.TEAM: failed} if failed else {},
    )


CASES: tuple[tuple[JobReport, str], ...] = (
    (IndexReport(indexed=3, deferred=0), "indexed 3 cues"),
    (IndexReport(indexed=1, deferred=2, reason="it is down"), "indexed 1 cue, 2 put off (it is down)"),
    (IndexReport(indexed=0, deferred=0, reason="nothing waits"), "nothing waits"),
    (
        SegmentReport(streams=1, episodes=2, turns=30, told_by={"extractive": 2}),
        "formed 2 episodes of 30 turns",
    ),
    (
        SegmentReport(streams=2, episodes=4, turns=1, told_by={"openai:m": 3, "extractive": 1}, left=2),
        "formed 4 episodes of 1 turn, 3 summarised by openai:m, 1 in their own words, 2 left for later",
    ),
    (SegmentReport(failed=1, reason="it is\ndown"), "1 put off (it is down)"),
    (ExtractionReport(sessions=(read(learned=2), read(learned=1))), "learned 3 things from 2 sessions"),
    (ExtractionReport(sessions=(read(),)), "found nothing to learn in 1 session"),
    (
        ExtractionReport(sessions=(), reason="there are no ended sessions to process"),
        "there are no ended sessions to process",
    ),
    (
        ReviewReport(reviews=(rated(Rating.GOOD), rated(Rating.AGAIN), rated(Rating.GOOD)), left=1),
        "reviewed 3 memories: 1 again, 2 good, 1 left for later",
    ),
    (ReviewReport(reason=NO_MODEL), NO_MODEL),
    (
        FactsReport(episodes=4, new=(ID, ID), updated=(ID,), invalidated=(ID,)),
        "read 4 episodes for facts: 2 new, 1 updated, 1 no longer so",
    ),
    (FactsReport(episodes=1, reinforced=()), "read 1 episode for facts: none"),
    (
        SleepReport(
            slept=(
                Slept(memory_id=ID, sources=(ID, ID), by="aaak"),
                Slept(memory_id=None, sources=(ID,), by="nothing"),
            ),
            stand_in=NO_MODEL,
        ),
        f"promoted 3 rows of working memory to 1 memory ({NO_MODEL})",
    ),
    (
        SleepReport(slept=(Slept(memory_id=ID, sources=(ID,), by="as it is"),), dry_run=True),
        "would promote 1 row of working memory to 1 memory",
    ),
    (SleepReport(reason="nothing is old enough", stand_in=NO_MODEL), "nothing is old enough"),
    (RulesReport(learned=(ID,), known=2, owners=1, entries=30), "learned 1 rule from 30 entries, 2 known before"),
    (RulesReport(owners=2, entries=1), "found no rule in 1 entry"),
    (RulesReport(reason="too few entries"), "too few entries"),
    (
        ClustersReport(consolidated=(Consolidated(memory_id=ID, sources=(ID,) * 3, by="openai:m"),)),
        "put 1 memory in the place of 3 alike",
    ),
    (
        CompactionReport(merged=(Merged(memory_id=ID, gone=(ID, ID)),), left=1, reason="changed meanwhile"),
        "merged 2 near-duplicates into 1 memory, 1 left for later (changed meanwhile)",
    ),
    (
        PromotionReport(promoted=(Promoted(memory_id=ID, sources=(ID,)),)),
        "promoted 1 learning to its project",
    ),
    (RetentionReport(archived=1200), "moved 1,200 events into the archive"),
    (HealthReport(taken=(snapshot(80.0), snapshot(10.0))), "took 2 snapshots: 80.0, green"),
    (HealthReport(taken=(snapshot(None),)), "took 1 snapshot: no data"),
    (NotDue(next_run=AT), "not due before 2026-03-04 09:00 UTC"),
    (BrokenOff(reason="the disk is full"), "broke off: the disk is full"),
    (FactsReport(), "nothing to do"),
)


@pytest.mark.parametrize(("report", "told"), CASES, ids=[told[:30] for _, told in CASES])
def test_a_run_is_described_in_a_sentence(report: JobReport, told: str) -> None:
    assert line("job", report).plain == f"job: {told}"


def test_every_kind_of_report_has_its_sentence() -> None:
    assert {type(report) for report, _ in CASES} == set(JobReport.__args__)


def test_a_message_of_a_provider_cannot_move_the_cursor() -> None:
    assert line("index", BrokenOff(reason="\x1b[2Jno\nkey")).plain == "index: broke off: no key"
