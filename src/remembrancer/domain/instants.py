"""Convert aware datetimes to integer microseconds since 1970 UTC, and back, without loss."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Final, overload

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
MICROSECOND: Final = timedelta(microseconds=1)


@overload
def micros(moment: datetime) -> int: ...
@overload
def micros(moment: None) -> None: ...
@overload
def micros(moment: datetime | None) -> int | None: ...
def micros(moment: datetime | None) -> int | None:
    return None if moment is None else (moment - _EPOCH) // MICROSECOND


def microseconds(moment: datetime | None) -> int:
    """Microseconds since 1970 UTC; 0 for never."""
    return 0 if moment is None else micros(moment)


def moment(value: int) -> datetime:
    return _EPOCH + int(value) * MICROSECOND


def optional_moment(value: int | None) -> datetime | None:
    return None if value is None else moment(value)
