"""basic-memory: a folder of Markdown notes, with front matter, observations and relations."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any, Final, cast

import yaml

from remembrancer.errors import InvalidInput, unreadable
from remembrancer.ingest import fields
from remembrancer.ingest.learnings import MAX_FILE_BYTES
from remembrancer.ingest.problem import Problem, RecordLocation
from remembrancer.ingest.systems.record import ForeignMemory, ImportedRecord, memories, optional_time, texts
from remembrancer.ingest.turn import digest
from remembrancer.yaml_text import loaded

NAME: Final = "basic-memory"
_HEADER: Final = re.compile(r"\ufeff?---[ \t]*\r?\n(?P<fields>.*?)^---[ \t]*$", re.DOTALL | re.MULTILINE)
_OBSERVATION: Final = re.compile(r"[ \t]*[-*][ \t]+\[(?P<category>[^\[\]\s][^\[\]]{0,80})\][ \t]+(?P<text>\S.*)")
_RELATION: Final = re.compile(r"[ \t]*[-*][ \t]+(?P<kind>[^\[\]]*?)[ \t]*\[\[(?P<to>[^\[\]]+)\]\].*")
_TAG: Final = re.compile(r"(?<!\S)#([\w/-]+)")
_TASKS: Final = frozenset("xX-")
"""The marks of a task list, which are no categories."""
_OWN: Final = frozenset({"title", "tags", "created", "created_at", "date", "modified", "updated_at", "valid_until"})


def read(path: Path) -> Iterator[ImportedRecord | Problem]:
    """The notes of a folder, or one note: what it says, and each observation, as memories.

    Raises InvalidInput if the file cannot be read.
    """
    root = path if path.is_dir() else path.parent
    inside = sorted(path.rglob("*.md")) if path.is_dir() else [path]
    for file in inside:
        if any(part.startswith(".") for part in file.relative_to(root).parts):
            continue
        place = RecordLocation(file)
        try:
            yield from _note(file, file.relative_to(root).with_suffix("").as_posix(), place)
        except InvalidInput as error:
            yield place.problem(error)


def is_note(head: str) -> bool:
    """Whether the beginning of a Markdown file is the front matter of a note of basic-memory."""
    header = _HEADER.match(head)
    return header is not None and re.search(r"^permalink\s*:", header["fields"], re.MULTILINE) is not None


def _note(file: Path, name: str, place: RecordLocation) -> Iterator[ImportedRecord | Problem]:
    text = _text(file)
    header = _HEADER.match(text)
    told = _front_matter(header["fields"]) if header else {}
    observed: list[tuple[int, str, str]] = []
    relations: list[str] = []
    prose: list[str] = []
    body = text[header.end() :] if header else text
    above = text[: header.end()].count("\n") if header else 0
    for number, line in enumerate(body.split("\n"), start=above + 1):
        if (found := _OBSERVATION.fullmatch(line.rstrip())) and found["category"] not in _TASKS:
            observed.append((number, found["category"], found["text"]))
        elif found := _RELATION.fullmatch(line.rstrip()):
            relations.append(f"{found['kind'] or 'relates_to'} {found['to']}")
        else:
            prose.append(line)
    permalink = fields.optional_text(told, "permalink") or name
    title, tags = fields.optional_text(told, "title") or file.stem, _tags(told)
    kept = {key: value for key, value in told.items() if key not in _OWN}
    metadata = {**kept, "permalink": permalink, "relations": relations}
    when = optional_time(told, "created", "created_at", "date", "modified", "updated_at") or _changed(file)
    said = "\n".join(prose).strip()
    if any(line.strip() and not line.startswith("#") for line in prose) or not observed:
        note = ForeignMemory(
            source=NAME,
            identifier=permalink,
            title=title,
            text=said or title,
            tags=tags,
            metadata=metadata,
            occurred_at=when,
        )
        yield from memories(note, place)
    for number, category, content in observed:
        note = ForeignMemory(
            source=NAME,
            identifier=f"{permalink}/{digest(category, content)}",
            title=title,
            text=content,
            tags=[*tags, category, *_TAG.findall(content)],
            metadata={**metadata, "type": "observation"},
            occurred_at=when,
        )
        yield from memories(note, RecordLocation(file, number))


def _text(file: Path) -> str:
    try:
        if file.stat().st_size > MAX_FILE_BYTES:
            raise InvalidInput("file", str(file), f"at most {MAX_FILE_BYTES:,} bytes")
        return file.read_bytes().decode("utf-8-sig").replace("\r\n", "\n")
    except OSError as error:
        raise unreadable("file", file, "a file to read", error) from error
    except UnicodeDecodeError as error:
        raise InvalidInput("file", str(file), f"UTF-8 text (byte {error.start + 1} is not)") from None


def _changed(file: Path) -> datetime:
    """When the file was changed, for notes without a time."""
    return datetime.fromtimestamp(file.stat().st_mtime, UTC)


def _front_matter(header: str) -> dict[str, object]:
    try:
        told = loaded(header)
    except yaml.YAMLError as error:
        raise InvalidInput("front matter", header.strip()[:80], "YAML") from error
    if told is None:
        return {}
    if not isinstance(told, dict):
        raise InvalidInput("front matter", header.strip()[:80], "fields with values")
    given = cast("Mapping[Any, object]", told)
    return {str(name): value.isoformat() if isinstance(value, date) else value for name, value in given.items()}


def _tags(told: Mapping[str, object]) -> list[str]:
    return [tag.lstrip("#") for tag in texts("tags", told.get("tags"))]
