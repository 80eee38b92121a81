"""How alike turns are, by their vectors, or by their words where a vector is missing; and what is usual of that."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

import numpy as np

from remembrancer.language.lexical import analyse
from remembrancer.policies.segmentation.segments import Turn

MEMORY: Final = 64
"""What is usual is counted over about so many turns: a stream that changes its manner is followed within as many."""

LEAST_SPREAD: Final = 0.02
"""Likeness varies by no less than this: else chance alone would be a shift where all turns are the same."""

FARTHEST: Final = 4.0
"""No turn is taken to be farther from usual than so many standard deviations."""


class Measure(StrEnum):
    VECTORS = "vectors"
    WORDS = "words"


@dataclass(frozen=True, slots=True)
class Usual:
    """Mean and variance of the likeness of a turn to the one before it, as far as the stream was read.

    Both run: a turn counts by 1 / `count`, with itself, and by no less than 1 / MEMORY.
    """

    count: int
    mean: float
    variance: float

    def seen(self, likeness: float) -> Usual:
        count = min(self.count + 1, MEMORY)
        off = likeness - self.mean
        mean = self.mean + off / count
        return Usual(count, mean, self.variance + (off * (likeness - mean) - self.variance) / count)

    def standing(self, likeness: float) -> float:
        """How far above what is usual, in standard deviations, within ±FARTHEST.

        So it does not matter how near each other an embedder places texts, nor whether they are compared by words.
        """
        apart = (likeness - self.mean) / max(math.sqrt(max(self.variance, 0.0)), LEAST_SPREAD)
        return min(max(apart, -FARTHEST), FARTHEST)


USUAL: Final[Mapping[Measure, Usual]] = {
    Measure.VECTORS: Usual(1, 0.4, 0.18**2),
    Measure.WORDS: Usual(1, 0.08, 0.14**2),
}
"""Of a stream of which nothing is known: about as chat, tasks and meetings are with the local embedder. It counts like
one turn: more would hold back embedders that place texts nearer each other.
"""


class Likeness:
    """Of some turns, by their places: each pair is worked out when it is first asked for."""

    def __init__(self, turns: Sequence[Turn]) -> None:
        self._turns = turns
        self._vectors = {at: turn.vector for at, turn in enumerate(turns) if turn.vector is not None}
        self._terms: dict[int, tuple[str, ...]] = {}
        self._bags: dict[int, Mapping[str, float]] = {}
        self._pairs: dict[tuple[int, int, Measure], float] = {}

    def measure(self, start: int, end: int) -> Measure:
        """By what the turns `start` to `end`, exclusive, are compared: by words if only one of them has no vector."""
        return Measure.VECTORS if all(at in self._vectors for at in range(start, end)) else Measure.WORDS

    def pair(self, one: int, other: int, measure: Measure) -> float:
        """The cosine of two turns, in [-1, 1]; by words in [0, 1], 0 where one of them has none. By vectors both must
        have one (`measure`), of the same embedder.
        """
        key = (min(one, other), max(one, other), measure)
        found = self._pairs.get(key)
        if found is None:
            found = self._by_words(one, other) if measure is Measure.WORDS else self._by_vectors(one, other)
            self._pairs[key] = found
        return found

    def blocks(self, start: int, middle: int, end: int, measure: Measure) -> float:
        """The cosine of the sum of turns `start` to `middle` with that of turns `middle` to `end`, both exclusive."""
        across = sum(self.pair(one, other, measure) for one in range(start, middle) for other in range(middle, end))
        lengths = self._square(start, middle, measure) * self._square(middle, end, measure)
        return across / math.sqrt(lengths) if lengths > 0 else 0.0

    def mean(self, place: int, start: int, end: int, measure: Measure) -> float:
        """The mean likeness of one turn to the turns `start` to `end`, exclusive."""
        return sum(self.pair(one, place, measure) for one in range(start, end)) / (end - start)

    def terms(self, place: int) -> tuple[str, ...]:
        """The terms of a turn that carry meaning, repeats kept."""
        if place not in self._terms:
            self._terms[place] = analyse(self._turns[place].text).terms
        return self._terms[place]

    def _square(self, start: int, end: int, measure: Measure) -> float:
        """The squared length of the sum of some turns, each of unit length, or without any where it has no words."""
        inner = sum(self.pair(one, other, measure) for one in range(start, end) for other in range(one + 1, end))
        empty = sum(not self._bag(at) for at in range(start, end)) if measure is Measure.WORDS else 0
        return end - start - empty + 2 * inner

    def _by_vectors(self, one: int, other: int) -> float:
        return float(np.dot(self._vectors[one], self._vectors[other]))

    def _by_words(self, one: int, other: int) -> float:
        few, many = sorted((self._bag(one), self._bag(other)), key=len)
        return sum(weight * many[term] for term, weight in few.items() if term in many)

    def _bag(self, place: int) -> Mapping[str, float]:
        """Each term by 1 + ln of how often it stands there, to unit length."""
        if place not in self._bags:
            weights = {term: 1 + math.log(count) for term, count in Counter(self.terms(place)).items()}
            length = math.sqrt(sum(weight * weight for weight in weights.values()))
            self._bags[place] = {term: weight / length for term, weight in weights.items()}
        return self._bags[place]
