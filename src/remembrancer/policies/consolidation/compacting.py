"""Finding near-duplicate memories, and merging each group into one of its memories."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import replace
from typing import Final

from remembrancer.domain.event import UNTRUSTED, least_trusted
from remembrancer.domain.memory import Memory
from remembrancer.domain.strength import Adjustment, Strength
from remembrancer.policies.admission.flagging import with_flag
from remembrancer.policies.consolidation.compaction import Compaction
from remembrancer.policies.consolidation.condensing import ids_told, shared_attributes, span, tags_of, together
from remembrancer.policies.consolidation.linkage import alike, linked_groups
from remembrancer.policies.consolidation.near_duplicates import Claim, claim_of
from remembrancer.policies.ranking.diversity import jaccard, words_of
from remembrancer.values import dataclass

MOST: Final = 50
"""The most memories merged at once."""

MERGED_FROM: Final = "merged_from"
"""The metadata field with the ids of the memories merged into this one."""


@dataclass(frozen=True, slots=True)
class Merge:
    """A merge: `kept` gets the content of the whole group; `gone` are taken out of recall, in time order."""

    kept: Memory
    gone: tuple[Memory, ...]
    revised: Memory


def merges_of(memories: Sequence[Memory], rule: Compaction, *, pinned_tag: str | None = None) -> tuple[Merge, ...]:
    """The merges among memories, which are given in time order.

    The most important memory of a group is kept; ties: the most used, then the oldest. Only memories with the same
    `SharedAttributes`, kind, tier and source are merged; texts of tools, the web and imports only with each other,
    because they would lower the trust of others. Memories with a topic key are not merged, because they are updated
    under that key. A memory that was merged before and restored is not merged into the same memory again.
    """
    several = [memory for memory in memories if memory.topic_key is None and memory.tier in rule.tiers]
    words = [words_of(memory.text) for memory in several]
    claims = [claim_of(memory.text) for memory in several]
    merged = [_merged_from(memory) for memory in several]
    blocks = [(_place(memory, rule, pinned_tag), claim.fixed) for memory, claim in zip(several, claims, strict=True)]

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
    return tuple(_merge([several[place] for place in group], rule, pinned_tag) for group in found)


def with_counts_of(gone: Sequence[Memory], strength: Strength) -> Adjustment:
    """The strength of the kept memory, with the usage counts of the others added."""
    return Adjustment(replace(strength, usage=together((strength, *(memory.strength for memory in gone))).usage))


def _place(memory: Memory, rule: Compaction, pinned_tag: str | None) -> Hashable:
    attributes = shared_attributes(memory, sessions_apart=not rule.across_sessions, pinned_tag=pinned_tag)
    return (attributes, memory.kind, memory.tier, memory.source, memory.title, memory.origin in UNTRUSTED)


def _merged_from(memory: Memory) -> tuple[str, ...]:
    """The ids of the memories that were merged into this one before."""
    named = memory.metadata.get(MERGED_FROM)
    return tuple(named.split(",")) if isinstance(named, str) and named else ()


def _same_order(one: Claim, other: Claim) -> bool:
    """Whether their shared words are in the same order: "a depends on b" differs from "b depends on a"."""
    return [word for word in one.words if word in other.held] == [word for word in other.words if word in one.held]


def _merge(group: Sequence[Memory], rule: Compaction, pinned_tag: str | None) -> Merge:
    kept = max(group, key=lambda memory: (memory.strength.importance, memory.strength.usage.used, -group.index(memory)))
    gone = tuple(memory for memory in group if memory is not kept)
    longest = max(group, key=lambda memory: (len(memory.text), memory is kept))
    attributes = shared_attributes(kept, sessions_apart=not rule.across_sessions, pinned_tag=pinned_tag)
    sessions = {memory.scope.session for memory in group}
    occurred_from, occurred_to = span(group)
    revised = replace(
        kept,
        text=longest.text,
        scope=attributes.scope if len(sessions) > 1 else kept.scope,
        origin=least_trusted(memory.origin for memory in group),
        occurred_from=occurred_from,
        occurred_to=occurred_to,
        tags=tags_of(group),
        metadata={**kept.metadata, MERGED_FROM: ",".join([*_merged_from(kept), ids_told(gone)])},
        revision=kept.revision + 1,
        strength=replace(kept.strength, importance_floor=max(memory.strength.importance_floor for memory in group)),
    )
    return Merge(kept, gone, with_flag(revised, flagged=any(memory.flagged for memory in group)))
