"""Clusters of similar memories, each to be replaced by one memory."""

from __future__ import annotations

from collections.abc import Hashable, Sequence

from remembrancer.domain import validation
from remembrancer.domain.memory import Tier
from remembrancer.language.lexical import analyse
from remembrancer.policies.consolidation.linkage import alike, linked_groups
from remembrancer.policies.consolidation.near_duplicates import claim_of
from remembrancer.policies.ranking.diversity import jaccard
from remembrancer.values import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Clusters:
    """The condition for memories of these tiers to form a cluster: each pair has a Jaccard similarity of at least
    `threshold` and makes the same claim (`near_duplicates`). A cluster has at least `least` and at most `most`
    memories.

    `summary_chars`: the limit for a model's summary.
    """

    threshold: float = 0.5
    least: int = 3
    most: int = 20
    tiers: tuple[Tier, ...] = (Tier.SEMANTIC,)
    summary_chars: int = 1_000

    def __post_init__(self) -> None:
        validation.number("clusters.threshold", self.threshold, 0.05, 1)
        validation.whole("clusters.least", self.least, 2, 1_000)
        validation.whole("clusters.most", self.most, self.least, 1_000)
        validation.whole("clusters.summary_chars", self.summary_chars, 50, 20_000)


def clusters_of(
    texts: Sequence[str], rule: Clusters, *, apart: Sequence[Hashable] | None = None
) -> tuple[tuple[int, ...], ...]:
    """The clusters, as indexes of `texts`. `apart`: a key for each text; texts with different keys are never in one
    cluster.
    """
    claims = [claim_of(text) for text in texts]
    terms = [frozenset(analyse(text).terms) for text in texts]
    blocks = [(key, claim.fixed) for key, claim in zip(apart or [None] * len(texts), claims, strict=True)]

    def linked(one: int, other: int) -> bool:
        near = blocks[one] == blocks[other] and jaccard(terms[one], terms[other]) >= rule.threshold
        return near and not claims[one].difference(claims[other])

    pairs = alike(terms, blocks, least=rule.threshold)
    found = linked_groups({pair: each for pair, each in pairs.items() if linked(*pair)}, linked, most=rule.most)
    return tuple(group for group in found if len(group) >= rule.least)


def central(texts: Sequence[str]) -> int:
    """The index of the text most similar to the others; of equally central ones the longest, then the first."""
    terms = [frozenset(analyse(text).terms) for text in texts]
    likeness = [sum(jaccard(one, other) for other in terms) for one in terms]
    return max(range(len(texts)), key=lambda place: (round(likeness[place], 9), len(texts[place]), -place))
