"""Running statistics of a stream: the similarity of successive turns, by vectors or by words, and the pauses."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import timedelta
from enum import StrEnum
from typing import Final

import numpy as np

from remembrancer.language.lexical import analyse
from remembrancer.policies.segmentation.segments import StreamTurn
from remembrancer.values import dataclass

MEMORY: Final = 64
"""The approximate number of turns in a running mean, so that it follows a change of style within as many."""

LEAST_SPREAD: Final = 0.02
"""The least standard deviation of similarity. Without it, random differences would count as a topic shift in a stream
of nearly equal turns.
"""

FARTHEST: Final = 4.0
"""z-scores are limited to ± this value."""


class Measure(StrEnum):
    VECTORS = "vectors"
    WORDS = "words"


@dataclass(frozen=True, slots=True)
class Usual:
    """The running mean and variance of the similarity of each turn to the one before it.

    A turn has weight 1 / `count`, itself included, and at least 1 / MEMORY.
    """

    count: int
    mean: float
    variance: float

    def seen(self, likeness: float) -> Usual:
        count = min(self.count + 1, MEMORY)
        off = likeness - self.mean
        mean = self.mean + off / count
        return Usual(count, mean, self.variance + (off * (likeness - mean) - self.variance) / count)

    def z_score(self, likeness: float) -> float:
        """The z-score of a similarity, limited to ±FARTHEST.

        It is comparable across embedders, and between vectors and words.
        """
        apart = (likeness - self.mean) / max(math.sqrt(max(self.variance, 0.0)), LEAST_SPREAD)
        return min(max(apart, -FARTHEST), FARTHEST)


USUAL: Final[Mapping[Measure, Usual]] = {
    Measure.VECTORS: Usual(1, 0.4, 0.18**2),
    Measure.WORDS: Usual(1, 0.08, 0.14**2),
}
"""The prior for a new stream: about the values of chat, tasks and meetings with the local embedder. It has the weight
of one turn; with more weight, streams of other embedders would adapt more slowly.
"""


class Likeness:
    """Similarities of turns, by index. Each pair is computed on first use."""

    def __init__(self, turns: Sequence[StreamTurn]) -> None:
        self._turns = turns
        self._vectors = {at: turn.vector for at, turn in enumerate(turns) if turn.vector is not None}
        self._terms: dict[int, tuple[str, ...]] = {}
        self._bags: dict[int, Mapping[str, float]] = {}
        self._pairs: dict[tuple[int, int, Measure], float] = {}

    def measure(self, start: int, end: int) -> Measure:
        """The comparison of the turns from `start` to `end` (exclusive): by words if any of them has no vector."""
        return Measure.VECTORS if all(at in self._vectors for at in range(start, end)) else Measure.WORDS

    def pair(self, one: int, other: int, measure: Measure) -> float:
        """The cosine of two turns: in [-1, 1] by vectors; in [0, 1] by words, and 0 if one has no words. By vectors,
        both must have one, from the same embedder.
        """
        key = (min(one, other), max(one, other), measure)
        found = self._pairs.get(key)
        if found is None:
            found = self._by_words(one, other) if measure is Measure.WORDS else self._by_vectors(one, other)
            self._pairs[key] = found
        return found

    def blocks(self, start: int, middle: int, end: int, measure: Measure) -> float:
        """The cosine of two sums of turns: from `start` to `middle`, and from `middle` to `end` (ends exclusive)."""
        across = sum(self.pair(one, other, measure) for one in range(start, middle) for other in range(middle, end))
        lengths = self._square(start, middle, measure) * self._square(middle, end, measure)
        return across / math.sqrt(lengths) if lengths > 0 else 0.0

    def mean(self, place: int, start: int, end: int, measure: Measure) -> float:
        """The mean similarity of a turn to the turns from `start` to `end` (exclusive)."""
        return sum(self.pair(one, place, measure) for one in range(start, end)) / (end - start)

    def terms(self, place: int) -> tuple[str, ...]:
        """The terms of a turn without stop words, with repeats."""
        if place not in self._terms:
            self._terms[place] = analyse(self._turns[place].text).terms
        return self._terms[place]

    def _square(self, start: int, end: int, measure: Measure) -> float:
        """The squared length of the sum of the turns' unit vectors; a turn without words adds nothing."""
        inner = sum(self.pair(one, other, measure) for one in range(start, end) for other in range(one + 1, end))
        empty = sum(not self._bag(at) for at in range(start, end)) if measure is Measure.WORDS else 0
        return end - start - empty + 2 * inner

    def _by_vectors(self, one: int, other: int) -> float:
        return float(np.dot(self._vectors[one], self._vectors[other]))

    def _by_words(self, one: int, other: int) -> float:
        few, many = sorted((self._bag(one), self._bag(other)), key=len)
        return sum(weight * many[term] for term, weight in few.items() if term in many)

    def _bag(self, place: int) -> Mapping[str, float]:
        """The terms of a turn with weights 1 + ln(count), as a unit vector."""
        if place not in self._bags:
            weights = {term: 1 + math.log(count) for term, count in Counter(self.terms(place)).items()}
            length = math.sqrt(sum(weight * weight for weight in weights.values()))
            self._bags[place] = {term: weight / length for term, weight in weights.items()}
        return self._bags[place]


@dataclass(frozen=True, slots=True)
class Pace:
    """The usual pause between turns of a stream. `mean`: the running mean of the natural logarithms of the pauses, in
    seconds, weighted as in `Usual`.

    Logarithms, because pauses range from seconds to weeks.
    """

    count: int
    mean: float

    @property
    def usual(self) -> timedelta:
        """The geometric mean of the pauses."""
        return timedelta(seconds=math.exp(self.mean))

    def seen(self, pause: timedelta, factor: float) -> Pace:
        """The pace after one more pause, which counts as at most `factor` times the usual pause: a night says little
        about a conversation's pace, but a stream with one turn a day still gets a pace of a day.
        """
        count = min(self.count + 1, MEMORY)
        most = self.mean + math.log(factor)
        return Pace(count, self.mean + (min(_log_seconds(pause), most) - self.mean) / count)


PACE: Final = Pace(4, math.log(60))
"""The prior for a new stream: one minute, with the weight of four pauses."""


def _log_seconds(pause: timedelta) -> float:
    """The logarithm of the seconds, at least 0: clocks of different writers differ, so a pause may be negative."""
    return math.log(max(pause.total_seconds(), 1.0))
