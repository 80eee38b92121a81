"""Estimates of the width of a text, made without its font, and texts cut to a width."""

from __future__ import annotations

from typing import Final

from rich.cells import cell_len

from remembrancer.interfaces.charts.svg import plain

FONT: Final = 13.0
"""Font sizes in pixels: of labels, and (SMALL) of notes beside axes."""
SMALL: Final = 12.0
_THIN: Final = frozenset("iIjlft.,:;!'|()[]{}` ")
_BROAD: Final = frozenset("mwMWQGOD@%—")
_EMS: Final = {0: 0.0, 2: 1.05}
"""The width in ems by terminal cells: combining characters take none, East Asian ones a square."""


def text_width(content: str, size: float = FONT) -> float:
    """The estimated width in pixels, rather too large, in a common sans serif.

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
