"""Reading the journal: pages by time, events in recorded order, and changes of priority."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from typing import Final, Self
from uuid import UUID

from remembrancer.domain.event import Event, Priority
from remembrancer.domain.listing import cursor_of, parse_cursor
from remembrancer.domain.validation import JsonValue
from remembrancer.errors import InvalidInput
from remembrancer.values import dataclass

_SEQ_BYTES: Final = 8
_MOST: Final = 2**63 - 1
_ID_BYTES: Final = 16


@dataclass(frozen=True, slots=True, order=True)
class ListingPosition:
    """The position of an event in a listing by time; ties are ordered by `seq`, then id.

    A position stays valid even if its event is removed, so a listing can continue from it at any later time.
    """

    occurred_at: datetime
    seq: int
    id: UUID

    @classmethod
    def of(cls, event: Event) -> Self:
        """The position of an event."""
        return cls(event.occurred_at, event.seq, event.id)

    @property
    def cursor(self) -> str:
        """The position as an opaque text.

        >>> from datetime import UTC
        >>> ListingPosition(datetime(2026, 3, 4, 9, tzinfo=UTC), 7, UUID(int=1)).cursor
        'AAZMLwt6RAAAAAAAAAAABwAAAAAAAAAAAAAAAAAAAAE'
        """
        return cursor_of(self.occurred_at, self.seq.to_bytes(_SEQ_BYTES, "big") + self.id.bytes)

    @classmethod
    def parse(cls, argument: str, value: object) -> Self:
        """The position of a cursor. Raises InvalidInput if the value is not one."""
        occurred_at, rest = parse_cursor(argument, value, rest_bytes=_SEQ_BYTES + _ID_BYTES)
        seq = int.from_bytes(rest[:_SEQ_BYTES], "big")
        if seq > _MOST:
            raise InvalidInput(argument, value, "the next-page cursor of an earlier page")
        return cls(occurred_at, seq, UUID(bytes=rest[_SEQ_BYTES:]))


@dataclass(frozen=True, slots=True, kw_only=True)
class JournalPage:
    """Events by time, and the cursor of the next page; None on the last page."""

    events: tuple[Event, ...]
    next: str | None


@dataclass(frozen=True, slots=True)
class Recorded:
    """An event and its position: the number of events recorded in its workspace up to and including it."""

    position: int
    event: Event


@dataclass(frozen=True, slots=True)
class RecordedPage:
    """Events in the order they were recorded, and the position to continue from; later reads return nothing before it.

    The position may lie behind the last entry if the filter left out the events in between.
    """

    entries: tuple[Recorded, ...]
    position: int


@dataclass(frozen=True, slots=True, kw_only=True)
class PriorityChange:
    """A change of an event's priority, with its author, time and reason. `by`: a role and, if known, the
    agent's name.
    """

    event_id: UUID
    previous: Priority
    priority: Priority
    by: str
    reason: str
    at: datetime

    @property
    def is_change(self) -> bool:
        return self.previous is not self.priority


def searchable_text(event: Event) -> str:
    """The searchable text of an event: its text, and the names, words and numbers of its payload."""
    return "\n".join((event.text, *_words_of(dict(event.payload))))


def _words_of(value: JsonValue) -> Iterator[str]:
    if isinstance(value, dict):
        for name, inner in value.items():
            yield name
            yield from _words_of(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _words_of(inner)
    elif value is not None and not isinstance(value, bool):
        yield str(value)
