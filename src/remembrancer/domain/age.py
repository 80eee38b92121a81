"""The time since something happened, which prints in words."""

from __future__ import annotations

from datetime import timedelta
from typing import Self


class Age(timedelta):
    """The time since something happened, negative if it is in the future. `str` gives it in words; in every other
    respect it is a timedelta.

    >>> print(Age(days=15))
    2 weeks ago
    """

    @classmethod
    def of(cls, age: timedelta) -> Self:
        return cls(age.days, age.seconds, age.microseconds)

    def __str__(self) -> str:
        return spoken_age(self)


def spoken_age(age: timedelta) -> str:
    """An age in words: "just now", "5 minutes ago", "3 weeks ago", "in 2 days".

    >>> spoken_age(timedelta(days=15))
    '2 weeks ago'
    """
    seconds = abs(age.total_seconds())
    for unit, length in (
        ("year", 365.25 * 86_400),
        ("month", 30.44 * 86_400),
        ("week", 7 * 86_400),
        ("day", 86_400),
        ("hour", 3_600),
        ("minute", 60),
    ):
        if seconds >= length:
            count = int(seconds // length)
            phrase = f"{count} {unit}{'' if count == 1 else 's'}"
            return f"{phrase} ago" if age > timedelta() else f"in {phrase}"
    return "just now"
