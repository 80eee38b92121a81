"""How one memory fades, and what it was rated."""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Final

from markupsafe import Markup

from remembrancer.interfaces.charts.frame import Picture, empty, figure, key, swatch, table
from remembrancer.interfaces.charts.lines import (
    AXIS,
    area,
    level,
    line,
    note,
    stretched,
    time_axis,
    upright,
)
from remembrancer.interfaces.charts.measure import SMALL
from remembrancer.interfaces.charts.scale import (
    along,
    day_text,
    number_text,
    round_above,
    round_numbers,
    through,
)
from remembrancer.interfaces.charts.svg import NOTHING, element, joined, percent
from remembrancer.interfaces.cli.drawing import counted, minute
from remembrancer.interfaces.cli.fading_pages import forecast

if TYPE_CHECKING:
    from remembrancer.interfaces.wire import CurveOut, OutlookOut, ReviewOut

TOP, HEIGHT = 36.0, 210.0
STRIP: Final = 30.0
"""Pixels below the curve, for reviews."""
RATINGS: Final = ("again", "hard", "good", "easy")
_BACK: Final = 1.5
"""Times the curve's own span: so far before it reviews are drawn, those before are counted."""
_MARKS: Final = {
    "again": "M-5 -5 L5 5 M5 -5 L-5 5",
    "hard": "M-5.5 4.5 L5.5 4.5 L0 -5.5 Z",
    "good": "M-5 0 A5 5 0 1 0 5 0 A5 5 0 1 0 -5 0 Z",
    "easy": "M0 -6.5 L6.5 0 L0 6.5 L-6.5 0 Z",
}
"""A cross, a triangle, a disc and a diamond, around 0."""


def forgetting_curve(curve: CurveOut, reviews: Sequence[ReviewOut]) -> Markup:
    """Strength as it has been, and dashed as it will be if nothing else happens; below it, each review by its rating.

    `reviews` in any order. Where nothing of a curve can be drawn, what is known is told in words.
    """
    outlook = curve.outlook
    title, _, ahead = forecast(outlook, curve.now).partition(". ")
    points = [(each.at, each.strength) for each in curve.points if math.isfinite(each.strength)]
    if len(points) < 2 or not points[0][0] < points[-1][0] or not math.isfinite(outlook.below):
        return empty("forgetting", title, f"{ahead} There is no curve to draw.")
    span = points[-1][0] - points[0][0]
    seen = sorted((each for each in reviews if each.at <= points[-1][0]), key=lambda each: each.at)
    drawn = [each for each in seen if points[0][0] - each.at <= span * _BACK]
    since = min([points[0][0], *(each.at for each in drawn)])
    until = points[-1][0]
    top = _top(max(outlook.below * 1.25, *(value for _, value in points)))
    marks = _levels(top, _down(outlook.below, top)) + time_axis(since, until, top=TOP, down=TOP + HEIGHT)
    marks += _strength(points, curve.now, since, until, top)
    marks += _threshold(outlook, since, until, top) + _now(curve.now, since, until)
    if outlook.falls_at is not None and since <= outlook.falls_at <= until:
        marks += _falls(through(outlook.falls_at, since, until), _down(outlook.below, top), day_text(outlook.falls_at))
    marks += joined(_review(each, points, since, until, top) for each in drawn)
    height = TOP + HEIGHT + AXIS + (STRIP if drawn else 0.0)
    told = f"{ahead} " + _told(since, until, len(seen), len(seen) - len(drawn), told_from=points[0][0])
    pictures = [Picture(marks=marks, height=height)]
    return figure("forgetting", title=title, told=told, pictures=pictures, below=_legend(drawn))


def forgetting_table(curve: CurveOut, reviews: Sequence[ReviewOut]) -> Markup:
    """The strength at about ten moments of the curve, and every review, oldest first; empty where there is neither."""
    every = max(len(curve.points) // 10, 1)
    rows = [(each.at, f"strength {each.strength:.3f}") for each in curve.points[::every]]
    rows += [
        (
            each.at,
            f"rated {each.rating} by {each.by}, stability {each.stability_before:.2f} to {each.stability:.2f} days",
        )
        for each in reviews
    ]
    told = [[f"{minute(at)} UTC", words] for at, words in sorted(rows)]
    return table("Strength and reviews in numbers", ["When", "What"], told) if told else NOTHING


def _top(most: float) -> float:
    """Where the axis ends: at 1 for what comes near to it, else at a round number."""
    return 1.0 if 0.5 < most <= 1 else round_above(most)


def _levels(top: float, limit: float) -> Markup:
    """Round values, each with its number where that is not in the way of what is said of the limit."""
    marks = NOTHING
    for value in round_numbers(0.0, top, 4):
        down = _down(value, top)
        marks += level(down, "chart-grid")
        if value > 0 and abs(down - limit) > 18.0:
            marks += element("text", number_text(value), x="0", y=down - 5.0, class_="chart-note", font_size=SMALL)
    return marks


def _strength(
    points: Sequence[tuple[datetime, float]], now: datetime, since: datetime, until: datetime, top: float
) -> Markup:
    at_now = (now, _value(points, now))
    past = [*(point for point in points if point[0] < now), at_now]
    ahead = [at_now, *(point for point in points if point[0] > now)]
    marks = NOTHING
    for run, drawn in ((past, "chart-line"), (ahead, "chart-line chart-ahead")):
        places = [(through(at, since, until), _down(value, top) - TOP) for at, value in run]
        if len(places) > 1:
            marks += area(places, HEIGHT, "chart-area") + line(places, drawn)
    dot = element(
        "circle", cx=percent(through(now, since, until)), cy=_down(at_now[1], top), r=4.5, class_="chart-dot chart-now"
    )
    return stretched(marks, top=TOP, height=HEIGHT) + dot


def _value(points: Sequence[tuple[datetime, float]], at: datetime) -> float:
    """The strength at a moment, between the points next to it."""
    index = bisect_left(points, at, key=lambda point: point[0])
    if index == 0:
        return points[0][1]
    if index == len(points):
        return points[-1][1]
    (before, low), (after, high) = points[index - 1], points[index]
    return low + (high - low) * through(at, before, after)


def _threshold(outlook: OutlookOut, since: datetime, until: datetime, top: float) -> Markup:
    """Told at the end that is farther from where strength falls below it."""
    down = _down(outlook.below, top)
    late = outlook.falls_at is not None and through(outlook.falls_at, since, until) > 0.5
    words = note(0.0 if late else 1.0, down - 6.0, f"faded below {outlook.below:g}", "chart-limit")
    return level(down, "chart-limit") + words


def _now(now: datetime, since: datetime, until: datetime) -> Markup:
    share = through(now, since, until)
    return upright(share, TOP - 16.0, TOP + HEIGHT, "chart-today") + note(share, TOP - 21.0, "now", "chart-strong")


def _falls(share: float, down: float, words: str) -> Markup:
    mark = element("circle", cx=percent(share), cy=down, r=5.5, class_="chart-falls")
    # Under the curve, where nothing else is; or, where that has no room, before it.
    below = down < TOP + HEIGHT - 20.0
    beside = element(
        "text",
        words,
        x=-9.0 if share > 0.3 else 9.0,
        y=16.0 if below else -10.0,
        text_anchor="end" if share > 0.3 else "start",
        class_="chart-strong",
        font_size=SMALL,
    )
    return mark + element("svg", beside, x=percent(share), y=down, overflow="visible")


def _review(
    review: ReviewOut, points: Sequence[tuple[datetime, float]], since: datetime, until: datetime, top: float
) -> Markup:
    share, down = through(review.at, since, until), TOP + HEIGHT + AXIS + STRIP / 2
    stem = NOTHING
    if review.at >= points[0][0]:
        stem = upright(share, _down(_value(points, review.at), top), TOP + HEIGHT, "chart-stem")
    told = f"{minute(review.at)} UTC: {review.rating}, by {review.by}; stability {review.stability_before:.2f}"
    mark = element("g", element("title", f"{told} to {review.stability:.2f} days"), _glyph(review.rating))
    return stem + element("svg", mark, x=percent(share), y=down, overflow="visible")


def _glyph(rating: str) -> Markup:
    return element("path", d=_MARKS.get(rating, _MARKS["good"]), class_=f"chart-rating chart-{_known(rating)}")


def _known(rating: str) -> str:
    return rating if rating in _MARKS else "good"


def _legend(reviews: Sequence[ReviewOut]) -> Markup:
    given = [rating for rating in RATINGS if any(each.rating == rating for each in reviews)]
    if not given:
        return NOTHING
    entries = [
        (swatch(element("g", _glyph(rating), transform="translate(9 7)")), f"rated {rating}") for rating in given
    ]
    return key(entries, label="Reviews")


def _told(since: datetime, until: datetime, reviews: int, earlier: int, *, told_from: datetime) -> str:
    told = f"{day_text(since)} to {day_text(until)}; dashed: what is ahead."
    if since < told_from:
        told += f" Its strength can be told since {day_text(told_from)}, when it was last used or reviewed."
    if reviews:
        told += f" {counted(reviews, 'review')}{f', {earlier} of them before' if earlier else ''}."
    return told


def _down(value: float, top: float) -> float:
    return TOP + (1 - along(value, 0.0, top)) * HEIGHT
