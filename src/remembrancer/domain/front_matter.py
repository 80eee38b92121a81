r"""Parsing markdown files with several front matter headers, each between two lines of `---`.

A line of `---` begins a header only at the start of the file or after a blank line, and only if a line such as `name:
value` follows, so horizontal rules are no headers. A line of a text that would begin a header is escaped with a
backslash: `\---`.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from remembrancer.values import dataclass

FENCE: Final = "---"
BYTE_ORDER_MARK: Final = "\ufeff"

_LINE: Final = re.compile(r"[^\r\n]*(?:\r\n|\n|\r)|[^\r\n]+")
_END: Final = re.compile(r"\r\n|\n|\r")
_FENCE_LINE: Final = re.compile(r"---[ \t]*")
_FIELD_LINE: Final = re.compile(r"\w+\s*:")
_ESCAPED: Final = re.compile(r"^\\(\\*---[ \t]*)$", re.MULTILINE)
_BACKSLASHES: Final = re.compile(r"\\+---[ \t]*")


@dataclass(frozen=True, slots=True)
class Span:
    """The characters [start, end) of a file's text."""

    start: int
    end: int


@dataclass(frozen=True, slots=True)
class HeaderBlock:
    """A header and the text below it, up to the next header or the end.

    `line`: the line number, from 1, of the header's first `---`. `start`: the index of that line's first character.
    `header`: the characters between the two lines of `---`; None if the second one is missing.
    """

    line: int
    start: int
    header: Span | None
    body: Span


def blocks(text: str) -> tuple[HeaderBlock, ...]:
    """The blocks of a file's text, in order. Text before the first header belongs to none."""
    first = len(BYTE_ORDER_MARK) if text.startswith(BYTE_ORDER_MARK) else 0
    spans = [Span(found.start(), found.end()) for found in _LINE.finditer(text, first)]
    lines = [_END.sub("", text[span.start : span.end]) for span in spans]
    starts = [number for number in range(len(lines)) if _opens(lines, number)]
    found: list[HeaderBlock] = []
    for place, start in enumerate(starts):
        after = starts[place + 1] if place + 1 < len(starts) else len(lines)
        end = spans[after].start if after < len(lines) else len(text)
        close = next((at for at in range(start + 1, after) if _FENCE_LINE.fullmatch(lines[at])), None)
        header = None if close is None else Span(spans[start + 1].start, spans[close].start)
        body = Span(end if close is None else spans[close].end, end)
        found.append(HeaderBlock(start + 1, spans[start].start, header, body))
    return tuple(found)


def unescaped(body: str) -> str:
    r"""The text of a body: line ends as `\n`, no outer blank characters, no escaping backslashes before `---`.

    >>> unescaped("\r\nBefore.\r\n\r\n\\---\r\nnote: after.\r\n")
    'Before.\n\n---\nnote: after.'
    """
    return _ESCAPED.sub(r"\1", normalised(body))


def escaped(text: str) -> str:
    r"""The text as a body, escaped so that no line begins a header. `unescaped` reverses it, except for the changes of
    `normalised`.

    >>> print(escaped("Before.\n\n---\nnote: after."))
    Before.
    <BLANKLINE>
    \---
    note: after.
    """
    lines = normalised(text).split("\n")
    return "\n".join(
        f"\\{line}" if _BACKSLASHES.fullmatch(line) or _opens(lines, number) else line
        for number, line in enumerate(lines)
    )


def normalised(text: str) -> str:
    r"""The text with `\n` as line end and without outer blank characters."""
    return _END.sub("\n", text).strip()


def _opens(lines: Sequence[str], number: int) -> bool:
    begins = _FENCE_LINE.fullmatch(lines[number]) and not "".join(lines[max(0, number - 1) : number]).strip()
    return bool(begins) and number + 1 < len(lines) and _FIELD_LINE.match(lines[number + 1]) is not None
