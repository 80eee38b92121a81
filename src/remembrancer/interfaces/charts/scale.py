"""Positions on an axis, and the round numbers and times that label it."""

from __future__ import annotations

import math
from calendar import monthrange
from collections.abc import Iterator
from datetime import MAXYEAR, UTC, datetime, timedelta
from typing import Final

from remembrancer.errors import InvalidInput
from remembrancer.values import dataclass

_ROUND: Final = (1.0, 2.0, 2.5, 5.0)
_EVEN: Final = (
    *(timedelta(minutes=count) for count in (1, 2, 5, 10, 15, 30)),
    *(timedelta(hours=count) for count in (1, 2, 3, 6, 12)),
)
_DAYS: Final = (1, 2, 5, 10, 15)
"""Steps in days of the month: every day, every second day, the 1st, 6th, 11th and so on."""
_MONTHS: Final = (1, 2, 3, 6)
_YEARS: Final = (1, 2, 5, 10, 20, 50, 100, 200, 500, 1_000, 2_000, 5_000)
_DAY: Final = timedelta(days=1)
_HAIR: Final = 1e-9
"""Two numbers that differ by less than this share of the greater one are drawn as equal."""


@dataclass(frozen=True, slots=True)
class Tick:
    """A time on an axis, and its label."""

    at: datetime
    label: str


def finite(value: float | None) -> float | None:
    """The value; None for NaN and infinity."""
    return value if value is not None and math.isfinite(value) else None


def along(value: float, low: float, high: float) -> float:
    """The position of a value between `low` and `high`, in [0, 1]. Values outside are clamped; NaN counts as `low`.

    0.5 if both ends are equal.

    >>> along(15.0, 10.0, 20.0), along(99.0, 10.0, 20.0), along(7.0, 7.0, 7.0)
    (0.5, 1.0, 0.5)
    """
    if math.isnan(value):
        return 0.0
    # Halved, so that the distance between two huge numbers does not overflow.
    span = high / 2 - low / 2
    if not span > 0:
        return 0.5
    return min(max((min(max(value, low), high) / 2 - low / 2) / span, 0.0), 1.0)


def through(at: datetime, since: datetime, until: datetime) -> float:
    """The position of a time between two others, in [0, 1], computed like `along`."""
    if not since < until:
        return 0.5
    return min(max((at - since) / (until - since), 0.0), 1.0)


def round_numbers(low: float, high: float, most: int) -> tuple[float, ...]:
    """At most `most` evenly spaced round numbers from `low` to `high`; `low` alone if the two are nearly equal.

    Raises InvalidInput for ends that are not finite, and for `most` below 2.

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
    # No step is finite between numbers this large.
    return (0.0,) if low <= 0 <= high else (low,)


def round_above(value: float) -> float:
    """The smallest of 1, 2, 2.5 and 5 times a power of ten that is not below the value.

    1 for values that are not above 0 or not finite; the value itself if no finite number is large enough.

    >>> round_above(37.0), round_above(0.2), round_above(0.0)
    (50.0, 0.2, 1.0)
    """
    if not value > 0 or not math.isfinite(value):
        return 1.0
    return next((step for step in _steps(value) if step >= value), value)


def number_text(value: float) -> str:
    """A number as the label of an axis.

    >>> number_text(2500.0), number_text(0.25)
    ('2,500', '0.25')
    """
    return f"{value:,.6g}"


def round_times(since: datetime, until: datetime, most: int) -> tuple[Tick, ...]:
    """At most `most` round times in UTC between the two, oldest first, with short labels.

    The finest steps that fit are taken: minutes, hours, days of the month, months or years. Midnight is labelled by its
    day, and January by its year. Raises InvalidInput for `most` below 2.

    >>> [each.label for each in round_times(datetime(2025, 11, 3, tzinfo=UTC), datetime(2026, 3, 5, tzinfo=UTC), 5)]
    ['Dec', '2026', 'Feb', 'Mar']
    """
    _check(0.0, 0.0, most)
    since, until = since.astimezone(UTC), until.astimezone(UTC)
    for moments in _ladders(since, until, most):
        found = list[Tick]()
        for moment in moments:
            if moment.at > until or len(found) > most:
                break
            if moment.at >= since:
                found.append(moment)
        if len(found) <= most:
            return tuple(found)
    return ()


def day_text(at: datetime) -> str:
    """A day in UTC: 4 May 2026."""
    at = at.astimezone(UTC)
    return f"{at.day} {at:%b} {at.year}"


def _check(low: float, high: float, most: int) -> None:
    for name, value in (("low", low), ("high", high)):
        if not math.isfinite(value):
            raise InvalidInput(name, value, "a finite number")
    if most < 2:
        raise InvalidInput("most", most, "2 or more")


def _steps(least: float) -> Iterator[float]:
    """Round numbers in increasing order, from about `least` on."""
    power = math.floor(math.log10(least)) - 1
    while power <= 308:
        for step in _ROUND:
            if 0 < (found := float(f"{step}e{power}")) < math.inf:
                yield found
        power += 1


def _ladders(since: datetime, until: datetime, most: int) -> Iterator[Iterator[Tick]]:
    """The times of each step, the finest step first; steps that would give far too many are left out."""
    span = until - since
    for step in _EVEN:
        if span / step <= most + 1:
            yield _even(since, step)
    for days in _DAYS:
        if span / _DAY / days <= 2 * most:
            yield _days(since, days)
    for months in _MONTHS:
        if span / _DAY / 28 / months <= 2 * most:
            yield _firsts(since, 1, months)
    for years in _YEARS:
        yield _firsts(since, years, 12)


def _even(since: datetime, step: timedelta) -> Iterator[Tick]:
    at = since.replace(hour=0, minute=0, second=0, microsecond=0)
    at += (since - at) // step * step
    while True:
        yield Tick(at, f"{at.day} {at:%b}" if at.hour == at.minute == 0 else f"{at:%H:%M}")
        if at > datetime.max.replace(tzinfo=UTC) - step:
            return
        at += step


def _days(since: datetime, step: int) -> Iterator[Tick]:
    at = since.replace(hour=0, minute=0, second=0, microsecond=0)
    while True:
        # A day near the end of a month is left out if it is too close to the next 1st.
        if (at.day - 1) % step == 0 and monthrange(at.year, at.month)[1] - at.day + 1 > 0.7 * step:
            yield Tick(at, f"{at.day} {at:%b}")
        if at > datetime.max.replace(tzinfo=UTC) - _DAY:
            return
        at += _DAY


def _firsts(since: datetime, years: int, months: int) -> Iterator[Tick]:
    """The first day of every `months`-th month in every `years`-th year."""
    for year in range(max(since.year // years * years, 1), MAXYEAR + 1, years):
        for month in range(1, 13, months):
            at = datetime(year, month, 1, tzinfo=UTC)
            yield Tick(at, str(year) if month == 1 else f"{at:%b}")
