"""Splits a text into sentences, and leaves out what its writer does not say: code and quotations.

Each expression begins with a set of characters, so that a search skips all others quickly.
"""

from __future__ import annotations

import re
from typing import Final

from remembrancer.patterns import pattern

LONG_CHARS: Final = 1_600
"""In a longer text only the beginning and the end are read, because the rest is mostly pasted."""
_END_CHARS: Final = 400
SENTENCE_CHARS: Final = range(6, 400)
"""The length of a sentence that may state something."""

_MAY_BE_CODE: Final = pattern("[`>/#$]")
_CODE: Final = pattern(r"```.*?(?:```|\Z)|`[^`\n]*`|^[ \t]*(?:>|//|#|\$ ).*$", re.DOTALL | re.MULTILINE)
_QUOTED: Final = pattern(r"[\"“„«'‘](?:(?<=[\"“„«])[^\"“”„«»\n]{2,}[\"”“»]|(?<=['‘])(?<!\w['‘])[^'‘\n]{2,}'(?!\w))")
_END: Final = pattern(r"\s(?:(?<=[.!?;]\s)\s*|(?<=\n)\n*|\s*[–—-]+\s+)")


def ends_of(text: str) -> str:
    """A long text's beginning and end; a shorter text as it is."""
    return f"{text[:_END_CHARS]}\n{text[-_END_CHARS:]}" if len(text) > LONG_CHARS else text


def without_code(text: str, instead: str) -> str:
    """The text with `instead` for each piece of code, and each quoted or commented line."""
    return _CODE.sub(instead, text) if _MAY_BE_CODE.search(text) else text


def without_quotations(text: str, instead: str) -> str:
    """The text with `instead` for each quotation."""
    return _QUOTED.sub(instead, text)


def sentences(text: str) -> list[str]:
    """The sentences of a text, and the parts of one between dashes, without the blanks around them."""
    return list(map(str.strip, _END.split(text)))
