"""Short explanations of a score by groups of signals: those that add the most, and those that set it apart from other
scores.
"""

from __future__ import annotations

from collections.abc import Sequence
from statistics import median
from typing import Final

from remembrancer.domain.recall import Part
from remembrancer.policies.ranking.groups import by_group
from remembrancer.policies.ranking.signals import SignalGroup

TELLING: Final = 0.05
"""A difference below this share of the greatest score is not worth naming."""


def leading(score: Part, count: int = 2) -> tuple[SignalGroup, ...]:
    """The groups that add the most to a score, at most `count`, the greatest first; empty if nothing adds to it."""
    sums = by_group(score)
    return tuple(sorted(sums, key=lambda group: -sums[group])[:count])


def setting_apart(score: Part, others: Sequence[Part], *, above: bool, count: int = 2) -> tuple[SignalGroup, ...]:
    """The groups that add more to a score (or, if not `above`, less) than their median in `others`, which may include
    it; the farthest first.
    """
    mine, theirs = by_group(score), [by_group(other) for other in others]
    greatest = max(sum(sums.values()) for sums in (mine, *theirs))
    apart = {
        group: mine.get(group, 0.0) - median(sums.get(group, 0.0) for sums in theirs or [mine]) for group in SignalGroup
    }
    telling = [
        group for group, by in apart.items() if (by > 0) == above and abs(by) >= TELLING * greatest and greatest > 0
    ]
    return tuple(sorted(telling, key=lambda group: -abs(apart[group]))[:count])
