"""The JSON shapes of the journal: its pages, one entry, what is recorded, and changed priorities."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Self
from uuid import UUID

from pydantic import AwareDatetime

from remembrancer.domain.event import Priority
from remembrancer.interfaces.wire import EventOut, Wire

if TYPE_CHECKING:
    from remembrancer.domain.event import Event
    from remembrancer.domain.journal import JournalPage, PriorityChange, Recorded, Stretch


class EventsOut(Wire):
    """Entries of the journal, in the order they were asked for or sent."""

    events: list[EventOut]

    @classmethod
    def of(cls, events: Iterable[Event]) -> Self:
        return cls(events=[EventOut.of(event) for event in events])


class JournalPageOut(Wire):
    """`next`: the cursor of the page after this one; null where there is none."""

    events: list[EventOut]
    next: str | None

    @classmethod
    def of(cls, page: JournalPage) -> Self:
        return cls(events=[EventOut.of(event) for event in page.events], next=page.next)


class PriorityChangeOut(Wire):
    """`by`: a role and, where it has one, the agent's name. `previous` as `priority`: nothing was changed."""

    event_id: UUID
    previous: Priority
    priority: Priority
    by: str
    reason: str
    at: AwareDatetime

    @classmethod
    def of(cls, change: PriorityChange) -> Self:
        return cls(
            event_id=change.event_id,
            previous=change.previous,
            priority=change.priority,
            by=change.by,
            reason=change.reason,
            at=change.at,
        )


class JournalEntryOut(Wire):
    """An event, and each change of its priority, oldest first."""

    event: EventOut
    priority_changes: list[PriorityChangeOut]

    @classmethod
    def of(cls, event: Event, changes: Iterable[PriorityChange]) -> Self:
        return cls(event=EventOut.of(event), priority_changes=[PriorityChangeOut.of(change) for change in changes])


class JournalCountOut(Wire):
    total: int


class RecordedOut(Wire):
    """`position`: how many events were recorded in the workspace up to this one."""

    position: int
    event: EventOut

    @classmethod
    def of(cls, recorded: Recorded) -> Self:
        return cls(position=recorded.position, event=EventOut.of(recorded.event))


class StretchOut(Wire):
    """Entries in the order they were recorded, and the `position` to go on from."""

    entries: list[RecordedOut]
    position: int

    @classmethod
    def of(cls, stretch: Stretch) -> Self:
        return cls(entries=[RecordedOut.of(one) for one in stretch.entries], position=stretch.position)
