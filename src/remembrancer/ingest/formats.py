"""The supported formats, and detecting them by content."""

from __future__ import annotations

import json
import re
import zipfile
from contextlib import suppress
from enum import StrEnum
from pathlib import Path
from typing import cast

from remembrancer.errors import InvalidInput, unreadable
from remembrancer.ingest import document
from remembrancer.ingest.fields import is_object
from remembrancer.ingest.learnings import is_of_learnings
from remembrancer.ingest.markdown_chat import starts_turn
from remembrancer.ingest.systems.basic_memory import is_note
from remembrancer.ingest.systems.database import columns, is_database
from remembrancer.ingest.systems.engram import is_archive

HEAD_BYTES = 1024 * 1024
"""The number of bytes at the beginning of a file that are inspected."""

_MARKDOWN_SUFFIXES = frozenset({".md", ".markdown"})
_LINES_SUFFIXES = frozenset({".jsonl", ".ndjson"})
# The key of an object. The same word inside a string has escaped quotes.
_EXPORT_KEY = re.compile(r'(?<!\\)"(mapping|chat_messages)"\s*:')
_CLAUDE_CODE_KEYS = frozenset({"sessionId", "leafUuid", "parentUuid", "isSidechain", "snapshot"})


LISTS = (
    *("results", "memories", "agents", "items", "edges", "facts", "episodes"),
    *("episodic", "semantic", "working_memory", "episodic_memory"),
)
"""The keys under which documents of other memory systems have their records."""
_LIST = re.compile(r"(?:\{.*?\"(?:" + "|".join(LISTS) + r")\"\s*:\s*)?\[\s*(?=\{)", re.DOTALL)


class Format(StrEnum):
    """The format of a file."""

    JSONL = "jsonl"
    CHATGPT = "chatgpt"
    CLAUDE = "claude"
    CLAUDE_CODE = "claude-code"
    MARKDOWN = "markdown"
    LEARNINGS = "learnings"
    """Learnings instead of a conversation: they become memories, not events."""
    MEM0 = "mem0"
    MCP_MEMORY_SERVICE = "mcp-memory-service"
    BASIC_MEMORY = "basic-memory"
    CLAUDE_MEM = "claude-mem"
    ZEP = "zep"
    LETTA = "letta"
    LANGMEM = "langmem"
    CREWSHIP = "crewship"
    PLASTMEM = "plastmem"
    ENGRAM = "engram"
    MNEMOSYNE = "mnemosyne"


FORMATS_OF_SYSTEMS = frozenset(
    {
        Format.MEM0,
        Format.MCP_MEMORY_SERVICE,
        Format.BASIC_MEMORY,
        Format.CLAUDE_MEM,
        Format.ZEP,
        Format.LETTA,
        Format.LANGMEM,
        Format.CREWSHIP,
        Format.PLASTMEM,
        Format.ENGRAM,
        Format.MNEMOSYNE,
    }
)
"""The formats of other memory systems, whose records become memories."""


_TABLES = (
    (Format.MCP_MEMORY_SERVICE, "memories", {"content_hash", "content", "memory_type"}),
    (Format.MEM0, "history", {"memory_id", "old_memory", "new_memory", "event"}),
    (Format.CLAUDE_MEM, "observations", {"project", "type", "created_at_epoch"}),
    (Format.CREWSHIP, "journal_entries", {"workspace_id", "entry_type", "summary"}),
    (Format.MNEMOSYNE, "working_memory", {"content", "metadata_json", "importance"}),
    (Format.MNEMOSYNE, "episodic_memory", {"content", "metadata_json", "summary_of"}),
)
"""Systems with an SQLite file: a table of it, and columns of the table."""
_RECORDS = (
    (Format.MCP_MEMORY_SERVICE, {"content", "content_hash"}),
    (Format.MEM0, {"id", "memory"}),
    (Format.ZEP, {"uuid", "fact"}),
    (Format.ZEP, {"uuid", "content", "source"}),
    (Format.ZEP, {"uuid", "content", "source_description"}),
    (Format.LETTA, {"id", "in_context_message_ids"}),
    (Format.LETTA, {"id", "messages", "block_ids"}),
    (Format.LANGMEM, {"namespace", "key", "value"}),
    (Format.MNEMOSYNE, {"mnemosyne_export"}),
    (Format.MNEMOSYNE, {"id", "content", "metadata_json"}),
    (Format.PLASTMEM, {"id", "conversation_id", "messages", "summary"}),
    (Format.PLASTMEM, {"id", "conversation_id", "fact"}),
    (Format.ENGRAM, {"id", "content", "memory_type"}),
)
"""Systems with a JSON file: keys of its first record."""


def detect(path: Path) -> Format:
    """The format of the file, from its first megabyte. The file's name only distinguishes text formats from each other.

    A folder is one of notes of basic-memory. Raises InvalidInput if the file is missing, empty, or in none of the
    formats.
    """
    if is_folder(path):
        if not any(path.rglob("*.md")):
            raise InvalidInput("file", str(path), "a file, or a folder of Markdown notes (*.md)")
        return Format.BASIC_MEMORY
    check_file(path)
    if is_database(path) or is_archive(path):
        return _database_format(path) if is_database(path) else Format.ENGRAM
    head = _head(path)
    if path.suffix.lower() in _MARKDOWN_SUFFIXES:
        return _markdown_format(head)
    found = _export(head) or _system_format(head) or _line_format(head)
    if found is not None:
        return found
    if path.suffix.lower() in _LINES_SUFFIXES:
        return Format.JSONL
    if path.suffix.lower() == ".txt" or any(starts_turn(line) for line in head.split("\n")[:200]):
        return Format.MARKDOWN
    raise InvalidInput("file", str(path), "one of the formats " + ", ".join(Format))


def _markdown_format(head: str) -> Format:
    if is_note(head):
        return Format.BASIC_MEMORY
    return Format.LEARNINGS if is_of_learnings(head) else Format.MARKDOWN


def is_folder(path: Path) -> bool:
    """Raises InvalidInput for a path that no file can have."""
    try:
        return path.is_dir()
    except (OSError, ValueError) as error:  # a name that is too long
        raise unreadable("file", path, "a file to read", error) from error


def check_file(path: Path) -> None:
    """Raises InvalidInput unless `path` is a non-empty file that may be UTF-8 text or a zip."""
    try:
        if not path.is_file():
            raise unreadable("file", path, "a file to read")
        with path.open("rb") as file:
            start = file.read(4)
    except (OSError, ValueError) as error:
        if isinstance(error, InvalidInput):
            raise
        raise unreadable("file", path, "a file to read", error) from error
    if not start:
        raise InvalidInput("file", str(path), "a file that is not empty")
    if start.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise InvalidInput("file", str(path), "UTF-8 text (this is UTF-16)")


def _head(path: Path) -> str:
    if zipfile.is_zipfile(path):
        data = document.member(path, document.members(path)[0], HEAD_BYTES, head=True)
    else:
        with path.open("rb") as file:
            data = file.read(HEAD_BYTES)
    return data.decode("utf-8-sig", "replace").lstrip()


def _export(head: str) -> Format | None:
    if not head.startswith(("[", "{")):
        return None
    key = _EXPORT_KEY.search(head)
    if key is None or _first_object(head):
        return None
    return Format.CHATGPT if key[1] == "mapping" else Format.CLAUDE


def _database_format(path: Path) -> Format:
    """The system whose SQLite file it is, from its tables."""
    tables = columns(path)
    for system, table, expected in _TABLES:
        if expected <= tables.get(table, frozenset()):
            return system
    known = dict.fromkeys(system.value for system, _, _ in _TABLES)
    raise InvalidInput("file", str(path), "an SQLite file of " + ", ".join(known))


def _system_format(head: str) -> Format | None:
    """The memory system whose JSON it is, from the keys of its first record."""
    first = _first_record(head)
    return next((system for system, expected in _RECORDS if expected <= first.keys()), None)


def _first_record(head: str) -> dict[str, object]:
    """The first record of a JSON document: the first object of the list that it is, of one of `LISTS` in it, or the
    document. Empty for other texts.
    """
    decoder, empty = json.JSONDecoder(), dict[str, object]()
    with suppress(ValueError, RecursionError):
        whole, _ = decoder.raw_decode(head)
        if is_object(whole):
            whole = next((whole[name] for name in LISTS if whole.get(name)), [whole])
        records = cast("list[object]", whole) if isinstance(whole, list) else []
        return next(filter(is_object, records), empty)
    start = _LIST.match(head)  # a document longer than the head
    if start is not None:
        with suppress(ValueError, RecursionError):
            first, _ = decoder.raw_decode(head, start.end())
            return first if is_object(first) else {}
    return {}


def _first_object(head: str) -> dict[str, object]:
    """The JSON object on the first line; empty if there is none or the line is a whole export."""
    try:
        value: object = json.loads(head.partition("\n")[0])
    except (ValueError, RecursionError):
        return {}
    if not is_object(value) or "mapping" in value or "chat_messages" in value:
        return {}
    return value


def _line_format(head: str) -> Format | None:
    """The format shown by the first few lines, because transcripts may begin with records that do not show it."""
    found: Format | None = None
    for line in head.split("\n")[:20]:
        record = _first_object(line)
        if isinstance(record.get("type"), str) and not _CLAUDE_CODE_KEYS.isdisjoint(record):
            return Format.CLAUDE_CODE
        if record:
            found = Format.JSONL
    return found
