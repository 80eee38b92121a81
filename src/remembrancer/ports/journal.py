"""The journal: recorded events in the order of their streams."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import date, datetime
from typing import TYPE_CHECKING, NamedTuple, Protocol
from uuid import UUID

from remembrancer.values import dataclass

if TYPE_CHECKING:
    from remembrancer.domain.event import Event, Priority, Role, Severity
    from remembrancer.domain.journal import ListingPosition, PriorityChange, RecordedPage
    from remembrancer.domain.memory import Memory, MemoryWrite
    from remembrancer.domain.scope import Reader, Scope
    from remembrancer.domain.stream import ConversationSummary, Tail
    from remembrancer.domain.strength import Strength


@dataclass(frozen=True, slots=True)
class Entry:
    """An event to append, with the memory formed from it if the preset admits it. The store assigns `event.seq`.

    `tokens`: the analysed tokens of the event's `searchable_text`; None: the store analyses the text.
    """

    event: Event
    memory: MemoryWrite | None = None
    tokens: tuple[str, ...] | None = None


@dataclass(frozen=True, slots=True)
class Appended:
    """A recorded event. `created` is False if its key was already recorded; nothing was written then."""

    event: Event
    created: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class EventFilter:
    """A filter on events. None means any. `since` and `until` select `occurred_at` in [since, until).

    `crew`, `agent`: exactly this one; `crews`, `agents`: one of these. `recorded_after`: recorded later than this;
    `recorded_by`: no later than this. `without_types`: of none of these types. `unformed`: no memory was formed from
    it. `speaker`: said by this speaker (`domain.event.speaker_of`). `words`: for each set (from
    `language.lexical.every_word`), the event's `searchable_text` has one of its tokens. `archived`: include archived
    events, whose text is shortened.
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
    speaker: str | None = None
    words: tuple[frozenset[str], ...] = ()
    recorded_after: datetime | None = None
    recorded_by: datetime | None = None
    since: datetime | None = None
    until: datetime | None = None
    unformed: bool = False
    archived: bool = False


class FoundEvent(NamedTuple):
    """An event, and its score: the sum of the weights of the words that it contains."""

    event: Event
    score: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Aged:
    """The events that are old enough to archive: those of `types` (`network.*` matches every type with that prefix)
    that happened before `before` with a priority not in `keep`. Events that a memory was formed from are never
    archived.
    """

    types: frozenset[str]
    keep: frozenset[Priority]
    before: datetime


class Journal(Protocol):
    """Appends events, reads them, and tracks how far each stream has been formed into episodes."""

    async def append(self, scope: Scope, entries: Sequence[Entry]) -> tuple[Appended, ...]:
        """Append events in order, each with its memory, in one transaction.

        `seq` has no gaps. If an entry's key is already recorded in the scope (session ignored), the recorded event
        stays: the same text returns it, another text raises Conflict. An archived event keeps its key, id and position;
        its shortened text is compared.

        Raises Conflict for an id, or a memory's key or topic, that is taken; InvalidInput for a scope of another
        workspace; NotFound if the event of a cue does not exist.
        """
        ...

    async def events(
        self,
        reader: Reader,
        where: EventFilter,
        *,
        limit: int,
        oldest_first: bool = False,
        after: ListingPosition | None = None,
    ) -> tuple[Event, ...]:
        """Events by `occurred_at`, ties by `seq`, then id; newest first, or exactly the reverse.

        `after`: continue behind this position. Consecutive pages neither repeat nor skip an event that existed when the
        first page was read, even while others are recorded.
        """
        ...

    async def recorded(
        self, reader: Reader, where: EventFilter, *, after: int | None = None, limit: int
    ) -> RecordedPage:
        """Events in the order they were recorded, behind the position `after`; if that is None, the last `limit`.

        Positions rise within a workspace in commit order, for all writing processes, and are never reused: nothing is
        added before a position that was read. Fewer than `limit` events mean that there are no more; the page then ends
        at the last position of the workspace. Archived events are left out.

        Raises InvalidInput for a position that this store never assigned.
        """
        ...

    async def count_events(self, reader: Reader, where: EventFilter) -> int:
        """The number of events that the reader may see and the filter keeps."""
        ...

    async def events_by_day(self, reader: Reader, where: EventFilter) -> Mapping[date, int]:
        """The number of such events for each UTC day that has any, earliest day first."""
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
        """Change an event's priority, log the change, and update the strength of every memory formed from the event.

        `change` is pure: from a memory, its events before the change and its events after it, it computes the memory's
        new strength. It is called for each such memory, whatever its visibility and status. Setting the current
        priority again changes and logs nothing.

        Raises NotFound for an event that the reader cannot see, Conflict for an archived one.
        """
        ...

    async def priority_changes(self, reader: Reader, event_id: UUID) -> tuple[PriorityChange, ...]:
        """The changes of an event's priority, archived or not, oldest first; empty if the reader cannot see it."""
        ...

    async def tails(
        self, scope: Scope, *, at_least: int, silent_since: datetime, limit: int, after: Scope | None = None
    ) -> tuple[Tail, ...]:
        """Streams of the workspace whose tail (the events in no episode yet) has `at_least` events, or whose last event
        was recorded at or before `silent_since`. Ordered by scope; `after`: continue behind this one.
        """
        ...

    async def tail(self, stream: Scope) -> Tail | None:
        """The tail of exactly this stream, session included; None if all its events are in episodes."""
        ...

    async def stream_events(self, stream: Scope, *, after: int, limit: int) -> tuple[Event, ...]:
        """Events of exactly this stream with `seq` > `after`, in order."""
        ...

    async def conversations(
        self, reader: Reader, *, limit: int, after: ListingPosition | None = None, stream: Scope | None = None
    ) -> tuple[ConversationSummary, ...]:
        """The streams that the reader may see and that have events, by the position of their last event, newest first.

        `after`: continue behind this position. `stream`: only exactly this one.
        """
        ...

    async def archive(self, scope: Scope, aged: Aged, *, at: datetime, limit: int) -> int:
        """Move up to `limit` events into the archive, oldest first, each shortened by `domain.event.archived`.

        Returns how many; fewer than `limit` means that none is left. Events on legal hold are left out. No memory can
        be formed from an archived event. Importing the whole event restores it.
        """
        ...
