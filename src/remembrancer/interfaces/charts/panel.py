"""Axes and marks of plots, as SVG for a document.

A `hue` is the name of a colour in the style sheet: one of HUES, or "ink", "soft", "line", "panel" and others.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Final

from markupsafe import Markup

from remembrancer.interfaces.charts.frame import Picture
from remembrancer.interfaces.charts.lines import ACROSS
from remembrancer.interfaces.charts.scale import number_text, round_numbers
from remembrancer.interfaces.charts.svg import NOTHING, SMALL, element, joined, number
from remembrancer.values import dataclass

TOP, BELOW = 24.0, 50.0
"""Pixels above a panel for the label of the y axis, and below it for the numbers and the label of the x axis."""
ROW: Final = 30.0
DASHED: Final = "5 4"
DOTTED: Final = "1 4"
_LINE: Final = 15.0

Point = tuple[float, float]


@dataclass(frozen=True, slots=True, kw_only=True)
class Panel:
    """The area of a plot. Sizes are in pixels.

    `x`: the values at the left and right edge; `y`: those at the lower and upper edge. `log`: the x axis is
    logarithmic, and both its ends are above 0.
    """

    x: Point
    y: Point = (0.0, 1.0)
    left: float = 36.0
    width: float = 954.0
    height: float = 360.0
    log: bool = False

    @property
    def right(self) -> float:
        return self.left + self.width

    @property
    def bottom(self) -> float:
        return TOP + self.height

    def picture(self, marks: Markup) -> Picture:
        return Picture(marks=marks, height=self.bottom + BELOW, width=ACROSS)

    def across(self, value: float) -> float:
        low, high, at = (math.log(each) for each in (*self.x, value)) if self.log else (*self.x, value)
        return self.left + (at - low) / (high - low) * self.width

    def down(self, value: float) -> float:
        low, high = self.y
        return self.bottom - (value - low) / (high - low) * self.height

    def levels(self, label: str = "") -> Markup:
        """The y axis: horizontal rules at round values with their numbers, and a label above them."""
        marks = self._note(label, 0.0, TOP - 12.0, "start")
        for value in round_numbers(min(self.y), max(self.y), 6):
            down = self.down(value)
            marks += self._rule((self.left, down), (self.right, down), "chart-grid")
            marks += self._note(number_text(value), self.left - 8.0, down + 4.0, "end")
        return marks

    def uprights(self, label: str = "") -> Markup:
        """The x axis: vertical rules at round values or powers of ten with their numbers, and a label below them."""
        if self.log:
            powers = range(math.floor(math.log10(self.x[0])), math.ceil(math.log10(self.x[1])) + 1)
            values = [value for power in powers if self.x[0] <= (value := 10.0**power) <= self.x[1]]
        else:
            values = list(round_numbers(*self.x, 6))
        rules = joined(self.upright(value, "chart-grid") for value in values)
        return rules + self.names([(value, number_text(value)) for value in values], label)

    def names(self, places: Iterable[tuple[float, str]], label: str = "") -> Markup:
        """The x axis with words below given values, on several lines if they contain line ends, and a label."""
        words = joined(
            self._note(line, self.across(value), self.bottom + 18.0 + _LINE * row, "middle")
            for value, several in places
            for row, line in enumerate(several.split("\n"))
        )
        axis = self._rule((self.left, self.bottom), (self.right, self.bottom), "chart-axis")
        return axis + words + self._note(label, (self.left + self.right) / 2, self.bottom + 40.0, "middle")

    def rows(self, names: Sequence[str]) -> Markup:
        """The y axis with words instead of the numbers 0, 1, 2 and so on, on several lines if they
        contain line ends.
        """
        marks = NOTHING
        for row, name in enumerate(names):
            lines = name.split("\n")
            for place, line in enumerate(lines):
                down = self.down(row) + 4.0 + _LINE * (place - (len(lines) - 1) / 2)
                marks += element("text", line, x=self.left - 10.0, y=down, text_anchor="end", font_size=SMALL)
        return marks + self._rule((self.left, TOP), (self.left, self.bottom), "chart-axis")

    def upright(self, value: float, class_: str) -> Markup:
        return self._rule((self.across(value), TOP), (self.across(value), self.bottom), class_)

    def line(
        self, points: Iterable[tuple[float, float | None]], hue: str, dash: str | None = None, *, wide: float = 2.0
    ) -> Markup:
        """A line through points; a y of None leaves a gap."""
        path, pen = "", "M"
        for x, y in points:
            path += "" if y is None else f"{pen}{number(self.across(x))} {number(self.down(y))}"
            pen = "M" if y is None else "L"
        stroke = {"stroke": paint(hue), "stroke_width": wide, "stroke_linejoin": "round"}
        return element("path", d=path, fill="none", **stroke, stroke_dasharray=dash) if path else NOTHING

    def area(self, points: Iterable[Point], hue: str, opacity: float) -> Markup:
        """A filled polygon."""
        path = "L".join(f"{number(self.across(x))} {number(self.down(y))}" for x, y in points)
        return element("path", d=f"M{path}Z", fill=paint(hue), fill_opacity=opacity)

    def bar(self, begin: Point, end: Point, hue: str, opacity: float = 1.0) -> Markup:
        """A rectangle between two corners."""
        xs, ys = (
            sorted(self.across(each[0]) for each in (begin, end)),
            sorted(self.down(each[1]) for each in (begin, end)),
        )
        size = {"x": xs[0], "y": ys[0], "width": xs[1] - xs[0], "height": ys[1] - ys[0]}
        return element("rect", **size, fill=paint(hue), fill_opacity=opacity)

    def dot(self, at: Point, hue: str, *, hollow: bool = False, radius: float = 4.5) -> Markup:
        place = {"cx": self.across(at[0]), "cy": self.down(at[1]), "r": radius}
        return element("circle", **place, fill=paint("panel" if hollow else hue), stroke=paint(hue), stroke_width=1.5)

    def words(self, at: Point, content: str, apart: Point, anchor: str = "start", class_: str = "chart-note") -> Markup:
        """Words at a point, moved by `apart` pixels across and down."""
        return self._note(content, self.across(at[0]) + apart[0], self.down(at[1]) + apart[1], anchor, class_)

    def _note(self, content: str, x: float, y: float, anchor: str, class_: str = "chart-note") -> Markup:
        if not content:
            return NOTHING
        return element("text", content, x=x, y=y, text_anchor=anchor, font_size=SMALL, class_=class_ or None)

    def _rule(self, begin: Point, end: Point, class_: str) -> Markup:
        return element("line", x1=begin[0], y1=begin[1], x2=end[0], y2=end[1], class_=class_)


def row_panel(
    count: int, x: Point, *, left: float = 240.0, right: float = ACROSS - 10.0, row: float = ROW, log: bool = False
) -> Panel:
    """A panel of `count` rows of `row` pixels. Row n lies at y = n; row 0 is at the top."""
    height = max(count, 2) * row
    return Panel(x=x, y=(count - 0.5, -0.5), left=left, width=right - left, height=height, log=log)


def paint(hue: str) -> str:
    """The value of a colour attribute, which `document` replaces by the colour."""
    return f"var(--{hue})"


def sample(hue: str, *, dash: str | None = None, dot: bool = False, hollow: bool = False, bar: bool = False) -> Markup:
    """A mark for a legend: a bar, a line, a dot, or a dashed line with a dot."""
    if bar:
        return element("rect", x=2.0, y=1.0, width=14.0, height=12.0, rx=2.0, fill=paint(hue))
    line = element("path", d="M0 7H18", stroke=paint(hue), stroke_width=2.0, stroke_dasharray=dash)
    fill = paint("panel" if hollow else hue)
    ring = element("circle", cx=9.0, cy=7.0, r=4.5, fill=fill, stroke=paint(hue), stroke_width=1.5)
    return (line if dash or not dot else NOTHING) + (ring if dot else NOTHING)
