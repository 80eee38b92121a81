"""Whole time expressions: single times, ranges, and times since, before or after another."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from itertools import product
from typing import Final

from remembrancer.language.times.calendar import DAY, Period
from remembrancer.language.times.dates import dated
from remembrancer.language.times.line import Impossible, Line, TimeMatch, found
from remembrancer.language.times.offsets import REACH, offset
from remembrancer.language.times.periods import period
from remembrancer.language.times.vocabulary import (
    EARLIER,
    HABITUAL,
    HOLIDAY_WORDS,
    LATER,
    MONTHS,
    NUMBERS,
    ORDINALS,
    PARTS,
    QUARTERS,
    RANGE_WORDS,
    RELATIVE_DAYS,
    SEASONS,
    THIRDS,
    TRIGGERS,
    UNITS,
    VAGUE,
    WEEKDAYS,
)

_UP_TO: Final = frozenset({"until", "till", "by"})
_LEADING: Final = (
    frozenset("between from since before after prior just right shortly soon immediately".split()) | _UP_TO
)
_STARTERS: Final = frozenset(
    {*MONTHS, *WEEKDAYS, *SEASONS, *UNITS, *PARTS, *RELATIVE_DAYS, *NUMBERS, *VAGUE, *ORDINALS, *THIRDS}
    | {"a", "an", "half", "some", "this", "other", "earlier", "later", "final"}
) | (EARLIER | LATER | HOLIDAY_WORDS | QUARTERS | _LEADING)
_AHEAD: Final = 8
"""The most words between the first word of an expression and its first trigger word."""
_AND: Final = frozenset({"and", "-", "–", "—", "to"})


def expressions(line: Line) -> Iterator[tuple[int, TimeMatch]]:
    """Each time expression with the index of its first word, from left to right, without overlaps."""
    words, at, trigger = line.words, 0, -1
    while True:
        if trigger < at:
            trigger = _next_trigger(line, at)
            if trigger < 0:
                return
        word = words[at]
        if trigger - at > _AHEAD or (word not in _STARTERS and not word[0].isdecimal()):
            at += 1
            continue
        try:
            which = _expression(line, at)
        except Impossible as impossible:
            at = max(impossible.end, at + 1)
            continue
        except (ValueError, OverflowError):  # outside the years that datetime supports
            which = None
        if which is None:
            at += 1
            continue
        if words[at - 1] not in HABITUAL:
            yield at, which
        at = which.end


def _next_trigger(line: Line, at: int) -> int:
    """The index of the next word that is in `TRIGGERS` or can be part of a date in digits, or -1."""
    words, digits = line.words, line.may_have_date_in_digits
    for place in range(at, len(line)):
        word = words[place]
        if word in TRIGGERS:
            return place
        if digits and word[0].isdecimal() and (len(word) > 3 or word[-1] == "s" or words[place + 1] == "/"):
            return place
    return -1


def _expression(line: Line, at: int) -> TimeMatch | None:
    word = line.words[at]
    if word in _LEADING:
        return _led(line, at, word)
    return _from_a_date(line, at) or _one_or_range(line, at)


def _led(line: Line, at: int, word: str) -> TimeMatch | None:
    start = line.past_article(at + 1)
    if word == "between":
        return _between(line, start)
    if word == "from":
        return _range_or_on(line, start)
    if word == "since":
        which = period(line, start, sure=True)
        return _since(line, which, which.end) if which else None
    if word in _UP_TO:
        which = period(line, start)
        return found(Period(which.start - _reach(which), which.period.end), "until", which.end) if which else None
    return _from_a_date(line, at)


def _since(line: Line, which: TimeMatch, end: int) -> TimeMatch | None:
    """The span from the expression to the end of today."""
    return found(Period(which.start, line.today + DAY), "since", end) if which.start <= line.now else None


def _reach(which: TimeMatch) -> timedelta:
    return max(REACH, which.period.end - which.start)


def _from_a_date(line: Line, at: int) -> TimeMatch | None:
    """A time counted from the first or last day of a date, such as "two weeks before 20 June", "the day after
    Christmas".
    """
    counted = offset(line, at)
    if counted is None or counted.exact:
        return None
    which = period(line, line.past_article(counted.past))
    if which is None:
        return None
    first, last = which.period
    if line.words[counted.past - 1] == "from" and which.recurring is not None:  # a week from Friday: the next one
        first, last = which.recurring.upcoming(line.today)
    if counted.soft:
        reach = max(counted.end - counted.start - DAY, which.period.end - which.start)
        piece = Period(first - reach, first) if counted.backward else Period(last, last + reach)
    else:
        base = first if counted.backward else last - DAY
        piece = Period(base + counted.start, base + counted.end)
    return found(piece, "offset", which.end)


def _between(line: Line, at: int) -> TimeMatch | None:
    of_one_month = dated(line, at, sure=True, connectors=_AND)
    first = of_one_month or period(line, at, sure=True)
    if first is None:
        return None
    if of_one_month is not None and _is_range(of_one_month):
        return of_one_month
    return _until(line, first, _AND)


def _is_range(which: TimeMatch) -> bool:
    return which.period.end - which.start > DAY and which.unit == "day"


def _range_or_on(line: Line, at: int) -> TimeMatch | None:
    """The time behind "from", alone if no end or "on" follows."""
    first = period(line, at, sure=True)
    if first is None:
        return None
    if line.words[first.end] in {"on", "onwards", "onward"}:
        return _since(line, first, first.end + 1)
    return _until(line, first, RANGE_WORDS)


def _one_or_range(line: Line, at: int) -> TimeMatch | None:
    first = period(line, at)
    if first is not None:
        return _until(line, first, RANGE_WORDS) or first
    sure = period(line, at, sure=True) if line.words[at] in MONTHS else None
    return _until(line, sure, RANGE_WORDS) if sure else None


def _until(line: Line, first: TimeMatch, connectors: frozenset[str]) -> TimeMatch | None:
    """The time from the beginning of the first time to the end of the second. A year given for one applies to the
    other.
    """
    if line.words[first.end] not in connectors:
        return None
    second = period(line, line.past_article(first.end + 1), sure=True)
    if second is None:
        return None
    if first.recurring is not None and second.recurring is None:
        first = first._replace(periods=(first.recurring.begun(second.start),))
    elif second.recurring is not None:
        second = second._replace(periods=(second.recurring.upcoming(first.start),))
    if len(first.periods) == len(second.periods):
        pairs = list(zip(first.periods, second.periods, strict=True))
    else:
        pairs = list(product(first.periods, second.periods))
    ranges = [Period(start.start, end.end) for start, end in pairs if start.start < end.end and start != end]
    return TimeMatch(tuple(ranges), "range", second.end) if ranges else None
