"""Background jobs, and the records they leave of their runs."""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum

from remembrancer.values import dataclass


class Job(StrEnum):
    """The background jobs, in the order of one round: each finds the results of those before it."""

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
    """One run of a job: how many items were done, failed, and were left for a later run.

    `reason`: why nothing, or not everything, was done; empty otherwise. `error`: the error that ended the run.
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
    """An item of a job that failed and waits, so that it does not block the items after it.

    `item`: the job's name for it. `attempts`: how often it failed, from 1. It is not tried again before `retry_at`.
    """

    job: str
    item: str
    attempts: int
    retry_at: datetime
    error: str
