"""Charts of the health score: its history, the history of each metric, and a gauge of the newest score."""

from __future__ import annotations

import math
from collections.abc import Sequence
from datetime import UTC, date, datetime, time, timedelta
from typing import TYPE_CHECKING, Final

from markupsafe import Markup

from remembrancer.interfaces.charts.frame import Picture, empty, figure, ornament, table
from remembrancer.interfaces.charts.lines import (
    AXIS,
    area,
    level,
    line,
    note,
    stretched,
    time_axis,
)
from remembrancer.interfaces.charts.scale import along, day_text, finite, through
from remembrancer.interfaces.charts.svg import NOTHING, SMALL, element, joined, number, percent
from remembrancer.policies.health import GREEN_FROM, YELLOW_FROM, Band, Metric, band

if TYPE_CHECKING:
    from remembrancer.interfaces.wire.state import HealthOut

TOP, HEIGHT = 12.0, 190.0
SMALL_HEIGHT: Final = 44.0
LEAST: Final = timedelta(days=7)
"""The shortest time axis: a single snapshot is drawn as a dot on an axis of a week."""
_BANDS: Final = ((Band.GREEN, GREEN_FROM, 100.0), (Band.YELLOW, YELLOW_FROM, GREEN_FROM), (Band.RED, 0.0, YELLOW_FROM))
_WEEK: Final = timedelta(days=7)
_GAUGE: Final = (220.0, 128.0)
_RADIUS: Final = 90.0
_NO_SNAPSHOT: Final = "A snapshot of it is taken once a day, when the memory is maintained."

TimedValues = Sequence[tuple[datetime, float]]


def health_chart(history: Sequence[HealthOut], *, now: datetime) -> Markup:
    """A figure with the daily score over its bands, and below it a small chart of each metric. Missing days are gaps.

    `history`: snapshots of one workspace or crew, in any order.
    """
    days = _by_day(history)
    scored = [(each.day, score) for each in days if (score := finite(each.score)) is not None]
    if not scored:
        return empty("health", "No health to draw yet", _NO_SNAPSHOT)
    until = max(now.astimezone(UTC), _noon(days[-1].day))
    since = min(_noon(days[0].day), until - LEAST)
    title = _finding(scored)
    description = f"Score from 0 to 100, {day_text(since)} to {day_text(until)}: "
    description += "one day." if len(scored) == 1 else f"{len(scored)} days."
    description += " Where the line is broken, none was taken."
    smalls = element("div", joined(_small(metric, days, since, until) for metric in Metric), class_="chart-smalls")
    marks = _ground(TOP, HEIGHT) + time_axis(since, until, top=TOP, down=TOP + HEIGHT)
    points = [(_noon(day), score) for day, score in scored]
    marks += _curve(points, since, until, TOP, HEIGHT, filled=False) + _last(points[-1], since, until)
    pictures = [Picture(marks=marks, height=TOP + HEIGHT + AXIS)]
    return figure("health", title=title, description=description, pictures=pictures, below=smalls)


def health_table(history: Sequence[HealthOut]) -> Markup:
    """A table of the scores and metrics by day, newest first; empty without snapshots."""
    days = _by_day(history)
    if not days:
        return NOTHING
    heads = ["Day", "Score", *(metric.capitalize() for metric in Metric)]
    rows = (
        [
            each.day.isoformat(),
            _value_text(each.score),
            *(_value_text(each.metrics[metric].value) if metric in each.metrics else "no data" for metric in Metric),
        ]
        for each in reversed(days)
    )
    return table("Health in numbers", heads, rows)


def health_gauge(latest: HealthOut | None) -> Markup:
    """A figure with the newest score on a half-circle scale from 0 to 100."""
    if latest is None or (score := finite(latest.score)) is None:
        title = "No health yet" if latest is None else "Health: no data"
        return empty("gauge", title, _NO_SNAPSHOT if latest is None else "There was nothing to measure.")
    description = latest.advice or (f"Weakest: {latest.weakest}." if latest.weakest else "")
    description = (
        description[:1].upper() + description[1:] + ("" if not description or description.endswith(".") else ".")
    )
    width, height = _GAUGE
    middle, base = width / 2, height - 24.0
    arcs = joined(
        element("path", d=_arc(middle, base, low, high), class_=f"chart-arc chart-{each}") for each, low, high in _BANDS
    )
    ends = (_on_circle(middle, base, along(score, 0, 100) * 100, radius) for radius in (74.0, 104.0))
    (x1, y1), (x2, y2) = ends
    marks = arcs + element("line", x1=x1, y1=y1, x2=x2, y2=y2, class_="chart-needle")
    called = band(score)
    marks += element("text", f"{score:.0f}", x=middle, y=base - 14.0, class_="chart-huge", text_anchor="middle")
    marks += element("text", called, x=middle, y=base + 8.0, class_="chart-note", text_anchor="middle", font_size=14.0)
    for share, words in ((0.0, "0"), (100.0, "100")):
        x = middle + (-_RADIUS if share == 0 else _RADIUS)
        marks += element("text", words, x=x, y=base + 18.0, class_="chart-note", text_anchor="middle", font_size=SMALL)
    picture = Picture(marks=marks, width=width, height=height)
    return figure("gauge", title=f"Health {score:.0f}, {called}", description=description, pictures=[picture])


def _by_day(history: Sequence[HealthOut]) -> list[HealthOut]:
    """One snapshot a day, the last one taken, oldest day first."""
    latest = {each.day: each for each in sorted(history, key=lambda each: each.taken_at)}
    return [latest[day] for day in sorted(latest)]


def _noon(day: date) -> datetime:
    return datetime.combine(day, time(12), tzinfo=UTC)


def _finding(scored: Sequence[tuple[date, float]]) -> str:
    """The newest score, its band, and the change since a week ago, or since the first score if there is none
    from then.
    """
    day, score = scored[-1]
    title = f"Health {score:.0f}, {band(score)}"
    if len(scored) == 1:
        return title
    before = [pair for pair in scored if pair[0] <= day - _WEEK]
    then, value = before[-1] if before else scored[0]
    since = "last week" if then == day - _WEEK else f"{then.day} {then:%B}"
    change = round(score) - round(value)
    if change == 0:
        return f"{title}, as on {then.day} {then:%B}" if since != "last week" else f"{title}, as last week"
    return f"{title}, {'up' if change > 0 else 'down'} {abs(change)} since {since}"


def _ground(top: float, height: float) -> Markup:
    """The coloured bands with their names."""
    marks = NOTHING
    for each, low, high in _BANDS:
        begin, end = _down(high, top, height), _down(low, top, height)
        marks += element("rect", x="0", width="100%", y=begin, height=end - begin, class_=f"chart-band chart-{each}")
        marks += element("text", f"{each} from {low:g}", x="6", y=end - 6.0, class_="chart-note", font_size=SMALL)
    return marks


def _curve(points: TimedValues, since: datetime, until: datetime, top: float, height: float, *, filled: bool) -> Markup:
    """A line through consecutive days; a day without neighbours is a dot."""
    marks, dots = NOTHING, NOTHING
    for run in _runs(points):
        places = [(through(at, since, until), _down(value, top, height) - top) for at, value in run]
        if len(places) == 1:
            share, down = places[0]
            dots += element("circle", cx=percent(share), cy=down + top, r=2.5, class_="chart-dot")
        else:
            marks += (area(places, height, "chart-area") if filled else NOTHING) + line(places, "chart-line")
    return stretched(marks, top=top, height=height) + dots


def _runs(points: TimedValues) -> list[TimedValues]:
    runs = list[list[tuple[datetime, float]]]()
    for at, value in points:
        if runs and at - runs[-1][-1][0] <= timedelta(days=1):
            runs[-1].append((at, value))
        else:
            runs.append([(at, value)])
    return [*runs]


def _last(point: tuple[datetime, float], since: datetime, until: datetime) -> Markup:
    share, value = through(point[0], since, until), point[1]
    down = _down(value, TOP, HEIGHT)
    # The number is above the dot, or below it near the upper edge.
    words = note(share, down - 10.0 if down > TOP + 20.0 else down + 20.0, f"{value:.0f}", "chart-strong")
    return element("circle", cx=percent(share), cy=down, r=4.5, class_="chart-dot chart-now") + words


def _small(metric: Metric, days: Sequence[HealthOut], since: datetime, until: datetime) -> Markup:
    """One metric: its name, its newest value with its band, and a small chart."""
    newest = days[-1].metrics.get(metric)
    value = finite(newest.value) if newest is not None else None
    reading = f"{value:.0f} {band(value)}" if value is not None else "no data"
    points = [
        (_noon(each.day), found)
        for each in days
        if metric in each.metrics and (found := finite(each.metrics[metric].value)) is not None
    ]
    marks = joined(
        level(_down(limit, 2.0, SMALL_HEIGHT), "chart-grid") for limit in (0.0, YELLOW_FROM, GREEN_FROM, 100.0)
    )
    marks += _curve(points, since, until, 2.0, SMALL_HEIGHT, filled=True)
    if points:
        at, last = points[-1]
        share = through(at, since, until)
        marks += element("circle", cx=percent(share), cy=_down(last, 2.0, SMALL_HEIGHT), r=3.0, class_="chart-dot")
    reason = newest.absent if newest is not None and value is None else ""
    return element(
        "div",
        element("span", metric.capitalize(), class_="chart-name"),
        element("span", reading, class_="chart-value"),
        ornament("small", Picture(marks=marks, height=SMALL_HEIGHT + 4.0)),
        element("span", reason, class_="chart-told") if reason else None,
        class_="chart-small-one",
    )


def _down(value: float, top: float, height: float) -> float:
    return top + (1 - along(value, 0.0, 100.0)) * height


def _arc(middle: float, base: float, low: float, high: float) -> str:
    """The path of a part of the half circle, with a small gap to the neighbouring parts."""
    begin, end = (_on_circle(middle, base, value, _RADIUS) for value in (low + (low > 0), high - (high < 100)))
    places = [" ".join(number(value) for value in place) for place in (begin, end)]
    return f"M{places[0]} A{number(_RADIUS)} {number(_RADIUS)} 0 0 1 {places[1]}"


def _on_circle(middle: float, base: float, value: float, radius: float) -> tuple[float, float]:
    angle = math.pi * (1 - value / 100)
    return middle + radius * math.cos(angle), base - radius * math.sin(angle)


def _value_text(value: float | None) -> str:
    return "no data" if finite(value) is None else f"{value:.1f}"
