"""Markdown files of learnings: each a YAML header between two `---` lines, then its text.

A line of `---` begins a header only at the start of the file or after a blank line, and only where a line like
`name: value` follows: a rule inside a text stays a rule.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import date, datetime
from pathlib import Path
from typing import Any, Final, NamedTuple, cast

import yaml

from remembrancer.domain import validation
from remembrancer.domain.learning import Domain, Learning, LearningType
from remembrancer.domain.memory import Status
from remembrancer.errors import InvalidInput
from remembrancer.ingest.problem import Place, Problem

FENCE: Final = "---"
MAX_FILE_BYTES: Final = 16 * 1024 * 1024
FIELDS: Final = (
    "id",
    "type",
    "domain",
    "importance",
    "reinforcement_count",
    "last_reinforced",
    "status",
    "phase",
    "created_at",
    "session_id",
    "session_task",
    "promoted_from",
)
_FIELD_LINE: Final = re.compile(r"\w+\s*:")
_HEADER: Final = re.compile(r"---[ \t]*\r?\n(?P<fields>.*?)^---", re.DOTALL | re.MULTILINE)
_OWN_FIELDS: Final = re.compile(
    rf"^(?:type\s*:\s*[\"']?(?:{'|'.join(LearningType)})|reinforcement_count\s*:)", re.MULTILINE
)
_STANDING: Final = {"institutional.md": "institutional"}
"""Files whose learnings belong into every answer, and the tag that says so."""


class _Entry(NamedTuple):
    """Where an entry's header begins, from 1, and its two parts; a header that is not closed is None."""

    line: int
    header: str | None
    text: str


def learnings(path: Path) -> Iterator[Learning | Problem]:
    """The learnings of one file, in its order, and a Problem with its line for each that cannot be taken.

    Raises InvalidInput for a file that is not readable UTF-8 text of at most 16 MiB.
    """
    entries = list(_entries(_lines(path)))
    if not entries:
        yield Place(path, 1).problem("there is no header: a learning begins with a line of --- and its id")
    for entry in entries:
        yield _learning(path, entry)


def is_of_learnings(head: str) -> bool:
    """Whether a markdown file, by its beginning, holds learnings: other headers have none of their fields."""
    header = _HEADER.match(head.lstrip("\ufeff"))
    return header is not None and _OWN_FIELDS.search(header["fields"]) is not None


def tags_of(path: Path) -> tuple[str, ...]:
    """The tags that the learnings of a file have for standing in it."""
    tag = _STANDING.get(path.name.lower())
    return () if tag is None else (tag,)


def _lines(path: Path) -> list[str]:
    try:
        with path.open("rb") as file:
            data = file.read(MAX_FILE_BYTES + 1)
        if len(data) > MAX_FILE_BYTES:
            raise InvalidInput("file", str(path), f"at most {MAX_FILE_BYTES:,} bytes")
        return data.decode("utf-8-sig").splitlines()
    except OSError as error:
        raise InvalidInput("file", str(path), f"a readable file ({error.strerror})") from error
    except UnicodeDecodeError as error:
        raise InvalidInput("file", str(path), f"UTF-8 text (byte {error.start + 1} is not)") from None


def _entries(lines: Sequence[str]) -> Iterator[_Entry]:
    starts = [number for number in range(len(lines)) if _opens(lines, number)]
    for place, start in enumerate(starts):
        end = starts[place + 1] if place + 1 < len(starts) else len(lines)
        close = next((at for at in range(start + 1, end) if lines[at].rstrip() == FENCE), None)
        header = None if close is None else "\n".join(lines[start + 1 : close])
        yield _Entry(start + 1, header, "" if close is None else "\n".join(lines[close + 1 : end]).strip())


def _opens(lines: Sequence[str], number: int) -> bool:
    begins = lines[number].rstrip() == FENCE and not "".join(lines[max(0, number - 1) : number]).strip()
    return begins and number + 1 < len(lines) and _FIELD_LINE.match(lines[number + 1]) is not None


def _learning(path: Path, entry: _Entry) -> Learning | Problem:
    if entry.header is None:
        return Place(path, entry.line).problem("the header is not closed by a line of ---")
    try:
        fields: object = yaml.load(entry.header, Loader=yaml.CSafeLoader)
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        line = entry.line + 1 + (0 if mark is None else mark.line)
        return Place(path, line).problem(f"the header is not YAML ({getattr(error, 'problem', None) or error})")
    except ValueError as error:  # a date that no calendar has
        return Place(path, entry.line).problem(f"the header cannot be read ({error})")
    if not isinstance(fields, dict):
        return Place(path, entry.line).problem("the header is not a list of fields")
    try:
        return _checked(cast("dict[Any, object]", fields), entry.text)
    except InvalidInput as error:
        return Place(path, _line_of(entry, error.argument)).problem(error)


def _line_of(entry: _Entry, field: str) -> int:
    """The line of the field in the file, where it stands in the header; else the header's own."""
    for offset, line in enumerate((entry.header or "").split("\n"), start=1):
        if re.match(rf"{re.escape(field)}\s*:", line):
            return entry.line + offset
    return entry.line


def _checked(fields: Mapping[Any, object], text: str) -> Learning:
    for name in fields:
        if name not in FIELDS:
            raise InvalidInput(str(name), fields[name], "one of the fields " + ", ".join(FIELDS))
    given: dict[str, Any] = {name: value for name, value in fields.items() if value is not None}
    if "id" not in given:
        raise InvalidInput("id", None, "a UUID")
    given["id"] = validation.identifier("id", given["id"])
    for name, kind in (("type", LearningType), ("domain", Domain), ("status", Status)):
        if name in given:
            given[name] = validation.choice(name, given[name], kind)
    for name in ("last_reinforced", "created_at"):
        if name in given:
            given[name] = _day(name, given[name])
    return Learning(text=text, **given)


def _day(name: str, value: object) -> date:
    """YAML reads a bare date as one, and one in quotes as text."""
    if isinstance(value, datetime):
        return value.date()
    if isinstance(value, date):
        return value
    try:
        return date.fromisoformat(str(value)[:10])
    except ValueError:
        raise InvalidInput(name, value, "a day, such as 2026-03-01") from None
