"""Memories, and the cues (indexed passages) by which search finds them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import field
from datetime import datetime, timedelta
from enum import IntFlag, StrEnum
from typing import Final
from uuid import UUID

from remembrancer.domain import validation
from remembrancer.domain.event import Origin, Role
from remembrancer.domain.scope import Level, Scope, Visibility
from remembrancer.domain.strength import Strength
from remembrancer.domain.validation import JsonValue
from remembrancer.errors import InvalidInput
from remembrancer.values import dataclass

PINNED: Final = "pinned"
"""The tag of pinned memories, unless the preset names another one. Stores have an index of the memories with it."""

FLAGGED: Final = "instruction-like"
"""The tag of memories of untrusted origins whose text tells a language model what to do. It is set when the text is
recorded; as an argument it is ignored, and only releasing the memory removes it.
"""


class Tier(StrEnum):
    """The intended life of a memory: for a while, as something that happened, or as a fact."""

    WORKING = "working"
    EPISODIC = "episodic"
    SEMANTIC = "semantic"


class Status(StrEnum):
    """Whether a memory is recalled (active), or why not."""

    ACTIVE = "active"
    RETIRED = "retired"
    COMPACTED = "compacted"
    ARCHIVED = "archived"


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryDraft:
    """A memory before it is stored, checked on construction.

    `importance`, `confidence` and `surprise` are in [0, 1]; `priority` is 1 to 10; it is valid in [valid_from,
    valid_until). `key` makes remembering idempotent within one scope. `topic_key`: a new text on the same topic
    replaces the previous one.
    """

    text: str
    title: str | None = None
    kind: str = "note"
    tier: Tier = Tier.SEMANTIC
    source: str | None = None
    origin: Origin = Origin.USER
    importance: float = 0.5
    priority: int = 5
    confidence: float = 0.5
    surprise: float = 0.0
    tags: tuple[str, ...] = ()
    metadata: Mapping[str, JsonValue] = field(default_factory=validation.no_json)
    topic_key: str | None = None
    valid_from: datetime | None = None
    valid_until: datetime | None = None
    occurred_at: datetime | None = None
    visibility: Visibility = Visibility.WORKSPACE
    key: str | None = None

    def __post_init__(self) -> None:
        checked = object.__setattr__  # the dataclass is frozen
        validation.text("text", self.text)
        validation.optional_name("title", self.title, max_chars=validation.MAX_TITLE_CHARS)
        validation.slug("kind", self.kind)
        checked(self, "tier", validation.choice("tier", self.tier, Tier))
        validation.optional_name("source", self.source)
        checked(self, "origin", validation.choice("origin", self.origin, Origin))
        checked(self, "importance", validation.fraction("importance", self.importance))
        validation.whole("priority", self.priority, 1, 10)
        checked(self, "confidence", validation.fraction("confidence", self.confidence))
        checked(self, "surprise", validation.fraction("surprise", self.surprise))
        checked(self, "tags", validation.tags("tags", self.tags))
        checked(self, "metadata", validation.json_object("metadata", self.metadata))
        validation.optional_name("topic_key", self.topic_key)
        checked(self, "valid_from", validation.optional_moment("valid_from", self.valid_from))
        checked(self, "valid_until", validation.optional_moment("valid_until", self.valid_until))
        checked(self, "occurred_at", validation.optional_moment("occurred_at", self.occurred_at))
        checked(self, "visibility", validation.choice("visibility", self.visibility, Visibility))
        validation.optional_name("key", self.key)
        if self.valid_from and self.valid_until and self.valid_until <= self.valid_from:
            raise InvalidInput("valid_until", self.valid_until.isoformat(), "a time after valid_from")


@dataclass(frozen=True, slots=True, kw_only=True)
class Memory:
    """A stored memory. `revision` counts from 1. `consolidated_at`: when facts were last drawn from it.

    `actor`, `role`: who spoke, as the one event says from which it was formed; None for notes, and for memories of
    several events.
    """

    id: UUID
    scope: Scope
    visibility: Visibility
    tier: Tier
    kind: str
    title: str | None
    text: str
    source: str | None
    origin: Origin
    occurred_from: datetime
    occurred_to: datetime
    recorded_at: datetime
    actor: str | None = None
    role: Role | None = None
    valid_from: datetime | None = None
    valid_until: datetime | None = None
    superseded_by: UUID | None = None
    superseded_at: datetime | None = None
    retired_at: datetime | None = None
    consolidated_at: datetime | None = None
    topic_key: str | None = None
    key: str | None = None
    revision: int = 1
    tags: tuple[str, ...] = ()
    metadata: Mapping[str, JsonValue] = field(default_factory=validation.no_json)
    status: Status = Status.ACTIVE
    strength: Strength = field(default_factory=Strength)

    @property
    def speaker(self) -> str:
        """The name of who spoke, else the role; "" if neither is known."""
        return self.actor or self.role or ""

    @property
    def flagged(self) -> bool:
        """Whether its text, from an untrusted origin, tells a language model what to do (`FLAGGED`)."""
        return FLAGGED in self.tags

    @property
    def duration(self) -> timedelta:
        """The length of the memory's time span."""
        return self.occurred_to - self.occurred_from

    @property
    def reviewed_since(self) -> datetime:
        """The time from which the next review counts: the last review or, if that is later, when it happened."""
        reviewed = self.strength.last_reviewed_at
        return self.occurred_to if reviewed is None else max(self.occurred_to, reviewed)


def topic_level(visibility: Visibility, topics: Level) -> Level:
    """The level that the topic of a memory belongs to, if topics of the preset belong to `topics`.

    The topic of a memory that not everybody in the workspace may see belongs to its own agent.
    """
    return topics if visibility is Visibility.WORKSPACE else Level.AGENT


def topic_order(memory: Memory) -> tuple[bool, int, float, UUID]:
    """Sorts memories of one topic, that to be revised first: narrower visibilities, then scopes with fewer parts, then
    the newest, then by id.
    """
    parts = (memory.scope.project, memory.scope.crew, memory.scope.agent)
    return (
        memory.visibility is Visibility.WORKSPACE,
        sum(part is not None for part in parts),
        -memory.recorded_at.timestamp(),
        memory.id,
    )


def holds(memory: Memory, at: datetime) -> bool:
    """Whether the memory is active, not superseded and not expired at a time. It may become valid later."""
    ended = memory.superseded_by is not None or (memory.valid_until is not None and memory.valid_until <= at)
    return memory.status is Status.ACTIVE and not ended


def is_over(memory: Memory, at: datetime) -> bool:
    """Whether the memory was forgotten, superseded or expired by a time; its text must then not be learned again.

    A memory replaced by an equivalent one (compacted, archived) is not over.
    """
    expired = memory.valid_until is not None and memory.valid_until <= at
    return memory.status is Status.RETIRED or memory.superseded_by is not None or expired


@dataclass(frozen=True, slots=True, kw_only=True)
class Revision:
    """An earlier text of a memory, replaced at `replaced_at`. `number`: the revision with this text.

    `kind` and the fields after it: as the memory had them. `kind` is None if they were not recorded, as in files of
    versions before 17.
    """

    memory_id: UUID
    number: int
    title: str | None
    text: str
    replaced_at: datetime
    kind: str | None = None
    tier: Tier | None = None
    source: str | None = None
    origin: Origin | None = None
    visibility: Visibility | None = None
    session: str | None = None
    occurred_from: datetime | None = None
    occurred_to: datetime | None = None
    valid_from: datetime | None = None
    tags: tuple[str, ...] = ()
    metadata: Mapping[str, JsonValue] = field(default_factory=validation.no_json)
    actor: str | None = None
    role: Role | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Cue:
    """An indexed passage: a part of a memory that search can find.

    `heading`: speaker and time. `text`: the words of a turn, or the memory's title and text. `event_id`: set if the cue
    is a turn. `start`: set if it is a passage of a long turn, the characters [start, end) of the event's text.
    """

    memory_id: UUID
    ordinal: int
    text: str
    heading: str = ""
    event_id: UUID | None = None
    start: int | None = None

    @property
    def end(self) -> int | None:
        return None if self.start is None else self.start + len(self.text)


def turns_of(cues: Sequence[Cue], best: Cue) -> tuple[Cue, ...]:
    """One cue for each turn among the cues of a memory, in order: of a long turn `best`, or its first passage."""
    if len(cues) == 1:  # as most memories have
        return () if cues[0].event_id is None else (cues[0],)
    turns: dict[UUID, Cue] = {}
    for cue in cues:
        if cue.event_id is not None and (cue.event_id not in turns or cue.ordinal == best.ordinal):
            turns[cue.event_id] = cue
    return tuple(turns.values())


class CueFlag(IntFlag):
    """Flags of a text: the kinds of answers it contains, and whether it is a question."""

    NOTHING = 0
    TIME = 1
    NUMBER = 2
    NAME = 4
    QUESTION = 8


@dataclass(frozen=True, slots=True)
class IndexedCue:
    """A cue with its analysis. `tokens`: all its tokens in order. `terms`: its tokens without stop words, with repeats.
    `flags`: the flags of the text alone, without its heading. `tags`: those found in the text; which of them the memory
    of a turn gets depends on its role (`domain.names.tags_of_turn`).
    """

    cue: Cue
    tokens: tuple[str, ...]
    terms: tuple[str, ...]
    flags: CueFlag = CueFlag.NOTHING
    tags: tuple[str, ...] = ()


Analyse = Callable[[Cue], IndexedCue]
"""Adds tokens and terms for search to a cue."""


@dataclass(frozen=True, slots=True)
class MemoryWrite:
    """A memory with its cues, by ordinal from 0, and the events it was formed from, in order."""

    memory: Memory
    cues: tuple[IndexedCue, ...]
    event_ids: tuple[UUID, ...] = ()


def searchable_text(cue: Cue) -> str:
    """The text of a cue that is analysed: heading, then text.

    >>> searchable_text(Cue(memory_id=UUID(int=1), ordinal=0, text="The deploy failed", heading="ana, 4 March"))
    'ana, 4 March The deploy failed'
    """
    return f"{cue.heading} {cue.text}".strip()
