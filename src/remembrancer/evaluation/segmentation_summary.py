"""One segmentation method's results over many dialogues, and its differences from another method."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from statistics import median
from typing import TYPE_CHECKING, Final

import numpy as np

from remembrancer.evaluation.segmentation_metrics import f1
from remembrancer.evaluation.statistics import FLIPS, LEVEL, RESAMPLES, Interval, bootstrap_intervals, holm, sign_flip_p
from remembrancer.values import dataclass

if TYPE_CHECKING:
    from numpy.typing import NDArray

PK: Final = "pk"
WINDOW_DIFF: Final = "window_diff"
F1: Final = "f1"
METRICS: Final = (PK, WINDOW_DIFF, F1)

_CHUNK: Final = 500
"""Assignments per matrix product, to bound memory."""
_EQUAL: Final = 1e-12
"""Differences up to this are treated as 0: they come from rounding."""


@dataclass(frozen=True, slots=True)
class DialogueOutcome:
    """One dialogue's metrics, averaged if the method returns several segmentations.

    `right`, `predicted`, `gold`: boundary counts.
    """

    id: str
    pk: float
    window_diff: float
    right: float
    predicted: float
    gold: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """One method over the dialogues of a set.

    `values`: pk and window_diff are means over dialogues; f1 is computed from the boundaries of all dialogues together.
    `intervals`: 95 % bootstrap over dialogues. `median_ms` per dialogue and `turns_per_second` over all: of segmenting
    alone, with the vectors already computed.
    """

    method: str
    dialogues: int
    values: dict[str, float]
    intervals: dict[str, Interval]
    right: float
    predicted: float
    gold: float
    median_ms: float
    turns_per_second: float

    @property
    def precision(self) -> float | None:
        return self.right / self.predicted if self.predicted else None

    @property
    def recall(self) -> float | None:
        return self.right / self.gold if self.gold else None


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """The first method's value minus the second's; for pk and window_diff, negative is better for the first.

    `p`: two-sided permutation test that exchanges the two methods on each dialogue at random; `p_holm`: `p` after
    Holm's correction over all comparisons on the set. `better`, `worse`, `tied`: number of dialogues on which the
    first method is better, worse or equal.
    """

    second: str
    metric: str
    difference: float
    interval: Interval
    p: float
    p_holm: float
    better: int
    worse: int
    tied: int


def summarise(
    method: str, outcomes: Sequence[DialogueOutcome], *, seed: int, seconds: Sequence[float], turns: int
) -> Result:
    """One method's results. `seconds`: the time that each dialogue took; `turns`: number of turns of all dialogues."""
    rows, counts = _rows(outcomes), _counts(outcomes)
    means = bootstrap_intervals(rows, rng=np.random.default_rng(seed))
    right, predicted, gold = (float(one) for one in counts.sum(axis=0))
    return Result(
        method=method,
        dialogues=len(outcomes),
        values={PK: float(rows[:, 0].mean()), WINDOW_DIFF: float(rows[:, 1].mean()), F1: f1(right, predicted, gold)},
        intervals={
            PK: Interval(*means[0].tolist()),
            WINDOW_DIFF: Interval(*means[1].tolist()),
            F1: _percentile_interval(_bootstrap_f1(counts, seed)),
        },
        right=right,
        predicted=predicted,
        gold=gold,
        median_ms=median(seconds) * 1_000,
        turns_per_second=turns / max(sum(seconds), 1e-9),
    )


def differences(
    first: Sequence[DialogueOutcome], others: Sequence[tuple[str, Sequence[DialogueOutcome]]], *, seed: int
) -> tuple[Difference, ...]:
    """The first method compared with each of the others, metric by metric. All lists have the same dialogues in the
    same order.
    """
    result: list[Difference] = []
    for name, second in others:
        moved = _rows(first) - _rows(second)
        ours, theirs = _counts(first), _counts(second)
        pooled = f1(*ours.sum(axis=0)) - f1(*theirs.sum(axis=0))
        intervals = [
            *(Interval(*one) for one in bootstrap_intervals(moved, rng=np.random.default_rng(seed)).tolist()),
            _percentile_interval(_bootstrap_f1(ours, seed) - _bootstrap_f1(theirs, seed)),
        ]
        p_values = [*sign_flip_p(moved, rng=np.random.default_rng(seed)).tolist(), _permutation_p(ours, theirs, seed)]
        each = np.column_stack([-moved, _ratio(ours) - _ratio(theirs)])
        values = [*moved.mean(axis=0).tolist(), pooled]
        for column, metric in enumerate(METRICS):
            result.append(
                Difference(
                    metric=metric,
                    second=name,
                    difference=values[column],
                    interval=intervals[column],
                    p=p_values[column],
                    p_holm=p_values[column],
                    better=int(np.count_nonzero(each[:, column] > _EQUAL)),
                    worse=int(np.count_nonzero(each[:, column] < -_EQUAL)),
                    tied=int(np.count_nonzero(np.abs(each[:, column]) <= _EQUAL)),
                )
            )
    return _corrected(result)


def _corrected(differences: Sequence[Difference]) -> tuple[Difference, ...]:
    corrected = holm({f"{one.second}: {one.metric}": one.p for one in differences})
    return tuple(replace(one, p_holm=corrected[f"{one.second}: {one.metric}"]) for one in differences)


def _rows(outcomes: Sequence[DialogueOutcome]) -> NDArray[np.float64]:
    return np.array([[one.pk, one.window_diff] for one in outcomes], dtype=np.float64)


def _counts(outcomes: Sequence[DialogueOutcome]) -> NDArray[np.float64]:
    return np.array([[one.right, one.predicted, one.gold] for one in outcomes], dtype=np.float64)


def _ratio(counts: NDArray[np.float64]) -> NDArray[np.float64]:
    """F1 of each row of (right, predicted, gold); 0 without any boundary."""
    below = counts[..., 1] + counts[..., 2]
    return np.divide(2 * counts[..., 0], below, out=np.zeros_like(below), where=below > 0)


def _bootstrap_f1(counts: NDArray[np.float64], seed: int) -> NDArray[np.float64]:
    """Pooled F1 of RESAMPLES bootstrap samples of the dialogues; every method gets the same samples."""
    size = len(counts)
    drawn = np.random.default_rng(seed).multinomial(size, np.full(size, 1 / size), size=RESAMPLES)
    return _ratio(drawn.astype(np.float64) @ counts)


def _percentile_interval(values: NDArray[np.float64]) -> Interval:
    """The LEVEL percentile interval of bootstrap values."""
    outside = (1 - LEVEL) / 2
    low, high = np.quantile(values, [outside, 1 - outside]).tolist()
    return Interval(low, high)


def _permutation_p(ours: NDArray[np.float64], theirs: NDArray[np.float64], seed: int) -> float:
    """Two-sided permutation p-value of the difference in pooled F1: (1 + assignments at least as far from 0) / (1 +
    FLIPS).

    Like statistics.sign_flip_p, for a metric that is not a mean over dialogues.
    """
    rng = np.random.default_rng(seed)
    observed = abs(float(_ratio(ours.sum(axis=0)) - _ratio(theirs.sum(axis=0)))) - _EQUAL
    both, differ = ours + theirs, ours - theirs
    extreme = 0
    for start in range(0, FLIPS, _CHUNK):
        signs = rng.integers(0, 2, size=(min(_CHUNK, FLIPS - start), len(ours))) * 2.0 - 1.0
        one = (both.sum(axis=0) + signs @ differ) / 2
        other = (both.sum(axis=0) - signs @ differ) / 2
        extreme += int(np.count_nonzero(np.abs(_ratio(one) - _ratio(other)) >= observed))
    return (1 + extreme) / (1 + FLIPS)
