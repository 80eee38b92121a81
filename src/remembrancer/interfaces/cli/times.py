"""Times and durations as command-line arguments."""

from __future__ import annotations

import re
from datetime import UTC, date, datetime, time, timedelta
from typing import Final

from remembrancer.domain.validation import moment
from remembrancer.errors import InvalidInput
from remembrancer.language.times.spans import spans

ALLOWED: Final = (
    "a day such as 2026-03-04 (from midnight, UTC), a time with its UTC offset such as 2026-03-04T09:00:00Z, "
    "how long ago, such as 90m, 24h, 7d or 2w, or a phrase such as yesterday or last week (from its beginning, UTC)"
)

LENGTHS: Final = "90m, 24h, 7d or 2w"

_AGO: Final = re.compile(r"(\d{1,7})([mhdw])")
_DAY: Final = re.compile(r"\d{4}-\d{2}-\d{2}")
_UNITS: Final = {
    "m": timedelta(minutes=1),
    "h": timedelta(hours=1),
    "d": timedelta(days=1),
    "w": timedelta(weeks=1),
}


def parse_time(argument: str, value: str, *, now: datetime) -> datetime:
    """The time that `value` denotes, in UTC: a day, a time with an offset, a duration before `now`, or the beginning of
    the time that an English phrase names. Raises InvalidInput.

    >>> parse_time("since", "2d", now=datetime(2026, 3, 4, tzinfo=UTC))
    datetime.datetime(2026, 3, 2, 0, 0, tzinfo=datetime.timezone.utc)
    """
    try:
        if ago := _AGO.fullmatch(value):
            return now - int(ago[1]) * _UNITS[ago[2]]
        if _DAY.fullmatch(value):
            return datetime.combine(date.fromisoformat(value), time.min, UTC)
        parsed = datetime.fromisoformat(value)
    except (ValueError, OverflowError):
        named = [span.start for span in spans(value, now) if span.text == value]
        if not named:
            raise InvalidInput(argument, value, ALLOWED) from None
        return named[0]
    if parsed.tzinfo is None:
        raise InvalidInput(argument, value, f"{ALLOWED} (this time has no UTC offset)")
    return moment(argument, parsed)


def parse_length(argument: str, value: str) -> timedelta:
    """The duration that `value` denotes: 90m, 24h, 7d or 2w. Raises InvalidInput.

    >>> parse_length("within", "2w").days
    14
    """
    told = _AGO.fullmatch(value)
    if told is None:
        raise InvalidInput(argument, value, f"a length of time such as {LENGTHS}")
    return int(told[1]) * _UNITS[told[2]]


def length_text(length: timedelta) -> str:
    """A duration as `parse_length` reads it, in the greatest of days, hours and minutes without a remainder.

    >>> length_text(timedelta(days=30)), length_text(timedelta(hours=36))
    ('30d', '36h')
    """
    for letter in "dhm":
        if not length % _UNITS[letter]:
            return f"{length // _UNITS[letter]}{letter}"
    return str(length)
