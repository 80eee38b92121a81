"""How well a memory is doing, on one day."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Metrics:
    """Each from 0, bad, to 100; None where there is nothing to measure.

    `freshness`: how recent. `coverage`: how much of it can be found by meaning. `coherence`: how near each memory is to
    its nearest neighbour. `efficiency`: how near to the question what was shown has been. `reachability`: how much of
    it is joined to something.
    """

    freshness: float | None
    coverage: float | None
    coherence: float | None
    efficiency: float | None
    reachability: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class HealthSnapshot:
    """The health of a workspace, or of one crew in it, on a day in UTC. `score` from 0 to 100; None: no data at all."""

    crew: str | None
    day: date
    taken_at: datetime
    metrics: Metrics
    score: float | None
