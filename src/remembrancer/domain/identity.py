"""Ids: time-ordered for events, derived from another id for rows that must be stored once."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Final
from uuid import UUID, uuid5

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)


def uuid7(moment: datetime, randomness: bytes) -> UUID:
    """A UUIDv7: 48 bits of milliseconds since 1970, then 74 bits of `randomness` (10 bytes, the first 6 bits unused).

    Source: RFC 9562, section 5.7.
    """
    milliseconds = (moment - _EPOCH) // timedelta(milliseconds=1)
    random = int.from_bytes(randomness[:10], "big")
    value = (milliseconds & (1 << 48) - 1) << 80
    value |= 0x7 << 76
    value |= (random >> 62 & 0xFFF) << 64
    value |= 0b10 << 62
    value |= random & (1 << 62) - 1
    return UUID(int=value)


SHORT_DIGITS: Final = 8
"""The digits of a short id, and the fewest that are accepted as one."""


def short_id(identifier: UUID) -> str:
    """The last digits of an id, which lists show: the first ones are a time, equal for rows of one moment.

    >>> short_id(UUID("01981c0e-7a44-7d0c-9f3e-0a1b2c3d4e5f"))
    '2c3d4e5f'
    """
    return identifier.hex[-SHORT_DIGITS:]


def derived_id(source: UUID, purpose: str) -> UUID:
    """A deterministic id for the row derived from `source` for a `purpose`. Deriving it twice gives the same id."""
    return uuid5(source, purpose)
