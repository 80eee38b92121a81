"""A file that is one JSON document, by itself or inside the zip of an export.

The whole document is held in memory, which takes several times its size while it is read.
"""

from __future__ import annotations

import json
import re
import zipfile
import zlib
from collections.abc import Iterator
from pathlib import Path, PurePosixPath

from remembrancer.errors import InvalidInput, unreadable

MAX_DOCUMENT_BYTES = 1024 * 1024 * 1024
"""The limit in bytes for all JSON of one export, unpacked. It is enforced on what is read, whatever sizes a zip claims.
"""

_CONVERSATIONS = re.compile(r"conversations(-\d+)?\.json")


def documents(path: Path) -> Iterator[tuple[str, object]]:
    """Each document of the file with its name: "" for the only one, else the zip member's name.

    Raises InvalidInput if the file is not readable, not UTF-8, not JSON, or above the limit.
    """
    if not zipfile.is_zipfile(path):
        yield "", _parsed(path, "", _file(path))
        return
    left = MAX_DOCUMENT_BYTES
    names = members(path)
    for name in names:
        data = member(path, name, left)
        left -= len(data)
        called = name if len(names) > 1 else ""
        yield called, _parsed(path, called, data)


def members(path: Path) -> list[str]:
    """The members of a zip that hold conversations: conversations.json, or its numbered parts; at least one."""
    try:
        with zipfile.ZipFile(path) as archive:
            found = sorted(name for name in archive.namelist() if _holds_conversations(name))
    except (zipfile.BadZipFile, OSError, ValueError, NotImplementedError) as error:
        raise InvalidInput("file", str(path), f"a readable zip ({error})") from error
    if not found:
        raise InvalidInput("file", str(path), "a zip with a conversations.json in it")
    return found


def _holds_conversations(name: str) -> bool:
    inside = PurePosixPath(name)
    return "__MACOSX" not in inside.parts and _CONVERSATIONS.fullmatch(inside.name) is not None


def member(path: Path, name: str, limit: int, *, head: bool = False) -> bytes:
    """One member of a zip: all of it if it has at most `limit` bytes; with `head`, its first `limit` bytes.

    Counts the bytes that come out, not the size that the zip claims. Raises InvalidInput.
    """
    try:
        with zipfile.ZipFile(path) as archive, archive.open(name) as file:
            data = file.read(limit if head else limit + 1)
    except (zipfile.BadZipFile, zlib.error, EOFError, OSError, RuntimeError, ValueError, KeyError) as error:
        # RuntimeError: an encrypted member; its subclass NotImplementedError: an unknown compression.
        raise InvalidInput("file", str(path), f"a readable zip ({name}: {error})") from error
    if len(data) > limit:
        raise _too_large(path)
    return data


def _file(path: Path) -> bytes:
    try:
        with path.open("rb") as file:
            data = file.read(MAX_DOCUMENT_BYTES + 1)
    except OSError as error:
        raise unreadable("file", path, "a file to read", error) from error
    if len(data) > MAX_DOCUMENT_BYTES:
        raise _too_large(path)
    return data


def _too_large(path: Path) -> InvalidInput:
    return InvalidInput("file", str(path), f"an export with at most {MAX_DOCUMENT_BYTES:,} bytes of JSON")


def _parsed(path: Path, name: str, data: bytes) -> object:
    shown = f"{path} ({name})" if name else str(path)
    try:
        return json.loads(data.decode("utf-8-sig"))
    except UnicodeDecodeError as error:
        raise InvalidInput("file", shown, f"UTF-8 text (byte {error.start + 1} is not)") from None
    except RecursionError:
        raise InvalidInput("file", shown, "JSON that is not nested so deeply") from None
    except ValueError as error:
        raise InvalidInput("file", shown, f"one JSON document ({error})") from None
