"""Listing memories by time, a page at a time, and the cursors of all paged listings."""

from __future__ import annotations

import base64
from datetime import UTC, datetime, timedelta
from typing import Final, Self
from uuid import UUID

from remembrancer.domain.memory import Memory
from remembrancer.errors import InvalidInput
from remembrancer.values import dataclass

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_MOMENT_BYTES: Final = 8
_ALLOWED: Final = "the next-page cursor of an earlier page"


def cursor_of(at: datetime, rest: bytes) -> str:
    """A cursor for a listing by time: a time, to the microsecond, and the bytes `rest` that order rows of equal times.

    >>> cursor_of(datetime(2026, 3, 4, 9, tzinfo=UTC), bytes([7]))
    'AAZMLwt6RAAH'
    """
    micros = (at - _EPOCH) // timedelta(microseconds=1)
    packed = micros.to_bytes(_MOMENT_BYTES, "big", signed=True) + rest
    return base64.urlsafe_b64encode(packed).decode("ascii").rstrip("=")


def parse_cursor(argument: str, value: object, *, rest_bytes: int) -> tuple[datetime, bytes]:
    """The time and the `rest_bytes` further bytes of a cursor. Raises InvalidInput for anything else."""
    if not isinstance(value, str):
        raise InvalidInput(argument, value, _ALLOWED)
    try:
        packed = base64.urlsafe_b64decode(f"{value}{'=' * (-len(value) % 4)}")
        moment, rest = packed[:_MOMENT_BYTES], packed[_MOMENT_BYTES:]
        at = _EPOCH + timedelta(microseconds=int.from_bytes(moment, "big", signed=True))
    except (ValueError, OverflowError):
        raise InvalidInput(argument, value, _ALLOWED) from None
    if len(rest) != rest_bytes or cursor_of(at, rest) != value:  # each position has exactly one cursor
        raise InvalidInput(argument, value, _ALLOWED)
    return at, rest


_ID_BYTES: Final = 16


@dataclass(frozen=True, slots=True)
class MemoryPlace:
    """The position of a memory in a listing by `occurred_to`; ties are ordered by id.

    A position stays valid even if its memory is removed, so a listing can continue from it at any later time.
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
        """The position of a cursor. Raises InvalidInput if the value is not one."""
        occurred_to, identifier = parse_cursor(argument, value, rest_bytes=_ID_BYTES)
        return cls(occurred_to, UUID(bytes=identifier))


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryPage:
    """Memories by time, and the cursor of the next page; None on the last page."""

    memories: tuple[Memory, ...]
    next: str | None
