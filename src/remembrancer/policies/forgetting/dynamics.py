"""Changes of a memory's strength with time and use."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from datetime import datetime, timedelta
from enum import StrEnum
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

import numpy as np

from remembrancer.domain.candidates import States
from remembrancer.domain.instants import MICROSECOND, microseconds
from remembrancer.domain.scope import Level
from remembrancer.domain.strength import Exposure
from remembrancer.errors import InvalidInput
from remembrancer.policies.forgetting.decay import Curve
from remembrancer.policies.forgetting.reinforcement import Gain, NoGain
from remembrancer.values import dataclass

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from remembrancer.policies.ranking.scoring import FloatColumn

    Moments = NDArray[np.int64]
    """One time per memory, shape (n,), in microseconds since 1970 UTC."""

DAY: Final = timedelta(days=1) // MICROSECOND


class Since(StrEnum):
    """The time at which a memory's age starts: when it happened or, if later, at its last counted
    exposure or review.
    """

    OCCURRED = "occurred"
    EXPOSED = "exposed"
    REVIEWED = "reviewed"


@dataclass(frozen=True, slots=True, kw_only=True)
class Dynamics:
    """The change of strength. `curve`: the decrease over time since `since`. `gain`: the increase by exposures of kind
    `counted`.

    `per_session`: such exposures count once per memory and session, and only after the session has ended.
    `level_factors`: a factor for each scope level; a missing level has the factor of the next wider one, WORKSPACE 1.
    """

    curve: Curve
    since: Since = Since.OCCURRED
    counted: Exposure = Exposure.USED
    gain: Gain = field(default_factory=NoGain)
    per_session: bool = False
    level_factors: Mapping[Level, float] = field(default_factory=lambda: MappingProxyType({}))

    def counts_at_once(self, exposure: Exposure, session: str | None) -> bool:
        """Whether an exposure counts when it is logged, and not only when its session ends."""
        return not self.per_session or session is None or exposure is not self.counted

    def __post_init__(self) -> None:
        for level, factor in self.level_factors.items():
            if not 0 < factor <= 100:
                raise InvalidInput(
                    f"level_factors.{level.name.lower()}", factor, "a number greater than 0, at most 100"
                )

    def retention(self, states: States, at: datetime | Moments) -> FloatColumn:
        """The share of each memory's strength left at a time, or at one time for each memory, in [0, 1], shape (n,)."""
        since = states.occurred_at
        if self.since is Since.EXPOSED:
            since = _later(since, states.exposed_at[self.counted])
        elif self.since is Since.REVIEWED:
            since = _later(since, states.reviewed_at)
        age = ((microseconds(at) if isinstance(at, datetime) else at) - since) / DAY
        return self.curve.retention(age, self._exposures(states), states.stability.astype(np.float64))

    def settled(self, states: States) -> Moments:
        """The time of the last change of each memory that affects its strength, shape (n,): when it happened, or its
        last counted exposure or review, if that is later and counts.
        """
        since = states.occurred_at
        if self.since is Since.EXPOSED or self.curve.reads_exposures or not isinstance(self.gain, NoGain):
            since = _later(since, states.exposed_at[self.counted])
        if self.since is Since.REVIEWED or self.curve.reads_stability:
            since = _later(since, states.reviewed_at)
        return since

    def reinforcement(self, states: States) -> FloatColumn:
        """The factor gained by use, at least 1, shape (n,)."""
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
    """The later of both times. 0 means never, not 1970, so a memory from before 1970 keeps its time."""
    return np.where(moved == 0, since, np.maximum(since, moved))
