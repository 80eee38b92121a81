"""Lines over time, the time axis and horizontal rules, for pictures as wide as their container."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Final

from markupsafe import Markup

from remembrancer.interfaces.charts.scale import round_times, through
from remembrancer.interfaces.charts.svg import NOTHING, SMALL, element, joined, number, percent

ACROSS: Final = 1000.0
"""The width of the coordinate system of lines, stretched to the width of the picture."""
AXIS: Final = 24.0
"""Pixels below a picture for the labels of the time axis."""
_FEW, _MANY = 4, 8  # labels of a time axis in a narrow container, and in others


def stretched(marks: Markup, *, top: float, height: float) -> Markup:
    """Marks with x from 0 to ACROSS, stretched to the width of the picture."""
    size = {"y": top, "width": "100%", "height": height, "viewBox": f"0 0 {number(ACROSS)} {number(height)}"}
    return element("svg", marks, **size, preserveAspectRatio="none", overflow="visible")


def line(points: Sequence[tuple[float, float]], class_: str) -> Markup:
    """A line through points of (share of the width, pixels down), for `stretched`."""
    return _path(" L".join(_place(*point) for point in points), class_)


def area(points: Sequence[tuple[float, float]], floor: float, class_: str) -> Markup:
    """The area between a line and the height `floor`, in pixels down, for `stretched`."""
    if len(points) < 2:
        return NOTHING
    closed = [(points[0][0], floor), *points, (points[-1][0], floor)]
    return _path(" L".join(_place(*point) for point in closed) + " Z", class_)


def level(down: float, class_: str) -> Markup:
    return element("line", x1="0", x2="100%", y1=down, y2=down, class_=class_)


def upright(share: float, top: float, bottom: float, class_: str) -> Markup:
    return element("line", x1=percent(share), x2=percent(share), y1=top, y2=bottom, class_=class_)


def note(share: float, down: float, words: str, class_: str = "chart-note") -> Markup:
    """Words centred at a share of the width; near the edges they are aligned so that they stay inside the picture."""
    anchor = "start" if share < 0.07 else "end" if share > 1 - 0.07 else "middle"
    return element("text", words, x=percent(share), y=down, text_anchor=anchor, font_size=SMALL, class_=class_)


def time_axis(since: datetime, until: datetime, *, top: float, down: float) -> Markup:
    """A rule at `down` with times below it and faint vertical lines up to `top`; fewer in a narrow container."""
    return level(down, "chart-axis") + joined(
        element(
            "g",
            joined(
                upright(share, top, down, "chart-grid") + note(share, down + 17.0, label)
                for moment in round_times(since, until, most)
                for share, label in [(through(moment.at, since, until), moment.label)]
            ),
            class_=room,
        )
        for room, most in (("chart-wide", _MANY), ("chart-narrow", _FEW))
    )


def _path(places: str, class_: str) -> Markup:
    return element("path", d=f"M{places}", class_=class_, vector_effect="non-scaling-stroke")


def _place(share: float, down: float) -> str:
    return f"{number(share * ACROSS)} {number(down)}"
