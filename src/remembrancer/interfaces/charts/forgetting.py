"""The forgetting curve of one memory, with its reviews."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Final

from markupsafe import Markup

from remembrancer.interfaces.charts.document import document
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
from remembrancer.interfaces.charts.scale import (
    along,
    day_text,
    number_text,
    round_numbers,
    through,
)
from remembrancer.interfaces.charts.strength import StrengthCurve, forecast_text
from remembrancer.interfaces.charts.svg import NOTHING, SMALL, element, joined, percent
from remembrancer.interfaces.text import counted, minute, titled

if TYPE_CHECKING:
    from remembrancer.interfaces.wire.memories import CurveOut, ReviewOut

TOP, HEIGHT = 36.0, 210.0
STRIP: Final = 30.0
"""Pixels below the curve for the marks of reviews."""
RATINGS: Final = ("again", "hard", "good", "easy")
_BACK: Final = 1.5
"""Reviews are drawn up to this many times the curve's span before its beginning; older ones are only counted."""
_MARKS: Final = {
    "again": "M-5 -5 L5 5 M5 -5 L-5 5",
    "hard": "M-5.5 4.5 L5.5 4.5 L0 -5.5 Z",
    "good": "M-5 0 A5 5 0 1 0 5 0 A5 5 0 1 0 -5 0 Z",
    "easy": "M0 -6.5 L6.5 0 L0 6.5 L-6.5 0 Z",
}
"""A cross, a triangle, a disc and a diamond, as SVG paths around (0, 0)."""


def forgetting_curve(curve: CurveOut, reviews: Sequence[ReviewOut]) -> Markup:
    """A figure with the strength so far, the forecast dashed, the threshold, and each review marked by its rating.

    `reviews` may come in any order. Without a curve to draw, the figure has the forecast in words only.
    """
    title, _, ahead = forecast_text(curve.forecast, curve.now).partition(". ")
    strength = StrengthCurve.of(curve)
    if strength is None:
        return empty("forgetting", title, f"{ahead} There is no curve to draw.")
    picture, description, drawn = _drawn(strength, reviews)
    return figure(
        "forgetting", title=title, description=f"{ahead} {description}", pictures=[picture], below=_legend(drawn)
    )


def forgetting_document(curve: CurveOut) -> str:
    """An SVG document: the memory's title and text, the forecast in words, and the curve without reviews."""
    strength = StrengthCurve.of(curve)
    pictures, description = list[Picture](), "There is no curve to draw."
    if strength is not None:
        picture, description, _ = _drawn(strength, ())
        pictures.append(picture)
    return document(
        "forgetting",
        titled(curve.forecast.memory),
        f"{forecast_text(curve.forecast, curve.now)} {description}",
        pictures,
    )


def forgetting_table(curve: CurveOut, reviews: Sequence[ReviewOut]) -> Markup:
    """A table of the strength at about ten times and of every review, oldest first; empty if there is neither."""
    every = max(len(curve.points) // 10, 1)
    rows = [(each.at, f"strength {each.strength:.3f}") for each in curve.points[::every]]
    rows += [
        (
            each.at,
            f"rated {each.rating} by {each.by}, stability {each.stability_before:.2f} to {each.stability:.2f} days",
        )
        for each in reviews
    ]
    listed = [[f"{minute(at)} UTC", words] for at, words in sorted(rows)]
    return table("Strength and reviews in numbers", ["When", "What"], listed) if listed else NOTHING


def _drawn(strength: StrengthCurve, reviews: Sequence[ReviewOut]) -> tuple[Picture, str, list[ReviewOut]]:
    """The picture, its description, and the reviews shown; those from long before the curve are left out."""
    begin, until = strength.points[0][0], strength.points[-1][0]
    seen = sorted((each for each in reviews if each.at <= until), key=lambda each: each.at)
    drawn = [each for each in seen if begin - each.at <= (until - begin) * _BACK]
    since = min([begin, *(each.at for each in drawn)])
    limit = _down(strength.limit, strength.top)
    marks = _levels(strength.top, limit) + time_axis(since, until, top=TOP, down=TOP + HEIGHT)
    marks += _line(strength, since, until)
    falls = None if strength.crossing is None else through(strength.crossing, since, until)
    # The label of the threshold is at the end that is farther from the crossing.
    far = 0.0 if falls is not None and falls > 0.5 else 1.0
    marks += level(limit, "chart-limit") + note(far, limit - 6.0, f"faded below {strength.limit:g}", "chart-limit")
    now = through(strength.now, since, until)
    marks += upright(now, TOP - 16.0, TOP + HEIGHT, "chart-today") + note(now, TOP - 21.0, "now", "chart-strong")
    if falls is not None and strength.crossing is not None and since <= strength.crossing <= until:
        marks += _falls(falls, limit, day_text(strength.crossing))
    marks += joined(_review(each, strength, since, until) for each in drawn)
    picture = Picture(marks=marks, height=TOP + HEIGHT + AXIS + (STRIP if drawn else 0.0))
    return picture, _description(since, until, len(seen), len(seen) - len(drawn), known_from=begin), drawn


def _levels(top: float, limit: float) -> Markup:
    """Rules at round values; a number that would overlap the label of the threshold is left out."""
    marks = NOTHING
    for value in round_numbers(0.0, top, 4):
        down = _down(value, top)
        marks += level(down, "chart-grid")
        if value > 0 and abs(down - limit) > 18.0:
            marks += element("text", number_text(value), x="0", y=down - 5.0, class_="chart-note", font_size=SMALL)
    return marks


def _line(strength: StrengthCurve, since: datetime, until: datetime) -> Markup:
    at_now = (strength.now, strength.at(strength.now))
    past = [*(point for point in strength.points if point[0] < strength.now), at_now]
    ahead = [at_now, *(point for point in strength.points if point[0] > strength.now)]
    marks = NOTHING
    for run, drawn in ((past, "chart-line"), (ahead, "chart-line chart-ahead")):
        places = [(through(at, since, until), _down(value, strength.top) - TOP) for at, value in run]
        if len(places) > 1:
            marks += area(places, HEIGHT, "chart-area") + line(places, drawn)
    share, down = through(strength.now, since, until), _down(at_now[1], strength.top)
    dot = element("circle", cx=percent(share), cy=down, r=4.5, class_="chart-dot chart-now")
    return stretched(marks, top=TOP, height=HEIGHT) + dot


def _falls(share: float, down: float, words: str) -> Markup:
    mark = element("circle", cx=percent(share), cy=down, r=5.5, class_="chart-falls")
    # Below the threshold, or above it if there is no room below.
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


def _review(review: ReviewOut, strength: StrengthCurve, since: datetime, until: datetime) -> Markup:
    share, down = through(review.at, since, until), TOP + HEIGHT + AXIS + STRIP / 2
    stem = NOTHING
    if review.at >= strength.points[0][0]:
        stem = upright(share, _down(strength.at(review.at), strength.top), TOP + HEIGHT, "chart-stem")
    description = f"{minute(review.at)} UTC: {review.rating}, by {review.by}; stability {review.stability_before:.2f}"
    mark = element("g", element("title", f"{description} to {review.stability:.2f} days"), _glyph(review.rating))
    return stem + element("svg", mark, x=percent(share), y=down, overflow="visible")


def _glyph(rating: str) -> Markup:
    known = rating if rating in _MARKS else "good"
    return element("path", d=_MARKS[known], class_=f"chart-rating chart-{known}")


def _legend(reviews: Sequence[ReviewOut]) -> Markup:
    given = [rating for rating in RATINGS if any(each.rating == rating for each in reviews)]
    if not given:
        return NOTHING
    entries = [
        (swatch(element("g", _glyph(rating), transform="translate(9 7)")), f"rated {rating}") for rating in given
    ]
    return key(entries, label="Reviews")


def _description(since: datetime, until: datetime, reviews: int, earlier: int, *, known_from: datetime) -> str:
    description = f"{day_text(since)} to {day_text(until)}; dashed: the forecast."
    if since < known_from:
        description += f" Its strength is known from {day_text(known_from)} on, when it was last used or reviewed."
    if reviews:
        description += f" {counted(reviews, 'review')}{f', {earlier} of them before' if earlier else ''}."
    return description


def _down(value: float, top: float) -> float:
    return TOP + (1 - along(value, 0.0, top)) * HEIGHT
