"""Confidence intervals by bootstrap, sign-flip permutation tests, and Holm's correction for several tests.

Nothing here assumes a distribution. Random draws use the generator that the caller passes, so the same seed gives the
same results.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from itertools import product
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from remembrancer.domain import validation
from remembrancer.errors import InvalidInput

if TYPE_CHECKING:
    from numpy.typing import NDArray

LEVEL: Final = 0.95
RESAMPLES: Final = 1_000
FLIPS: Final = 10_000
"""Sign assignments that a permutation test draws; when there are at most this many in all, each is used once."""

Z_95: Final = 1.959963984540054
"""The 97.5 % quantile of the normal distribution."""

_CHUNK: Final = 500
"""Sign assignments per matrix product, to bound memory."""
_EQUAL: Final = 1e-9
"""Sums that differ by less are treated as equal: they differ by rounding only."""


class Interval(NamedTuple):
    """A confidence interval, both ends included."""

    low: float
    high: float


def bootstrap_intervals(
    values: NDArray[np.float64],
    *,
    rng: np.random.Generator,
    clusters: Sequence[object] | None = None,
    resamples: int = RESAMPLES,
    level: float = LEVEL,
) -> NDArray[np.float64]:
    """Percentile bootstrap intervals of the mean of each column: shape (columns, 2), low and high.

    `values`: one row per question, one column per metric; all columns share each draw. Rows are drawn with replacement
    `resamples` times. Source: Efron and Tibshirani, An Introduction to the Bootstrap, 1993, ch. 13.

    `clusters`, one per row: whole clusters are drawn instead of rows, and the mean is over all rows of the drawn
    clusters. Rows of one cluster resemble each other, so this interval is usually wider; it covers the variation
    between clusters. Source: Davison and Hinkley, Bootstrap Methods and their Application, 1997, §3.8.

    Raises InvalidInput when there is no row.
    """
    rows = values.shape[0]
    if rows == 0:
        raise InvalidInput("values", "no row", "at least one question")
    names = range(rows) if clusters is None else clusters
    number = {name: place for place, name in enumerate(dict.fromkeys(names))}
    of_row = np.array([number[name] for name in names])
    sums = np.zeros((len(number), values.shape[1]))
    np.add.at(sums, of_row, values)
    sizes = np.bincount(of_row, minlength=len(number)).astype(np.float64)
    drawn = rng.multinomial(len(number), np.full(len(number), 1 / len(number)), size=resamples).astype(np.float64)
    means = (drawn @ sums) / (drawn @ sizes)[:, np.newaxis]
    outside = (1 - level) / 2
    return np.quantile(means, [outside, 1 - outside], axis=0).T


def sign_flip_p(
    differences: NDArray[np.float64], *, rng: np.random.Generator, flips: int = FLIPS
) -> NDArray[np.float64]:
    """Two-sided p-values of a paired permutation test, one per column, shape (columns,).

    `differences`: one row per question, one column per metric, the first system's value minus the second's. Under the
    null hypothesis the systems are exchangeable, so the sign of each row is random. With at most log2(`flips`) rows
    that are not all zero, every assignment of signs is used and p is exact; otherwise `flips` assignments are drawn and
    p is (1 + assignments with a mean at least as far from 0) / (1 + flips), which is never 0. Columns share the
    assignments.

    Sources: Fisher, The Design of Experiments, 1935, §21; Smucker, Allan and Carterette, CIKM 2007 (for comparing
    retrieval systems); Phipson and Smyth, 2010 (for adding 1).
    """
    nonzero = differences[np.any(differences != 0, axis=1)]
    rows = nonzero.shape[0]
    observed = np.abs(nonzero.sum(axis=0)) - _EQUAL
    if 2**rows <= flips:
        signs = np.array(list(product((1.0, -1.0), repeat=rows))).reshape(2**rows, rows)
        return np.mean(np.abs(signs @ nonzero) >= observed, axis=0)
    extreme = np.zeros(differences.shape[1])
    for start in range(0, flips, _CHUNK):
        signs = rng.integers(0, 2, size=(min(_CHUNK, flips - start), rows)) * 2.0 - 1.0
        extreme += np.count_nonzero(np.abs(signs @ nonzero) >= observed, axis=0)
    return (1 + extreme) / (1 + flips)


def holm(p_values: Mapping[str, float]) -> dict[str, float]:
    """Holm's step-down correction: p-values adjusted so that the chance of any false positive stays below the level.

    The i-th smallest of m p-values, i from 1, is multiplied by (m - i + 1), raised to at least the one before, and
    capped at 1. Source: Holm, Scandinavian Journal of Statistics 6, 1979.

    >>> holm({"a": 0.01, "b": 0.04, "c": 0.03})
    {'a': 0.03, 'b': 0.06, 'c': 0.06}
    """
    corrected: dict[str, float] = {}
    least = 0.0
    for place, name in enumerate(sorted(p_values, key=lambda name: p_values[name])):
        least = max(least, min(1.0, p_values[name] * (len(p_values) - place)))
        corrected[name] = least
    return {name: corrected[name] for name in p_values}


def wilson(successes: int, trials: int) -> Interval:
    """The 95 % score interval of a proportion, within [0, 1]; it has a positive width even for 0 or all successes.

    Source: Wilson, JASA 22, 1927. Raises InvalidInput without a trial.
    """
    validation.whole("trials", trials, 1, 2**62)
    validation.whole("successes", successes, 0, trials)
    share, square = successes / trials, Z_95 * Z_95 / trials
    middle = share + square / 2
    reach = Z_95 * math.sqrt(share * (1 - share) / trials + square / (4 * trials))
    return Interval(max(0.0, (middle - reach) / (1 + square)), min(1.0, (middle + reach) / (1 + square)))
