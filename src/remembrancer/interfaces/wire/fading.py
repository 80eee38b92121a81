"""The JSON shapes of forgetting: the strength of a memory over time, and when it has faded."""

from __future__ import annotations

from typing import TYPE_CHECKING, Self

from pydantic import AwareDatetime

from remembrancer.interfaces.wire.memories import MemoryOut
from remembrancer.interfaces.wire.shape import Derived, Many, Wire

if TYPE_CHECKING:
    from remembrancer.engine.fading import DecayForecast, FadingCurve


class DecayForecastOut(Derived):
    """The predicted fading of a memory. `falls_at`: when its strength first falls below `below`; null: not within a
    hundred years.
    """

    memory: MemoryOut
    strength: float
    below: float
    faded: bool
    falls_at: AwareDatetime | None

    @classmethod
    def of(cls, outlook: DecayForecast) -> Self:
        return cls.copied(outlook, faded=outlook.has_faded)


class DecayForecastsOut(Wire, Many["DecayForecast"]):
    memories: list[DecayForecastOut]


class CurvePointOut(Wire):
    at: AwareDatetime
    strength: float


class CurveOut(Wire):
    """`points`: the strength at evenly spaced times, from before `now` to after it."""

    outlook: DecayForecastOut
    now: AwareDatetime
    points: list[CurvePointOut]

    @classmethod
    def of(cls, curve: FadingCurve) -> Self:
        return cls.copied(curve, points=[{"at": at, "strength": strength} for at, strength in curve.points])
