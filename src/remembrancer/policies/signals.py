"""The table of per-candidate numbers a score expression may read."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Final

import numpy as np

if TYPE_CHECKING:
    from remembrancer.domain.candidates import Candidates
    from remembrancer.policies.scoring import Column

MICROSECOND: Final = timedelta(microseconds=1)
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class Moment:
    """What the numbers depend on besides the candidates: the time of asking, and the recency's half-life."""

    asked_at: datetime
    recency_half_life: timedelta


@dataclass(frozen=True, slots=True)
class SignalDefinition:
    """`calibrated`: in [0, 1] with the same meaning for every question; others may only be ranked or rescaled."""

    meaning: str
    calibrated: bool
    compute: Callable[[Candidates, Moment], Column]


def _similarity(found: Candidates, _: Moment) -> Column:
    return np.clip(found.similarity.astype(np.float64), 0.0, 1.0)


def _bm25(found: Candidates, _: Moment) -> Column:
    return found.bm25.astype(np.float64)


def _lexical(found: Candidates, _: Moment) -> Column:
    if found.bm25_bound <= 0:
        return np.full(len(found.ids), np.nan)
    return np.clip(found.bm25.astype(np.float64) / found.bm25_bound, 0.0, 1.0)


def _coverage(found: Candidates, _: Moment) -> Column:
    return found.coverage.astype(np.float64)


def _recency(found: Candidates, moment: Moment) -> Column:
    asked = (moment.asked_at - _EPOCH) // MICROSECOND
    age = np.maximum(asked - found.occurred_at, 0)
    return np.exp2(-(age / (moment.recency_half_life / MICROSECOND)))


def _importance(found: Candidates, _: Moment) -> Column:
    return found.importance.astype(np.float64)


def _confidence(found: Candidates, _: Moment) -> Column:
    return found.confidence.astype(np.float64)


def _priority(found: Candidates, _: Moment) -> Column:
    return found.priority.astype(np.float64) / 10.0


SIGNALS: Final[Mapping[str, SignalDefinition]] = {
    "similarity": SignalDefinition("cosine of question and best cue, negative as 0", True, _similarity),
    "bm25": SignalDefinition("BM25 of the best cue, as it comes", False, _bm25),
    "lexical": SignalDefinition("BM25 over the most any text could reach for this question", True, _lexical),
    "coverage": SignalDefinition("share of the question's idf that the best cue holds", True, _coverage),
    "recency": SignalDefinition("0.5 to the power of age over its half-life", True, _recency),
    "importance": SignalDefinition("how much it matters, as given or formed", True, _importance),
    "confidence": SignalDefinition("how sure we are, moved by feedback", True, _confidence),
    "priority": SignalDefinition("priority over 10", True, _priority),
}


def compute(found: Candidates, moment: Moment) -> dict[str, Column]:
    """Every signal over the candidates, in their order; NaN where a leg has nothing to say of a row."""
    return {name: definition.compute(found, moment) for name, definition in SIGNALS.items()}
