"""Holidays of the Gregorian calendar. Holidays of lunar calendars are not recognised."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import datetime, timedelta
from types import MappingProxyType
from typing import Final

from remembrancer.language.times.calendar import DAY, Period, Yearly, date, days, easter, thanksgiving
from remembrancer.language.times.line import Line

_TWO: Final = timedelta(days=2)

Named = tuple[Yearly, int]
"""The yearly date, and the index of the word behind its name."""


def holiday(line: Line, at: int) -> Named | None:
    """The holiday named at this word: Christmas Eve, Easter, New Year's."""
    read = _HOLIDAYS.get(line.words[at])
    named = read(line, at) if read else None
    return (named[0], line.possessive(named[1])) if named else None


def _christmas(line: Line, at: int) -> Named | None:
    match line.words[at + 1]:
        case "eve":
            return Yearly(lambda year: date(year, 12, 24)), at + 2
        case "day":
            return Yearly(lambda year: date(year, 12, 25)), at + 2
        case _:
            return Yearly(lambda year: days(date(year, 12, 24).start, 3)), at + 1


def _easter(line: Line, at: int) -> Named | None:
    if line.words[at + 1] in {"sunday", "monday"}:
        after = 0 if line.words[at + 1] == "sunday" else 1
        return Yearly(lambda year: days(easter(year) + DAY * after)), at + 2
    return Yearly(lambda year: Period(easter(year) - _TWO, easter(year) + _TWO)), at + 1


def _valentine(line: Line, at: int) -> Named | None:
    end = line.possessive(at + 1)
    return Yearly(lambda year: date(year, 2, 14)), end + 1 if line.words[end] == "day" else end


def _new_year(line: Line, at: int) -> Named | None:
    if line.words[at + 1] not in {"year", "years"} or line.before(at) in {"a", "chinese", "lunar", "jewish", "persian"}:
        return None
    end = line.possessive(at + 2)
    match line.words[end]:
        case "eve":
            return Yearly(lambda year: date(year, 12, 31)), end + 1
        case "day":
            return Yearly(lambda year: date(year, 1, 1)), end + 1
        case _ if end > at + 2 or line.capital(at):
            return Yearly(lambda year: days(date(year, 1, 1).start - DAY, 2)), end
        case _:
            return None


def _of_two_words(second: str, of: Callable[[int], datetime]) -> Callable[[Line, int], Named | None]:
    recurring = Yearly(lambda year: days(of(year)))
    return lambda line, at: (recurring, at + 2) if line.words[at + 1] == second else None


def _of_one_word(of: Callable[[int], Period]) -> Callable[[Line, int], Named | None]:
    return lambda line, at: (Yearly(of), at + 2 if line.words[at + 1] == "day" else at + 1)


_HOLIDAYS: Final[Mapping[str, Callable[[Line, int], Named | None]]] = MappingProxyType(
    {
        "christmas": _christmas,
        "xmas": _christmas,
        "easter": _easter,
        "valentine": _valentine,
        "valentines": _valentine,
        "new": _new_year,
        "halloween": _of_one_word(lambda year: date(year, 10, 31)),
        "thanksgiving": _of_one_word(lambda year: days(thanksgiving(year))),
        "boxing": _of_two_words("day", lambda year: date(year, 12, 26).start),
        "good": _of_two_words("friday", lambda year: easter(year) - _TWO),
        "black": _of_two_words("friday", lambda year: thanksgiving(year) + DAY),
        "cyber": _of_two_words("monday", lambda year: thanksgiving(year) + DAY * 4),
    }
)
