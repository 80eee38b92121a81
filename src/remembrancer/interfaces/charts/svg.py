"""SVG and HTML elements, with texts escaped and made harmless."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Final

from markupsafe import Markup, escape

from remembrancer.errors import InvalidInput
from remembrancer.interfaces.text import one_line

NOTHING: Final = Markup()
_NO_XML: Final = str.maketrans(dict.fromkeys("\ufffe\uffff"))
"""Characters that XML does not allow, besides control characters."""


def element(name: str, /, *children: str | None, **attributes: str | float | None) -> Markup:
    """An element. Children that are Markup are taken as they are; other text is put on one line and escaped.

    In the names of attributes `_` stands for `-`; a final `_` is dropped (`class_`). None leaves one out.

    >>> element("text", "a < b", x=1.5, text_anchor="end", class_="chart-note")
    Markup('<text x="1.5" text-anchor="end" class="chart-note">a &lt; b</text>')
    """
    told = "".join(
        f' {key.removesuffix("_").replace("_", "-")}="{_value(value)}"'
        for key, value in attributes.items()
        if value is not None
    )
    inner = "".join(text(child) for child in children if child is not None)
    return Markup(f"<{name}{told}>{inner}</{name}>")  # noqa: S704  each piece is escaped above, or Markup


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


def _value(value: str | float) -> Markup:
    return text(value) if isinstance(value, str) else Markup(number(value))  # noqa: S704  digits
