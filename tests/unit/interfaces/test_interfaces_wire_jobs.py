"""The JSON shapes of job reports contain the fields of the reports, under stable names."""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from enum import IntEnum, StrEnum
from uuid import UUID

import pytest

from remembrancer.domain.health import HealthSnapshot, Metrics
from remembrancer.domain.job import Deferral, Job, Run
from remembrancer.domain.scope import Scope
from remembrancer.domain.spending import Spent
from remembrancer.engine.end_session import EndReport, ReinforceReport
from remembrancer.engine.extract import ExtractReport
from remembrancer.engine.promote import Candidate
from remembrancer.engine.review import ReviewReport
from remembrancer.engine.segment import SegmentedStream, SegmentReport
from remembrancer.engine.sleep import SleepReport, Slept
from remembrancer.engine.stages import StageReport
from remembrancer.interfaces.wire.jobs import (
    DoneOut,
    JobReportOut,
    JobsOut,
    MaintenanceOut,
    PromotableOut,
    SpendingOut,
    json_of,
)
from remembrancer.interfaces.wire.shape import Wire
from remembrancer.jobs.indexer import IndexReport
from remembrancer.jobs.overview import JobState
from remembrancer.jobs.sweeps import BrokenOff, HealthReport, NotDue
from remembrancer.policies.learning.extraction import ExtractionScope
from remembrancer.policies.learning.stages import LearningStage
from remembrancer.testing.doubles import a_memory

AT = datetime(2026, 3, 4, 9, 0, tzinfo=UTC)
ID = UUID("01981c0e-7a44-7d0c-9f3e-0a1b2c3d4e5f")
SNAPSHOT = HealthSnapshot(
    crew=None,
    day=AT.date(),
    taken_at=AT,
    metrics=Metrics(freshness=90.0, coverage=None, coherence=None, efficiency=None, reachability=None),
    score=90.0,
)
SLEPT = SleepReport(slept=(Slept(memory_id=ID, sources=(ID, ID), by="aaak"),), left=1, stand_in="no model")
RUN = Run(job="segment", started_at=AT, ended_at=AT + timedelta(seconds=2.5), done=3, failed=1, reason="one is down")
DEFERRAL = Deferral(job="segment", item="monday", attempts=2, retry_at=AT, error="it does not answer")


def test_each_job_s_report_has_the_same_numbers_and_details_of_its_own() -> None:
    told = MaintenanceOut.of({"sleep": SLEPT}).model_dump(mode="json")
    details = {
        "slept": [{"memory_id": str(ID), "sources": [str(ID), str(ID)], "by": "aaak"}],
        "failed": 0,
        "left": 1,
        "stand_in": "no model",
        "dry_run": False,
    }
    assert told == {"jobs": {"sleep": {"done": 1, "failed": 0, "left": 1, "reason": "", "details": details}}}


@pytest.mark.parametrize(
    ("report", "numbers", "reason"),
    [
        (IndexReport(indexed=4, deferred=2, reason="down"), (4, 2, 0), "down"),
        (SegmentReport(streams=2, episodes=3, turns=40, failed=1, left=5), (3, 1, 5), ""),
        (HealthReport(taken=(SNAPSHOT,)), (1, 0, 0), ""),
        (NotDue(next_run=AT), (0, 0, 0), "not due before 2026-03-04T09:00+00:00"),
        (BrokenOff(reason="the disk is full"), (0, 0, 0), "the disk is full"),
    ],
    ids=lambda value: type(value).__name__,
)
def test_the_numbers_mean_the_same_of_every_job(
    report: IndexReport | SegmentReport | HealthReport | NotDue | BrokenOff, numbers: tuple[int, ...], reason: str
) -> None:
    shape = JobReportOut.of(report)
    assert ((shape.done, shape.failed, shape.left), shape.reason) == (numbers, reason)


def test_a_snapshot_in_a_report_has_the_form_of_health() -> None:
    [taken] = JobReportOut.of(HealthReport(taken=(SNAPSHOT,))).model_dump(mode="json")["details"]["taken"]
    assert (taken["score"], taken["band"]) == (90.0, "green")


def test_the_end_of_a_session_is_reported_part_by_part() -> None:
    report = EndReport(
        session="monday",
        segmented=SegmentedStream(stream=Scope(workspace="acme"), episodes=(ID,), turns=3),
        extracted=ExtractReport(session="monday", scopes={ExtractionScope.TEAM: 2}),
        reinforced=ReinforceReport(reason="nothing was used"),
        reviewed=ReviewReport(),
    )
    told = DoneOut.of(report).model_dump(mode="json")["details"]
    assert (told["segmented"]["episodes"], told["extracted"]["scopes"]) == ([str(ID)], {"team": 2})
    assert told["reinforced"] == {"reinforced": [], "left": 0, "reason": "nothing was used"}


def test_a_stage_is_described_by_its_name() -> None:
    told = DoneOut.of(StageReport(stage=LearningStage.DESIGN, at=AT)).model_dump(mode="json")["details"]
    assert (told["stage"], told["ended"], told["at"]) == ("design", None, "2026-03-04T09:00:00+00:00")


def test_the_state_of_a_job_is_reported_with_its_failures() -> None:
    state = JobState(job=Job.SEGMENT, last=RUN, next_run=None, backlog=7, failures=(DEFERRAL,))
    [told] = JobsOut.of([state]).model_dump(mode="json")["jobs"]
    assert (told["job"], told["next_run"], told["backlog"]) == ("segment", None, 7)
    assert (told["last"]["seconds"], told["last"]["done"], told["last"]["failed"]) == (2.5, 3, 1)
    failure = {
        "item": "monday",
        "text": "",
        "attempts": 2,
        "retry_at": "2026-03-04T09:00:00Z",
        "error": "it does not answer",
    }
    assert told["failures"] == [failure]


class _Named(StrEnum):
    ONE = "the-one"


class _Numbered(IntEnum):
    TWO = 2


@dataclass(frozen=True)
class _Inner:
    ids: tuple[UUID, ...]


@pytest.mark.parametrize(
    ("value", "told"),
    [
        (None, None),
        (True, True),
        (1.5, 1.5),
        ("text", "text"),
        (_Named.ONE, "the-one"),
        (_Numbered.TWO, "two"),
        (AT, "2026-03-04T09:00:00+00:00"),
        (date(2026, 3, 4), "2026-03-04"),
        (timedelta(minutes=2), 120.0),
        (ID, str(ID)),
        ({_Named.ONE: (1, 2)}, {"the-one": [1, 2]}),
        (frozenset({3}), [3]),
        (_Inner((ID,)), {"ids": [str(ID)]}),
    ],
)
def test_a_report_is_converted_to_json(value: object, told: object) -> None:
    assert json_of(value) == told


@pytest.mark.parametrize(
    "shape",
    [
        MaintenanceOut.of({"sleep": SLEPT, "health": HealthReport(taken=(SNAPSHOT,))}),
        DoneOut.of(SLEPT),
        JobsOut.of([JobState(job=Job.INDEX, last=None, next_run=AT, backlog=None, failures=())]),
        SpendingOut.of(
            [
                Spent(
                    purpose="episode",
                    model="openai:m",
                    calls=2,
                    failed=1,
                    requests=3,
                    input_tokens=10,
                    output_tokens=5,
                    cost=0.5,
                    unpriced=1,
                )
            ],
            AT,
        ),
        PromotableOut.of([Candidate(memory=a_memory("x"), jobs=3, similar=(ID,))]),
    ],
    ids=lambda shape: type(shape).__name__,
)
def test_a_shape_of_the_mind_comes_back_from_its_json(shape: Wire) -> None:
    assert type(shape).model_validate(json.loads(shape.model_dump_json())) == shape
