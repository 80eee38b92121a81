"""The JSON shapes of the journal: entries, pages, and changed priorities."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Self
from uuid import UUID

from pydantic import AwareDatetime, JsonValue

from remembrancer.domain.event import Origin, Priority, Role, Severity
from remembrancer.interfaces.wire.shape import Of, ScopeOut, Wire

if TYPE_CHECKING:
    from remembrancer.domain.event import Event
    from remembrancer.domain.journal import JournalPage, PriorityChange, Recorded, Stretch


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


class EventsOut(Wire):
    """Entries of the journal, in the order they were asked for or sent."""

    events: list[EventOut]

    @classmethod
    def of(cls, events: Iterable[Event]) -> Self:
        return cls(events=[EventOut.of(event) for event in events])


class JournalPageOut(Wire, Of["JournalPage"]):
    """`next`: the cursor of the page after this one; null where there is none."""

    events: list[EventOut]
    next: str | None


class PriorityChangeOut(Wire, Of["PriorityChange"]):
    """`by`: a role and, where it has one, the agent's name. `previous` as `priority`: nothing was changed."""

    event_id: UUID
    previous: Priority
    priority: Priority
    by: str
    reason: str
    at: AwareDatetime


class JournalEntryOut(Wire):
    """An event, and each change of its priority, oldest first."""

    event: EventOut
    priority_changes: list[PriorityChangeOut]

    @classmethod
    def of(cls, event: Event, changes: Iterable[PriorityChange]) -> Self:
        return cls(event=EventOut.of(event), priority_changes=[PriorityChangeOut.of(change) for change in changes])


class JournalCountOut(Wire):
    total: int


class RecordedOut(Wire, Of["Recorded"]):
    """`position`: how many events were recorded in the workspace up to this one."""

    position: int
    event: EventOut


class StretchOut(Wire, Of["Stretch"]):
    """Entries in the order they were recorded, and the `position` to go on from."""

    entries: list[RecordedOut]
    position: int
