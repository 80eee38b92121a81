"""A preset's rule for merging near-duplicate memories; `compacting` applies it."""

from __future__ import annotations

from remembrancer.domain import validation
from remembrancer.domain.memory import Tier
from remembrancer.values import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Compaction:
    """The condition for merging memories of these tiers: the Jaccard similarity of their words is above `above`, they
    make the same claim (`near_duplicates`), and their shared words are in the same order.

    `reworded`: merge also if each has words that the other lacks; otherwise one must have all words of the other.
    `across_sessions`: merge also across sessions. `after_learning`: merge also when learnings have been extracted from
    a session, not only on schedule.
    """

    above: float = 0.8
    reworded: bool = True
    across_sessions: bool = False
    after_learning: bool = False
    tiers: tuple[Tier, ...] = (Tier.SEMANTIC,)

    def __post_init__(self) -> None:
        validation.number("compaction.above", self.above, 0.05, 0.999)
