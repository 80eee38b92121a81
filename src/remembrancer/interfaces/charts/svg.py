"""SVG and HTML elements with escaped texts; texts cut to a width, which is estimated without the font."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Final

from markupsafe import Markup, escape
from rich.cells import cell_len

from remembrancer.errors import InvalidInput
from remembrancer.interfaces.text import one_line

NOTHING: Final = Markup()
_NO_XML: Final = str.maketrans(dict.fromkeys("\ufffe\uffff"))
"""Characters that XML does not allow, besides control characters."""
FONT: Final = 13.0
"""Font sizes in pixels: of labels, and (SMALL) of notes beside axes."""
SMALL: Final = 12.0
_THIN: Final = frozenset("iIjlft.,:;!'|()[]{}` ")
_BROAD: Final = frozenset("mwMWQGOD@%—")
_EMS: Final = {0: 0.0, 2: 1.05}
"""The width in ems by terminal cells: combining characters take none, East Asian ones a square."""


def element(name: str, /, *children: str | None, **attributes: str | float | None) -> Markup:
    """An element. Children that are Markup are taken as they are; other text is put on one line and escaped.

    In the names of attributes `_` stands for `-`; a final `_` is dropped (`class_`). None leaves one out.

    >>> element("text", "a < b", x=1.5, text_anchor="end", class_="chart-note")
    Markup('<text x="1.5" text-anchor="end" class="chart-note">a &lt; b</text>')
    """
    written = "".join(
        f' {key.removesuffix("_").replace("_", "-")}="{text(value) if isinstance(value, str) else number(value)}"'
        for key, value in attributes.items()
        if value is not None
    )
    inner = "".join(text(child) for child in children if child is not None)
    return Markup(f"<{name}{written}>{inner}</{name}>")  # noqa: S704  each piece is escaped above, or Markup


def text(content: str) -> Markup:
    """The content as `plain`, escaped; Markup as it is."""
    return content if isinstance(content, Markup) else escape(plain(content))


def plain(content: str) -> str:
    return one_line(content.translate(_NO_XML))


def joined(pieces: Iterable[Markup]) -> Markup:
    return NOTHING.join(pieces)


def number(value: float) -> str:
    """The value with at most two decimals. Raises InvalidInput for NaN and infinity.

    >>> number(12.0), number(0.125), number(-0.001)
    ('12', '0.12', '0')
    """
    if not math.isfinite(value):
        raise InvalidInput("value", value, "a finite number: a position in a picture")
    return f"{round(value, 2) + 0.0:.2f}".rstrip("0").rstrip(".")


def percent(share: float) -> str:
    """A share of the width as an attribute.

    >>> percent(0.125)
    '12.5%'
    """
    return f"{number(share * 100)}%"


def text_width(content: str, size: float = FONT) -> float:
    """The estimated width in pixels in a common sans serif; tends to be too large.

    >>> text_width("win", 10.0)
    18.0
    """
    return sum(_ems(character) for character in content) * size


def fitted(content: str, width: float, size: float = FONT) -> str:
    """One line of at most `width` pixels. A cut is marked by …; empty if fewer than three characters fit."""
    line = plain(content)
    if text_width(line, size) <= width:
        return line
    room, kept = width - text_width("…", size), 0
    for character in line:
        room -= _ems(character) * size
        if room < 0:
            break
        kept += 1
    return line[:kept].rstrip() + "…" if kept >= 3 else ""


def wrapped(content: str, width: float, most: int, size: float = FONT) -> list[str]:
    """At most `most` lines of `width` pixels, broken at spaces where possible; the last one is cut by `fitted`.

    >>> wrapped("the deploy failed again", 75.0, 2)
    ['the deploy', 'failed aga…']
    """
    lines, left = list[str](), plain(content)
    while len(lines) < most - 1 and text_width(left, size) > width:
        room = max(len(fitted(left, width, size)) - 1, 1)
        end = left.rfind(" ", 1, room + 1)
        end = room if end < 0 else end
        lines.append(left[:end].rstrip())
        left = left[end:].lstrip()
    return [*lines, last] if (last := fitted(left, width, size)) else lines


def _ems(character: str) -> float:
    if character in _THIN:
        return 0.36
    if character in _BROAD or character.isupper():
        return 0.86
    return _EMS.get(cell_len(character), 0.58)
