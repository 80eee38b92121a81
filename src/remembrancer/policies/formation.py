"""From an event, or from what a caller wants remembered, to a memory with its cues."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime
from typing import Final
from uuid import UUID

from remembrancer.domain.event import Event, Origin, Role, Severity
from remembrancer.domain.identity import derived_id
from remembrancer.domain.memory import Cue, IndexedCue, Memory, MemoryDraft, MemoryWrite, Tier, searchable_text
from remembrancer.domain.scope import Scope, Visibility
from remembrancer.domain.strength import Strength
from remembrancer.policies.lexical import analyse

BASE_IMPORTANCE: Final = 0.5
SEVERITY_BOOST: Final = {Severity.INFO: 0.0, Severity.NOTICE: 0.05, Severity.WARN: 0.1, Severity.ERROR: 0.2}

_ORIGIN_OF_ROLE: Final = {
    Role.USER: Origin.USER,
    Role.ASSISTANT: Origin.ASSISTANT,
    Role.SYSTEM: Origin.SYSTEM,
    Role.TOOL: Origin.TOOL,
}


def origin_of(role: Role) -> Origin:
    """How far a text is to be trusted follows from who said it."""
    return _ORIGIN_OF_ROLE[role]


def memory_of_event(event: Event) -> MemoryWrite:
    """One memory of one event, its text verbatim.

    Its own text is the turn's, so the turn's cue is its only one: a second with the same words would be searched twice
    and found once.
    """
    memory = Memory(
        id=derived_id(event.id, "memory"),
        scope=event.scope,
        visibility=Visibility.WORKSPACE,
        tier=Tier.EPISODIC,
        kind=event.type,
        title=None,
        text=event.text,
        source=None,
        origin=event.origin,
        occurred_from=event.occurred_at,
        occurred_to=event.occurred_at,
        recorded_at=event.recorded_at,
        strength=Strength(importance=BASE_IMPORTANCE + SEVERITY_BOOST[event.severity]),
    )
    cue = Cue(
        memory_id=memory.id,
        ordinal=0,
        text=event.text,
        heading=f"{event.actor or event.role}, {spoken_date(event.occurred_at)}",
        event_id=event.id,
    )
    return MemoryWrite(memory, (indexed(cue),), (event.id,))


def memory_of_draft(draft: MemoryDraft, *, scope: Scope, identifier: UUID, now: datetime) -> MemoryWrite:
    """A memory as asked for, happening at `draft.occurred_at` or now."""
    occurred = draft.occurred_at or now
    memory = Memory(
        id=identifier,
        scope=scope,
        visibility=draft.visibility,
        tier=draft.tier,
        kind=draft.kind,
        title=draft.title,
        text=draft.text,
        source=draft.source,
        origin=draft.origin,
        occurred_from=occurred,
        occurred_to=occurred,
        recorded_at=now,
        valid_from=draft.valid_from,
        valid_until=draft.valid_until,
        topic_key=draft.topic_key,
        key=draft.key,
        tags=draft.tags,
        metadata=draft.metadata,
        strength=Strength(importance=draft.importance, priority=draft.priority, confidence=draft.confidence),
    )
    return MemoryWrite(memory, (own_cue(memory),))


def revised(memory: Memory, draft: MemoryDraft, *, now: datetime) -> MemoryWrite:
    """What the memory becomes when its topic is told anew.

    The text, title, tags, metadata, importance, priority, times and expiry are the draft's; confidence, usage, source
    and the moment it was first recorded stay.
    """
    occurred = draft.occurred_at or now
    later = replace(
        memory,
        title=draft.title,
        text=draft.text,
        kind=draft.kind,
        tags=draft.tags,
        metadata=draft.metadata,
        occurred_from=occurred,
        occurred_to=occurred,
        valid_from=draft.valid_from,
        valid_until=draft.valid_until,
        revision=memory.revision + 1,
        strength=replace(memory.strength, importance=draft.importance, priority=draft.priority),
    )
    return MemoryWrite(later, (own_cue(later),))


def says_the_same(later: Memory, earlier: Memory) -> bool:
    """Whether a revision would change nothing but its number and when it was told."""
    told = {"revision": 0, "occurred_from": earlier.occurred_from, "occurred_to": earlier.occurred_to}
    return replace(later, **told) == replace(earlier, **told)


def own_cue(memory: Memory) -> IndexedCue:
    """The cue of a memory's own words: its title and text, and when it happened."""
    text = memory.text if memory.title is None else f"{memory.title}\n{memory.text}"
    return indexed(Cue(memory_id=memory.id, ordinal=0, text=text, heading=spoken_date(memory.occurred_to)))


def indexed(cue: Cue) -> IndexedCue:
    analysis = analyse(searchable_text(cue))
    return IndexedCue(cue, analysis.tokens, analysis.terms)


def spoken_date(moment: datetime) -> str:
    """As people would ask for it, in UTC and English whatever the locale: "Wednesday 4 March 2026"."""
    return f"{_WEEKDAYS[moment.weekday()]} {moment.day} {MONTHS[moment.month - 1]} {moment.year}"


_WEEKDAYS: Final = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
MONTHS: Final = (
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
)
