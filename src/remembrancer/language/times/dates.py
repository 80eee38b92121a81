"""Dates by name: months with and without a day, weekdays, seasons, holidays."""

from __future__ import annotations

from functools import partial
from typing import Final

from remembrancer.language.times.calendar import (
    DAY,
    Period,
    Weekly,
    Yearly,
    date,
    months,
)
from remembrancer.language.times.holidays import holiday
from remembrancer.language.times.line import Impossible, Line, TimeMatch, found
from remembrancer.language.times.numeric import year_number
from remembrancer.language.times.vocabulary import (
    CAPITALISED,
    CUES,
    EARLIER,
    FORENAMES,
    LATER,
    MONTHS,
    ORDINALS,
    SEASONS,
    SURE_CUES,
    WEEKDAYS,
)

_SEASON_CUES: Final = CUES - frozenset("of for and or on at".split())
_DASHES: Final = frozenset({"-", "–", "—", "to", "through"})


def month(line: Line, at: int) -> int:
    """The month that the word names, 1 to 12, or 0. "may" in lower case is a verb."""
    word = line.words[at]
    number = MONTHS.get(word, 0)
    return 0 if number and word == "may" and not line.capital(at) else number


def past_month(line: Line, at: int) -> int:
    """The index behind a month and the dot that abbreviates it: Jan. 5."""
    return at + 2 if line.words[at + 1] == "." and len(line.words[at]) < 5 and line.joined(at + 1) else at + 1


def day_of_month(line: Line, at: int) -> int:
    """The day of a month, 1 to 31, written as 7, 7th or seventh (up to twelfth), or 0."""
    word = line.words[at]
    if word[-2:] in {"st", "nd", "rd", "th"} and word[:-2].isdecimal() and word.isascii() and len(word) <= 4:
        number = int(word[:-2])
        return number if number <= 31 else 0
    return line.number(at, 31) or ORDINALS.get(word, 0)


def year_after(line: Line, at: int) -> tuple[int, int]:
    """The year named after a date (2023, of 2023, last year), and the index of the next word; (0, at) for none."""
    after = at + 1 if line.words[at] in {"of", ",", "in"} else at
    word = line.words[after]
    if word[:1].isdecimal():
        year = year_number(line, after)
        return (year, after + 1) if year else (0, at)
    if line.words[after + 1] == "year" and (word in EARLIER or word in LATER or word == "this"):
        distance = -1 if word in EARLIER else 0 if word == "this" else 1
        return line.today.year + distance, after + 2
    return 0, at


def fixed(line: Line, at: int, recurring: Yearly, unit: str) -> TimeMatch:
    """The period in the year that follows; without a year, the latest period that has begun."""
    year, end = year_after(line, at)
    try:
        if year:
            return found(recurring.of(year), unit, end)
        return TimeMatch((recurring.begun(line.today),), unit, at, recurring)
    except (ValueError, OverflowError):
        raise Impossible(end) from None


def dated(line: Line, at: int, *, sure: bool, connectors: frozenset[str] = _DASHES) -> TimeMatch | None:
    """A month with a day or days before or behind it, or with a year."""
    number = month(line, at)
    if number:
        return _month_first(line, at, number, connectors) or _month_alone(line, at, number, sure=sure)
    first = day_of_month(line, at)
    if not first or (line.before(at) in "-/.:,$€£#_" and line.joined(at)):
        return None
    last, after = first, at + 1
    if line.words[after] in connectors and (until := day_of_month(line, line.past_article(after + 1))):
        last, after = until, line.past_article(after + 1) + 1
    if line.words[after] == "of":
        after += 1
    elif line.words[at] in ORDINALS:  # "second May" is no date
        return None
    number = month(line, after)
    if not number or (len(line.words[after]) == 3 and line.words[after] == "mar" and not line.capital(after)):
        return None
    return fixed(line, past_month(line, after), Yearly(partial(_days, number, first, last)), "day")


def _month_first(line: Line, at: int, number: int, connectors: frozenset[str]) -> TimeMatch | None:
    after = line.past_article(past_month(line, at))
    first = last = day_of_month(line, after)
    if not first or (line.words[after] in ORDINALS and line.before(after) != "the"):
        return None
    if line.words[after + 1] in {":", "%"} and line.joined(after + 1):
        return None
    end = after + 1
    if (
        line.words[end] in connectors
        and not month(line, end + 2)
        and (until := day_of_month(line, line.past_article(end + 1)))
    ):
        last, end = until, line.past_article(end + 1) + 1
    return fixed(line, end, Yearly(partial(_days, number, first, last)), "day")


def _days(number: int, first: int, last: int, year: int) -> Period:
    return Period(date(year, number, first).start, date(year, number, last).end)


def _month_alone(line: Line, at: int, number: int, *, sure: bool) -> TimeMatch | None:
    whole = fixed(
        line, past_month(line, at) if line.words[at + 2][:1].isdecimal() else at + 1, _month_of(number), "month"
    )
    word, before = line.words[at], line.before(at)
    if whole.recurring is None:
        return whole
    if word in CAPITALISED and not line.capital(at):
        return None
    if sure or before in SURE_CUES or (before in CUES and word not in FORENAMES and word != "march"):
        return whole
    return None


def _month_of(number: int) -> Yearly:
    return Yearly(lambda year: months(year, number))


def weekday(line: Line, at: int, *, sure: bool) -> TimeMatch | None:
    """A weekday at this word, such as "Friday", "Friday of last week". In "Friday, 7 July 2023" the date decides."""
    word = line.words[at]
    number = WEEKDAYS.get(word)
    if number is None or (line.words[at + 1] == "." and line.joined(at + 1) and line.joined(at + 2)):  # Monday.com
        return None
    end = past_month(line, at) if word in CAPITALISED else at + 1
    comma = line.past_article(end + 1 if line.words[end] == "," else end)
    by_date = dated(line, comma, sure=False) if line.words[comma] not in MONTHS or _dated_month(line, comma) else None
    if by_date is not None and by_date.unit == "day":
        return by_date
    if word in CAPITALISED and not (line.capital(at) and (sure or line.before(at) in CUES)):
        return None
    recurring = Weekly(number)
    week = end + 1 if line.words[end] in {"of", "in"} else end
    if line.words[week + 1] == "week" and (which := line.words[week]) in {"last", "this", "next", "previous"}:
        distance = 0 if which == "this" else 7 if which == "next" else -7
        return found(recurring.current(line.today + DAY * distance), "day", week + 2)
    return TimeMatch((recurring.begun(line.today),), "day", at + 1, recurring)


def _dated_month(line: Line, at: int) -> bool:
    return month(line, at) > 0 and day_of_month(line, line.past_article(past_month(line, at))) > 0


def season(line: Line, at: int, *, sure: bool) -> TimeMatch | None:
    """A season at this word, such as "summer 2023". "Winter 2023" gives two: the one in which the year began, and the
    one that began in it.
    """
    first = SEASONS[line.words[at]]
    recurring = Yearly(lambda year: months(year, first, 3))
    year, end = year_after(line, at + 1)
    if year:
        if line.words[end] in {"/", "-", "–"} and line.words[end + 1].isdecimal() and line.joined(end):
            return found(recurring.of(year), "season", end + 2)
        own = recurring.of(year)
        if first == 12 and line.words[end - 1] != "year":
            return TimeMatch((recurring.of(year - 1), own), "season", end)
        return found(own, "season", end)
    hyphenated = line.words[at + 1] == "-" and line.joined(at + 1)
    if sure or (line.before(_article(line, at)) in _SEASON_CUES and not hyphenated):
        return TimeMatch((recurring.begun(line.today),), "season", at + 1, recurring)
    return None


def _article(line: Line, at: int) -> int:
    """Whether the word before is an article."""
    return at - 1 if line.before(at) == "the" else at


def named(line: Line, at: int, *, sure: bool) -> TimeMatch | None:
    """Any of the above at this word."""
    word = line.words[at]
    if word in MONTHS or word[:1].isdecimal() or word in ORDINALS:
        return dated(line, at, sure=sure)
    if word in WEEKDAYS:
        return weekday(line, at, sure=sure)
    if word in SEASONS:
        return season(line, at, sure=sure)
    if (festive := holiday(line, at)) is not None:
        recurring, end = festive
        return fixed(line, end, recurring, "day")
    return None
