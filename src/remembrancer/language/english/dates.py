"""Dates in English words."""

from __future__ import annotations

from datetime import datetime
from typing import Final


def spoken_date(moment: datetime) -> str:
    """The date as people write it, in UTC and in English whatever the locale: "Wednesday 4 March 2026"."""
    return f"{WEEKDAYS[moment.weekday()]} {moment.day} {MONTHS[moment.month - 1]} {moment.year}"


WEEKDAYS: Final = tuple("Monday Tuesday Wednesday Thursday Friday Saturday Sunday".split())
MONTHS: Final = tuple("January February March April May June July August September October November December".split())
