"""Where a value stands between two others, and the round values that an axis names: numbers and times."""

from __future__ import annotations

import math
from calendar import monthrange
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import MAXYEAR, UTC, datetime, timedelta
from typing import Final

from remembrancer.errors import InvalidInput

_ROUND: Final = (1.0, 2.0, 2.5, 5.0)
_EVEN: Final = (
    *(timedelta(minutes=count) for count in (1, 2, 5, 10, 15, 30)),
    *(timedelta(hours=count) for count in (1, 2, 3, 6, 12)),
)
_DAYS: Final = (1, 2, 5, 10, 15)
"""Of a month: every day, every second, the 1st, 6th, 11th and so on."""
_MONTHS: Final = (1, 2, 3, 6)
_YEARS: Final = (1, 2, 5, 10, 20, 50, 100, 200, 500, 1_000, 2_000, 5_000)
_DAY: Final = timedelta(days=1)
_HAIR: Final = 1e-9
"""Of the greater of two numbers: what is nearer together than that share of it is drawn as one."""


@dataclass(frozen=True, slots=True)
class Moment:
    """A time that an axis names, and what is written there."""

    at: datetime
    label: str


def finite(value: float | None) -> float | None:
    """The value; None for NaN and infinity."""
    return value if value is not None and math.isfinite(value) else None


def along(value: float, low: float, high: float) -> float:
    """How far from `low` to `high`, in [0, 1]: what is outside counts as the end it is beyond, no number as `low`.

    Where both ends are one, all is in the middle.

    >>> along(15.0, 10.0, 20.0), along(99.0, 10.0, 20.0), along(7.0, 7.0, 7.0)
    (0.5, 1.0, 0.5)
    """
    if math.isnan(value):
        return 0.0
    # Halved, so that the distance between two huge numbers is still a number.
    span = high / 2 - low / 2
    if not span > 0:
        return 0.5
    return min(max((min(max(value, low), high) / 2 - low / 2) / span, 0.0), 1.0)


def through(at: datetime, since: datetime, until: datetime) -> float:
    """How far from `since` to `until` a moment is, in [0, 1], as `along`."""
    if not since < until:
        return 0.5
    return min(max((at - since) / (until - since), 0.0), 1.0)


def round_numbers(low: float, high: float, most: int) -> tuple[float, ...]:
    """At most `most` round numbers, evenly from `low` to `high`; where these are as good as one, that one.

    Raises InvalidInput for ends that are no finite numbers, or fewer than two of them.

    >>> round_numbers(0.0, 100.0, 5), round_numbers(-0.3, 0.9, 4)
    ((0.0, 25.0, 50.0, 75.0, 100.0), (0.0, 0.5))
    """
    _check(low, high, most)
    if high - low <= _HAIR * max(abs(low), abs(high), 1e-290):
        return (low,)
    for step in _steps(high / most - low / most):
        first, last = math.ceil(low / step), math.floor(high / step)
        if last - first < most:
            return tuple(count * step + 0.0 for count in range(first, last + 1))
    # So huge that no step is a number any more.
    return (0.0,) if low <= 0 <= high else (low,)


def round_above(value: float) -> float:
    """The least of 1, 2, 2.5, 5, 10 and their tenfolds or tenths that is no less; 1 for what is not above 0.

    A number so huge that there is none above it stands for itself.

    >>> round_above(37.0), round_above(0.2), round_above(0.0)
    (50.0, 0.2, 1.0)
    """
    if not value > 0 or not math.isfinite(value):
        return 1.0
    return next((step for step in _steps(value) if step >= value), value)


def number_text(value: float) -> str:
    """As it stands on an axis.

    >>> number_text(2500.0), number_text(0.25)
    ('2,500', '0.25')
    """
    return f"{value:,.6g}"


def round_times(since: datetime, until: datetime, most: int) -> tuple[Moment, ...]:
    """At most `most` round moments of UTC between the two, oldest first, each as short as it can be told.

    Steps are of minutes, hours, days of the month, months or years, whichever are finest. Midnight is told as its day,
    January as its year. Raises InvalidInput for fewer than two.

    >>> [each.label for each in round_times(datetime(2025, 11, 3, tzinfo=UTC), datetime(2026, 3, 5, tzinfo=UTC), 5)]
    ['Dec', '2026', 'Feb', 'Mar']
    """
    _check(0.0, 0.0, most)
    since, until = since.astimezone(UTC), until.astimezone(UTC)
    for moments in _ladders(since, until, most):
        found = list[Moment]()
        for moment in moments:
            if moment.at > until or len(found) > most:
                break
            if moment.at >= since:
                found.append(moment)
        if len(found) <= most:
            return tuple(found)
    return ()


def day_text(at: datetime) -> str:
    """A day in UTC, with its year: 4 May 2026."""
    at = at.astimezone(UTC)
    return f"{at.day} {at:%b} {at.year}"


def _check(low: float, high: float, most: int) -> None:
    for name, value in (("low", low), ("high", high)):
        if not math.isfinite(value):
            raise InvalidInput(name, value, "a finite number")
    if most < 2:
        raise InvalidInput("most", most, "2 or more")


def _steps(least: float) -> Iterator[float]:
    """Round numbers, growing, from about `least` on."""
    power = math.floor(math.log10(least)) - 1
    while power <= 308:
        for step in _ROUND:
            if 0 < (found := float(f"{step}e{power}")) < math.inf:
                yield found
        power += 1


def _ladders(since: datetime, until: datetime, most: int) -> Iterator[Iterator[Moment]]:
    """The moments of each step, the finest first; none that would give far too many."""
    span = until - since
    for step in _EVEN:
        if span / step <= most + 1:
            yield _even(since, step)
    for days in _DAYS:
        if span / _DAY / days <= 2 * most:
            yield _days(since, days)
    for months in _MONTHS:
        if span / _DAY / 28 / months <= 2 * most:
            yield _months(since, months)
    for years in _YEARS:
        yield _years(since, years)


def _even(since: datetime, step: timedelta) -> Iterator[Moment]:
    at = since.replace(hour=0, minute=0, second=0, microsecond=0)
    at += (since - at) // step * step
    while True:
        yield Moment(at, f"{at.day} {at:%b}" if at.hour == at.minute == 0 else f"{at:%H:%M}")
        if at > datetime.max.replace(tzinfo=UTC) - step:
            return
        at += step


def _days(since: datetime, step: int) -> Iterator[Moment]:
    at = since.replace(hour=0, minute=0, second=0, microsecond=0)
    while True:
        # The last of a month may stand too near to the 1st that follows.
        if (at.day - 1) % step == 0 and monthrange(at.year, at.month)[1] - at.day + 1 > 0.7 * step:
            yield Moment(at, f"{at.day} {at:%b}")
        if at > datetime.max.replace(tzinfo=UTC) - _DAY:
            return
        at += _DAY


def _months(since: datetime, step: int) -> Iterator[Moment]:
    for year in range(since.year, MAXYEAR + 1):
        for month in range(1, 13, step):
            at = datetime(year, month, 1, tzinfo=UTC)
            yield Moment(at, str(year) if month == 1 else f"{at:%b}")


def _years(since: datetime, step: int) -> Iterator[Moment]:
    for year in range(max(since.year // step * step, 1), MAXYEAR + 1, step):
        yield Moment(datetime(year, 1, 1, tzinfo=UTC), str(year))
