"""Memories as they are listed: a page at a time."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Final, Self
from uuid import UUID

from remembrancer.domain.cursor import cursor_of, parse_cursor
from remembrancer.domain.memory import Memory

_ID_BYTES: Final = 16


@dataclass(frozen=True, slots=True)
class MemoryPlace:
    """Where a memory stands in a listing by when it happened: those of one moment are told apart by their ids.

    It is a place whether or not a memory stands there, so that a listing goes on from it whatever came or went since.
    """

    occurred_to: datetime
    id: UUID

    @classmethod
    def of(cls, memory: Memory) -> Self:
        return cls(memory.occurred_to, memory.id)

    @property
    def cursor(self) -> str:
        """The place as a text."""
        return cursor_of(self.occurred_to, self.id.bytes)

    @classmethod
    def parse(cls, argument: str, value: object) -> Self:
        """The place that a cursor tells. Raises InvalidInput for what is none."""
        occurred_to, identifier = parse_cursor(argument, value, rest_bytes=_ID_BYTES)
        return cls(occurred_to, UUID(bytes=identifier))


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryPage:
    """Memories by when they happened, and the cursor of the page after them; None where there is none."""

    memories: tuple[Memory, ...]
    next: str | None
