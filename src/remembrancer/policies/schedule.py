"""The times at which background jobs are due."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from datetime import datetime, timedelta
from types import MappingProxyType
from typing import Final

from remembrancer.domain.job import Job, Run
from remembrancer.errors import InvalidInput
from remembrancer.values import dataclass

USUAL: Final[Mapping[Job, timedelta]] = MappingProxyType(
    {
        Job.INDEX: timedelta(seconds=30),
        Job.SEGMENT: timedelta(minutes=1),
        Job.EXTRACT: timedelta(minutes=10),
        Job.REVIEW: timedelta(minutes=10),
        Job.FACTS: timedelta(minutes=10),
        Job.SLEEP: timedelta(hours=1),
        Job.RULES: timedelta(days=1),
        Job.CLUSTERS: timedelta(hours=6),
        Job.COMPACT: timedelta(days=1),
        Job.PROMOTE: timedelta(days=1),
        Job.RETAIN: timedelta(days=1),
        Job.HEALTH: timedelta(hours=1),  # the job itself checks whether today's snapshot exists
    }
)
UNHURRIED: Final = frozenset({Job.SLEEP, Job.RULES, Job.CLUSTERS, Job.COMPACT, Job.PROMOTE, Job.RETAIN})
"""Jobs that process much data, or wait until enough has accumulated. They keep to their schedule even if a caller runs
all due jobs now; the other jobs are fast if there is no work.
"""
AFTER_FAILURE: Final = timedelta(minutes=5)
"""The longest time until a run that ended with an error is repeated."""
MOST_HOURS: Final = 24 * 366.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Schedule:
    """The schedule of jobs. `hours`: the interval between the starts of two runs of a job, if it differs from the
    default.
    """

    hours: Mapping[Job, float] = field(default_factory=lambda: MappingProxyType({}))

    def __post_init__(self) -> None:
        for job, hours in self.hours.items():
            if not 0 < hours <= MOST_HOURS:
                raise InvalidInput(f"hours.{job}", hours, f"a number greater than 0, at most {MOST_HOURS:,.0f}")

    def every(self, job: Job) -> timedelta:
        return timedelta(hours=self.hours[job]) if job in self.hours else USUAL[job]

    def next_run(self, job: Job, last: Run | None) -> datetime | None:
        """The time when the job is due after its last run; None: now, because it has never run.

        One run replaces all missed ones, because work lists are derived from the stored state.
        """
        if last is None:
            return None
        return last.started_at + (min(self.every(job), AFTER_FAILURE) if last.error else self.every(job))

    def is_due(self, job: Job, last: Run | None, now: datetime) -> bool:
        """Whether the job is due. A last run in the future is ignored: the clock was set back."""
        at = self.next_run(job, last)
        return at is None or at <= now or (last is not None and last.started_at > now)
