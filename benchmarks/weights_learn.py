"""Weights learned listwise, and what a ranking by given weights finds.

ListNet (Cao et al., ICML 2007), top one: the cross entropy between the softmax of the scores over a question's
candidates and the even distribution over its evidence. Weights are not negative and are drawn towards the present ones.
The loss is convex, so Newton's method finds its least value.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from benchmarks.weights_record import NAMES, Recorded

PULL: Final = 0.002
"""The weight of the squared distance from the present weights, beside a mean loss per question of about 2."""
SHOWN: Final = 100
"""The candidates of a question that are learned from: the best by the present weights, and the evidence."""
STEPS: Final = 40
ENOUGH: Final = 1e-7
METRICS: Final = ("recall@10", "ndcg@10", "any@10", "all@10", "recall@20", "recall@5")

Weights = Mapping[str, float]
"""Weights by signal."""
Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True)
class Lesson:
    """What is learned from one data set. `signals` (candidates, NAMES) without NaN; `target`: the share of each
    candidate of its question's evidence.
    """

    signals: Floats
    target: Floats
    starts: NDArray[np.int64]

    @classmethod
    def of(cls, data: Recorded, present: Weights) -> Lesson:
        signals = np.nan_to_num(data.signals.astype(np.float64))
        scores = signals @ column(present)
        rows: list[NDArray[np.int64]] = []
        targets: list[Floats] = []
        for start, end in zip(data.starts[:-1], data.starts[1:], strict=True):
            gold = data.gold[start:end]
            if not gold.any():
                continue
            kept = np.union1d(np.argsort(-scores[start:end], kind="stable")[:SHOWN], np.flatnonzero(gold))
            rows.append(start + kept)
            targets.append(gold[kept] / gold.sum())
        return cls(
            signals=signals[np.concatenate(rows)],
            target=np.concatenate(targets),
            starts=np.concatenate([[0], np.cumsum([len(one) for one in rows])]),
        )

    def slope(self, weights: Floats, used: Sequence[int]) -> tuple[Floats, Floats]:
        """The gradient and the Hessian of the mean loss per question, over the `used` signals."""
        signals, first = self.signals[:, used], self.starts[:-1]
        count = len(first)
        sizes = np.diff(self.starts)
        scores = signals @ weights
        scores = scores - np.repeat(np.maximum.reduceat(scores, first), sizes)
        grown = np.exp(scores)
        total = np.add.reduceat(grown, first)
        shares = grown / np.repeat(total, sizes)
        means = np.add.reduceat(signals * shares[:, np.newaxis], first, axis=0)
        gradient = (shares - self.target) @ signals / count
        curvature = ((signals * shares[:, np.newaxis]).T @ signals - means.T @ means) / count
        return gradient, curvature


def column(weights: Weights) -> Floats:
    """Weights in the order of NAMES."""
    return np.array([weights.get(name, 0.0) for name in NAMES])


def learn(lessons: Sequence[Lesson], present: Weights, names: Sequence[str], fixed: Weights) -> dict[str, float]:
    """Weights of `names`; with `fixed`, which are not learned, they have the sum of the present ones.

    A data set counts by the square root of its questions: a large one shows more, and should not decide alone.
    """
    used = [NAMES.index(name) for name in names]
    start = np.array([present.get(name, 0.0) for name in names])
    scale = _scale(lessons, start, used)
    towards = start * scale
    weights = towards.copy()
    for _ in range(STEPS):
        slope, bend = _together(lessons, weights, used)
        gradient = slope + 2 * PULL * (weights - towards)
        curvature = bend + 2 * PULL * np.eye(len(used))
        step = _least(curvature, gradient - curvature @ weights, weights) - weights
        weights = weights + step
        if np.abs(step).max() < ENOUGH * scale:
            break
    total = sum(present.values()) - sum(fixed.values())
    return {**dict(zip(names, (weights / weights.sum() * total).tolist(), strict=True)), **fixed}


def _together(lessons: Sequence[Lesson], weights: Floats, used: Sequence[int]) -> tuple[Floats, Floats]:
    """The gradient and the Hessian of the mean loss over the data sets."""
    counts = np.sqrt([len(lesson.starts) - 1 for lesson in lessons])
    told = [lesson.slope(weights, used) for lesson in lessons]
    gradient = np.average([one[0] for one in told], axis=0, weights=counts)
    return gradient, np.average([one[1] for one in told], axis=0, weights=counts)


def _scale(lessons: Sequence[Lesson], start: Floats, used: Sequence[int]) -> float:
    """The factor of the present weights that makes the loss least."""
    scale = 20.0
    for _ in range(STEPS):
        slope, bend = _together(lessons, start * scale, used)
        step = float(np.clip(-(slope @ start) / (start @ bend @ start), -scale / 2, scale))
        scale += step
        if abs(step) < ENOUGH * scale:
            break
    return scale


def _least(curvature: Floats, linear: Floats, start: Floats) -> Floats:
    """The weights, not negative, for which 1/2 w'Cw + l'w is least, by coordinate descent."""
    weights = start.copy()
    for _ in range(500):
        before = weights.copy()
        for place in range(len(weights)):
            rest = linear[place] + curvature[place] @ weights - curvature[place, place] * weights[place]
            weights[place] = max(0.0, -rest / curvature[place, place])
        if np.abs(weights - before).max() < ENOUGH:
            break
    return weights


def found(data: Recorded, weights: Weights) -> Floats:
    """METRICS of each question, shape (questions, METRICS), ranked by the weights."""
    scores = np.nan_to_num(data.signals.astype(np.float64)) @ column(weights)
    discount = 1 / np.log2(np.arange(2, 12))
    values = np.zeros((len(data.golds), len(METRICS)))
    for place, (start, end) in enumerate(zip(data.starts[:-1], data.starts[1:], strict=True)):
        best = np.argsort(-scores[start:end], kind="stable")[:20]
        hits = data.gold[start:end][best].astype(np.float64)
        golds = int(data.golds[place])
        first = hits[:10]
        gained = first @ discount[: len(first)]
        ideal = discount[: min(10, golds)].sum()
        ten = first.sum()
        values[place] = (ten / golds, gained / ideal, ten > 0, ten == golds, hits.sum() / golds, hits[:5].sum() / golds)
    return values
