"""A line as small as a word."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Final

from markupsafe import Markup

from remembrancer.interfaces.charts.frame import Picture, small_picture
from remembrancer.interfaces.charts.lines import line, stretched
from remembrancer.interfaces.charts.scale import along, number_text
from remembrancer.interfaces.charts.svg import element, joined, percent

HEIGHT: Final = 28.0
_EDGE: Final = 4.0
_INSET: Final = 0.04
"""Of the width, at either end: a dot stands there whole."""


def spark(values: Sequence[float | None], *, label: str = "") -> Markup:
    """Values evenly from left to right, from the least at the bottom to the greatest at the top; None is a gap.

    `label`: what they are, told before how they run. What is no finite number is a gap too.
    """
    kept = [value if value is not None and math.isfinite(value) else None for value in values]
    known = [value for value in kept if value is not None]
    if not known:
        return small_picture("spark", _labelled(label, "no data"), Picture(marks=Markup(), height=HEIGHT))
    low, high = min(known), max(known)
    told = f"from {number_text(known[0])} to {number_text(known[-1])}, "
    told += f"between {number_text(low)} and {number_text(high)}"
    runs, dots = _runs(kept, low, high), Markup()
    for run in runs:
        if len(run) == 1:
            dots += element("circle", cx=percent(run[0][0]), cy=run[0][1], r=1.5, class_="chart-dot")
    drawn = joined(line(run, "chart-line") for run in runs if len(run) > 1)
    share, down = runs[-1][-1]
    dots += element("circle", cx=percent(share), cy=down, r=2.5, class_="chart-dot")
    picture = Picture(marks=stretched(drawn, top=0.0, height=HEIGHT) + dots, height=HEIGHT)
    return small_picture("spark", _labelled(label, told), picture)


def _runs(values: Sequence[float | None], low: float, high: float) -> list[list[tuple[float, float]]]:
    """Places of values that follow each other without a gap."""
    runs = list[list[tuple[float, float]]]()
    gap = True
    for index, value in enumerate(values):
        if value is not None:
            down = _EDGE + (1 - along(value, low, high)) * (HEIGHT - 2 * _EDGE)
            place = _INSET + along(index, 0, len(values) - 1) * (1 - 2 * _INSET), down
            if gap:
                runs.append([])
            runs[-1].append(place)
        gap = value is None
    return runs


def _labelled(label: str, told: str) -> str:
    return f"{label}: {told}" if label else told
