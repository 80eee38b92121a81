"""A chart as a file of its own: an SVG document in the light colours of the dashboard, and that drawn as a PNG."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import cache
from importlib.resources import files
from typing import Final

from markupsafe import Markup

from remembrancer.interfaces.charts.frame import Picture
from remembrancer.interfaces.charts.lines import ACROSS
from remembrancer.interfaces.charts.measure import FONT, fitted, text_width, wrapped
from remembrancer.interfaces.charts.svg import element, joined

FAMILY: Final = "Source Sans Pro"
"""The font of every PNG, which the package font-source-sans-pro brings; other scripts need fonts of the system."""
ZOOM: Final = 2.0
"""Dots of a PNG for each pixel of the document."""
MARGIN: Final = 40.0
_TITLE: Final = 20.0
_LINE: Final = 20.0
_SWATCH: Final = 26.0

Entries = Iterable[tuple[Markup, str]]
"""A legend: each mark, drawn in 18 by 14 pixels, with the words for it."""


def document(name: str, title: str, told: str, pictures: Sequence[Picture], legend: Entries = ()) -> str:
    """An SVG document: the title on one line, `told` on up to three, the pictures below each other, and the legend.

    `name`: as for `figure`. A picture without a width is drawn 1,000 pixels wide.
    """
    width = max((picture.width or ACROSS for picture in pictures), default=ACROSS)
    down = MARGIN + _TITLE / 2
    marks = [element("text", fitted(title, width, _TITLE), y=down, font_size=_TITLE, class_="chart-strong")]
    for line in wrapped(told, width, 3):
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
        element("rect", width=whole, height=high, fill="var(--chart-ground)"),
        element("svg", *marks, x=MARGIN, width=width, height=high, overflow="visible"),
        xmlns="http://www.w3.org/2000/svg",
        viewBox=f"0 0 {whole:g} {high:g}",
        width=whole,
        height=high,
        class_=f"chart chart-{name}",
        font_family=f"{FAMILY}, sans-serif",
    )
    # Only values of attributes: in what people wrote, a quotation mark is escaped.
    return re.sub(r'(?<==")var\((--[\w-]+)\)(?=")', lambda found: _colours()[found[1]], drawn)


def png(svg: str) -> bytes:
    """The document as a PNG. The same document gives the same bytes where the same fonts are installed."""
    from resvg_py import svg_to_bytes  # noqa: PLC0415 - only pictures in dots need it

    fonts = files("font_source_sans_pro") / "files"
    faces = [str(fonts / f"SourceSansPro-{weight}.ttf") for weight in ("Regular", "Semibold")]
    return svg_to_bytes(svg_string=svg, zoom=ZOOM, font_files=faces, font_family=FAMILY, sans_serif_family=FAMILY)


def _legend(entries: Entries, width: float, top: float) -> tuple[Markup, float]:
    """Entries beside each other, in as many lines as they need, and where the last line ends."""
    x, y, marks = 0.0, top, list[Markup]()
    for mark, words in entries:
        taken = _SWATCH + text_width(words) + _LINE
        if x and x + taken > width:
            x, y = 0.0, y + _LINE
        label = element("text", words, x=_SWATCH, y=11.5, font_size=FONT, class_="chart-note")
        marks.append(element("g", mark, label, transform=f"translate({x:g} {y:g})"))
        x += taken
    return joined(marks), y + _LINE if marks else y


@cache
def _colours() -> dict[str, str]:
    """The light colours of the style sheet, by the names of their variables."""
    block = re.search(r":root \{([^}]*)\}", _styles())
    told = dict(re.findall(r"(--[\w-]+): ([^;]+);", "" if block is None else block[1]))
    return {name: re.sub(r"var\(--\w+, (#\w+)\)", r"\1", value) for name, value in told.items()}


@cache
def _sheet() -> str:
    """The rules for charts without variables, other themes and narrow places, none of which a rasteriser knows."""
    rules = re.sub(r"@[^{]+\{(?:[^{}]*\{[^{}]*\})*[^{}]*\}|:root[^}]*\}|/\*.*?\*/", "", _styles(), flags=re.DOTALL)
    # Shades of a colour are mixed from it and ink; here they are the colour on white ground.
    rules = re.sub(r"fill: color-mix\([^%]*?(\d+)%[^;]*;", r"fill-opacity: 0.\1;", rules)
    rules = rules.replace("fill: var(--chart-hue);", "").replace("--chart-hue:", "fill:")
    return re.sub(r"var\((--[\w-]+)\)", lambda found: _colours()[found[1]], rules)


@cache
def _styles() -> str:
    return (files("remembrancer.interfaces.dashboard") / "assets" / "charts.css").read_text(encoding="utf-8")
