"""The jobs that keep a memory in order, and what they leave behind of their runs."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum


class Job(StrEnum):
    """What a memory does by itself, in the order of one round: what one leaves behind is there for those after it."""

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
    """One run of a job: how many pieces of work were done, how many failed, and how many were left for a later run.

    `reason` says why nothing was done, or what stood in the way of some of it; empty otherwise. `error`: it broke off.
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
    """A piece of a job's work that failed and waits, so that it cannot hold up what comes after it.

    `item`: what the job calls it. `attempts`: how often it failed, from 1. It is not tried before `retry_at`.
    """

    job: str
    item: str
    attempts: int
    retry_at: datetime
    error: str
