"""A text split into words with their positions, and the value of a time expression found in it."""

from __future__ import annotations

from datetime import datetime
from functools import cached_property
from typing import Final, NamedTuple

from remembrancer.language.times.calendar import Period, Recurring
from remembrancer.language.times.vocabulary import TRIGGERS
from remembrancer.patterns import pattern

_WORD: Final = pattern(r"[^\W_]+|[^\w\s]|_")
_DATE_IN_DIGITS: Final = pattern(r"[0-9](?:[0-9]{3}|0[sS]|/[0-9]{1,2}/[0-9]{2})")
"""Matches in each date that has no word of `TRIGGERS`: 2023-05-06, 2023, the 90s, 5/6/23."""
_AHEAD: Final = 8
_NONE: Final = ("",) * _AHEAD
_APOSTROPHES: Final = frozenset("'’")


class Line:
    """The `words` of a text in lower case: runs of letters and digits, and single marks; empty words past the end."""

    def __init__(self, text: str, now: datetime) -> None:
        """`now`: the local time of reading, without a timezone."""
        self.text = text
        self.now = now
        self.today = now.replace(hour=0, minute=0, second=0, microsecond=0)
        # Reading looks a few words ahead, and need not ask each time whether there are any.
        found = _WORD.findall(text)
        self._length = len(found)
        self.words = [*map(str.lower, found), *_NONE]

    @cached_property
    def _places(self) -> list[tuple[int, int]]:
        """The start and end of each word. Computed on demand: few texts with a time word need them."""
        places = [match.span() for match in _WORD.finditer(self.text)]
        return places + [(len(self.text), len(self.text))] * _AHEAD

    def start(self, at: int) -> int:
        return self._places[at][0]

    def end(self, at: int) -> int:
        return self._places[at][1]

    def may_tell(self) -> bool:
        """Whether the text can contain a time: it has one of the words that every other expression needs, or a date in
        digits.
        """
        return not TRIGGERS.isdisjoint(self.words) or self.may_have_date_in_digits

    @cached_property
    def may_have_date_in_digits(self) -> bool:
        """Whether the text can contain a date in digits alone."""
        return _DATE_IN_DIGITS.search(self.text) is not None

    def __len__(self) -> int:
        return self._length

    def before(self, at: int) -> str:
        return self.words[at - 1] if at else ""

    def capital(self, at: int) -> bool:
        return self.text[self.start(at)].isupper()

    def joined(self, at: int) -> bool:
        """Whether the word exists and is attached to the word before it. Ask last: it may search for all places."""
        if not 0 < at < self._length:
            return False
        places = self._places
        return places[at][0] == places[at - 1][1]

    def past_article(self, at: int) -> int:
        return at + 1 if self.words[at] == "the" else at

    def possessive(self, at: int) -> int:
        """The index behind an 's, if there is one."""
        return at + 2 if self.words[at] in _APOSTROPHES and self.words[at + 1] == "s" else at

    def number(self, at: int, most: int) -> int:
        """The number at this word, written in digits only, from 1 to `most`, or 0."""
        word = self.words[at]
        if word.isdecimal() and len(word) <= 4 and word.isascii() and (number := int(word)) <= most:
            return number
        return 0


class TimeMatch(NamedTuple):
    """The meaning of the words up to `end` (excluded): each possible period, its granularity, and its recurrence if no
    year fixes it. `exact`: counted in hours or minutes.
    """

    periods: tuple[Period, ...]
    unit: str
    end: int
    recurring: Recurring | None = None
    exact: bool = False

    @property
    def start(self) -> datetime:
        return self.periods[0].start

    @property
    def period(self) -> Period:
        return self.periods[0]


class Impossible(ValueError):
    """Words up to `end` (excluded) that name a day no calendar has. None of these words names a time."""

    def __init__(self, end: int) -> None:
        super().__init__(end)
        self.end = end


def found(period: Period, unit: str, end: int) -> TimeMatch:
    return TimeMatch((period,), unit, end)
