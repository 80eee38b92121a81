"""Which memories are the same one written twice, and what is left when they are merged."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace
from typing import Final

from remembrancer.domain import validation
from remembrancer.domain.event import least_trusted
from remembrancer.domain.memory import Memory, Tier
from remembrancer.domain.strength import Adjustment, Strength
from remembrancer.policies.consolidation.condensing import home_of, ids_told, span, tags_of, together
from remembrancer.policies.consolidation.linkage import alike, linked_groups
from remembrancer.policies.consolidation.near_duplicates import Claim, claim_of
from remembrancer.policies.ranking.diversity import jaccard, words_of

MOST: Final = 50
"""Memories that are merged at once."""

MERGED_FROM: Final = "merged_from"
"""The metadata that names, by id, whom a memory stands for besides itself."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Compaction:
    """Memories of these tiers whose words have a Jaccard likeness of more than `above` are merged where they do not
    differ in what a claim hangs on (`near_duplicates`) and have the words they share in the same order.

    `reworded`: also where each has words that the other has not; otherwise one of the two must have all that the other
    has. `across_sessions`: also where they were told in different ones.
    """

    above: float = 0.8
    reworded: bool = True
    across_sessions: bool = False
    tiers: tuple[Tier, ...] = (Tier.SEMANTIC,)

    def __post_init__(self) -> None:
        validation.number("compaction.above", self.above, 0.05, 0.999)


@dataclass(frozen=True, slots=True)
class Merge:
    """`kept` says what both said from now on; `gone` are out of recall for it, in the order of time."""

    kept: Memory
    gone: tuple[Memory, ...]
    revised: Memory


def merges_of(memories: Sequence[Memory], rule: Compaction, *, standing_tag: str | None = None) -> tuple[Merge, ...]:
    """What is to be merged, among memories that stand in the order of time.

    The most important of a group is kept, of equals the one used most, then the oldest. Only memories of one home, one
    kind, tier and source meet; what has a topic key is told anew under it and takes no part. What was merged into one
    before, and is there again, somebody has brought back: it stays apart from that one.
    """
    several = [memory for memory in memories if memory.topic_key is None and memory.tier in rule.tiers]
    words = [words_of(memory.text) for memory in several]
    claims = [claim_of(memory.text) for memory in several]
    merged = [_merged_from(memory) for memory in several]
    blocks = [(_place(memory, rule, standing_tag), claim.fixed) for memory, claim in zip(several, claims, strict=True)]

    def linked(one: int, other: int) -> bool:
        return (
            blocks[one] == blocks[other]
            and jaccard(words[one], words[other]) > rule.above
            and (rule.reworded or words[one] <= words[other] or words[other] <= words[one])
            and not claims[one].difference(claims[other])
            and _same_order(claims[one], claims[other])
            and str(several[one].id) not in merged[other]
            and str(several[other].id) not in merged[one]
        )

    pairs = alike(words, blocks, least=rule.above)
    found = linked_groups({pair: each for pair, each in pairs.items() if linked(*pair)}, linked, most=MOST)
    return tuple(_merge([several[place] for place in group], rule, standing_tag) for group in found)


def with_counts_of(gone: Sequence[Memory], strength: Strength) -> Adjustment:
    """The strength of what is kept, with how often the others were used counted in."""
    return Adjustment(replace(strength, usage=together((strength, *(memory.strength for memory in gone))).usage))


def _place(memory: Memory, rule: Compaction, standing_tag: str | None) -> Hashable:
    home = home_of(memory, sessions_apart=not rule.across_sessions, standing_tag=standing_tag)
    return (home, memory.kind, memory.tier, memory.source, memory.title)


def _merged_from(memory: Memory) -> tuple[str, ...]:
    """The ids of those that it stands for already."""
    named = memory.metadata.get(MERGED_FROM)
    return tuple(named.split(",")) if isinstance(named, str) and named else ()


def _same_order(one: Claim, other: Claim) -> bool:
    """Whether the words they share come in the same order: "a depends on b" is not "b depends on a"."""
    return [word for word in one.words if word in other.held] == [word for word in other.words if word in one.held]


def _merge(group: Sequence[Memory], rule: Compaction, standing_tag: str | None) -> Merge:
    kept = max(group, key=lambda memory: (memory.strength.importance, memory.strength.usage.used, -group.index(memory)))
    gone = tuple(memory for memory in group if memory is not kept)
    longest = max(group, key=lambda memory: (len(memory.text), memory is kept))
    home = home_of(kept, sessions_apart=not rule.across_sessions, standing_tag=standing_tag)
    sessions = {memory.scope.session for memory in group}
    occurred_from, occurred_to = span(group)
    revised = replace(
        kept,
        text=longest.text,
        scope=home.scope if len(sessions) > 1 else kept.scope,
        origin=least_trusted(memory.origin for memory in group),
        occurred_from=occurred_from,
        occurred_to=occurred_to,
        tags=tags_of(group),
        metadata={**kept.metadata, MERGED_FROM: ",".join([*_merged_from(kept), ids_told(gone)])},
        revision=kept.revision + 1,
        strength=replace(kept.strength, importance_floor=max(memory.strength.importance_floor for memory in group)),
    )
    return Merge(kept, gone, revised)
