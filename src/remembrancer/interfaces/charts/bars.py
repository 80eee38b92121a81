"""Bar charts of counts per day."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, date, datetime, time, timedelta
from typing import Final

from markupsafe import Markup

from remembrancer.errors import InvalidInput
from remembrancer.interfaces.charts.frame import Picture, empty, figure, table
from remembrancer.interfaces.charts.lines import AXIS, level, time_axis
from remembrancer.interfaces.charts.scale import day_text, number_text, round_above
from remembrancer.interfaces.charts.svg import NOTHING, SMALL, element, joined, percent
from remembrancer.interfaces.text import counted

TOP, HEIGHT = 22.0, 120.0
MOST: Final = 92
"""The most bars. For longer times, a bar covers a week, or as many days as the limit needs."""
_TAKEN: Final = 0.78
"""The share of its slot that a bar fills."""


def day_bars(counts: Mapping[date, int], *, since: date, until: date, noun: str = "event") -> Markup:
    """A figure with a bar for each day from `since` to `until`, both included. A day missing in `counts` counts as 0.

    `noun`: the counted item, in the singular. Raises InvalidInput for days in the wrong order, or counts below 0.
    """
    bars = _gathered(counts, since, until)
    total = sum(count for _, _, count in bars)
    if not total:
        return empty(
            "bars", f"No {_plural(noun)} between {_day(since)} and {_day(until)}", "What is recorded appears here."
        )
    each = (bars[0][1] - bars[0][0]).days + 1
    first, _, most = max(bars, key=lambda bar: bar[2])
    days = (until - since).days + 1
    title = f"{counted(total, noun)} in {'a day' if days == 1 else f'{days:,} days'}"
    when = f"on {_day(first)}" if each == 1 else f"in the {each} days from {_day(first)}"
    description = f"Most {when}: {most:,}. A bar is {'a day' if each == 1 else f'{each} days'}, in UTC."
    top = max(round_above(most), 1.0)
    marks = _levels(top) + time_axis(_midnight(since), _end(bars[-1][0], each), top=TOP, down=TOP + HEIGHT)
    marks += joined(_bar(index, len(bars), bar, top, noun) for index, bar in enumerate(bars) if bar[2])
    return figure(
        "bars", title=title, description=description, pictures=[Picture(marks=marks, height=TOP + HEIGHT + AXIS)]
    )


def bars_table(counts: Mapping[date, int], *, since: date, until: date, noun: str = "event") -> Markup:
    """The counts above 0 of `day_bars` as a table, newest first; empty if there are none."""
    rows = [
        [_day(first) if first == last else f"{_day(first)} to {_day(last)}", f"{count:,}"]
        for first, last, count in reversed(_gathered(counts, since, until))
        if count
    ]
    return (
        table(f"{_plural(noun).capitalize()} in numbers", ["Day", _plural(noun).capitalize()], rows)
        if rows
        else NOTHING
    )


def _gathered(counts: Mapping[date, int], since: date, until: date) -> Sequence[tuple[date, date, int]]:
    """(first day, last day, count) of each bar, oldest first."""
    if until < since:
        raise InvalidInput("until", until, f"{since} or later: days in their order")
    for day, count in counts.items():
        if count < 0:
            raise InvalidInput("counts", f"{day}: {count}", "0 or more")
    days = (until - since).days + 1
    each = 1 if days <= MOST else max(7, -(-days // MOST))
    bars = list[tuple[date, date, int]]()
    for begin in range(0, days, each):
        length = min(each, days - begin)
        members = (since + timedelta(days=begin + day) for day in range(length))
        first = since + timedelta(days=begin)
        bars.append((first, first + timedelta(days=length - 1), sum(counts.get(day, 0) for day in members)))
    return bars


def _bar(index: int, of: int, bar: tuple[date, date, int], top: float, noun: str) -> Markup:
    first, last, count = bar
    # Even a count of 1 is visible.
    height = max(count / top * HEIGHT, 2.0)
    when = _day(first) if first == last else f"{_day(first)} to {_day(last)}"
    return element(
        "rect",
        element("title", f"{when}: {counted(count, noun)}"),
        x=percent((index + (1 - _TAKEN) / 2) / of),
        width=percent(_TAKEN / of),
        y=TOP + HEIGHT - height,
        height=height,
        rx=1.5,
        class_="chart-bar",
    )


def _levels(top: float) -> Markup:
    """Rules at the top of the axis and half-way up, if these are whole numbers."""
    marks = NOTHING
    for share in (1.0, 0.5):
        value = top * share
        if value != round(value):
            continue
        down = TOP + HEIGHT * (1 - share)
        marks += level(down, "chart-grid")
        marks += element("text", number_text(value), x="0", y=down - 5.0, class_="chart-note", font_size=SMALL)
    return marks


def _midnight(day: date) -> datetime:
    return datetime.combine(day, time(), tzinfo=UTC)


def _end(first: date, days: int) -> datetime:
    """The end of the slot of the bar that begins on `first`; the last bar may cover fewer days than its slot."""
    latest = datetime.max.replace(tzinfo=UTC)
    begin = _midnight(first)
    return begin + timedelta(days=days) if begin < latest - timedelta(days=days) else latest


def _plural(noun: str) -> str:
    return counted(0, noun).removeprefix("0 ")


def _day(day: date) -> str:
    return day_text(_midnight(day))
