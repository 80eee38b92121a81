"""The parts of a score in the five groups that people are shown, and the names of its parts in words."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from remembrancer.domain.recall import Part
from remembrancer.policies.ranking.signals import GROUPS, TITLES, SignalGroup

LED_FROM: Final = "score of the hit it is related to"
RELATION: Final = "weight of the relation"
"""The factors of the score of a memory that was found by a `similar` relation of a hit."""
PRECEDES: Final = "score of the hit that it precedes"
"""The part of a raised score: what a reply or a newer value gets from the hit that it was put before."""
LOWERED_AS_FLAGGED: Final = "lowered as instruction-like"
"""The factor of the score of a flagged memory."""

_OTHERS: Final[Mapping[str, SignalGroup]] = {
    "dense": SignalGroup.MEANING,
    "lexical": SignalGroup.WORDS,
    "context": SignalGroup.CONVERSATION,
    LED_FROM: SignalGroup.MEANING,
    RELATION: SignalGroup.MEANING,
    PRECEDES: SignalGroup.CONVERSATION,
}
"""The groups of the searches, and of leaves that are no signals."""


def group_of(label: str) -> SignalGroup:
    """The group of a signal, of a search (dense, lexical, context), or of another leaf of a score.

    Constants and novelty belong to the memory itself.
    """
    return GROUPS.get(label) or _OTHERS.get(label, SignalGroup.MEMORY)


def titled(label: str) -> str:
    """A signal's name in words; other labels are words already.

    >>> titled("late_interaction"), titled("weighted sum")
    ('meaning word by word', 'weighted sum')
    """
    return TITLES.get(label, label)


def by_signal(score: Part) -> dict[str, float]:
    """The contribution of each leaf to a score, by its label, in the order of the expression; they sum to it. Leaves
    that add nothing are left out.

    A product is divided equally between its factors, because each of them could make it 0: that is the Shapley value of
    a product. Factors of the memory itself count as one.
    """
    sums: dict[str, float] = {}
    _add(score, score.contribution, sums)
    return {label: added for label, added in sums.items() if added > 0}


def by_group(score: Part) -> dict[SignalGroup, float]:
    """The contribution of each group to a score, as in `by_signal`, in the order of the groups."""
    sums = dict.fromkeys(SignalGroup, 0.0)
    for label, added in by_signal(score).items():
        sums[group_of(label)] += added
    return {group: added for group, added in sums.items() if added}


def main_group(part: Part) -> SignalGroup:
    """The group that adds the most to a part; of a part that adds nothing, that of its first leaf."""
    sums = by_group(part)
    if sums:
        return max(sums, key=lambda group: sums[group])
    while part.parts:
        part = part.parts[0]
    return group_of(part.label)


def _add(part: Part, amount: float, sums: dict[str, float]) -> None:
    """Divide `amount`, what the part adds to the score, among its leaves."""
    if not part.parts:
        sums[part.label] = sums.get(part.label, 0.0) + amount
    elif part.is_product:
        own = [factor for factor in part.parts if _groups(factor) == {SignalGroup.MEMORY}]
        each = amount / (len(part.parts) - len(own) + bool(own))
        for factor in part.parts:
            _add(factor, each / len(own) if factor in own else each, sums)
    elif total := sum(inner.contribution for inner in part.parts):
        for inner in part.parts:
            _add(inner, amount * inner.contribution / total, sums)


def _groups(part: Part) -> set[SignalGroup]:
    inner = {group for each in part.parts for group in _groups(each)}
    return inner if part.parts else {group_of(part.label)}
