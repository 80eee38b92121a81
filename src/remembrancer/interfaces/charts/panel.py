"""Axes and marks for pictures of measurements: values between the edges of a rectangle, as SVG for a document.

Colours are given by the names of hues in the style sheet, or "ink", "faint", "rule" and "ground".
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from markupsafe import Markup

from remembrancer.interfaces.charts.frame import Picture
from remembrancer.interfaces.charts.lines import ACROSS
from remembrancer.interfaces.charts.measure import SMALL
from remembrancer.interfaces.charts.scale import number_text, round_numbers
from remembrancer.interfaces.charts.svg import NOTHING, element, joined, number

TOP, BELOW = 24.0, 50.0
"""Pixels above a panel, for the label of its vertical axis, and below it, for the names and label of the other."""
ROW: Final = 30.0
DASHED: Final = "5 4"
DOTTED: Final = "1 4"
_LINE: Final = 15.0

Point = tuple[float, float]


@dataclass(frozen=True, slots=True, kw_only=True)
class Panel:
    """`x`: the values at the left and right edge; `y`: at the lower and upper edge. Sizes are in pixels.

    `log`: values of x are placed by their logarithm; both edges are then above 0.
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
        """Rules across at round values of y, with their numbers, and the label of the axis above them."""
        marks = self._note(label, 0.0, TOP - 12.0, "start")
        for value in round_numbers(min(self.y), max(self.y), 6):
            down = self.down(value)
            marks += self._rule((self.left, down), (self.right, down), "chart-grid")
            marks += self._note(number_text(value), self.left - 8.0, down + 4.0, "end")
        return marks

    def uprights(self, label: str = "") -> Markup:
        """Rules down at round values of x, with their numbers, and the label of the axis below them."""
        if self.log:
            powers = range(math.floor(math.log10(self.x[0])), math.ceil(math.log10(self.x[1])) + 1)
            values = [value for power in powers if self.x[0] <= (value := 10.0**power) <= self.x[1]]
        else:
            values = list(round_numbers(*self.x, 6))
        rules = joined(self.upright(value, "chart-grid") for value in values)
        return rules + self.names([(value, number_text(value)) for value in values], label)

    def names(self, places: Iterable[tuple[float, str]], label: str = "") -> Markup:
        """Words below values of x, a line each where there are several, and the label of the axis below them."""
        words = joined(
            self._note(line, self.across(value), self.bottom + 18.0 + _LINE * row, "middle")
            for value, several in places
            for row, line in enumerate(several.split("\n"))
        )
        axis = self._rule((self.left, self.bottom), (self.right, self.bottom), "chart-axis")
        return axis + words + self._note(label, (self.left + self.right) / 2, self.bottom + 40.0, "middle")

    def rows(self, names: Sequence[str]) -> Markup:
        """Words to the left of the values 0, 1, 2 … of y, a line each where there are several."""
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
        """A line through points of (x, y); where y is None there is a gap."""
        path, pen = "", "M"
        for x, y in points:
            path += "" if y is None else f"{pen}{number(self.across(x))} {number(self.down(y))}"
            pen = "M" if y is None else "L"
        stroke = {"stroke": paint(hue), "stroke_width": wide, "stroke_linejoin": "round"}
        return element("path", d=path, fill="none", **stroke, stroke_dasharray=dash) if path else NOTHING

    def area(self, points: Iterable[Point], hue: str, opacity: float) -> Markup:
        """What lies between a line that leads back to its beginning."""
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
        return element("circle", **place, fill=paint("ground" if hollow else hue), stroke=paint(hue), stroke_width=1.5)

    def words(self, at: Point, content: str, apart: Point, anchor: str = "start", class_: str = "chart-note") -> Markup:
        """Words at a point, or `apart` from it, in pixels across and down."""
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
    """A panel of so many rows, the first at the top: row n lies at y = n. `left` and `right`: where its edges are."""
    height = max(count, 2) * row
    return Panel(x=x, y=(count - 0.5, -0.5), left=left, width=right - left, height=height, log=log)


def paint(hue: str) -> str:
    """The colour as an attribute, which `document` fills in."""
    return f"var(--chart-{hue})"


def sample(hue: str, *, dash: str | None = None, dot: bool = False, hollow: bool = False, bar: bool = False) -> Markup:
    """A mark for the legend: a bar, or a line, a dot or both."""
    if bar:
        return element("rect", x=2.0, y=1.0, width=14.0, height=12.0, rx=2.0, fill=paint(hue))
    line = element("path", d="M0 7H18", stroke=paint(hue), stroke_width=2.0, stroke_dasharray=dash)
    fill = paint("ground" if hollow else hue)
    ring = element("circle", cx=9.0, cy=7.0, r=4.5, fill=fill, stroke=paint(hue), stroke_width=1.5)
    return (line if dash or not dot else NOTHING) + (ring if dot else NOTHING)
