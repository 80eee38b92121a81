"""Listing memories by time, a page at a time."""

from __future__ import annotations

from datetime import datetime
from typing import Final, Self
from uuid import UUID

from remembrancer.domain.cursor import cursor_of, parse_cursor
from remembrancer.domain.memory import Memory
from remembrancer.values import dataclass

_ID_BYTES: Final = 16


@dataclass(frozen=True, slots=True)
class MemoryPlace:
    """The position of a memory in a listing by `occurred_to`; ties are ordered by id.

    A position remains valid whether or not its memory exists, so a listing can continue from it at any later time.
    """

    occurred_to: datetime
    id: UUID

    @classmethod
    def of(cls, memory: Memory) -> Self:
        return cls(memory.occurred_to, memory.id)

    @property
    def cursor(self) -> str:
        """The position as an opaque text."""
        return cursor_of(self.occurred_to, self.id.bytes)

    @classmethod
    def parse(cls, argument: str, value: object) -> Self:
        """The position of a cursor. Raises InvalidInput where the value is not one."""
        occurred_to, identifier = parse_cursor(argument, value, rest_bytes=_ID_BYTES)
        return cls(occurred_to, UUID(bytes=identifier))


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryPage:
    """Memories by time, and the cursor of the next page; None on the last page."""

    memories: tuple[Memory, ...]
    next: str | None
