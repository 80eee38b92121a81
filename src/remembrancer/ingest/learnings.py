"""Markdown files of learnings: each a YAML header between two `---` lines, followed by its text."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final, cast

import yaml

from remembrancer.domain.front_matter import BYTE_ORDER_MARK, HeaderBlock, blocks, unescaped
from remembrancer.domain.learning import FIELDS, Learning, LearningType, learning_of
from remembrancer.errors import InvalidInput, unreadable
from remembrancer.ingest.problem import Problem, RecordLocation
from remembrancer.yaml_text import loaded

MAX_FILE_BYTES: Final = 16 * 1024 * 1024
_HEADER: Final = re.compile(r"---[ \t]*\r?\n(?P<fields>.*?)^---", re.DOTALL | re.MULTILINE)
_OWN_FIELDS: Final = re.compile(
    rf"^(?:type\s*:\s*[\"']?(?:{'|'.join(LearningType)})|reinforcement_count\s*:)", re.MULTILINE
)
_PINNED: Final = {"institutional.md": "institutional"}
"""The name of the file whose learnings are in every answer, and the tag that marks them."""


def learnings(path: Path) -> Iterator[Learning | Problem]:
    """The learnings of a file, in order, and a Problem with its line for each that cannot be read.

    Raises InvalidInput if the file is not UTF-8 text of at most 16 MiB.
    """
    text = _text(path)
    found = blocks(text)
    if not found:
        yield RecordLocation(path, 1).problem("there is no header: a learning begins with a line of --- and its id")
    for block in found:
        yield _learning(path, text, block)


def is_of_learnings(head: str) -> bool:
    """Whether the beginning of a markdown file is the header of a learning, judged by its fields."""
    header = _HEADER.match(head.lstrip(BYTE_ORDER_MARK))
    return header is not None and _OWN_FIELDS.search(header["fields"]) is not None


def tags_of(path: Path) -> tuple[str, ...]:
    """The tags that learnings get from their file."""
    tag = _PINNED.get(path.name.lower())
    return () if tag is None else (tag,)


def _text(path: Path) -> str:
    try:
        with path.open("rb") as file:
            data = file.read(MAX_FILE_BYTES + 1)
        if len(data) > MAX_FILE_BYTES:
            raise InvalidInput("file", str(path), f"at most {MAX_FILE_BYTES:,} bytes")
        return data.decode("utf-8-sig")
    except OSError as error:
        raise unreadable("file", path, "a file to read", error) from error
    except UnicodeDecodeError as error:
        raise InvalidInput("file", str(path), f"UTF-8 text (byte {error.start + 1} is not)") from None


def _learning(path: Path, text: str, block: HeaderBlock) -> Learning | Problem:
    if block.header is None:
        return RecordLocation(path, block.line).problem("the header is not closed by a line of ---")
    header = text[block.header.start : block.header.end]
    try:
        fields = loaded(header)
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        line = block.line + 1 + (0 if mark is None else mark.line)
        return RecordLocation(path, line).problem(
            f"the header is not YAML ({getattr(error, 'problem', None) or error})"
        )
    if not isinstance(fields, dict):
        return RecordLocation(path, block.line).problem("the header is not a list of fields")
    try:
        return _checked(cast("dict[Any, object]", fields), unescaped(text[block.body.start : block.body.end]))
    except InvalidInput as error:
        return RecordLocation(path, block.line + _line_of(header, error.argument)).problem(error)


def _line_of(header: str, field: str) -> int:
    """The line of the header on which the field is, from 1; 0 if the field is missing."""
    for number, line in enumerate(header.splitlines(), start=1):
        if re.match(rf"{re.escape(field)}\s*:", line):
            return number
    return 0


def _checked(fields: Mapping[Any, object], text: str) -> Learning:
    for name in fields:
        if name not in FIELDS:
            raise InvalidInput(str(name), fields[name], "one of the fields " + ", ".join(FIELDS))
    return learning_of(fields, text)
