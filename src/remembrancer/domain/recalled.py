"""Removing blocks that a recall put into a prompt, so that they are not recorded again."""

from __future__ import annotations

import re
from typing import Final

_OPEN: Final = re.compile(r"<recalled-memory\b[^>]{0,400}>")
_CLOSE: Final = "</recalled-memory>"


def without_recalled(text: str) -> str:
    """The text without the memory blocks that a recall put into it.

    Otherwise memories would be recorded again whenever they are shown. A block without an end runs to the end of the
    text if it starts a line, as rendered blocks do; elsewhere the tag counts as quoted text.
    """
    kept: list[str] = []
    start = 0
    # A single lazy pattern would take quadratic time on a text with ten thousand opening tags.
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
