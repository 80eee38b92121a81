"""Converting learnings to memories, and memories to learnings."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, date, datetime, time
from typing import Final
from uuid import UUID

from remembrancer.domain import validation
from remembrancer.domain.front_matter import normalised
from remembrancer.domain.learning import Domain, Learning, LearningType
from remembrancer.domain.memory import Memory, MemoryDraft, MemoryWrite, Status, Tier
from remembrancer.domain.scope import Scope
from remembrancer.domain.strength import Strength, Usage
from remembrancer.domain.validation import JsonValue
from remembrancer.errors import InvalidInput
from remembrancer.policies.admission.flagging import reflagged
from remembrancer.policies.admission.formation import memory_of_draft, own_cue
from remembrancer.policies.consolidation.compacting import MERGED_FROM
from remembrancer.values import copied

KINDS: Final = frozenset(kind.value for kind in LearningType)
"""The kinds of memories that are learnings."""

_NOON: Final = time(12)
_IN_METADATA: Final = ("phase", "session_id", "session_task", "promoted_from")


def key_of(identifier: UUID) -> str:
    """The key of a learning's memory. With it a learning is stored once, whatever its source."""
    return f"learning:{identifier}"


def memory_of_learning(
    learning: Learning,
    *,
    scope: Scope,
    source: str,
    tags: tuple[str, ...] = (),
    metadata: Mapping[str, JsonValue] | None = None,
    otherwise_at: datetime | None = None,
    now: datetime,
) -> MemoryWrite:
    """A new memory of a learning in the file `source`, with the learning's id.

    `tags`, `metadata`: those that the file adds. The time is the learning's own, else `otherwise_at`, else `now`.
    """
    created = learning.created_at
    draft = copied(
        learning,
        MemoryDraft,
        kind=learning.type.value,
        tier=Tier.SEMANTIC,
        source=source,
        tags=(*tags, *learning.tags),
        metadata=_metadata(learning, metadata or {}),
        occurred_at=otherwise_at if created is None else moment_of(created),
        key=key_of(learning.id),
    )
    write = memory_of_draft(draft, scope=owner(learning, scope), identifier=learning.id, now=now)
    retired_at = None if learning.status is Status.ACTIVE else now
    memory = replace(
        write.memory,
        strength=strengthened(write.memory.strength, learning),
        status=learning.status,
        retired_at=retired_at,
    )
    return replace(write, memory=memory)


def made_to_say(
    memory: Memory,
    learning: Learning,
    *,
    scope: Scope,
    source: str,
    tags: tuple[str, ...] = (),
    metadata: Mapping[str, JsonValue] | None = None,
) -> MemoryWrite:
    """The memory with the text and fields of the learning. Strength and status are unchanged."""
    created = learning.created_at
    happened = memory.occurred_to if created is None else moment_of(created)
    said = {"domain", *(name for name in _IN_METADATA if _said(memory, name) is not None)}
    if _merged_from(memory):
        said.add(MERGED_FROM)
    kept = {name: value for name, value in memory.metadata.items() if name not in said}
    later = replace(
        memory,
        scope=owner(learning, scope),
        kind=learning.type.value,
        title=learning.title,
        text=memory.text if normalised(memory.text) == learning.text else learning.text,
        source=source,
        origin=learning.origin,
        occurred_from=memory.occurred_from if happened == memory.occurred_to else happened,
        occurred_to=happened,
        valid_from=learning.valid_from,
        valid_until=learning.valid_until,
        topic_key=learning.topic_key,
        key=memory.key or key_of(memory.id),
        tags=tuple(dict.fromkeys((*tags, *learning.tags))),
        metadata=kept | _metadata(learning, metadata or {}),
    )
    later = reflagged(later, memory)
    return MemoryWrite(later, (own_cue(later),))


def strengthened(strength: Strength, learning: Learning) -> Strength:
    """The strength with the header's values: its count counts retrievals, its day is that of the last one."""
    usage = strength.usage
    when = usage.last_retrieved_at
    if (None if when is None else day_of(when)) != learning.last_reinforced:
        when = None if learning.last_reinforced is None else moment_of(learning.last_reinforced)
    told = replace(usage, retrieved=learning.reinforcement_count, last_retrieved_at=when)
    return replace(strength, importance=learning.importance, confidence=learning.confidence, usage=told)


def learning_of_memory(memory: Memory, *, file_tags: tuple[str, ...] = ()) -> Learning:
    """The learning with the header fields and text of this memory. `file_tags`: tags that its file adds.

    A superseded memory counts as retired, because a header cannot name its successor.
    """
    usage: Usage = memory.strength.usage
    return copied(
        memory,
        Learning,
        text=normalised(memory.text),
        type=LearningType(memory.kind),
        domain=Domain.TASK if memory.metadata.get("domain") == Domain.TASK else Domain.TEAM,
        importance=memory.strength.importance,
        reinforcement_count=usage.retrieved,
        last_reinforced=None if usage.last_retrieved_at is None else day_of(usage.last_retrieved_at),
        status=memory.status if memory.superseded_by is None else Status.RETIRED,
        created_at=_day_or_moment(memory.occurred_to),
        tags=tuple(tag for tag in memory.tags if tag not in file_tags),
        confidence=memory.strength.confidence,
        agent=memory.scope.agent,
        session=memory.scope.session,
        phase=_said(memory, "phase"),
        session_id=_said(memory, "session_id"),
        session_task=_said(memory, "session_task"),
        promoted_from=_said(memory, "promoted_from"),
        merged_from=_merged_from(memory),
    )


def owner(learning: Learning, scope: Scope) -> Scope:
    """The owner of a learning in a file of `scope`."""
    return scope.narrowed(agent=learning.agent or scope.agent, session=learning.session or scope.session)


def moment_of(day: date) -> datetime:
    """Noon (UTC) of a day, so that most timezones have the same day."""
    return day if isinstance(day, datetime) else datetime.combine(day, _NOON, tzinfo=UTC)


def day_of(moment: datetime) -> date:
    """The UTC day of a moment."""
    return moment.astimezone(UTC).date()


def _day_or_moment(moment: datetime) -> date:
    return moment.date() if moment == moment_of(day_of(moment)) else moment


def _metadata(learning: Learning, more: Mapping[str, JsonValue]) -> dict[str, JsonValue]:
    said: dict[str, JsonValue] = {name: getattr(learning, name) for name in _IN_METADATA}
    if learning.merged_from:
        said[MERGED_FROM] = ",".join(map(str, learning.merged_from))
    told = {name: value for name, value in said.items() if value is not None}
    return {"domain": learning.domain.value, **told, **more}


def _said(memory: Memory, name: str) -> str | None:
    """The metadata value of that name, if a header can have it; else None."""
    try:
        return validation.optional_name(name, memory.metadata.get(name))
    except InvalidInput:
        return None


def _merged_from(memory: Memory) -> tuple[UUID, ...]:
    """The ids in its metadata field of that name; empty if they are not in the format that compaction writes."""
    named = memory.metadata.get(MERGED_FROM)
    try:
        return tuple(UUID(one) for one in named.split(",")) if isinstance(named, str) else ()
    except ValueError:
        return ()
