"""A single time or a part of one: last year, the end of last year, the first weekend of July 2023."""

from __future__ import annotations

from datetime import timedelta
from functools import partial
from typing import Final

from remembrancer.language.times import amounts
from remembrancer.language.times.calendar import DAY, Period, Weekly, Yearly, around, later, months
from remembrancer.language.times.dates import named
from remembrancer.language.times.line import Impossible, Line, TimeMatch, found
from remembrancer.language.times.numeric import digits, quarter
from remembrancer.language.times.relative import ago, day, directed, part_of
from remembrancer.language.times.vocabulary import ORDINALS, PARTS, THIRDS, UNITS, WEEKDAYS

_LAST: Final = frozenset({"last", "final"})
_OF_THIRDS: Final = frozenset({"beginning", "start", "middle", "end"})
_MONTHS_LONG: Final = {"quarter": 3, "season": 3, "half": 6, "year": 12}


def period(line: Line, at: int, *, sure: bool = False) -> TimeMatch | None:
    """The time at this word. `sure`: the surrounding words already show that it is a time."""
    return _third(line, at) or _or_piece(line, at, sure=sure)


def _or_piece(line: Line, at: int, *, sure: bool) -> TimeMatch | None:
    return _nth(line, at) or _named_by_a_day(line, at) or _simple(line, at, sure=sure)


def _simple(line: Line, at: int, *, sure: bool) -> TimeMatch | None:
    which = (
        day(line, at)
        or directed(line, at)
        or quarter(line, at)
        or ago(line, at)
        or named(line, at, sure=sure)
        or digits(line, at, sure=sure)
        or _weekend(line, at)
        or _so_far(line, at)
    )
    return part_of(line, which) if which else None


def _within(line: Line, at: int) -> TimeMatch | None:
    """The time that contains a part ("last year" in "the end of last year"); "the year" alone is this year."""
    unit = line.words[at + 1]
    if line.words[at] in {"the", "this"} and unit in {"week", "month", "quarter", "year"}:
        inner = named(line, line.past_article(at + 3), sure=True) if line.words[at + 2] == "of" else None
        return inner or _year_of(line, at + 2, unit) or found(around(unit, line.today), unit, at + 2)
    return _simple(line, line.past_article(at), sure=True)


def _year_of(line: Line, at: int, unit: str) -> TimeMatch | None:
    return digits(line, at, sure=True) if unit == "year" else None


def _third(line: Line, at: int) -> TimeMatch | None:
    """A third of a period, in whole units, such as "early 2024", "mid-June", "the end of last year"."""
    word = line.words[at]
    if word not in THIRDS:
        return None
    after = at + 1
    if word in _OF_THIRDS:
        if line.words[after] != "of":
            return None
        after += 1
    elif line.words[after] in {"-", "in"}:
        after += 1
    inner = _nth(line, line.past_article(after)) or _within(line, after)
    if inner is None:
        return None
    if isinstance(inner.recurring, Yearly):
        # "Late March" in the middle of March is last year's.
        recurring = Yearly(partial(_third_of_year, inner.recurring, inner.unit, THIRDS[word]))
        return TimeMatch((recurring.begun(line.today),), inner.unit, inner.end, recurring)
    return TimeMatch(tuple(_a_third(each, inner.unit, THIRDS[word]) for each in inner.periods), inner.unit, inner.end)


def _third_of_year(whole: Yearly, unit: str, which: int, year: int) -> Period:
    return _a_third(whole.of(year), unit, which)


def _a_third(whole: Period, unit: str, which: int) -> Period:
    if unit in _MONTHS_LONG:
        length = _MONTHS_LONG[unit] // 3
        start = later(whole.start, which * length)
        return Period(start, later(start, length))
    if unit == "decade":
        first, last = ((0, 4), (4, 7), (7, 10))[which]
        return Period(later(whole.start, first * 12), later(whole.start, last * 12))
    edges = {"month": (0, 10, 20), "week": (0, 2, 4)}.get(unit)
    if edges is None:
        return whole
    start = whole.start + DAY * edges[which]
    return Period(start, whole.end if which == 2 else whole.start + DAY * edges[which + 1])


def _nth(line: Line, at: int) -> TimeMatch | None:
    """A numbered part of a period, such as "the first weekend of July 2023", "the last two weeks of May"."""
    word = line.words[at]
    ordinal = -1 if word in _LAST else ORDINALS.get(word) or _short_ordinal(word)
    if not ordinal:
        return None
    name = line.words[at + 1]
    unit, count, after = UNITS.get(name, ""), 1, at + 2
    if name in WEEKDAYS or name == "half":
        unit = name
    elif not unit or unit != name:
        counted = amounts.amount(line, at + 1) if not unit else None
        if counted is None:
            return None
        unit, count, after = counted.unit, counted.most, counted.end
    if line.words[after] not in {"of", "in"}:
        return None
    inner = _within(line, after + 1)
    if inner is None or len(inner.periods) > 1:
        return None
    piece = _piece(inner, unit, ordinal, count)
    if piece is None and ordinal > 1 and unit not in {"half", "hour", "minute"}:  # there is no fifth Monday
        raise Impossible(inner.end)
    return found(piece, "day" if unit in WEEKDAYS else unit, inner.end) if piece else None


def _short_ordinal(word: str) -> int:
    return int(word[0]) if len(word) == 3 and word[1:] in {"st", "nd", "rd", "th"} and word[0] in "123456789" else 0


def _piece(inner: TimeMatch, unit: str, ordinal: int, count: int) -> Period | None:
    whole = inner.period
    if unit == "half":
        return _half(whole, inner.unit, ordinal)
    if unit == "weekend" or unit in WEEKDAYS:
        return _nth_weekday(whole, Weekly(5, 2) if unit == "weekend" else Weekly(WEEKDAYS[unit]), ordinal)
    if unit in {"month", "quarter", "year"}:
        length = count * {"month": 1, "quarter": 3, "year": 12}[unit]
        start = later(whole.end, -length) if ordinal < 0 else later(whole.start, length * (ordinal - 1))
        piece = months(start.year, start.month, length)
    elif unit in {"day", "week"}:
        span = amounts.LENGTHS[unit] * count
        start = whole.end - span if ordinal < 0 else whole.start + span * (ordinal - 1)
        piece = Period(start, start + span)
    else:
        return None
    return piece if whole.start <= piece.start and piece.end <= whole.end and piece != whole else None


def _half(whole: Period, unit: str, ordinal: int) -> Period | None:
    if ordinal not in {1, 2, -1}:
        return None
    if unit == "year":
        middle = later(whole.start, 6)
    elif unit == "month":
        middle = whole.start + DAY * 15
    elif unit == "decade":
        middle = later(whole.start, 60)
    else:
        middle = whole.start + DAY * ((whole.end - whole.start) // timedelta(days=2))
    if not whole.start < middle < whole.end:
        return None
    return Period(whole.start, middle) if ordinal == 1 else Period(middle, whole.end)


def _nth_weekday(whole: Period, recurring: Weekly, ordinal: int) -> Period | None:
    """The nth occurrence in a period, by the day it begins on."""
    if ordinal < 0:
        last = recurring.begun(whole.end - DAY)
        return last if last.start >= whole.start else None
    first = recurring.upcoming(whole.start).start + DAY * 7 * (ordinal - 1)
    return Period(first, first + DAY * recurring.days) if first < whole.end else None


def _named_by_a_day(line: Line, at: int) -> TimeMatch | None:
    """A period named by a day in it, such as "the week of March 3rd", "the night of 5 May"; also "the month of May"."""
    word = line.words[at]
    if line.words[at + 1] != "of" or (word not in UNITS and word not in PARTS):
        return None
    inner = _simple(line, line.past_article(at + 2), sure=True)
    if inner is None or len(inner.periods) > 1:
        return None
    if word == inner.unit and inner.recurring is not None:
        return inner
    if inner.unit != "day":
        return None
    if word in PARTS:
        return part_of(line, inner._replace(end=at))._replace(end=inner.end)
    return found(around(word, inner.start), word, inner.end) if word in {"week", "weekend"} else None


def _weekend(line: Line, at: int) -> TimeMatch | None:
    """The latest weekend that has begun, for "the weekend" or "over the weekend"."""
    if line.words[at] != "weekend":
        return None
    before = line.before(at - 1) if line.before(at) == "the" else ""
    if before not in {"over", "on", "at", "during", "for", "since", "before", "after", "until", "by"}:
        return None
    recurring = Weekly(5, 2)
    return TimeMatch((recurring.begun(line.today),), "weekend", at + 1, recurring)


def _so_far(line: Line, at: int) -> TimeMatch | None:
    """Part of a current period: up to today for "earlier this year", from tomorrow on for "later this week"."""
    word = line.words[at]
    if word not in {"earlier", "later"}:
        return None
    if line.words[at + 1] == "today":
        return day(line, at + 1)
    unit = line.words[at + 2]
    if line.words[at + 1] != "this" or unit not in {"week", "month", "quarter", "year"}:
        return None
    whole, tomorrow = around(unit, line.today), line.today + DAY
    piece = Period(whole.start, tomorrow) if word == "earlier" else Period(tomorrow, whole.end)
    return found(piece, unit, at + 3) if piece.start < piece.end else None
