"""Splitting a document into passages: at headings, then as every long text."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator
from typing import Final

from remembrancer.domain.front_matter import Span
from remembrancer.policies.admission.passages import passages
from remembrancer.values import dataclass

_HEADING: Final = re.compile(r"^#{1,6}[ \t]+(?P<title>\S.*?)[ \t\r#]*$", re.MULTILINE)
_FENCE: Final = re.compile(r"^(?:```|~~~)", re.MULTILINE)
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
        if bisect_left(fences, found.start()) % 2:
            continue  # a comment inside a code block is not a heading
        if inside[titled_end : found.start()].strip():
            yield _Section(Span(span.start + start, span.start + found.start()), title)
            start = found.start()
        title, titled_end = found["title"][:_TITLE_CHARS], found.end()
    if inside[titled_end:].strip():
        yield _Section(Span(span.start + start, span.end), title)


def _pieces(text: str, section: _Section) -> Iterator[Chunk]:
    for number, (start, end) in enumerate(passages(text, section.span.start, section.span.end)):
        yield Chunk(start, text[start:end], section.title if number else "")
