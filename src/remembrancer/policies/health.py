"""Health of a memory store: five metrics from 0 to 100, their weighted mean, and a band.

A metric without data, or that the preset cannot earn, is None; the weights of the others then add up to 1. Without any
data there is no score.
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
"""The median age at which freshness is 50."""
SAMPLE: Final = 500
"""The number of memories that are compared with their nearest neighbours."""
GREEN_FROM: Final = 75.0
YELLOW_FROM: Final = 50.0
_PLACES: Final = 9
"""Decimals of a score. Without rounding, five metrics of exactly 75 could average slightly less and get
another band.
"""


class Band(StrEnum):
    """The colour of a score: red < 50 <= yellow < 75 <= green."""

    RED = "red"
    YELLOW = "yellow"
    GREEN = "green"


class Metric(StrEnum):
    """The metrics, by descending weight; the values are the field names of Metrics."""

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
    """The freshness in percent: 100 if everything is new, 50 at a median age of 30 days, 25 at 60. A negative age
    counts as 0.

    >>> freshness([timedelta(days=30)])
    50.0
    """
    half_lives = [max(age, timedelta()) / HALF_LIFE for age in ages]
    return 100.0 * 0.5 ** median(half_lives) if half_lives else None


def coverage(indexed: int, embeddable: int) -> float | None:
    """The share of embeddable memories that have a vector. None without an embedder.

    >>> coverage(3, 4)
    75.0
    """
    return _share(indexed, embeddable)


def coherence(nearest: Sequence[float]) -> float | None:
    """The mean cosine of memories to their nearest neighbours; negative ones count as 0.

    >>> coherence([0.75, 0.25, -0.5, 0.0])
    25.0
    """
    return _mean_cosine(nearest)


def efficiency(shown: Sequence[float]) -> float | None:
    """The mean cosine of shown memories to their questions; negative ones count as 0."""
    return _mean_cosine(shown)


def reachability(related: int, indexed: int) -> float | None:
    """The share of memories with a vector that have a relation as well."""
    return _share(related, indexed)


def values(metrics: Metrics) -> dict[Metric, float | None]:
    """The value of each metric, by descending weight."""
    measured = asdict(metrics)
    return {metric: measured[metric] for metric in Metric}


def shares(metrics: Metrics) -> dict[Metric, float]:
    """The weight of each metric in this score. They add up to 1, unless no metric has a value."""
    measured = {metric for metric, value in values(metrics).items() if value is not None}
    whole = fsum(WEIGHTS[metric] for metric in measured)
    return {metric: WEIGHTS[metric] / whole if metric in measured else 0.0 for metric in Metric}


def score(metrics: Metrics) -> float | None:
    """The weighted mean of the measured metrics; None without any.

    >>> score(Metrics(freshness=90.0, coverage=60.0, coherence=None, efficiency=None, reachability=None))
    75.0
    """
    known = {metric: value for metric, value in values(metrics).items() if value is not None}
    if not known:
        return None
    weighed = fsum(WEIGHTS[metric] * value for metric, value in known.items())
    return round(weighed / fsum(WEIGHTS[metric] for metric in known), _PLACES)


def band(value: float | None) -> Band | None:
    """The band of a score or metric; None for None.

    >>> str(band(75.0)), str(band(50.0)), band(None)
    ('green', 'yellow', None)
    """
    if value is None:
        return None
    if value < YELLOW_FROM:
        return Band.RED
    return Band.YELLOW if value < GREEN_FROM else Band.GREEN


def weakest(metrics: Metrics) -> Metric | None:
    """The lowest metric; ties: the one with the greatest weight. None if no metric has a value."""
    known = {metric: value for metric, value in values(metrics).items() if value is not None}
    return min(known, key=lambda metric: known[metric], default=None)


def advice(metrics: Metrics) -> str:
    """Advice that improves the weakest metric; "" if it is green or no metric has a value."""
    low = weakest(metrics)
    return "" if low is None or band(values(metrics)[low]) is Band.GREEN else ADVICE[low]


def sample_order(ids: Iterable[UUID], seed: int) -> list[UUID]:
    """The ids in a pseudo-random order determined by the ids and the seed. The first n are a random sample.

    Each id has its own sort key, so a store that grows slightly has nearly the same sample the next day.
    """
    key = seed.to_bytes(8, "big")
    return sorted(ids, key=lambda one: (blake2b(one.bytes, digest_size=8, key=key).digest(), one.bytes))


def why_absent(metrics: Metrics, metric: Metric) -> str:
    """Why this metric has no value; "" if it has one."""
    if values(metrics)[metric] is not None:
        return ""
    if metrics.freshness is None:
        return "nothing was remembered"
    if metrics.coverage is None and metric is not Metric.EFFICIENCY:
        return "there was no embedder"
    if metrics.coverage and metric is Metric.REACHABILITY:
        return "the preset relates no memories by itself"
    return {
        Metric.COHERENCE: "fewer than two memories had a vector",
        Metric.EFFICIENCY: "no memory found by its vector was shown in the last 7 days",
        Metric.REACHABILITY: "no memory had all its vectors",
    }[metric]


ADVICE: Final[Mapping[Metric, str]] = MappingProxyType(
    {
        Metric.FRESHNESS: (
            "most memories are old: check that new events are still recorded, and forget outdated memories"
        ),
        Metric.COVERAGE: "many memories have no vector: `maintain` indexes them, `doctor` shows failures",
        Metric.COHERENCE: (
            "memories have little in common: separate subjects by workspace or crew, and forget unrelated ones"
        ),
        Metric.EFFICIENCY: "shown memories were dissimilar to their questions: ask in whole sentences, show fewer hits"
        " or set a minimum score",
        Metric.REACHABILITY: "few memories have relations: `link` some by hand, or lower `links.above`",
    }
)
"""Advice that improves each metric."""


def _share(part: int, whole: int) -> float | None:
    return min(100.0, 100.0 * part / whole) if whole > 0 else None


def _mean_cosine(cosines: Sequence[float]) -> float | None:
    if not cosines:
        return None
    return 100.0 * fsum(min(1.0, max(0.0, cosine)) for cosine in cosines) / len(cosines)
