"""When a job is due again."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from types import MappingProxyType
from typing import Final

from remembrancer.domain.job import Job, Run
from remembrancer.errors import InvalidInput

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
        Job.HEALTH: timedelta(hours=1),  # one snapshot a day: the job itself knows whether there is one
    }
)
UNHURRIED: Final = frozenset({Job.SLEEP, Job.RULES, Job.CLUSTERS, Job.COMPACT, Job.PROMOTE, Job.RETAIN})
"""Jobs that go through much, or wait for much to come together: they have their time even when somebody asks for what
is due. The others look at what waits, and are done quickly where nothing does.
"""
AFTER_FAILURE: Final = timedelta(minutes=5)
"""A run that broke off is made up for no later than this, however seldom the job runs."""
MOST_HOURS: Final = 24 * 366.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Schedule:
    """`hours`: from the beginning of one run of a job to that of the next, where it is not the usual time."""

    hours: Mapping[Job, float] = field(default_factory=lambda: MappingProxyType({}))

    def __post_init__(self) -> None:
        for job, hours in self.hours.items():
            if not 0 < hours <= MOST_HOURS:
                raise InvalidInput(f"hours.{job}", hours, f"a number greater than 0, at most {MOST_HOURS:,.0f}")

    def every(self, job: Job) -> timedelta:
        return timedelta(hours=self.hours[job]) if job in self.hours else USUAL[job]

    def next_run(self, job: Job, last: Run | None) -> datetime | None:
        """When the job is due after its last run; None: at once, it never ran.

        However long nothing ran, one run makes up for all that were missed: work lists are derived from what is there.
        """
        if last is None:
            return None
        return last.started_at + (min(self.every(job), AFTER_FAILURE) if last.error else self.every(job))

    def is_due(self, job: Job, last: Run | None, now: datetime) -> bool:
        """A run in the future was noted by a clock that has been set back since: it does not count."""
        at = self.next_run(job, last)
        return at is None or at <= now or (last is not None and last.started_at > now)
