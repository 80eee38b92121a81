"""The strength of one memory over time, prepared once for the SVG chart and for the terminal."""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Self

from remembrancer.domain.age import spoken_age
from remembrancer.interfaces.charts.scale import round_above, through
from remembrancer.interfaces.text import day
from remembrancer.values import dataclass

if TYPE_CHECKING:
    from remembrancer.interfaces.wire.memories import CurveOut, DecayForecastOut


@dataclass(frozen=True, slots=True)
class StrengthCurve:
    """Strength over time, as two or more `points` of time and strength, oldest first. Strength lies in [0, 1].

    `limit`: below it a memory counts as faded. `crossing`: when the strength falls below the limit; None for never.
    """

    points: Sequence[tuple[datetime, float]]
    limit: float
    now: datetime
    crossing: datetime | None

    @classmethod
    def of(cls, curve: CurveOut) -> Self | None:
        """The curve; None unless it has finite values at two different times and a finite limit."""
        points = [(each.at, each.strength) for each in curve.points if math.isfinite(each.strength)]
        forecast = curve.forecast
        if len(points) < 2 or not points[0][0] < points[-1][0] or not math.isfinite(forecast.below):
            return None
        return cls(points, forecast.below, curve.now, forecast.falls_at)

    @property
    def top(self) -> float:
        """The upper end of the axis: 1 for values in (0.5, 1], else the next round number."""
        most = max(self.limit * 1.25, *(value for _, value in self.points))
        return 1.0 if 0.5 < most <= 1 else round_above(most)

    def at(self, moment: datetime) -> float:
        """The strength at a moment, interpolated between points; beyond either end, that of the end."""
        index = bisect_left(self.points, moment, key=lambda point: point[0])
        if index == 0:
            return self.points[0][1]
        if index == len(self.points):
            return self.points[-1][1]
        (before, low), (after, high) = self.points[index - 1], self.points[index]
        return low + (high - low) * through(moment, before, after)


def forecast_text(forecast: DecayForecastOut, now: datetime) -> str:
    """The strength of the memory, and the time when it falls or fell below the limit, in one or two sentences."""
    strength, below, falls = f"Strength {forecast.strength:.3g} now", f"{forecast.below:g}", forecast.falls_at
    if falls is None:
        return f"{strength}. It does not fall below {below} within a hundred years."
    when = f"on {day(falls)} at {falls:%H:%M} UTC, {spoken_age(now - falls)}"
    if forecast.faded:
        return f"{strength}: faded. It fell below {below} {when}."
    return f"{strength}. It falls below {below} {when}, if nothing else happens to it."
