"""Health of a memory store on one day."""

from __future__ import annotations

from datetime import date, datetime

from remembrancer.values import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Metrics:
    """Five metrics, each from 0 (bad) to 100; None without data.

    `freshness`: how recent the memories are. `coverage`: the share that can be found by meaning. `coherence`: how
    similar each memory is to its nearest neighbour. `efficiency`: how similar shown memories were to their questions.
    `reachability`: the share of memories with a relation; None for a preset without automatic relations.
    """

    freshness: float | None
    coverage: float | None
    coherence: float | None
    efficiency: float | None
    reachability: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class HealthSnapshot:
    """The health of a workspace, or of one crew in it, on a UTC day. `score` from 0 to 100; None without data."""

    crew: str | None
    day: date
    taken_at: datetime
    metrics: Metrics
    score: float | None
