"""Splitting a long text into passages, each short enough to be embedded and found on its own."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from remembrancer.patterns import pattern

PASSAGE_CHARS: Final = 1600
"""The characters of the longest passage."""
OVERLAP_CHARS: Final = 320
"""The characters at the end of a passage that the next one repeats at most."""
WHOLE_CHARS: Final = 2 * PASSAGE_CHARS
"""The most characters of a turn that is one passage."""


_SOLID: Final = pattern(r"\S")
_BLANK_LINE: Final = pattern(r"\n[ \t]*\n")
_LINE_END: Final = pattern(r"\n")
_BLANK: Final = pattern(r"\s")


def passages(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """The passages of text[start:end], in order, as [start, end) without blanks at their ends. None of blank text.

    A passage ends at a blank line, else at the end of a line, else at a blank, each in its second half, else in the
    middle of a word. The next one begins within its last `OVERLAP_CHARS` characters, at a line or at a word, if one
    begins there.
    """
    while found := _SOLID.search(text, start, end):
        start = found.start()
        stop = end if end - start <= PASSAGE_CHARS else _cut(text, start, start + PASSAGE_CHARS)
        yield start, start + len(text[start:stop].rstrip())
        if stop == end:
            return
        start = _overlapping(text, start, stop)


def _cut(text: str, start: int, limit: int) -> int:
    """The last suitable place to split before the limit, in the second half of the passage."""
    half = start + (limit - start) // 2
    for cut in (_BLANK_LINE, _LINE_END, _BLANK):
        ends = [found.end() for found in cut.finditer(text, half, limit)]
        if ends:
            return ends[-1]
    return limit


def _overlapping(text: str, start: int, stop: int) -> int:
    """The start of the next passage: the first line start, else the first word start, within the overlap."""
    earliest = max(start + 1, stop - OVERLAP_CHARS)
    for begin in (_LINE_END, _BLANK):
        found = begin.search(text, earliest - 1, stop)
        if found is not None and text[found.end() : stop].strip():
            return found.end()
    return stop
