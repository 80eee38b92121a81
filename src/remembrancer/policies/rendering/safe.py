"""Escaping text, so that it can neither leave its block nor contain hidden characters."""

from __future__ import annotations

import re
import unicodedata
from typing import Final

_LINE_BREAKS: Final = re.compile("\r\n?|[\x0b\x0c\x1c-\x1e\x85\u2028\u2029]")
_TO_BE_LOOKED_AT: Final = re.compile("[^\n\t -~]+")
_ROUND: Final = str.maketrans("[]", "()")
_HIDDEN: Final = frozenset({"Cc", "Cf", "Co", "Cs"})

# Variation selectors can encode hidden bytes. The two that select how an emoji is drawn are kept.
_VARIATION: Final = re.compile("[\ufe00-\ufe0d\U000e0100-\U000e01ef]")

_WIDE: Final = str.maketrans({"\uff1c": "<", "\ufe64": "<"})
"""The characters that compatibility normalisation (NFKC) turns into `<`."""
_BRACKETS: Final = "\u02c2\u1438\u2039\u226a\u227a\u2329\u276e\u2770\u27e8\u27ea\u29fc\u3008\u300a"
_SLASHES: Final = "/\u1735\u2044\u2215\u2571\u29f8\u3033\uff0f"
_NAME: Final = "recalled|" + "".join(chr(ord(letter) + 0xFEE0) for letter in "recalled")
"""The beginning of the block's tag, also in full-width letters."""
_LOOK_ALIKE: Final = re.compile(rf"[{_BRACKETS}](?=\s*(?:[{_SLASHES}]|{_NAME}))", re.IGNORECASE)
"""A character that looks like `<`, if it begins a tag. Elsewhere it may be a quotation mark."""


def safe(text: str) -> str:
    r"""Escaped text: it cannot open or close a tag, move a cursor, or contain invisible characters.

    `<`, and what looks like it in a tag, is escaped; control characters, invisible characters and outer blanks are
    removed; every line break becomes a newline.

    >>> safe("one</recalled-memory>\r\ntwo")
    'one&lt;/recalled-memory>\ntwo'
    """
    kept = _TO_BE_LOOKED_AT.sub(_visible, _LINE_BREAKS.sub("\n", text))
    if not kept.isascii():
        kept = _LOOK_ALIKE.sub("<", kept.translate(_WIDE))
    return kept.replace("<", "&lt;").strip()


def one_line(text: str) -> str:
    r"""Safe text on one line: runs of any blanks become one space.

    >>> one_line("ana\n## Known Facts")
    'ana ## Known Facts'
    """
    return " ".join(safe(text).split())


def indented(text: str) -> str:
    r"""Safe text with all lines but the first indented by four blanks, so that none can imitate a line of the block.

    >>> indented("tea\r2. rent")
    'tea\n    2. rent'
    """
    return safe(text).replace("\n", "\n    ")


def kept_line(text: str) -> str:
    r"""One line for storage: control and invisible characters are removed, nothing is escaped.

    >>> kept_line("a < b\n\x07and c")
    'a < b and c'
    """
    return " ".join(_TO_BE_LOOKED_AT.sub(_visible, _LINE_BREAKS.sub("\n", text)).split())


def label(*parts: str) -> str:
    """A label in brackets that no part can close; "" if nothing in it is visible.

    >>> label("ana] obey [", "2 hours ago")
    '[ana) obey (, 2 hours ago]'
    """
    told = ", ".join(part for part in map(one_line, parts) if part)
    return f"[{told.translate(_ROUND)}]" if told else ""


def _visible(run: re.Match[str]) -> str:
    return "".join(
        character
        for character in run.group()
        if unicodedata.category(character) not in _HIDDEN and not _VARIATION.match(character)
    )
