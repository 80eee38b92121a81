"""Charts as files: an SVG document in the light colours of the dashboard, and its rasterisation as a PNG."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import cache
from importlib.resources import files
from typing import Final

from markupsafe import Markup

from remembrancer.interfaces.charts.frame import Picture
from remembrancer.interfaces.charts.lines import ACROSS
from remembrancer.interfaces.charts.svg import FONT, element, joined, text_width, wrapped

FAMILY: Final = "Source Sans Pro"
"""The font of every PNG, from the package font-source-sans-pro. Other scripts need a system font."""
ZOOM: Final = 2.0
"""PNG dots per pixel of the document, across and down."""
MOST_DOTS: Final = 40_000_000
"""Larger documents are drawn at a smaller scale, because each dot takes four bytes of memory."""
MARGIN: Final = 40.0
_TITLE: Final = 20.0
_TITLE_LINE: Final = 26.0
_LINE: Final = 20.0
_SWATCH: Final = 26.0
_LONGEST_LABEL: Final = 8
"""The most lines of a label."""

LegendEntries = Iterable[tuple[Markup, str]]
"""A legend: marks of 18 by 14 pixels, each with its label."""


def document(name: str, title: str, description: str, pictures: Sequence[Picture], legend: LegendEntries = ()) -> str:
    """An SVG document: the title on up to two lines, `description` on up to four, the pictures below each other, then
    the whole legend.

    `name` and `description` are those of `figure`. A picture without a width is drawn 1,000 pixels wide. Attributes
    such as `var(--blue)` are replaced by the colour.
    """
    width = max((picture.width or ACROSS for picture in pictures), default=ACROSS)
    down, marks = MARGIN + _TITLE / 2 - _TITLE_LINE, list[Markup]()
    for line in wrapped(title, width, 2, _TITLE) or [""]:
        down += _TITLE_LINE
        marks.append(element("text", line, y=down, font_size=_TITLE, class_="chart-strong"))
    for line in wrapped(description, width, 4):
        down += _LINE
        marks.append(element("text", line, y=down, font_size=FONT, class_="chart-note"))
    down += _LINE
    for picture in pictures:
        size = {"width": picture.width or ACROSS, "height": picture.height}
        marks.append(element("svg", picture.marks, y=down, **size, class_="chart-picture", overflow="visible"))
        down += picture.height + _LINE
    keyed, height = _legend(legend, width, down)
    marks.append(keyed)
    whole, high = width + 2 * MARGIN, height + MARGIN / 2
    drawn = element(
        "svg",
        element("style", Markup(_sheet())),  # noqa: S704  our own file
        element("rect", width=whole, height=high, fill="var(--panel)"),
        element("svg", *marks, x=MARGIN, width=width, height=high, overflow="visible"),
        xmlns="http://www.w3.org/2000/svg",
        viewBox=f"0 0 {whole:g} {high:g}",
        width=whole,
        height=high,
        class_=f"chart chart-{name}",
        font_family=f"{FAMILY}, sans-serif",
    )
    # Only attributes match: in texts, quotation marks are escaped.
    return re.sub(r'(?<==")var\((--[\w-]+)\)(?=")', lambda found: _colours()[found[1]], drawn)


def png(svg: str) -> bytes:
    """The document as a PNG file. Equal documents give equal bytes on machines with the same fonts."""
    from resvg_py import svg_to_bytes  # noqa: PLC0415 - only PNGs need it

    fonts = files("font_source_sans_pro") / "files"
    faces = [str(fonts / f"SourceSansPro-{weight}.ttf") for weight in ("Regular", "Semibold")]
    width, height = (float(size) for size in re.findall(r'(?:width|height)="(\S+)"', svg[: svg.index(">")]))
    zoom = min(ZOOM, (MOST_DOTS / (width * height)) ** 0.5)
    return svg_to_bytes(svg_string=svg, zoom=zoom, font_files=faces, font_family=FAMILY, sans_serif_family=FAMILY)


def _legend(entries: LegendEntries, width: float, top: float) -> tuple[Markup, float]:
    """The entries next to each other, on as many lines as they need, and the end of the last line, in pixels. A label
    that is wider than the document is broken.
    """
    x, y, marks = 0.0, top, list[Markup]()
    for mark, words in entries:
        lines = wrapped(words, width - _SWATCH, _LONGEST_LABEL)
        taken = _SWATCH + max(map(text_width, lines), default=0.0) + _LINE
        if x and x + taken > width + _LINE:
            x, y = 0.0, y + _LINE
        label = joined(
            element("text", line, x=_SWATCH, y=11.5 + _LINE * row, font_size=FONT, class_="chart-note")
            for row, line in enumerate(lines)
        )
        marks.append(element("g", mark, label, transform=f"translate({x:g} {y:g})"))
        x += taken
        y += _LINE * (len(lines) - 1)
    return joined(marks), y + _LINE if marks else y


@cache
def _colours() -> dict[str, str]:
    """The colours of the light theme, by the names of their variables in the palette."""
    return dict(re.findall(r"(--[\w-]+): light-dark\((#\w+),", _asset("palette.css")))


@cache
def _sheet() -> str:
    """The style sheet without features that resvg lacks: variables and narrow-screen rules."""
    rules = re.sub(r"@[^{]+\{(?:[^{}]*\{[^{}]*\})*[^{}]*\}|/\*.*?\*/", "", _asset("charts.css"), flags=re.DOTALL)
    rules = rules.replace("fill: var(--hue);", "").replace("--hue:", "fill:")
    own = dict(re.findall(r"(--[\w-]+): ([\d.]+);", rules))
    return re.sub(r"var\((--[\w-]+)\)", lambda found: (_colours() | own)[found[1]], rules)


def _asset(name: str) -> str:
    return (files("remembrancer.interfaces.dashboard") / "assets" / name).read_text(encoding="utf-8")
