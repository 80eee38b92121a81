"""Distances from a day: two weeks before, the day after."""

from __future__ import annotations

from datetime import timedelta
from typing import Final, NamedTuple

from remembrancer.language.times import amounts
from remembrancer.language.times.calendar import DAY
from remembrancer.language.times.line import Line
from remembrancer.language.times.vocabulary import UNITS

REACH: Final = DAY * 30
"""The reach of "before the trip" or "after June". For longer times people name them ("the year before"). A month covers
the causes and effects of an event; memories farther away are not excluded, only their nearness decays.
"""
SHORTLY: Final = DAY * 7
"""The reach of "just before" and "soon after"."""
_SHORTLY: Final = frozenset("just right shortly soon immediately".split())


class Offset(NamedTuple):
    """The span [start, end) relative to the midnight that begins a day, or in exact units from a moment.

    Its words are those from `first` up to `past` (excluded); its anchor follows. `soft`: no length was given.
    """

    start: timedelta
    end: timedelta
    first: int
    past: int
    backward: bool
    soft: bool = False
    exact: bool = False


def offset(line: Line, at: int) -> Offset | None:
    """A distance at this word: two weeks before, the day after, a month from, just before, after."""
    words = line.words
    counted = amounts.amount(line, at)
    if counted is not None:
        direction, past = _direction(line, counted.end)
        if not direction or counted.unit not in amounts.LENGTHS:
            return None
        return _counted(counted, direction, at, past)
    if words[at] in UNITS and words[at] == UNITS[words[at]]:
        direction, past = _direction(line, at + 1)
        unit = UNITS[words[at]]
        if not direction or unit not in amounts.LENGTHS or unit in {"hour", "minute"}:
            return None
        span = amounts.LENGTHS[unit]
        interval = (-span, timedelta()) if direction < 0 else (DAY, DAY + span)
        return Offset(*interval, at, past, direction < 0)
    shortly = words[at] in _SHORTLY
    direction, past = _direction(line, at + shortly)
    if not direction or words[past - 1] in {"from", "following"}:
        return None
    reach = SHORTLY if shortly else REACH
    interval = (-reach, DAY) if direction < 0 else (timedelta(), reach + DAY)
    return Offset(*interval, at, past, direction < 0, soft=True)


def _direction(line: Line, at: int) -> tuple[int, int]:
    match line.words[at]:
        case "before":
            return -1, at + 1
        case "prior" if line.words[at + 1] == "to":
            return -1, at + 2
        case "after" | "from" | "following":
            return 1, at + 1
        case _:
            return 0, at


def _counted(counted: amounts.Amount, direction: int, at: int, past: int) -> Offset:
    """One unit around the moment at that distance, or around its whole range."""
    length = amounts.LENGTHS[counted.unit]
    nearest, farthest = length * counted.least * direction, length * counted.most * direction
    first, last = min(nearest, farthest), max(nearest, farthest)
    before, after = amounts.slack(counted.unit)
    return Offset(first - before, last + after, at, past, direction < 0, exact=counted.exact)
