"""Dates in digits: 2026-03-04, 05/06/2023, 2023, the 1990s, Q3 2025."""

from __future__ import annotations

from typing import Final

from remembrancer.language.times.calendar import Period, Yearly, date, months
from remembrancer.language.times.line import Impossible, Line, TimeMatch, found
from remembrancer.language.times.vocabulary import QUARTERS, THIRDS, UNITS, YEAR_CUES
from remembrancer.patterns import pattern

_CLOCK: Final = r"(?:[Tt ][0-9]{1,2}:[0-9]{2}(?::[0-9]{2}(?:\.[0-9]{1,9})?)?(?:[Zz]|[+-][0-9]{2}:?[0-9]{2})?)?"
_YEAR_FIRST: Final = pattern(rf"([0-9]{{4}})([-/.])([0-9]{{1,2}})\2([0-9]{{1,2}}){_CLOCK}(?![^\W_]|[-/.:][0-9])")
_YEAR_LAST: Final = pattern(
    r"([0-9]{1,2})(?:([-.])([0-9]{1,2})\2([0-9]{4})|/([0-9]{1,2})/([0-9]{4}|[0-9]{2}))(?!\w|[-/.][0-9])"
)
_YEAR_MONTH: Final = pattern(r"([0-9]{4})-([0-9]{2})(?!\w|[-/.][0-9])")
_GLUE: Final = frozenset("-/._:,+#$€£¥@")
YEARS_BACK: Final = 30
YEARS_AHEAD: Final = 5
"""Without another hint, a number counts as a year if it is at most this many years ahead."""


def digits(line: Line, at: int, *, sure: bool) -> TimeMatch | None:
    """A date in digits, a year or a decade at this word."""
    if line.before(at) in _GLUE and line.before(at - 1) not in THIRDS and line.joined(at):
        return None
    word = line.words[at]
    if not word[:1].isdecimal():
        return None
    following = line.words[at + 1]
    if following in {"-", "/", "."} and line.joined(at + 1):
        dated = _dated(line, at)
        if dated is not None:
            return dated
    return _decade(line, at) if word[-1] == "s" else _year(line, at, sure=sure)


def year_number(line: Line, at: int) -> int:
    """The year, 1000 to 2999, of a word of four digits, or 0."""
    year = line.number(at, 2999)
    if year < 1000 or (line.words[at + 1] in {":", "%", "'", "_"} and line.joined(at + 1)):
        return 0
    # 2023.5 and 2,023.50 are not years
    has_fraction = line.words[at + 1] in {".", ","} and line.words[at + 2].isdecimal()
    return 0 if has_fraction and line.joined(at + 1) and line.joined(at + 2) else year


def quarter(line: Line, at: int) -> TimeMatch | None:
    """A quarter or half year at this word, such as "Q3 2025", "Q3", "H1 2025"."""
    word = line.words[at]
    if word in QUARTERS:
        length = 3 if word[0] == "q" else 6
        first = (int(word[1]) - 1) * length + 1
        unit = "quarter" if length == 3 else "half"
        after = at + 2 if line.words[at + 1] in {"of", ","} else at + 1
        year = year_number(line, after)
        if year:
            return found(months(year, first, length), unit, after + 1)
        if word[0] == "q":
            recurring = Yearly(lambda year: months(year, first, length))
            return TimeMatch((recurring.begun(line.today),), unit, at + 1, recurring)
    return None


def _dated(line: Line, at: int) -> TimeMatch | None:
    text, start = line.text, line.start(at)
    if match := _YEAR_FIRST.match(text, start):
        readings = ((int(match[1]), int(match[3]), int(match[4])),)
    elif match := _YEAR_LAST.match(text, start):
        first, second = int(match[1]), int(match[3] or match[5])
        year = _full(match[4] or match[6])
        # With a slash or dash either part may be the day; with a dot the day comes first.
        readings = ((year, second, first),) if match[2] == "." else ((year, second, first), (year, first, second))
    elif match := _YEAR_MONTH.match(text, start):
        if not 1 <= int(match[2]) <= 12:
            raise Impossible(_past(line, at, match.end()))
        return found(months(int(match[1]), int(match[2])), "month", _past(line, at, match.end()))
    else:
        return None
    end = _past(line, at, match.end())
    periods = sorted({period for reading in readings if (period := _valid(*reading)) is not None})
    if not periods:
        raise Impossible(end)
    return TimeMatch(tuple(periods), "day", end)


def _full(year: str) -> int:
    """The full year of two digits, by POSIX %y: 69 to 99 belong to the twentieth century."""
    number = int(year)
    return number if len(year) == 4 else number + (1900 if number >= 69 else 2000)


def _valid(year: int, month: int, day: int) -> Period | None:
    try:
        return date(year, month, day)
    except (ValueError, OverflowError):
        return None


def _past(line: Line, at: int, offset: int) -> int:
    """The index behind the word at an offset."""
    while line.start(at) < offset:
        at += 1
    return at


def _decade(line: Line, at: int) -> TimeMatch | None:
    number = line.words[at][:-1]
    if not (number.isdecimal() and number.isascii() and number.endswith("0")):
        return None
    if len(number) == 2 and line.before(at) in {"the", "'", "’"}:
        year = 1900 + int(number) if int(number) >= 30 else 2000 + int(number)
    elif len(number) == 4 and 1000 <= int(number) <= 2990:
        year = int(number)
    else:
        return None
    return found(months(year, 1, 120), "decade", at + 1)


def _year(line: Line, at: int, *, sure: bool) -> TimeMatch | None:
    year = year_number(line, at)
    if not year or (line.words[at + 1] in UNITS and not line.joined(at + 1)):
        return None
    last, end = _last_year(line, at, year)
    if last:
        return found(months(year, 1, 12 * (last - year + 1)), "range", end)
    cued = sure or line.before(at) in YEAR_CUES
    if cued or line.today.year - YEARS_BACK <= year <= line.today.year + YEARS_AHEAD:
        return found(months(year, 1, 12), "year", at + 1)
    return None


def _last_year(line: Line, at: int, year: int) -> tuple[int, int]:
    """The last year of 2019-2021 or 2022/23, and the index behind it; or (0, at)."""
    if not (line.words[at + 1] in {"-", "–", "/"} and line.joined(at + 1) and line.joined(at + 2)):
        return 0, at
    written = line.words[at + 2]
    last = year_number(line, at + 2) or (year + 1 if written == f"{(year + 1) % 100:02}" else 0)
    return (last, at + 3) if last > year else (0, at)
