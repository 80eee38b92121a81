"""The journal: events as they were recorded, in the order of their streams."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from typing import TYPE_CHECKING, Protocol
from uuid import UUID

from remembrancer.domain.event import Event, Priority, Role, Severity
from remembrancer.domain.journal import Place, PriorityChange, Stretch
from remembrancer.domain.memory import Memory, MemoryWrite
from remembrancer.domain.scope import Reader, Scope
from remembrancer.domain.stream import Tail
from remembrancer.domain.strength import Strength

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Vector = NDArray[np.float32]
    """Shape (dim,), of unit length."""


@dataclass(frozen=True, slots=True)
class Entry:
    """An event to append, and the memory formed from it where it was admitted. The store gives `event.seq`.

    `tokens`: those of the event's `searchable_text`; None: the store has it analysed, with all that a cue would need.
    """

    event: Event
    memory: MemoryWrite | None = None
    tokens: tuple[str, ...] | None = None


@dataclass(frozen=True, slots=True)
class Appended:
    """An event as recorded. `created` is False when its key had been recorded before: then nothing was written."""

    event: Event
    created: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class EventFilter:
    """Which events count: None means any. `since` and `until` select occurred_at in [since, until).

    `crews`, `agents`: any of them, where `crew` and `agent` are exactly that one.
    `recorded_after`: those recorded later than that. `without_types`: none of these. `words`: of each of these sets one
    stands among the tokens of the event's `searchable_text`, as `language.lexical.every_word` asks for them.
    `archived`: also what has been moved into the archive, cut as it is there.
    """

    ids: frozenset[UUID] | None = None
    project: str | None = None
    crew: str | None = None
    agent: str | None = None
    session: str | None = None
    crews: frozenset[str] | None = None
    agents: frozenset[str] | None = None
    types: frozenset[str] | None = None
    without_types: frozenset[str] = frozenset()
    severities: frozenset[Severity] | None = None
    priorities: frozenset[Priority] | None = None
    roles: frozenset[Role] | None = None
    actor: str | None = None
    words: tuple[frozenset[str], ...] = ()
    recorded_after: datetime | None = None
    since: datetime | None = None
    until: datetime | None = None
    archived: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Aged:
    """Which events are old enough for the archive: of these types (`network.*` is all that begins so), not of these
    priorities, that happened before `before`. Those that a memory was formed from stay in the journal all the same.
    """

    types: frozenset[str]
    keep: frozenset[Priority]
    before: datetime


class Journal(Protocol):
    """Appends events, reads them back, and says which stretches of a stream are in no episode yet."""

    async def append(self, scope: Scope, entries: Sequence[Entry]) -> tuple[Appended, ...]:
        """Append events, in order, each with its memory. All or nothing.

        An entry whose key is already recorded in its scope (session apart) is left as it was when the text is the
        same, and is a Conflict when it differs; so is an id, or a memory's key or topic, that is taken. An archived
        event holds its key, its id and its place; of its text, what is left is compared. `seq` has no gaps. Raises
        InvalidInput for a scope of another workspace, NotFound for an event that a cue names and is not there.
        """
        ...

    async def events(
        self,
        reader: Reader,
        where: EventFilter,
        *,
        limit: int,
        oldest_first: bool = False,
        after: Place | None = None,
    ) -> tuple[Event, ...]:
        """Events by when they happened, ties by stream position, then id; newest first is the exact reverse.

        `after`: those that come behind a place in that order. Pages asked for so neither repeat nor skip what was there
        when the first was read, whatever is recorded meanwhile.
        """
        ...

    async def recorded(self, reader: Reader, where: EventFilter, *, after: int | None = None, limit: int) -> Stretch:
        """Events of the journal in the order they were recorded, behind a position; the last `limit` where it is None.

        Positions count up in each workspace, in the order in which writes are done: once one has been read, nothing
        comes to stand before it, whichever process wrote it. None is given again. Fewer than `limit` entries are all
        there are; the stretch then ends at the last position of the workspace. What has been archived is not among
        them. InvalidInput for a position that was never given here: it is of another store, or of a lost state of this
        one.
        """
        ...

    async def count_events(self, reader: Reader, where: EventFilter) -> int:
        """How many events the reader may see and the filter keeps."""
        ...

    async def events_by_day(self, reader: Reader, where: EventFilter) -> Mapping[date, int]:
        """The same by the day, in UTC, that they happened on: those days that have any, the earliest first."""
        ...

    async def set_priority(
        self,
        reader: Reader,
        event_id: UUID,
        priority: Priority,
        *,
        by: str,
        reason: str,
        at: datetime,
        change: Callable[[Memory, Sequence[Event], Sequence[Event]], Strength],
    ) -> PriorityChange:
        """Give an event another priority, log it, and give every memory formed from it the strength that follows.

        `change` is pure: a memory, all the events it was formed from as they were, and as they are now. Whatever the
        memory's visibility and status. The priority that it has already is no change, and is not logged. NotFound for
        an event the reader cannot see, Conflict for one in the archive: its time to stay is over.
        """
        ...

    async def priority_changes(self, reader: Reader, event_id: UUID) -> tuple[PriorityChange, ...]:
        """Each change of an event's priority, oldest first, archived or not; none of one the reader cannot see."""
        ...

    async def tails(
        self, scope: Scope, *, at_least: int, silent_since: datetime, limit: int, after: Scope | None = None
    ) -> tuple[Tail, ...]:
        """Streams of the workspace with so many events in no episode yet, or with any where the last was recorded
        at or before `silent_since`; in the order of their scopes, those after `after`.
        """
        ...

    async def tail(self, stream: Scope) -> Tail | None:
        """The tail of exactly this stream (session and all); None where all of it is in episodes."""
        ...

    async def stream_events(self, stream: Scope, *, after: int, limit: int) -> tuple[Event, ...]:
        """Events of exactly this stream behind place `after`, in its order."""
        ...

    async def archive(self, scope: Scope, aged: Aged, *, at: datetime, limit: int) -> int:
        """Move up to `limit` events from the journal into the archive, the oldest first, cut as
        `domain.event.archived` does. Returns how many: fewer than `limit` when none is left. What is archived supports
        no memory from then on, and an import that has it whole brings it back.
        """
        ...
