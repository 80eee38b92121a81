"""Background jobs and the records of their runs."""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum

from remembrancer.values import dataclass


class Job(StrEnum):
    """The background jobs, in the order of one round: each may use the results of earlier ones."""

    INDEX = "index"
    SEGMENT = "segment"
    EXTRACT = "extract"
    REVIEW = "review"
    FACTS = "facts"
    SLEEP = "sleep"
    RULES = "rules"
    CLUSTERS = "clusters"
    COMPACT = "compact"
    PROMOTE = "promote"
    RETAIN = "retain"
    HEALTH = "health"


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """One run of a job: how many items were done, failed, and left for a later run.

    `reason`: why not everything was done; empty otherwise. `error`: the error that ended the run.
    """

    job: str
    started_at: datetime
    ended_at: datetime
    done: int = 0
    failed: int = 0
    left: int = 0
    reason: str = ""
    error: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Deferral:
    """An item of a job that failed and waits for a retry, so that it does not block later items.

    `item`: the job's name for it; for the index, the id of the memory. `text`: for the index, the text that could not
    be embedded, at most 200 characters; empty for a caller who may not see it. `attempts`: the number of failures, from
    1. The next attempt is not before `retry_at`.
    """

    job: str
    item: str
    attempts: int
    retry_at: datetime
    error: str
    text: str = ""
