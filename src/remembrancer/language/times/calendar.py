"""Calendar arithmetic: periods of whole days, and periods that recur every year or week.

Weeks begin on Monday (ISO 8601), seasons are meteorological and of the northern hemisphere, a weekend is Saturday and
Sunday. Easter Sunday is computed by the anonymous Gregorian algorithm (Nature, 20 April 1876).
"""

from __future__ import annotations

from calendar import monthrange
from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Final, NamedTuple, Protocol

from remembrancer.values import dataclass

DAY: Final = timedelta(days=1)
FARTHEST: Final = 8
"""The most years between two 29 February (1896 to 1904)."""


class Period(NamedTuple):
    """The period [start, end) in local time."""

    start: datetime
    end: datetime


class Recurring(Protocol):
    """A period that recurs: a month, a date without its year, a weekday."""

    def begun(self, day: datetime) -> Period:
        """The latest occurrence that begins on this day or before it."""
        ...

    def ended(self, day: datetime) -> Period:
        """The latest occurrence that is over when this day begins."""
        ...

    def upcoming(self, day: datetime) -> Period:
        """The first occurrence that begins on this day or after it."""
        ...

    def current(self, day: datetime) -> Period:
        """The occurrence in the week or year that contains the day."""
        ...


@dataclass(frozen=True, slots=True)
class Yearly:
    """A yearly period. `of` returns the period of a year; it raises ValueError for a year without one (29 February)."""

    of: Callable[[int], Period]

    def begun(self, day: datetime) -> Period:
        return self._first(range(day.year + 1, day.year - FARTHEST - 1, -1), lambda period: period.start <= day)

    def ended(self, day: datetime) -> Period:
        return self._first(range(day.year + 1, day.year - FARTHEST - 1, -1), lambda period: period.end <= day)

    def upcoming(self, day: datetime) -> Period:
        return self._first(range(day.year - 1, day.year + FARTHEST + 1), lambda period: period.start >= day)

    def current(self, day: datetime) -> Period:
        running = self.begun(day)
        return running if day < running.end else self.of(day.year)

    def _first(self, years: range, fits: Callable[[Period], bool]) -> Period:
        for year in years:
            try:
                period = self.of(year)
            except ValueError:
                continue
            if fits(period):
                return period
        raise ValueError("comes in none of these years")


class Weekly(NamedTuple):
    """A number of days from a weekday on (Monday is 0)."""

    weekday: int
    days: int = 1

    def begun(self, day: datetime) -> Period:
        start = day - DAY * ((day.weekday() - self.weekday) % 7)
        return Period(start, start + DAY * self.days)

    def ended(self, day: datetime) -> Period:
        return self.begun(day - DAY * self.days)

    def upcoming(self, day: datetime) -> Period:
        start = day + DAY * ((self.weekday - day.weekday()) % 7)
        return Period(start, start + DAY * self.days)

    def current(self, day: datetime) -> Period:
        start = day + DAY * (self.weekday - day.weekday())
        return Period(start, start + DAY * self.days)


WEEKEND: Final = Weekly(5, 2)


def days(start: datetime, count: int = 1) -> Period:
    return Period(start, start + DAY * count)


def date(year: int, month: int, day: int) -> Period:
    return days(datetime(year, month, day))  # noqa: DTZ001  the wall clock's


def months(year: int, month: int, count: int = 1) -> Period:
    start = datetime(year, month, 1)  # noqa: DTZ001  the wall clock's
    return Period(start, later(start, count))


def later(moment: datetime, count: int) -> datetime:
    """The moment moved by this many months, back if negative: the same day, or the last of a shorter month."""
    year, month = divmod(moment.year * 12 + moment.month - 1 + count, 12)
    last = monthrange(year, month + 1)[1] if moment.day > 28 else moment.day
    return moment.replace(year=year, month=month + 1, day=min(moment.day, last))


def around(unit: str, day: datetime) -> Period:
    """The calendar week, weekend, month, quarter, year or decade that contains a day (a weekend: that of its week)."""
    if unit in {"week", "weekend"}:
        return WEEKEND.current(day) if unit == "weekend" else days(day - DAY * day.weekday(), 7)
    length = _MONTHS_OF[unit]
    since = day.year % 10 * 12 + day.month - 1
    first = later(day.replace(day=1), -(since % length))
    return Period(first, later(first, length))


_MONTHS_OF: Final = {"month": 1, "quarter": 3, "year": 12, "decade": 120}


def nth_weekday(year: int, month: int, weekday: int, ordinal: int) -> datetime:
    first = datetime(year, month, 1)  # noqa: DTZ001  the wall clock's
    return first + DAY * ((weekday - first.weekday()) % 7 + 7 * (ordinal - 1))


def easter(year: int) -> datetime:
    """Easter Sunday of a year."""
    golden = year % 19
    century, of_century = divmod(year, 100)
    correction = (century + 8) // 25
    epact = (19 * golden + century - century // 4 - (century - correction + 1) // 3 + 15) % 30
    sunday = (32 + 2 * (century % 4) + 2 * (of_century // 4) - epact - of_century % 4) % 7
    late = (golden + 11 * epact + 22 * sunday) // 451
    month, day = divmod(epact + sunday - 7 * late + 114, 31)
    return datetime(year, month, day + 1)  # noqa: DTZ001  the wall clock's


def thanksgiving(year: int) -> datetime:
    """Thanksgiving in the United States: the fourth Thursday of November."""
    return nth_weekday(year, 11, 3, 4)
