"""The JSON shapes of the journal: entries, pages, and changed priorities."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Self
from uuid import UUID

from pydantic import AwareDatetime, JsonValue

from remembrancer.domain.event import Origin, Priority, Role, Severity
from remembrancer.interfaces.wire.shape import Many, Of, ScopeOut, Wire

if TYPE_CHECKING:
    from remembrancer.domain.event import Event
    from remembrancer.domain.journal import JournalPage, PriorityChange, Recorded, RecordedPage


class EventOut(Wire, Of["Event"]):
    id: UUID
    scope: ScopeOut
    seq: int
    occurred_at: AwareDatetime
    recorded_at: AwareDatetime
    type: str
    severity: Severity
    priority: Priority
    actor: str | None
    role: Role
    text: str
    payload: dict[str, JsonValue]
    refs: dict[str, JsonValue]
    key: str | None
    origin: Origin


class EventsOut(Wire, Many["Event"]):
    """Entries of the journal, in the order of the request."""

    events: list[EventOut]


class JournalPageOut(Wire, Of["JournalPage"]):
    """A page of the journal. `next`: the cursor of the next page; null on the last one."""

    events: list[EventOut]
    next: str | None


class PriorityChangeOut(Wire, Of["PriorityChange"]):
    """A change of an entry's priority. `by`: a role, followed by the agent's name if there is one. `previous` equal to
    `priority`: nothing changed.
    """

    event_id: UUID
    previous: Priority
    priority: Priority
    by: str
    reason: str
    at: AwareDatetime


class JournalEntryOut(Wire):
    """An event and the changes of its priority, oldest first."""

    event: EventOut
    priority_changes: list[PriorityChangeOut]

    @classmethod
    def of(cls, event: Event, changes: Iterable[PriorityChange]) -> Self:
        return cls(event=EventOut.of(event), priority_changes=[PriorityChangeOut.of(change) for change in changes])


class JournalCountOut(Wire):
    """The number of events."""

    total: int


class RecordedOut(Wire, Of["Recorded"]):
    """An entry with its position. `position`: the number of events recorded in the workspace up to and including this
    one.
    """

    position: int
    event: EventOut


class RecordedPageOut(Wire, Of["RecordedPage"]):
    """Entries in the order of recording, and the `position` to continue from."""

    entries: list[RecordedOut]
    position: int
