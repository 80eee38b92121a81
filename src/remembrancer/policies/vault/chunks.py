"""Splitting a long text into passages: at headings, then at blank lines, line ends and blanks."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from remembrancer.domain.front_matter import Span
from remembrancer.values import dataclass

CHUNK_CHARS: Final = 1600
"""The characters of the longest passage."""
OVERLAP_CHARS: Final = 320
"""The characters at the end of a passage that the next one repeats, unless the split is at a heading."""

_HEADING: Final = re.compile(r"^#{1,6}[ \t]+(?P<title>\S.*?)[ \t\r#]*$", re.MULTILINE)
_FENCE: Final = re.compile(r"^(?:```|~~~)", re.MULTILINE)
_CUTS: Final = (re.compile(r"\n[ \t]*\n"), re.compile(r"\n"), re.compile(r"\s"))
_TITLE_CHARS: Final = 200


@dataclass(frozen=True, slots=True)
class Chunk:
    """A passage. It begins at character `offset` of the file. `title`: the heading above it, or "" if that is in the
    text.
    """

    offset: int
    text: str
    title: str = ""


def chunks(text: str, span: Span) -> tuple[Chunk, ...]:
    """The passages of a part of a file, in order. Blank text and headings without text are left out."""
    return tuple(piece for section in _sections(text, span) for piece in _pieces(text, section))


@dataclass(frozen=True, slots=True)
class _Section:
    span: Span
    title: str


def _sections(text: str, span: Span) -> Iterator[_Section]:
    """The sections between headings. A heading without text belongs to the next section."""
    inside = text[span.start : span.end]
    fences = [found.start() for found in _FENCE.finditer(inside)]
    start, title, titled_end = 0, "", 0
    for found in _HEADING.finditer(inside):
        if sum(fence < found.start() for fence in fences) % 2:
            continue  # a comment inside a code block is not a heading
        if inside[titled_end : found.start()].strip():
            yield _Section(Span(span.start + start, span.start + found.start()), title)
            start = found.start()
        title, titled_end = found["title"][:_TITLE_CHARS], found.end()
    if inside[titled_end:].strip():
        yield _Section(Span(span.start + start, span.end), title)


def _pieces(text: str, section: _Section) -> Iterator[Chunk]:
    start, end, first = section.span.start, section.span.end, True
    while text[start:end].strip():
        start += _blank(text[start:end])
        stop = end if end - start <= CHUNK_CHARS else _cut(text, start, start + CHUNK_CHARS)
        yield Chunk(start, text[start:stop].rstrip(), "" if first else section.title)
        if stop == end:
            return
        start, first = _overlapping(text, start, stop), False


def _blank(text: str) -> int:
    return len(text) - len(text.lstrip())


def _cut(text: str, start: int, limit: int) -> int:
    """The last suitable place to split before the limit, in the second half of the passage."""
    half = start + (limit - start) // 2
    for pattern in _CUTS:
        ends = [found.end() for found in pattern.finditer(text, half, limit)]
        if ends:
            return ends[-1]
    return limit


def _overlapping(text: str, start: int, stop: int) -> int:
    """The start of the next passage: the first line start, else the first word start, within the overlap."""
    earliest = max(start + 1, stop - OVERLAP_CHARS)
    for pattern in (re.compile(r"\n"), re.compile(r"\s")):
        found = pattern.search(text, earliest - 1, stop)
        if found is not None and text[found.end() : stop].strip():
            return found.end()
    return stop
