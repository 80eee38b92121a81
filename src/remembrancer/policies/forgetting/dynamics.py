"""How the strength of a memory changes with time and use."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

import numpy as np

from remembrancer.domain.candidates import States
from remembrancer.domain.memory import Memory
from remembrancer.domain.scope import Level, level_of
from remembrancer.domain.strength import Exposure, Usage
from remembrancer.errors import InvalidInput
from remembrancer.policies.forgetting.decay import Curve
from remembrancer.policies.forgetting.reinforcement import Gain, NoGain
from remembrancer.values import dataclass

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from remembrancer.policies.ranking.scoring import FloatColumn

    Moments = NDArray[np.int64]
    """One time per memory, shape (n,), in microseconds since 1970 UTC."""

MICROSECOND: Final = timedelta(microseconds=1)
DAY: Final = timedelta(days=1) // MICROSECOND
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)


class Since(StrEnum):
    """Where a memory's age starts: when it happened, or, if later, at its last counted exposure or review."""

    OCCURRED = "occurred"
    EXPOSED = "exposed"
    REVIEWED = "reviewed"


@dataclass(frozen=True, slots=True, kw_only=True)
class Dynamics:
    """`curve`: the loss over time, counted from `since`. `gain`: the gain from exposures of the kind `counted`.

    `per_session`: exposures of that kind count once per memory and session, and only after the session has ended.
    `level_factors`: a factor for each scope level; a level without one has that of the next wider level, WORKSPACE 1.
    """

    curve: Curve
    since: Since = Since.OCCURRED
    counted: Exposure = Exposure.USED
    gain: Gain = field(default_factory=NoGain)
    per_session: bool = False
    level_factors: Mapping[Level, float] = field(default_factory=lambda: MappingProxyType({}))

    def counts_at_once(self, exposure: Exposure, session: str | None) -> bool:
        """Whether an exposure counts when it is logged, rather than when its session ends."""
        return not self.per_session or session is None or exposure is not self.counted

    def __post_init__(self) -> None:
        for level, factor in self.level_factors.items():
            if not 0 < factor <= 100:
                raise InvalidInput(
                    f"level_factors.{level.name.lower()}", factor, "a number greater than 0, at most 100"
                )

    def retention(self, states: States, at: datetime | Moments) -> FloatColumn:
        """The share of each memory's strength left at a moment, or each at its own, in [0, 1], shape (n,)."""
        since = states.occurred_at
        if self.since is Since.EXPOSED:
            since = _later(since, states.exposed_at[self.counted])
        elif self.since is Since.REVIEWED:
            since = _later(since, states.reviewed_at)
        age = ((microseconds(at) if isinstance(at, datetime) else at) - since) / DAY
        return self.curve.retention(age, self._exposures(states), states.stability.astype(np.float64))

    def settled(self, states: States) -> Moments:
        """Since when nothing but time has changed what this law reads of each memory, shape (n,): since it happened, or
        its last counted exposure or review, where that is later and counts.
        """
        since = states.occurred_at
        if self.since is Since.EXPOSED or self.curve.reads_exposures or not isinstance(self.gain, NoGain):
            since = _later(since, states.exposed_at[self.counted])
        if self.since is Since.REVIEWED or self.curve.reads_stability:
            since = _later(since, states.reviewed_at)
        return since

    def reinforcement(self, states: States) -> FloatColumn:
        """The factor gained from use, at least 1, shape (n,)."""
        return self.gain.factor(self._exposures(states))

    def level_factor(self, states: States) -> FloatColumn:
        """The factor of each memory's scope level, shape (n,)."""
        factors: list[float] = []
        for level in Level:
            factors.append(self.level_factors.get(level, factors[-1] if factors else 1.0))
        return np.array(factors)[states.level]

    def _exposures(self, states: States) -> FloatColumn:
        return states.exposed[self.counted].astype(np.float64)


def _later(since: Moments, moved: Moments) -> Moments:
    """The later of both. 0 means never, not 1970: a memory from before 1970 does not become younger by it."""
    return np.where(moved == 0, since, np.maximum(since, moved))


def states_of(memories: Sequence[Memory]) -> States:
    """The states of memories, in their order, as a store returns them."""
    strengths = [memory.strength for memory in memories]
    usages = [strength.usage for strength in strengths]
    return States(
        occurred_from=np.array([microseconds(memory.occurred_from) for memory in memories], dtype=np.int64),
        occurred_at=np.array([microseconds(memory.occurred_to) for memory in memories], dtype=np.int64),
        importance=np.array([strength.importance for strength in strengths], dtype=np.float32),
        importance_floor=np.array([strength.importance_floor for strength in strengths], dtype=np.float32),
        confidence=np.array([strength.confidence for strength in strengths], dtype=np.float32),
        priority=np.array([strength.priority for strength in strengths], dtype=np.int32),
        stability=np.array([strength.stability for strength in strengths], dtype=np.float32),
        reviewed_at=np.array([microseconds(strength.last_reviewed_at) for strength in strengths], dtype=np.int64),
        level=np.array([level_of(memory.scope) for memory in memories], dtype=np.int32),
        exposed={
            exposure: np.array([exposures(usage, exposure)[0] for usage in usages], dtype=np.int32)
            for exposure in Exposure
        },
        exposed_at={
            exposure: np.array([microseconds(exposures(usage, exposure)[1]) for usage in usages], dtype=np.int64)
            for exposure in Exposure
        },
    )


def exposures(usage: Usage, exposure: Exposure) -> tuple[int, datetime | None]:
    """The number of exposures of this kind, and the time of the last one."""
    match exposure:
        case Exposure.RETRIEVED:
            return usage.retrieved, usage.last_retrieved_at
        case Exposure.SHOWN:
            return usage.shown, usage.last_shown_at
        case Exposure.USED:
            return usage.used, usage.last_used_at


def microseconds(moment: datetime | None) -> int:
    """Microseconds since 1970 UTC; 0 for never."""
    return 0 if moment is None else (moment - _EPOCH) // MICROSECOND


def instant(since_1970: int) -> datetime:
    """The UTC moment of so many microseconds since 1970."""
    return _EPOCH + int(since_1970) * MICROSECOND
