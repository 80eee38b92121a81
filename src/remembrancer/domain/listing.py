"""Listing memories a page at a time: which ones, in which order, and the cursors of all paged listings."""

from __future__ import annotations

import base64
import struct
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from typing import Final, Self
from uuid import UUID

from remembrancer.domain.memory import Memory, Status
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


class MemoryOrder(StrEnum):
    """The order of a listing of memories: by `time` (`occurred_to`), `importance`, or `used` (`last_used_at`).

    A listing by `used` leaves out memories that were never used.
    """

    TIME = "time"
    IMPORTANCE = "importance"
    USED = "used"

    def value_of(self, memory: Memory) -> datetime | float | None:
        """The memory's value in this order; None: the listing leaves it out."""
        match self:
            case MemoryOrder.TIME:
                return memory.occurred_to
            case MemoryOrder.IMPORTANCE:
                return memory.strength.importance
            case MemoryOrder.USED:
                return memory.strength.usage.last_used_at


class MemoryState(StrEnum):
    """The states of memories that a listing can be limited to, at the filter's time.

    - `current`: what recall can find (`Filter.current_at`).
    - `retired`: forgotten, or replaced by an equivalent one (compacted, archived).
    - `ended`: superseded or expired, and not retired.
    - `any`: every memory that was recorded by then.
    """

    CURRENT = "current"
    RETIRED = "retired"
    ENDED = "ended"
    ANY = "any"

    def of(self, memory: Memory, at: datetime) -> bool:
        """Whether the memory, recorded by then, is in this state at a time."""
        superseded = memory.superseded_by is not None and (memory.superseded_at is None or memory.superseded_at <= at)
        retired = memory.status is not Status.ACTIVE and (memory.retired_at is None or memory.retired_at <= at)
        ended = superseded or (memory.valid_until is not None and memory.valid_until <= at)
        begun = memory.valid_from is None or memory.valid_from <= at
        match self:
            case MemoryState.CURRENT:
                return begun and not retired and not ended
            case MemoryState.RETIRED:
                return retired
            case MemoryState.ENDED:
                return ended and not retired
            case MemoryState.ANY:
                return True


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryListing:
    """The selection of a listing beyond a Filter, and its order.

    `words`: for each set (from `language.lexical.every_word`), one indexed passage of the memory has one of its tokens;
    the same passage for all sets. `speaker`: who spoke (`Memory.speaker`).
    """

    state: MemoryState = MemoryState.CURRENT
    words: tuple[frozenset[str], ...] = ()
    speaker: str | None = None
    order: MemoryOrder = MemoryOrder.TIME


USUAL: Final = MemoryListing()
"""Current memories by time."""


@dataclass(frozen=True, slots=True)
class MemoryPlace:
    """The position of a memory in a listing: its value in the listing's order; ties are ordered by id.

    A position stays valid even if its memory is removed, so a listing can continue from it at any later time.
    """

    value: datetime | float
    id: UUID

    @classmethod
    def of(cls, memory: Memory, order: MemoryOrder = MemoryOrder.TIME) -> Self:
        value = order.value_of(memory)
        if value is None:
            raise InvalidInput("memory", str(memory.id), f"one that a listing by {order} contains")
        return cls(value, memory.id)

    @property
    def cursor(self) -> str:
        """The position as an opaque text."""
        if isinstance(self.value, datetime):
            return cursor_of(self.value, self.id.bytes)
        return cursor_of(_EPOCH, struct.pack(">d", self.value) + self.id.bytes)

    @classmethod
    def parse(cls, argument: str, value: object, order: MemoryOrder = MemoryOrder.TIME) -> Self:
        """The position of a cursor of a listing in that order. Raises InvalidInput if the value is not one."""
        if order is not MemoryOrder.IMPORTANCE:
            moment, identifier = parse_cursor(argument, value, rest_bytes=_ID_BYTES)
            return cls(moment, UUID(bytes=identifier))
        _, rest = parse_cursor(argument, value, rest_bytes=8 + _ID_BYTES)
        (importance,) = struct.unpack(">d", rest[:8])
        if not 0 <= importance <= 1:
            raise InvalidInput(argument, value, _ALLOWED)
        return cls(importance, UUID(bytes=rest[8:]))


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryPage:
    """Memories in the order of their listing, and the cursor of the next page; None on the last page."""

    memories: tuple[Memory, ...]
    next: str | None
