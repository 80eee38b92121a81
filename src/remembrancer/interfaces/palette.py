"""The five hues of data, and which group of signals has which: the same in pages, pictures and the terminal.

Their light and dark colours are in dashboard/assets/palette.css.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

HUES: Final = ("blue", "ochre", "green", "violet", "slate")
HUE_OF: Final[Mapping[str, str]] = dict(
    zip(("meaning", "words", "who and when", "conversation", "the memory itself"), HUES, strict=True)
)
"""The hue of each SignalGroup."""
TERMINAL: Final[Mapping[str, str]] = {
    "blue": "steel_blue",
    "ochre": "dark_goldenrod",
    "green": "dark_cyan",
    "violet": "medium_purple",
    "slate": "grey54",
}
"""The name of each hue for rich, from the 256 colours that do not depend on the terminal's theme."""
