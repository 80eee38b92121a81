"""What every picture is drawn on: figures that look the same whoever draws them, in fonts that are there.

The same data gives the same bytes on one machine. Needs matplotlib, which is loaded with this module.
"""

from __future__ import annotations

import logging
from collections.abc import Generator
from contextlib import contextmanager
from functools import cache
from io import BytesIO
from typing import Any, Final, cast

import matplotlib as mpl
from matplotlib import font_manager
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from remembrancer.interfaces.cli.drawing import one_line

# Typed in part: what these hand out is anything.
_mpl, _fonts, _agg = cast("Any", mpl), cast("Any", font_manager), cast("Any", FigureCanvasAgg)

DPI: Final = 100
INK, FAINT, RULE, BAND = "#1a1a1a", "#6b6b6b", "#d9d9d9", "#f6f6f6"
FALLBACKS: Final = (
    "Noto Sans CJK JP",
    "Noto Sans CJK SC",
    "WenQuanYi Zen Hei",
    "Noto Sans Arabic",
    "Noto Sans Hebrew",
    "Noto Sans Devanagari",
    "Noto Sans Thai",
    "Noto Emoji",
)
"""Fonts for what DejaVu Sans, which comes with matplotlib, does not have; those of them that are installed."""


def new_figure(width: float, height: float) -> Any:
    return Figure(figsize=(width, height), dpi=DPI, facecolor="white")


def png_of(figure: Any) -> bytes:
    written = BytesIO()
    # No name and version of the program that drew it: the same picture is the same file.
    _agg(figure).print_png(written, metadata={"Software": None})
    return written.getvalue()


@contextmanager
def style() -> Generator[None, None, None]:
    """Matplotlib's own defaults, whatever a user's file says, and no word about fonts that are not there."""
    logger = logging.getLogger("matplotlib")
    before = logger.level
    logger.setLevel(logging.ERROR)
    try:
        with _mpl.rc_context():
            _mpl.rcdefaults()
            _mpl.rcParams["font.family"] = _families()
            _mpl.rcParams["text.parse_math"] = False  # a dollar in other people's words is a dollar
            yield
    finally:
        logger.setLevel(before)


@cache
def _families() -> list[str]:
    installed = {font.name for font in _fonts.fontManager.ttflist}
    return ["DejaVu Sans", *(name for name in FALLBACKS if name in installed)]


@cache
def _characters() -> frozenset[int]:
    """What the fonts can draw."""
    files = [_fonts.findfont(family) for family in _families()]
    return frozenset(code for file in files for code in _fonts.get_font(file).get_charmap())


def drawable(text: str) -> str:
    """With a box for each character that no font has, emptied of all that would act on a terminal."""
    return "".join(character if ord(character) in _characters() else "\u25a1" for character in one_line(text))
