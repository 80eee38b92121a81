"""The usual pause between turns of a stream, and which pause ends an episode."""

from __future__ import annotations

import math
from datetime import timedelta
from typing import Final

from remembrancer.policies.segmentation.likeness import MEMORY
from remembrancer.values import dataclass


@dataclass(frozen=True, slots=True)
class Pace:
    """`mean`: the running mean of the natural logarithms of the pauses, in seconds.

    The mean runs as in `Usual`. Logarithms, because pauses range from seconds to weeks.
    """

    count: int
    mean: float

    @property
    def usual(self) -> timedelta:
        """The geometric mean of the pauses."""
        return timedelta(seconds=math.exp(self.mean))

    def seen(self, pause: timedelta, factor: float) -> Pace:
        """The pace after one more pause, which counts as at most `factor` times the usual one: a night says little
        about a conversation's pace, but a stream with one turn a day still gets a pace of a day.
        """
        count = min(self.count + 1, MEMORY)
        most = self.mean + math.log(factor)
        return Pace(count, self.mean + (min(_log_seconds(pause), most) - self.mean) / count)


PACE: Final = Pace(4, math.log(60))
"""The prior for a stream of which nothing is known: a minute, with enough weight that one quick answer is not yet a
pace.
"""


def _log_seconds(pause: timedelta) -> float:
    """Of at least a second: clocks of different writers differ and may go back."""
    return math.log(max(pause.total_seconds(), 1.0))
