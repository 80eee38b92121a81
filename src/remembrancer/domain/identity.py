"""Ids: time-ordered for events, derived from another id for rows that must be stored once."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from hashlib import sha1
from typing import Final
from uuid import UUID

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_MILLISECOND: Final = timedelta(milliseconds=1)
_NEITHER: Final = (1 << 128) - 1 ^ 0xF << 76 ^ 0b11 << 62
"""All bits but those of the version and the variant."""


def uuid7(moment: datetime, randomness: bytes) -> UUID:
    """A UUIDv7: 48 bits of milliseconds since 1970, then 74 bits of `randomness` (10 bytes, the first 6 bits unused).

    Source: RFC 9562, section 5.7.
    """
    milliseconds = (moment - _EPOCH) // _MILLISECOND
    random = int.from_bytes(randomness[:10], "big")
    value = (milliseconds & (1 << 48) - 1) << 80
    value |= (random >> 62 & 0xFFF) << 64
    value |= random & (1 << 62) - 1
    return _of_version(7, value)


SHORT_DIGITS: Final = 8
"""The digits of a short id, and the fewest that are accepted as one."""


def short_id(identifier: UUID) -> str:
    """The last digits of an id, which lists show: the first ones are a time, equal for rows of one moment.

    >>> short_id(UUID("01981c0e-7a44-7d0c-9f3e-0a1b2c3d4e5f"))
    '2c3d4e5f'
    """
    return identifier.hex[-SHORT_DIGITS:]


def derived_id(source: UUID, purpose: str) -> UUID:
    """A deterministic id for the row derived from `source` for a `purpose`. Deriving it twice gives the same id.

    A UUIDv5 (RFC 9562, section 5.5), as `uuid.uuid5` makes it in twice the time.
    """
    digest = sha1(source.bytes + purpose.encode(), usedforsecurity=False).digest()
    return _of_version(5, int.from_bytes(digest[:16], "big"))


def _of_version(version: int, value: int) -> UUID:
    """The id with these 128 bits, of which those of the version and the variant are replaced."""
    return UUID(int=value & _NEITHER | version << 76 | 0b10 << 62)
