"""Cursors of paged listings: a position as opaque, URL-safe text."""

from __future__ import annotations

import base64
from datetime import UTC, datetime, timedelta
from typing import Final

from remembrancer.errors import InvalidInput

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_MOMENT_BYTES: Final = 8
_ALLOWED: Final = "the cursor that a page gave for the next one"


def cursor_of(at: datetime, rest: bytes) -> str:
    """A cursor of a moment, to the microsecond, and the bytes `rest` that order rows of the same moment.

    >>> cursor_of(datetime(2026, 3, 4, 9, tzinfo=UTC), bytes([7]))
    'AAZMLwt6RAAH'
    """
    micros = (at - _EPOCH) // timedelta(microseconds=1)
    packed = micros.to_bytes(_MOMENT_BYTES, "big", signed=True) + rest
    return base64.urlsafe_b64encode(packed).decode("ascii").rstrip("=")


def parse_cursor(argument: str, value: object, *, rest_bytes: int) -> tuple[datetime, bytes]:
    """The moment and the `rest_bytes` bytes of a cursor. Raises InvalidInput where the value is not a cursor of that
    length.
    """
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
