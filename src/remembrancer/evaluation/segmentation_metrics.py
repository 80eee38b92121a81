"""Metrics that compare a segmentation with the gold segmentation made by people.

A segmentation is the lengths of its segments, in turns, in order. Both must cover the same number of turns, at least
two, without empty segments; otherwise InvalidInput is raised.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate

from remembrancer.errors import InvalidInput
from remembrancer.values import dataclass


@dataclass(frozen=True, slots=True)
class BoundaryCounts:
    """Boundary counts: `predicted` by the method, `gold` by people, and `right`, those in both at exactly the same
    place.
    """

    right: int
    predicted: int
    gold: int


def window(gold: Sequence[int]) -> int:
    """The window size k: half the mean length of a gold segment, rounded half up, at least 2 and less than the number
    of turns.

    >>> window((4, 6, 8))
    3
    """
    turns = sum(gold)
    return min(max(2, (turns + len(gold)) // (2 * len(gold))), turns - 1)


def pk(gold: Sequence[int], predicted: Sequence[int]) -> float:
    """Pk: the share of pairs of turns k apart on which the two segmentations disagree whether both are in one segment.

    0 for the gold segmentation itself. Source: Beeferman, Berger and Lafferty, Machine Learning 34, 1999.

    >>> pk((4, 4), (8,))
    0.3333333333333333
    """
    return _disagreement(gold, predicted, exact=False)


def window_diff(gold: Sequence[int], predicted: Sequence[int]) -> float:
    """WindowDiff: the share of pairs of turns k apart with a different number of boundaries between them than in the
    gold segmentation.

    Source: Pevzner and Hearst, Computational Linguistics 28(1), 2002.

    >>> window_diff((4, 4), (4, 1, 3))
    0.3333333333333333
    """
    return _disagreement(gold, predicted, exact=True)


def found(gold: Sequence[int], predicted: Sequence[int]) -> BoundaryCounts:
    """Count the boundaries that match exactly.

    >>> found((4, 4), (4, 1, 3))
    BoundaryCounts(right=1, predicted=2, gold=1)
    """
    _check(gold, predicted)
    ours, theirs = boundaries(predicted), boundaries(gold)
    return BoundaryCounts(len(ours & theirs), len(ours), len(theirs))


def f1(right: float, predicted: float, gold: float) -> float:
    """F1: 2 right / (predicted + gold): the harmonic mean of precision and recall; 0 without any boundary."""
    return 2 * right / (predicted + gold) if predicted + gold else 0.0


def boundaries(lengths: Sequence[int]) -> frozenset[int]:
    """The indices of the turns that begin a segment, except the first turn.

    >>> sorted(boundaries((4, 1, 3)))
    [4, 5]
    """
    return frozenset(accumulate(lengths[:-1]))


def lengths(starts: Sequence[int], turns: int) -> tuple[int, ...]:
    """The inverse of `boundaries`: segment lengths from the ascending indices of the turns that begin a segment, except
    the first turn.

    >>> lengths((4, 5), 8)
    (4, 1, 3)
    """
    return tuple(end - start for start, end in zip((0, *starts), (*starts, turns), strict=True))


def _disagreement(gold: Sequence[int], predicted: Sequence[int], *, exact: bool) -> float:
    _check(gold, predicted)
    turns, k = sum(gold), window(gold)
    theirs, ours = _numbers(gold), _numbers(predicted)
    wrong = 0
    for start in range(turns - k):
        expected, said = theirs[start + k] - theirs[start], ours[start + k] - ours[start]
        wrong += expected != said if exact else bool(expected) != bool(said)
    return wrong / (turns - k)


def _numbers(lengths: Sequence[int]) -> list[int]:
    """The number of the segment that each turn is in."""
    return [number for number, length in enumerate(lengths) for _ in range(length)]


def _check(gold: Sequence[int], predicted: Sequence[int]) -> None:
    for name, segments in (("gold", gold), ("predicted", predicted)):
        if min(segments, default=0) < 1:
            raise InvalidInput(name, list(segments), "lengths of at least 1")
    if sum(gold) != sum(predicted) or sum(gold) < 2:
        raise InvalidInput("predicted", list(predicted), f"lengths of {sum(gold)} turns, at least 2, as the gold has")
