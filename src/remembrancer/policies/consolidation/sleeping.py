"""Sleep: grouping memories of the working tier for consolidation."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from datetime import datetime, timedelta
from typing import Final, Literal, get_args

from remembrancer.domain import validation
from remembrancer.domain.event import UNTRUSTED
from remembrancer.domain.memory import Memory
from remembrancer.domain.recalled import without_recalled
from remembrancer.errors import InvalidInput
from remembrancer.policies.consolidation.aaak import compress
from remembrancer.policies.consolidation.condensing import shared_attributes
from remembrancer.values import dataclass

Trait = Literal["source", "session"]

SUMMARY_OF: Final = "summary_of"
"""The metadata field with the ids of the working memories that this memory summarises."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Sleep:
    """The condition for consolidating working memories: once they are older than half of `ttl_hours`.

    Memories with equal traits (`by`) form groups of at most `most` memories and `chars` characters, without a gap of
    more than the TTL. `summary_chars`: the limit for a model's summary of a group.
    """

    ttl_hours: float = 24.0
    by: tuple[Trait, ...] = ("source", "session")
    most: int = 50
    chars: int = 8_000
    summary_chars: int = 1_500

    def __post_init__(self) -> None:
        validation.number("sleep.ttl_hours", self.ttl_hours, 0.01, 24 * 3_650)
        if unknown := [trait for trait in self.by if trait not in get_args(Trait)]:
            raise InvalidInput("sleep.by", unknown[0], "some of " + ", ".join(get_args(Trait)))
        validation.whole("sleep.most", self.most, 1, 1_000)
        validation.whole("sleep.chars", self.chars, 100, 30_000)
        validation.whole("sleep.summary_chars", self.summary_chars, 50, 20_000)

    @property
    def ttl(self) -> timedelta:
        return timedelta(hours=self.ttl_hours)

    def due(self, memory: Memory, now: datetime) -> bool:
        """Whether the memory is old enough to be consolidated."""
        return now - memory.occurred_to > self.ttl / 2


def sleepers(
    memories: Sequence[Memory], rule: Sleep, *, pinned_tag: str | None = None
) -> tuple[tuple[Memory, ...], ...]:
    """The groups of memories to consolidate together, ordered by their first. `memories`: in time order.

    A group has one `SharedAttributes`, so that one memory with narrow visibility or short validity does not change
    others. Texts of tools, the web and imports are kept apart from what people and the assistant said, whose trust they
    would lower. A memory with a topic key forms a group of its own, because it is updated under its key.
    """
    by_traits: dict[Hashable, list[Memory]] = {}
    for memory in memories:
        attributes = shared_attributes(memory, sessions_apart="session" in rule.by, pinned_tag=pinned_tag)
        traits = (attributes, memory.source if "source" in rule.by else None, memory.origin in UNTRUSTED)
        alone = None if memory.topic_key is None else memory.id
        by_traits.setdefault((traits, alone), []).append(memory)
    places = {memory.id: place for place, memory in enumerate(memories)}
    groups = (group for alike in by_traits.values() for group in _parts(alike, rule))
    return tuple(sorted(groups, key=lambda group: places[group[0].id]))


def stand_in(group: Sequence[Memory]) -> str:
    """The summary without a model: the source, then the texts abbreviated by AAAK; "" if the texts have no content."""
    said = [compress(without_recalled(memory.text)) for memory in group]
    told = " | ".join(dict.fromkeys(text for text in said if text))
    sources = {memory.source for memory in group}
    source = sources.pop() if len(sources) == 1 else None
    return told if source is None or not told else f"[{source}] {told}"


def _parts(alike: Sequence[Memory], rule: Sleep) -> Iterator[tuple[Memory, ...]]:
    part: list[Memory] = []
    chars = 0
    for memory in alike:
        silent = bool(part) and memory.occurred_from - part[-1].occurred_to > rule.ttl
        if part and (silent or len(part) == rule.most or chars + len(memory.text) > rule.chars):
            yield tuple(part)
            part, chars = [], 0
        part.append(memory)
        chars += len(memory.text)
    if part:
        yield tuple(part)
