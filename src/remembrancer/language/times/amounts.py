"""Amounts of time: "two weeks", "a few months", "half a year", "twenty-five minutes"."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Final, NamedTuple

from remembrancer.language.times.calendar import DAY, Period, later
from remembrancer.language.times.line import Line
from remembrancer.language.times.vocabulary import MANY, NUMBERS, UNITS, VAGUE

LENGTHS: Final = {
    "minute": timedelta(minutes=1),
    "hour": timedelta(hours=1),
    "day": DAY,
    "week": DAY * 7,
    "fortnight": DAY * 14,
    "month": DAY * 30,
    "quarter": DAY * 91,
    "year": DAY * 365,
    "decade": DAY * 3652,
}
"""The length of a unit without a calendar date; a day and longer units in whole days."""
_MONTHS: Final = {"month": 1, "quarter": 3, "year": 12, "decade": 120}
_HALVED: Final = {
    "hour": ("minute", 60),
    "day": ("hour", 24),
    "week": ("day", 7),
    "fortnight": ("day", 14),
    "month": ("day", 30),
    "quarter": ("day", 91),
    "year": ("month", 12),
    "decade": ("year", 10),
}
MOST: Final = 9999


class Amount(NamedTuple):
    """An amount of time: `least` to `most` units. `end`: the index of the word after the amount."""

    least: int
    most: int
    unit: str
    end: int

    @property
    def exact(self) -> bool:
        """Whether the unit is counted on the clock (hours, minutes), not in calendar days."""
        return self.unit in {"hour", "minute"}


def amount(line: Line, at: int) -> Amount | None:
    """The number and unit at this word. A plural without a number means some of them ("years ago")."""
    word = line.words[at]
    if word in UNITS:
        uncounted = word.endswith("s") and not (line.before(at).isdecimal() or line.before(at) in NUMBERS)
        return Amount(*MANY, UNITS[word], at + 1) if uncounted else None
    counted = _count(line, at)
    if counted is None:
        return None
    least, most, after = counted
    if line.words[after] == "-":
        after += 1
    unit = UNITS.get(line.words[after])
    if unit is None:
        return None
    after += 1
    halves = 1 if least == 0 else 0
    if line.words[after : after + 3] == ["and", "a", "half"]:
        halves, after = 1, after + 3
    if not halves:
        return Amount(least, most, unit, after)
    if unit not in _HALVED:
        return None
    # Half a year is six months, and six months leave less open than a year does.
    smaller, size = _HALVED[unit]
    return Amount(least * size + size // 2, most * size + size // 2, smaller, after)


def _count(line: Line, at: int) -> tuple[int, int, int] | None:
    """The least and the greatest count (0 for a half), and the index of the word after them."""
    word = line.words[at]
    if line.before(at) in "-/.:,$€£#_" and line.joined(at):
        return None
    if word in {"a", "an", "the", "some"}:
        return _after_article(line, at + 1, word)
    if word in VAGUE:
        return _vague(line, at)
    if word == "half":
        return 0, 0, at + 2 if line.words[at + 1] in {"a", "an"} else at + 1
    return _counted(line, at)


def _after_article(line: Line, at: int, article: str) -> tuple[int, int, int] | None:
    word = line.words[at]
    if word in VAGUE:
        return _vague(line, at)
    if article == "some":
        return (*VAGUE["few"], at)
    if article == "the":
        return None
    if word == "half":
        return 0, 0, at + 1
    return 1, 1, at + 1 if word == "full" else at


def _vague(line: Line, at: int) -> tuple[int, int, int]:
    return (*VAGUE[line.words[at]], at + 2 if line.words[at + 1] == "of" else at + 1)


def _counted(line: Line, at: int) -> tuple[int, int, int] | None:
    """A count such as "2", "twenty-five", "2-3", "two or three"."""
    number = whole(line, at)
    if not number:
        return None
    if 20 <= number < 100 and line.words[at + 1] == "-" and NUMBERS.get(line.words[at + 2], 10) < 10:
        return number + NUMBERS[line.words[at + 2]], number + NUMBERS[line.words[at + 2]], at + 3
    if line.words[at + 1] in {"-", "–", "to", "or"} and (most := whole(line, at + 2)) > number:
        return number, most, at + 3
    return number, number, at + 1


def whole(line: Line, at: int) -> int:
    """The number that this one word spells, or 0."""
    return line.number(at, MOST) or NUMBERS.get(line.words[at], 0)


def moved(day: datetime, count: int, unit: str) -> datetime:
    """The day moved by this many units, back if negative; months and years by the calendar."""
    return later(day, count * _MONTHS[unit]) if unit in _MONTHS else day + LENGTHS[unit] * count


def moment(line: Line, counted: Amount, direction: int) -> Period:
    """The period meant by an amount ago (direction -1) or from now (1): one unit around that time; for a vague amount,
    around its range of times.

    Days and longer units are whole days; hours and minutes are counted from the exact moment.
    """
    origin = line.now if counted.exact else line.today
    far, near = (counted.most, counted.least) if direction < 0 else (counted.least, counted.most)
    before, after = slack(counted.unit)
    return Period(
        moved(origin, direction * far, counted.unit) - before, moved(origin, direction * near, counted.unit) + after
    )


def slack(unit: str) -> tuple[timedelta, timedelta]:
    """The tolerance of one unit, before the moment (or the start of its day) and after it."""
    half = LENGTHS[unit] / 2
    if unit in {"hour", "minute"}:
        return half, half
    whole = DAY * (LENGTHS[unit] // (2 * DAY))
    return whole, whole + DAY
