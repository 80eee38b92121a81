"""Durations in Go's notation, extended by days and weeks."""

from __future__ import annotations

import re
from datetime import timedelta
from typing import Final

from remembrancer.errors import InvalidInput

LONGEST: Final = timedelta(days=36_500)
ALLOWED: Final = "a length of time such as 24h, 1h30m, 7d or 2w, of more than 0 and at most 100 years"

_SECONDS: Final = {
    "ns": 1e-9,
    "us": 1e-6,
    "µs": 1e-6,
    "ms": 1e-3,
    "s": 1.0,
    "m": 60.0,
    "h": 3_600.0,
    "d": 86_400.0,
    "w": 604_800.0,
}
_PART: Final = re.compile(r"([0-9]{1,18}(?:\.[0-9]{0,9})?|\.[0-9]{1,9})(ns|us|µs|ms|s|m|h|d|w)")
_WHOLE: Final = re.compile(rf"(?:{_PART.pattern})+")


def parse_duration(argument: str, value: str) -> timedelta:
    """The duration that `value` denotes. Raises InvalidInput.

    >>> parse_duration("since", "1d12h30m").total_seconds() / 3600
    36.5
    """
    seconds = 0.0
    if len(value) <= 100 and _WHOLE.fullmatch(value):
        seconds = sum(float(number) * _SECONDS[unit] for number, unit in _PART.findall(value))
    if not 0 < seconds <= LONGEST.total_seconds():
        raise InvalidInput(argument, value, ALLOWED)
    return timedelta(seconds=seconds)
