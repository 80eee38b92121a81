"""The times that a text names, resolved against the moment of reading."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone, tzinfo
from typing import Final

from remembrancer.errors import InvalidInput
from remembrancer.language.times.calendar import Period
from remembrancer.language.times.expressions import expressions
from remembrancer.language.times.line import Line, TimeMatch
from remembrancer.values import dataclass

FIRST_YEAR: Final = 1000
LAST_YEAR: Final = 9998
"""Spans end before this year does, so that they can be represented in any timezone."""


@dataclass(frozen=True, slots=True)
class TimeSpan:
    """The span [start, end), aware; `text` is the expression as written, `text[start_offset:end_offset]` of the
    question.
    """

    start: datetime
    end: datetime
    text: str
    start_offset: int
    end_offset: int


def spans(text: str, now: datetime) -> tuple[TimeSpan, ...]:
    """The times that a text names, in text order; an ambiguous one gives each possible span, by its start.

    They are resolved against `now` (aware): in calendar days of its timezone; hours and minutes in its offset from UTC.
    The package's docstring has the rules. A text without times, or not in English, gives none. Raises InvalidInput if
    `now` has no timezone.

    >>> now = datetime(2023, 7, 12, 15, 30, tzinfo=UTC)  # a Wednesday
    >>> [(span.text, span.start.date().isoformat()) for span in spans("What did we decide last Friday?", now)]
    [('last Friday', '2023-07-07')]
    """
    if now.utcoffset() is None:
        raise InvalidInput("now", now, "a moment with a timezone")
    line = Line(text, now.replace(tzinfo=None))
    if not line.may_tell():
        return ()
    return tuple(span for at, which in expressions(line) for span in _told(line, at, which, now))


def _told(line: Line, at: int, which: TimeMatch, now: datetime) -> list[TimeSpan]:
    first, last = line.start(at), line.end(which.end - 1)
    zone = timezone(now.utcoffset() or timedelta()) if which.exact else now.tzinfo
    readings = [period for period in which.periods if _tellable(period)]
    # Questions are about the past: a span that has not begun counts only where no other one is possible.
    begun = [period for period in readings if period.start <= line.now] or readings
    return [
        TimeSpan(_aware(period.start, zone), _aware(period.end, zone), line.text[first:last], first, last)
        for period in begun
    ]


def _tellable(period: Period) -> bool:
    return period.start.year >= FIRST_YEAR and period.end.year <= LAST_YEAR and period.start < period.end


def _aware(moment: datetime, zone: tzinfo | None) -> datetime:
    return moment.replace(tzinfo=zone or UTC)
