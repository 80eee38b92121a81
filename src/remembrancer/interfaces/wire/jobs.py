"""The JSON shapes of jobs: their state, their reports, and what language models cost."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import fields, is_dataclass
from datetime import date, datetime, timedelta
from enum import Enum
from typing import TYPE_CHECKING, Any, Self, cast
from uuid import UUID

from pydantic import AwareDatetime, JsonValue

from remembrancer.interfaces.wire.memories import MemoryOut
from remembrancer.interfaces.wire.shape import Derived, Many, Of, Wire
from remembrancer.interfaces.wire.state import HealthOut
from remembrancer.jobs.sweeps import HealthReport, counted

if TYPE_CHECKING:
    from remembrancer.domain.job import Deferral, Run
    from remembrancer.domain.spending import Spent
    from remembrancer.engine.promote import Candidate
    from remembrancer.jobs.overview import JobState
    from remembrancer.jobs.sweeps import JobReport


class JobReportOut(Wire):
    """The report of one run of a job. `done`, `failed`, `left`: numbers of work items. `reason`: why nothing was done,
    or why some items were not.

    `details`: the fields of the job's own report.
    """

    done: int
    failed: int
    left: int
    reason: str
    details: dict[str, JsonValue]

    @classmethod
    def of(cls, report: JobReport) -> Self:
        numbers = counted(report)
        return cls.copied(report, done=numbers.done, failed=numbers.failed, left=numbers.left, details=_details(report))


class MaintenanceOut(Wire):
    """The report of each job, by the job's name."""

    jobs: dict[str, JobReportOut]

    @classmethod
    def of(cls, reports: Mapping[str, JobReport]) -> Self:
        return cls(jobs={name: JobReportOut.of(report) for name, report in reports.items()})


class DoneOut(Wire):
    """The report of an operation that was run by hand: `details` has its fields."""

    details: dict[str, JsonValue]

    @classmethod
    def of(cls, report: object) -> Self:
        return cls(details=cast("dict[str, JsonValue]", json_of(report)))


class RunOut(Derived):
    started_at: AwareDatetime
    seconds: float
    done: int
    failed: int
    left: int
    reason: str
    error: str

    @classmethod
    def of(cls, run: Run) -> Self:
        return cls.copied(run, seconds=(run.ended_at - run.started_at).total_seconds())


class DeferralOut(Wire, Of["Deferral"]):
    """A work item that failed and is retried from `retry_at` on. `text`: the text that could not be embedded; empty for
    other items, and if the caller may not see it.
    """

    item: str
    text: str
    attempts: int
    retry_at: AwareDatetime
    error: str


class JobOut(Wire, Of["JobState"]):
    """The state of a job. `last` null: it never ran. `next_run` null: it is due now. `backlog` null: not known before a
    run.
    """

    job: str
    last: RunOut | None
    next_run: AwareDatetime | None
    backlog: int | None
    failures: list[DeferralOut]


class JobsOut(Wire, Many["JobState"]):
    """The jobs of the preset, in the order they run."""

    jobs: list[JobOut]


class SpentOut(Wire, Of["Spent"]):
    """The use of one model for one purpose. `cost`: in US dollars, of the calls with a known price. `unpriced`: the
    number of the other calls.
    """

    purpose: str
    model: str
    calls: int
    failed: int
    requests: int
    input_tokens: int
    output_tokens: int
    cost: float
    unpriced: int


class SpendingOut(Wire):
    since: AwareDatetime | None
    spent: list[SpentOut]

    @classmethod
    def of(cls, spent: Sequence[Spent], since: datetime | None) -> Self:
        return cls(since=since, spent=[SpentOut.of(one) for one in spent])


class CandidateOut(Wire, Of["Candidate"]):
    """A memory that could be promoted to the whole workspace. `jobs`: the number of jobs in which it came up.
    `similar`: the memories that say the same there.
    """

    memory: MemoryOut
    jobs: int
    similar: list[UUID]


class PromotableOut(Wire, Many["Candidate"]):
    candidates: list[CandidateOut]


def _details(report: JobReport) -> dict[str, JsonValue]:
    if isinstance(report, HealthReport):
        taken = [HealthOut.of(snapshot).model_dump(mode="json") for snapshot in report.taken]
        return {"taken": cast("JsonValue", taken)}
    details = cast("dict[str, JsonValue]", json_of(report))
    details.pop("reason", None)
    return details


def json_of(value: object) -> JsonValue:  # noqa: PLR0911  a case for each kind of value
    """A report as JSON: dataclasses as objects, times as ISO 8601, durations in seconds, ids and enum
    members as text.
    """
    if value is None or (isinstance(value, bool | int | float | str) and not isinstance(value, Enum)):
        return value
    if isinstance(value, Enum):
        return cast("JsonValue", value.value if isinstance(value.value, str) else value.name.lower())
    if isinstance(value, datetime | date):
        return value.isoformat()
    if isinstance(value, timedelta):
        return value.total_seconds()
    if isinstance(value, Mapping):
        return {str(json_of(key)): json_of(one) for key, one in cast("Mapping[Any, Any]", value).items()}
    if isinstance(value, Sequence | frozenset):
        return [json_of(one) for one in cast("Sequence[Any]", value)]
    if is_dataclass(value):
        return {field.name: json_of(getattr(value, field.name)) for field in fields(value)}
    return str(value)
