"""Times relative to the day of asking: yesterday, last summer, this week, two weeks ago, the past few days."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Final

from remembrancer.language.times import amounts, dates
from remembrancer.language.times.calendar import DAY, WEEKEND, Period, Recurring, Weekly, around, days
from remembrancer.language.times.line import Line, TimeMatch, found
from remembrancer.language.times.vocabulary import EARLIER, LATER, PARTS, RELATIVE_DAYS, UNITS, WEEKDAYS

_CALENDAR_UNITS: Final = frozenset({"week", "month", "quarter", "year", "decade"})


def day(line: Line, at: int) -> TimeMatch | None:
    """A day at this word, such as "today", "tonight", "the day before yesterday"."""
    words = line.words
    word = words[at]
    if word == "tonight":
        return found(_part(line.today, "night"), "part", at + 1)
    if word in RELATIVE_DAYS:
        return found(days(line.today + DAY * RELATIVE_DAYS[word]), "day", at + 1)
    if word == "day" and words[at + 1 : at + 3] in (["before", "yesterday"], ["after", "tomorrow"]):
        return found(days(line.today + DAY * (2 if words[at + 1] == "after" else -2)), "day", at + 3)
    if word in _CALENDAR_UNITS and words[at + 1 : at + 3] == ["before", "last"]:
        return found(around(word, around(word, around(word, line.today).start - DAY).start - DAY), word, at + 3)
    if word == "other" and words[at + 1] == "day" and line.before(at) == "the":
        return found(Period(line.today - DAY * 7, line.today - DAY), "day", at + 2)
    return None


def part_of(line: Line, which: TimeMatch) -> TimeMatch:
    """The part of the day `which` that the next words name ("yesterday evening", "7 May in the
    morning"); else `which`.
    """
    at = which.end
    if line.words[at] == "in" and line.words[at + 1] == "the":
        at += 2
    part = line.words[at]
    if which.unit != "day" or part not in PARTS or len(which.periods) > 1:
        return which
    return found(_part(which.start, part), "part", at + 1)


def _part(midnight: datetime, part: str) -> Period:
    first, last = PARTS[part]
    return Period(midnight + timedelta(hours=first), midnight + timedelta(hours=last))


def directed(line: Line, at: int) -> TimeMatch | None:
    """Last, this or next with a unit, a month, a season, a weekday, a holiday, or a number of units."""
    word = line.words[at]
    if word == "this":
        if line.words[at + 1] == "time":
            return _same_time(line, at)
        return _directed(line, at + 1, -1) if line.words[at + 1] == "past" else _directed(line, at, 0)
    direction = -1 if word in EARLIER else 1 if word in LATER else 0
    return _rolled(line, at, word, direction) or _directed(line, at, direction) if direction else None


def _directed(line: Line, at: int, direction: int) -> TimeMatch | None:
    what = line.words[at + 1]
    if what in PARTS:
        return _directed_part(line, at, direction, what)
    if what in _CALENDAR_UNITS:
        return found(_of_unit(line, what, direction), what, at + 2)
    if what == "weekend":
        return found(_chosen(line, WEEKEND, direction), what, at + 2)
    which = dates.named(line, at + 1, sure=True)
    if which is None or which.recurring is None:
        return None
    return found(_chosen(line, which.recurring, direction), which.unit, which.end)


def _chosen(line: Line, recurring: Recurring, direction: int) -> Period:
    if direction < 0:
        return recurring.ended(line.today)
    return recurring.upcoming(line.today + DAY) if direction else recurring.current(line.today)


def _of_unit(line: Line, unit: str, direction: int) -> Period:
    current = around(unit, line.today)
    if not direction:
        return current
    return around(unit, current.start - DAY if direction < 0 else current.end)


def _directed_part(line: Line, at: int, direction: int, part: str) -> TimeMatch | None:
    if direction > 0 or (direction < 0 and part != "night"):
        return None
    return found(_part(line.today + DAY * direction, part), "part", at + 2)


def _rolled(line: Line, at: int, word: str, direction: int) -> TimeMatch | None:
    """A rolling period up to today, or from tomorrow on: the last two weeks, the past few days, the next month.

    "the last week" and "the past week" are rolling; "last week" is the calendar week.
    """
    counted = amounts.amount(line, at + 1) if line.words[at + 1] not in UNITS else None
    if counted is None:
        unit = line.words[at + 1]
        if unit != UNITS.get(unit) or unit == "weekend" or line.before(at) != "the" or word == "next":
            return None
        counted = amounts.Amount(1, 1, unit, at + 2)
    if counted.unit not in amounts.LENGTHS:
        return None
    if counted.exact:
        edge = amounts.moved(line.now, direction * counted.most, counted.unit)
        return TimeMatch((Period(*sorted((edge, line.now))),), counted.unit, counted.end, exact=True)
    edge = amounts.moved(line.today, direction * counted.most, counted.unit)
    period = Period(edge, line.today + DAY) if direction < 0 else Period(line.today + DAY, edge + DAY)
    return found(period, counted.unit, counted.end)


def ago(line: Line, at: int) -> TimeMatch | None:
    """A time at this word by its distance from now, such as "two weeks ago", "three days from now", "two
    Fridays ago".
    """
    counted = amounts.amount(line, at)
    if counted is None:
        return _weekdays_ago(line, at)
    words = line.words
    if words[counted.end] in {"ago", "back", "earlier"}:
        if words[counted.end] == "earlier" or (words[counted.end] == "back" and words[counted.end + 1] in {"to", "in"}):
            return None
        direction, end = -1, counted.end + 1
    elif words[counted.end] == "from" and words[counted.end + 1] in {"now", "today"}:
        direction, end = 1, counted.end + 2
    else:
        return None
    if counted.unit == "weekend":
        return _times_ago(line, WEEKEND, counted, end) if direction < 0 else None
    return TimeMatch((amounts.moment(line, counted, direction),), counted.unit, end, exact=counted.exact)


def _weekdays_ago(line: Line, at: int) -> TimeMatch | None:
    """A number of weekdays ago: two Fridays ago."""
    if line.words[at + 2] != "ago":
        return None
    number = amounts.whole(line, at)
    weekday = WEEKDAYS.get(line.words[at + 1].removesuffix("s"))
    if not number or weekday is None:
        return None
    return _times_ago(line, Weekly(weekday), amounts.Amount(number, number, "day", at + 2), at + 3)


def _times_ago(line: Line, recurring: Weekly, counted: amounts.Amount, end: int) -> TimeMatch:
    latest = recurring.ended(line.today)
    length = latest.end - latest.start
    first = latest.start - DAY * 7 * (counted.most - 1)
    last = latest.start - DAY * 7 * (counted.least - 1)
    return found(Period(first, last + length), counted.unit, end)


def _same_time(line: Line, at: int) -> TimeMatch | None:
    """The same time in another year: this time last year."""
    words = line.words
    if words[at + 1] != "time" or words[at + 2] not in EARLIER or words[at + 3] not in {"week", "month", "year"}:
        return None
    counted = amounts.Amount(1, 1, words[at + 3], at + 4)
    return found(amounts.moment(line, counted, -1), counted.unit, at + 4)
