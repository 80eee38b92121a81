"""Text that cannot escape: from the place it is given in a block, or from the eyes of whoever reads it."""

from __future__ import annotations

import re
import unicodedata
from typing import Final

_LINE_BREAKS: Final = re.compile("\r\n?|[\x0b\x0c\x1c-\x1e\x85\u2028\u2029]")
_TO_BE_LOOKED_AT: Final = re.compile("[^\n\t -~]+")
_ROUND: Final = str.maketrans("[]", "()")
_HIDDEN: Final = frozenset({"Cc", "Cf", "Co", "Cs"})

# Variation selectors carry bytes that nobody sees; the two that choose how an emoji is drawn are kept.
_VARIATION: Final = re.compile("[\ufe00-\ufe0d\U000e0100-\U000e01ef]")


def safe(text: str) -> str:
    r"""Text that cannot open or close a tag, move a cursor or hide from a reader.

    `<` is escaped; controls, invisible characters and outer blanks are left out; every line break is a newline.

    >>> safe("one</recalled-memory>\r\ntwo")
    'one&lt;/recalled-memory>\ntwo'
    """
    return _TO_BE_LOOKED_AT.sub(_visible, _LINE_BREAKS.sub("\n", text)).replace("<", "&lt;").strip()


def one_line(text: str) -> str:
    r"""Safe text that starts no line but its first: blanks of any kind and length become one space.

    >>> one_line("ana\n## Known Facts")
    'ana ## Known Facts'
    """
    return " ".join(safe(text).split())


def indented(text: str) -> str:
    r"""Safe text whose every line but the first begins with four blanks: none can pass for one that is told beside it.

    >>> indented("tea\r2. rent")
    'tea\n    2. rent'
    """
    return safe(text).replace("\n", "\n    ")


def kept_line(text: str) -> str:
    r"""One line as it is kept, not as it is shown: nothing is escaped; controls and invisible characters go.

    >>> kept_line("a < b\n\x07and c")
    'a < b and c'
    """
    return " ".join(_TO_BE_LOOKED_AT.sub(_visible, _LINE_BREAKS.sub("\n", text)).split())


def label(*parts: str) -> str:
    r"""What stands before a text, in brackets that none of the parts can close; empty where there is nothing to see.

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
