"""Read one file of any supported format."""

from __future__ import annotations

import zipfile
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Final, TypeVar, assert_never

from remembrancer.domain.event import EventDraft
from remembrancer.errors import InvalidInput
from remembrancer.ingest import chatgpt, claude, claude_code, document, jsonl, markdown_chat
from remembrancer.ingest.fields import as_list, as_object, is_object
from remembrancer.ingest.formats import FORMATS_OF_SYSTEMS, Format, check_file, detect, is_folder
from remembrancer.ingest.lines import OnBytes
from remembrancer.ingest.problem import Problem, RecordLocation
from remembrancer.ingest.systems import (
    basic_memory,
    claude_mem,
    crewship,
    engram,
    langmem,
    letta,
    mcp_memory_service,
    mem0,
    mnemosyne,
    plastmem,
    zep,
)
from remembrancer.ingest.systems.record import ImportedRecord

T = TypeVar("T")
_SYSTEMS: Final[Mapping[Format, Callable[[Path], Iterator[ImportedRecord | Problem]]]] = {
    Format.MEM0: mem0.read,
    Format.MCP_MEMORY_SERVICE: mcp_memory_service.read,
    Format.BASIC_MEMORY: basic_memory.read,
    Format.CLAUDE_MEM: claude_mem.read,
    Format.ZEP: zep.read,
    Format.LETTA: letta.read,
    Format.LANGMEM: langmem.read,
    Format.CREWSHIP: crewship.read,
    Format.PLASTMEM: plastmem.read,
    Format.ENGRAM: engram.read,
    Format.MNEMOSYNE: mnemosyne.read,
}
ExportParser = Callable[[RecordLocation, dict[str, object]], Iterator[EventDraft | Problem]]


def read(
    path: Path,
    *,
    format: Format | None = None,  # noqa: A002 - the word users say; the builtin is not needed here
    on_bytes: OnBytes | None = None,
) -> Iterator[EventDraft | Problem]:
    """The content of the file, in order: a draft for each utterance, a Problem for each record left out.

    `format` None: detect it. `on_bytes` is called with the number of bytes read: after each line, or once at the end of
    an export. A file without usable content gives a Problem. Raises InvalidInput, here or at the first step, if the
    file cannot be read as its format.
    """
    if format is None:
        format = detect(path)  # noqa: A001
    check_file(path)
    return _something(path, _events(path, format, on_bytes))


def _events(path: Path, source: Format, on_bytes: OnBytes | None) -> Iterator[EventDraft | Problem]:
    match source:
        case Format.CHATGPT:
            return _exported(path, chatgpt.events, on_bytes)
        case Format.CLAUDE:
            return _exported(path, claude.events, on_bytes)
        case Format.JSONL | Format.CLAUDE_CODE | Format.MARKDOWN if zipfile.is_zipfile(path):
            raise InvalidInput("file", str(path), f"a text file, for the format {source}; unpack the zip first")
        case Format.JSONL:
            return jsonl.events(path, on_bytes)
        case Format.CLAUDE_CODE:
            return claude_code.events(path, on_bytes)
        case Format.MARKDOWN:
            return markdown_chat.events(path, on_bytes)
        case Format.LEARNINGS:
            raise InvalidInput("format", source.value, "a format of conversation: `learnings` reads this one")
        case (
            Format.MEM0
            | Format.MCP_MEMORY_SERVICE
            | Format.BASIC_MEMORY
            | Format.CLAUDE_MEM
            | Format.ZEP
            | Format.LETTA
            | Format.LANGMEM
            | Format.CREWSHIP
            | Format.PLASTMEM
            | Format.ENGRAM
            | Format.MNEMOSYNE
        ):
            raise InvalidInput("format", source.value, "a format of conversation: `imported` reads this one")
        case _:
            assert_never(source)


def imported(path: Path, *, format: Format | None = None) -> Iterator[ImportedRecord | Problem]:  # noqa: A002
    """The records of a file of another memory system (`FORMATS_OF_SYSTEMS`), and a Problem for each that was left out.

    `format` None: detect it. Raises InvalidInput, here or at a later step, if the file cannot be read as its format.
    """
    if format is None:
        format = detect(path)  # noqa: A001
    if format not in _SYSTEMS:
        raise InvalidInput("format", format.value, "one of " + ", ".join(sorted(FORMATS_OF_SYSTEMS)))
    if not (format is Format.BASIC_MEMORY and is_folder(path)):
        check_file(path)
    return _something(path, _SYSTEMS[format](path))


def _exported(path: Path, parse: ExportParser, on_bytes: OnBytes | None) -> Iterator[EventDraft | Problem]:
    for name, export in document.documents(path):
        of = f"{name}, " if name else ""
        for number, conversation in enumerate(_conversations(path, export), start=1):
            place = RecordLocation(path, record=f"{of}conversation {number}")
            try:
                yield from parse(place, as_object("conversation", conversation))
            except InvalidInput as error:
                yield place.problem(error)
    if on_bytes is not None:
        on_bytes(path.stat().st_size)


def _conversations(path: Path, export: object) -> list[object]:
    """The conversations of an export: a list, or a single conversation."""
    if is_object(export):
        return [export]
    try:
        return as_list("export", export)
    except InvalidInput:
        raise InvalidInput("file", str(path), "an export: a list of conversations") from None


def _something(path: Path, found: Iterator[T]) -> Iterator[T | Problem]:
    """The same items, and a Problem if there are none: an empty result would look like success."""
    nothing = True
    for item in found:
        nothing = False
        yield item
    if nothing:
        yield RecordLocation(path).problem("there is nothing in this file to keep")
