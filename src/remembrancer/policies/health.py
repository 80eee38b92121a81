"""How well a memory is doing: five metrics from 0 to 100, what they make together, and what to call it.

A metric without data is None and weighs nothing: its weight is shared out among the others. Without any data there is
no score at all, which is not a bad one.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from datetime import timedelta
from enum import StrEnum
from hashlib import blake2b
from math import fsum
from statistics import median
from types import MappingProxyType
from typing import Final
from uuid import UUID

from remembrancer.domain.health import Metrics

HALF_LIFE: Final = timedelta(days=30)
"""Of freshness: content of this median age is worth half of what is new."""
SAMPLE: Final = 500
"""Memories whose nearest neighbour is looked for."""
GREEN_FROM: Final = 75.0
YELLOW_FROM: Final = 50.0
_PLACES: Final = 9
"""Decimals of a score. Without rounding, metrics of exactly 75 may add up to a hair less, which is another band."""


class Band(StrEnum):
    """red < 50 <= yellow < 75 <= green."""

    RED = "red"
    YELLOW = "yellow"
    GREEN = "green"


class Metric(StrEnum):
    """The names of the fields of Metrics, heaviest first."""

    FRESHNESS = "freshness"
    COVERAGE = "coverage"
    COHERENCE = "coherence"
    EFFICIENCY = "efficiency"
    REACHABILITY = "reachability"


WEIGHTS: Final[Mapping[Metric, float]] = MappingProxyType(
    {
        Metric.FRESHNESS: 0.25,
        Metric.COVERAGE: 0.25,
        Metric.COHERENCE: 0.20,
        Metric.EFFICIENCY: 0.15,
        Metric.REACHABILITY: 0.15,
    }
)


def freshness(ages: Iterable[timedelta]) -> float | None:
    """100 when all is new, half of it at a median age of 30 days, and half again at 60. An age below 0 counts as 0.

    >>> freshness([timedelta(days=30)])
    50.0
    """
    half_lives = [max(age, timedelta()) / HALF_LIFE for age in ages]
    return 100.0 * 0.5 ** median(half_lives) if half_lives else None


def coverage(indexed: int, embeddable: int) -> float | None:
    """The share of what can have a vector that has it. Without an embedder nothing can.

    >>> coverage(3, 4)
    75.0
    """
    return _share(indexed, embeddable)


def coherence(nearest: Sequence[float]) -> float | None:
    """The mean cosine of memories to their nearest neighbours; below 0 counts as 0.

    >>> coherence([0.75, 0.25, -0.5, 0.0])
    25.0
    """
    return _mean_cosine(nearest)


def efficiency(shown: Sequence[float]) -> float | None:
    """The mean cosine, to its question, of what was shown; below 0 counts as 0."""
    return _mean_cosine(shown)


def reachability(related: int, indexed: int) -> float | None:
    """The share of what has a vector that has an edge too."""
    return _share(related, indexed)


def values(metrics: Metrics) -> dict[Metric, float | None]:
    """Each metric's value, heaviest first."""
    measured = asdict(metrics)
    return {metric: measured[metric] for metric in Metric}


def shares(metrics: Metrics) -> dict[Metric, float]:
    """What each metric weighs in this score: they sum up to 1, unless nothing was measured."""
    measured = {metric for metric, value in values(metrics).items() if value is not None}
    whole = fsum(WEIGHTS[metric] for metric in measured)
    return {metric: WEIGHTS[metric] / whole if metric in measured else 0.0 for metric in Metric}


def score(metrics: Metrics) -> float | None:
    """The weighted mean of what was measured; None: no data.

    >>> score(Metrics(freshness=90.0, coverage=60.0, coherence=None, efficiency=None, reachability=None))
    75.0
    """
    known = {metric: value for metric, value in values(metrics).items() if value is not None}
    if not known:
        return None
    weighed = fsum(WEIGHTS[metric] * value for metric, value in known.items())
    return round(weighed / fsum(WEIGHTS[metric] for metric in known), _PLACES)


def band(value: float | None) -> Band | None:
    """What to call a score or a metric; None, which is no data, has no band.

    >>> str(band(75.0)), str(band(50.0)), band(None)
    ('green', 'yellow', None)
    """
    if value is None:
        return None
    if value < YELLOW_FROM:
        return Band.RED
    return Band.YELLOW if value < GREEN_FROM else Band.GREEN


def weakest(metrics: Metrics) -> Metric | None:
    """The lowest metric, of equals the heaviest; None where nothing was measured."""
    known = {metric: value for metric, value in values(metrics).items() if value is not None}
    return min(known, key=lambda metric: known[metric], default=None)


def advice(metrics: Metrics) -> str:
    """What to do about the weakest metric; empty where that is green, or there is none."""
    low = weakest(metrics)
    return "" if low is None or band(values(metrics)[low]) is Band.GREEN else ADVICE[low]


def sample_order(ids: Iterable[UUID], seed: int) -> list[UUID]:
    """The ids as if shuffled: a function of the ids and the seed alone, whose first n are a fair sample of n.

    Each id has its place by itself, so that a store that grows a little has nearly the same sample the next day.
    """
    key = seed.to_bytes(8, "big")
    return sorted(ids, key=lambda one: (blake2b(one.bytes, digest_size=8, key=key).digest(), one.bytes))


def why_absent(metrics: Metrics, metric: Metric) -> str:
    """Why that metric has no value; empty where it has one."""
    if values(metrics)[metric] is not None:
        return ""
    if metrics.freshness is None:
        return "nothing was remembered"
    if metrics.coverage is None and metric is not Metric.EFFICIENCY:
        return "there was no embedder"
    return {
        Metric.COHERENCE: "fewer than two memories had a vector",
        Metric.EFFICIENCY: "nothing found by meaning was shown in the 7 days before",
        Metric.REACHABILITY: "no memory had all its vectors",
    }[metric]


ADVICE: Final[Mapping[Metric, str]] = MappingProxyType(
    {
        Metric.FRESHNESS: "most of what is kept is old: see that what happens is still recorded, and forget what is"
        " over",
        Metric.COVERAGE: "much is found by its words only: `maintain` indexes what waits, `doctor` says what failed",
        Metric.COHERENCE: "memories have little to do with each other: give unlike matters workspaces or crews of their"
        " own, and forget strays",
        Metric.EFFICIENCY: "what was shown lay far from its question: ask in whole sentences, show fewer hits or set a"
        " least score",
        Metric.REACHABILITY: "few memories are joined to another: `link` some by hand, or use a preset that joins what"
        " is alike",
    }
)
"""What to do about a metric that is low."""


def _share(part: int, whole: int) -> float | None:
    return min(100.0, 100.0 * part / whole) if whole > 0 else None


def _mean_cosine(cosines: Sequence[float]) -> float | None:
    if not cosines:
        return None
    return 100.0 * fsum(min(1.0, max(0.0, cosine)) for cosine in cosines) / len(cosines)
