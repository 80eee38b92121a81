"""The blocks that a recall put into a text: no news, wherever they turn up."""

from __future__ import annotations

import re
from typing import Final

_OPEN: Final = re.compile(r"<recalled-memory\b[^>]{0,400}>")
_CLOSE: Final = "</recalled-memory>"


def without_recalled(text: str) -> str:
    """The text without the memory blocks a recall put into it.

    What was remembered must not be learned as if it were said again: it would grow stronger by being shown.
    A block that is never closed runs to the end if it starts a line, as a rendered block does; elsewhere it
    is somebody writing about the tag, and stays.
    """
    kept: list[str] = []
    start = 0
    # find, not one lazy pattern: a text of ten thousand open tags would take that pattern quadratic time.
    while opened := _OPEN.search(text, start):
        closed = text.find(_CLOSE, opened.end())
        if closed < 0:
            if opened.start() == 0 or text[opened.start() - 1] == "\n":
                kept.append(text[start : opened.start()])
                start = len(text)
            break
        kept.append(text[start : opened.start()])
        start = closed + len(_CLOSE)
    if start == 0:
        return text
    return "".join([*kept, text[start:]]).strip()
