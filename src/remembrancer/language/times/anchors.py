"""Times counted from an event: "two weeks before the trip", "the day after Ana's birthday"."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from typing import Final

from remembrancer.errors import InvalidInput
from remembrancer.language.times import amounts
from remembrancer.language.times.line import Impossible, Line
from remembrancer.language.times.offsets import Offset, offset
from remembrancer.language.times.periods import period
from remembrancer.language.times.spans import FIRST_YEAR, LAST_YEAR, TimeSpan
from remembrancer.language.times.vocabulary import UNITS
from remembrancer.patterns import pattern
from remembrancer.values import dataclass

_CUE: Final = pattern(r"\b(?:before|after|prior|following)\b", re.IGNORECASE)
_ENDS: Final = frozenset(
    "did do does what who where why how which when while because so but and or then was were is are has have had will"
    " would can could should".split()
)
"""Words that may begin a new clause, and so end the words of an anchor."""
_VERBS: Final = frozenset(
    "look looks looked looking take takes took taken taking name named call called ask asked asks run runs ran running"
    " go goes went going come comes came seek seeks sought never ever".split()
)
"""Verbs that form a unit with "after": she takes after Ana, they looked after the dog."""
_NOTHING: Final = frozenset(
    "a an the all long that this these those it its then them they there here now me you us him her i we he she one"
    " another each other which who whom what work school lunch dinner breakfast class bed sleep dark midnight noon"
    " while hours ages too so some".split()
)
"""Words that do not name an event."""
_LONG: Final = frozenset({"while", "long", "time", "these", "those", "all", "so", "too", "which", "what", "who"})
MOST_WORDS: Final = 12
_SOME_DAY: Final = datetime(2024, 1, 1)  # noqa: DTZ001  only whether words name a date is asked, not which one
_FARTHEST: Final = timedelta(days=365 * 300)


@dataclass(frozen=True, slots=True)
class Anchored:
    """The span [offset_start, offset_end) relative to the event that `anchor` names.

    Both offsets count from the midnight that begins the event's day, in its own timezone; with `by_the_clock` (hours,
    minutes) from the moment itself. `soft`: no length was given ("after the trip"), so the reach is a guess.
    `text[start_offset:end_offset]` is the whole expression as written.
    """

    anchor: str
    offset_start: timedelta
    offset_end: timedelta
    text: str
    start_offset: int
    end_offset: int
    by_the_clock: bool = False
    soft: bool = False


def anchored(text: str) -> Anchored | None:
    """The first time expression in a text that counts from an event without a date, or None.

    "Two weeks before the trip" means one unit around that distance; "the day after" and "the week before" mean the
    adjacent unit. "Before" and "after" alone reach 30 days, "just before" and "soon after" 7 days; both include the
    event's day, because texts rarely tell whether something came before or after noon. Excluded are expressions that
    count from a date or a holiday (`spans` resolves them), "since the trip", which ends at the time of asking, and
    distances over 300 years.

    >>> found = anchored("What did we buy two weeks before the trip to Rome?")
    >>> found.anchor, found.offset_start.days, found.offset_end.days
    ('the trip to Rome', -17, -10)
    """
    if not _CUE.search(text):
        return None
    line = Line(text, _SOME_DAY)
    at = 0
    while at < len(line):
        counted = offset(line, at)
        if counted is None:
            at += 1
            continue
        at = counted.past
        if not _is_date(line, counted.past) and (until := _anchor_end(line, counted)):
            first, last = line.start(counted.first), line.end(until - 1)
            words = text[line.start(counted.past) : last]
            return Anchored(
                words, counted.start, counted.end, text[first:last], first, last, counted.exact, counted.soft
            )
    return None


def resolve(expression: Anchored, at: datetime) -> TimeSpan:
    """The span of the expression if its event happened at `at` (aware), in the timezone of `at`.

    Raises InvalidInput if `at` has no timezone, or the span would leave the years 1000 to 9998.
    """
    if at.utcoffset() is None:
        raise InvalidInput("at", at, "a moment with a timezone")
    try:
        start, end = _moved(expression, at)
    except OverflowError:
        start = end = at
    in_range = start.year >= FIRST_YEAR and end.year <= LAST_YEAR
    # Compared in UTC: where clocks are set back, two moments an hour apart may show the same time.
    if not (in_range and start.astimezone(UTC) < end.astimezone(UTC)):
        raise InvalidInput("at", at, f"a moment from which the span lies within the years {FIRST_YEAR} to {LAST_YEAR}")
    return TimeSpan(start, end, expression.text, expression.start_offset, expression.end_offset)


def _moved(expression: Anchored, at: datetime) -> tuple[datetime, datetime]:
    if not expression.by_the_clock:
        midnight = at.replace(hour=0, minute=0, second=0, microsecond=0)
        return midnight + expression.offset_start, midnight + expression.offset_end
    moment = at.astimezone(UTC)  # elapsed hours do not depend on daylight saving time
    return (
        (moment + expression.offset_start).astimezone(at.tzinfo),
        (moment + expression.offset_end).astimezone(at.tzinfo),
    )


def _is_date(line: Line, at: int) -> bool:
    try:
        return period(line, line.past_article(at)) is not None
    except Impossible:
        return True
    except (ValueError, OverflowError):
        return False


def _anchor_end(line: Line, counted: Offset) -> int:
    """The index behind the words of the anchor, or 0 if none of them names an event."""
    words, at = line.words, counted.past
    if words[at - 1] == "from" or max(abs(counted.start), abs(counted.end)) > _FARTHEST:
        return 0
    if counted.soft and words[at - 1] == "after" and line.before(counted.first) in _VERBS:
        return 0
    if words[at] in UNITS or words[at] in _LONG or amounts.amount(line, at) is not None:
        return 0
    if words[at] in {"a", "an"} and words[at + 1] in _LONG:
        return 0
    end = at
    while end < len(line) and end - at < MOST_WORDS and _continues(line, end, at):
        end += 1
    return end if any(word not in _NOTHING and word.isalnum() for word in words[at:end]) else 0


def _continues(line: Line, at: int, first: int) -> bool:
    word = line.words[at]
    if at > first and "\n" in line.text[line.end(at - 1) : line.start(at)]:
        return False
    if word in _ENDS:
        return False
    if word[0].isalnum():
        return True
    # Marks that occur inside names: Ana's, check-in, R&D.
    return word in {"'", "’", "-", "&"} and line.joined(at) and line.joined(at + 1) and at + 1 < len(line)
