"""Combining several memories into one: its fields, visibility and cues."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import fields, replace
from datetime import datetime
from typing import Any, Final
from uuid import UUID

from remembrancer.domain.event import least_trusted
from remembrancer.domain.identity import derived_id
from remembrancer.domain.memory import Cue, IndexedCue, Memory, Tier
from remembrancer.domain.recalled import without_recalled
from remembrancer.domain.scope import Scope, Visibility
from remembrancer.domain.strength import Strength, Usage
from remembrancer.domain.validation import MAX_TAGS, JsonValue
from remembrancer.language.cues import analysed
from remembrancer.policies.admission.flagging import flagged_by_text
from remembrancer.policies.admission.formation import own_cue
from remembrancer.values import dataclass

SUMMARISED_BY: Final = "summarised_by"
"""The metadata field with the model (or the method without a model) that wrote a combined text."""


@dataclass(frozen=True, slots=True)
class SharedAttributes:
    """The scope, visibility and validity of memories. Only memories with equal ones are combined, so that the result is
    never visible to more readers, or valid at other times, than each source.
    """

    scope: Scope
    visibility: Visibility
    valid_from: datetime | None
    valid_until: datetime | None
    pinned: bool


def shared_attributes(memory: Memory, *, sessions_apart: bool, pinned_tag: str | None = None) -> SharedAttributes:
    """The shared attributes of a memory. `sessions_apart`: include the session; for memories visible only in their
    session it always is.

    `pinned_tag`: memories with this tag are in every answer, and are combined only with each other.
    """
    apart = sessions_apart or memory.visibility is Visibility.SESSION
    return SharedAttributes(
        scope=memory.scope if apart else memory.scope.narrowed(session=None),
        visibility=memory.visibility,
        valid_from=memory.valid_from,
        valid_until=memory.valid_until,
        pinned=pinned_tag in memory.tags,
    )


def id_of(sources: Sequence[Memory], purpose: str) -> UUID:
    """A deterministic id for the memory made for `purpose` from these memories, in this order and with their present
    texts.
    """
    told = ",".join(f"{memory.id}:{memory.revision}" for memory in sources)
    return derived_id(sources[0].id, f"{purpose} {told}")


def ids_told(memories: Iterable[Memory]) -> str:
    """The ids as metadata stores them: one text, separated by commas."""
    return ",".join(str(memory.id) for memory in memories)


@dataclass(frozen=True, slots=True, kw_only=True)
class Condensed:
    """The text of a memory that replaces several. `by`: the model or rule that wrote it."""

    text: str
    title: str | None = None
    by: str


def one_of(
    sources: Sequence[Memory],
    said: Condensed,
    *,
    identifier: UUID,
    attributes: SharedAttributes,
    tier: Tier,
    metadata: Mapping[str, JsonValue],
    now: datetime,
) -> Memory:
    """The memory that replaces its sources (at least one), which all have these attributes.

    Its span covers theirs. Its importance is the greatest of theirs, its origin the least trusted; their usage is added
    up. It has the kind, source and metadata that all sources share, and all their tags.
    """
    sessions = {memory.scope.session for memory in sources}
    occurred_from, occurred_to = span(sources)
    memory = Memory(
        id=identifier,
        scope=sources[0].scope if len(sessions) == 1 else attributes.scope,
        visibility=attributes.visibility,
        tier=tier,
        kind=_in_common(memory.kind for memory in sources) or "note",
        title=said.title,
        text=said.text,
        source=_in_common(memory.source for memory in sources),
        origin=least_trusted(memory.origin for memory in sources),
        occurred_from=occurred_from,
        occurred_to=occurred_to,
        recorded_at=now,
        valid_from=attributes.valid_from,
        valid_until=attributes.valid_until,
        tags=tags_of(sources),
        metadata={**shared(memory.metadata for memory in sources), **metadata, SUMMARISED_BY: said.by},
        strength=together([memory.strength for memory in sources]),
    )
    return flagged_by_text(memory, inherited=any(memory.flagged for memory in sources))


def cues_of(memory: Memory, cues: Iterable[Cue], *, own: bool) -> tuple[IndexedCue, ...]:
    """The cues of a memory: one of its own text if `own`, then those of its sources, in order.

    Text that a recall inserted is removed, and so are repeated cues.
    """
    given = [own_cue(memory).cue] if own else []
    for cue in cues:
        text = without_recalled(cue.text) if cue.start is None else cue.text  # a passage stays where it stands
        if text.strip():
            given.append(replace(cue, text=text))
    distinct: dict[Hashable, Cue] = {}
    for cue in given:
        distinct.setdefault(_sameness(cue), cue)
    return tuple(
        analysed(replace(cue, memory_id=memory.id, ordinal=place)) for place, cue in enumerate(distinct.values())
    )


def span(memories: Sequence[Memory]) -> tuple[datetime, datetime]:
    """The span from the start of the earliest to the end of the latest."""
    return min(memory.occurred_from for memory in memories), max(memory.occurred_to for memory in memories)


def tags_of(memories: Iterable[Memory]) -> tuple[str, ...]:
    """The tags of all memories in order of appearance, up to the limit of one memory."""
    return tuple(dict.fromkeys(tag for memory in memories for tag in memory.tags))[:MAX_TAGS]


def shared(several: Iterable[Mapping[str, JsonValue]]) -> dict[str, JsonValue]:
    """The entries that all mappings have with the same value."""
    first, *others = several
    return {key: value for key, value in first.items() if all(key in other and other[key] == value for other in others)}


def together(strengths: Sequence[Strength]) -> Strength:
    """The strength of a memory that replaces several (at least one).

    Importance, its floor, priority and surprise are the maxima, so that merging never makes anything fade sooner.
    Confidence is the mean. The FSRS state is that of the most stable memory.
    """
    stablest = max(strengths, key=lambda strength: strength.stability)
    usages = [strength.usage for strength in strengths]
    greatest = ("importance", "importance_floor", "priority", "surprise")
    return replace(
        stablest,
        **{name: max(getattr(strength, name) for strength in strengths) for name in greatest},
        confidence=min(1.0, sum(strength.confidence for strength in strengths) / len(strengths)),
        usage=Usage(
            **{each.name: _added_up([getattr(usage, each.name) for usage in usages]) for each in fields(Usage)}
        ),
    )


def _added_up(values: Sequence[Any]) -> Any:
    """The sum of counts, or the latest of times (None if all are None)."""
    if all(isinstance(value, int) for value in values):
        return sum(values)
    return max((value for value in values if value is not None), default=None)


def _in_common(values: Iterable[str | None]) -> str | None:
    distinct = set(values)
    return distinct.pop() if len(distinct) == 1 else None


def _sameness(cue: Cue) -> Hashable:
    """A key that is equal for cues that match the same searches: of the same turn, or with the same
    heading and words.
    """
    if cue.event_id is not None:
        return cue.event_id, cue.start
    return cue.heading, " ".join(cue.text.split()).casefold()
