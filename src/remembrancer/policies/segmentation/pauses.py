"""What pause is usual between the turns of a stream, and which one ends an episode."""

from __future__ import annotations

import math
from dataclasses import dataclass
from datetime import timedelta
from typing import Final

from remembrancer.policies.segmentation.likeness import MEMORY


@dataclass(frozen=True, slots=True)
class Pace:
    """`mean`: of the natural logarithms of the pauses, in seconds, as far as the stream was read.

    The mean runs as `Usual`'s does. Logarithms, because pauses are spread over seconds to weeks.
    """

    count: int
    mean: float

    @property
    def usual(self) -> timedelta:
        """The geometric mean of the pauses."""
        return timedelta(seconds=math.exp(self.mean))

    def seen(self, pause: timedelta, factor: float) -> Pace:
        """One longer than `factor` times the usual counts as that long: a night says little of the pace of a talk, and
        still a stream of one turn a day gets a pace of a day.
        """
        count = min(self.count + 1, MEMORY)
        most = self.mean + math.log(factor)
        return Pace(count, self.mean + (min(_log_seconds(pause), most) - self.mean) / count)


PACE: Final = Pace(4, math.log(60))
"""Of a stream of which nothing is known: a minute, and so often that one quick answer is not yet a pace."""


def _log_seconds(pause: timedelta) -> float:
    """Of a second at least: clocks of different writers differ, and may go back."""
    return math.log(max(pause.total_seconds(), 1.0))
