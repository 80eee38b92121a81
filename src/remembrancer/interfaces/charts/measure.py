"""How wide a text will be, as near as can be told without its font."""

from __future__ import annotations

from typing import Final

from rich.cells import cell_len

from remembrancer.interfaces.charts.svg import plain

FONT: Final = 13.0
"""Pixels: the size of what is written in a picture; notes beside axes are SMALL."""
SMALL: Final = 12.0
_THIN: Final = frozenset("iIjlft.,:;!'|()[]{}` ")
_BROAD: Final = frozenset("mwMWQGOD@%—")
_EMS: Final = {0: 0.0, 2: 1.05}
"""By the cells a terminal would give it: what combines takes no room, what is of the East takes a square."""


def text_width(content: str, size: float = FONT) -> float:
    """Pixels, rather too many than too few, in a common sans serif.

    >>> text_width("win", 10.0)
    18.0
    """
    return sum(_ems(character) for character in content) * size


def fitted(content: str, width: float, size: float = FONT) -> str:
    """On one line and at most so many pixels wide, the cut marked; empty where not even three characters fit."""
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
    """At most `most` lines of `width` pixels, broken between words where there is a space; the last is cut if need be.

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
