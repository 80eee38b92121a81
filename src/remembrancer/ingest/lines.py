"""Read a file line by line, so that memory use does not depend on its size."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path

from remembrancer.errors import unreadable
from remembrancer.ingest.fields import is_object
from remembrancer.ingest.problem import Problem, RecordLocation

MAX_LINE_BYTES = 24 * 1024 * 1024
"""The limit of one line: the longest text of an event (16 MiB), escaped in JSON. A line of words takes up to a second a
megabyte to analyse.
"""

OnBytes = Callable[[int], None]


def lines(path: Path, on_bytes: OnBytes | None) -> Iterator[tuple[int, str] | Problem]:
    """Each line's number, from 1, and its text without the line end. A line that is not UTF-8 or is too long is a
    Problem.

    `on_bytes` is called with the number of bytes read, after each line. Raises InvalidInput if the file cannot be read.
    """
    done = 0
    number = 0
    try:
        with path.open("rb") as file:
            while raw := file.readline(MAX_LINE_BYTES):
                number += 1
                done += len(raw)
                whole = True
                while len(raw) == MAX_LINE_BYTES and not raw.endswith(b"\n"):
                    raw = file.readline(MAX_LINE_BYTES)
                    done += len(raw)
                    whole = whole and not raw
                yield _decoded(RecordLocation(path, number), raw) if whole else _too_long(RecordLocation(path, number))
                if on_bytes is not None:
                    on_bytes(done)
    except OSError as error:
        raise unreadable("file", path, "a file to read", error) from error


def _decoded(place: RecordLocation, raw: bytes) -> tuple[int, str] | Problem:
    number = place.line or 0
    try:
        return number, raw.decode("utf-8-sig" if number == 1 else "utf-8").rstrip("\r\n")
    except UnicodeDecodeError as error:
        return place.problem(f"not UTF-8 at byte {error.start + 1} of the line")


def _too_long(place: RecordLocation) -> Problem:
    return place.problem(f"the line is longer than {MAX_LINE_BYTES:,} bytes")


def objects(path: Path, on_bytes: OnBytes | None) -> Iterator[tuple[RecordLocation, dict[str, object]] | Problem]:
    """The JSON object of each line, with its location. Blank lines are skipped; anything else is a Problem."""
    for line in lines(path, on_bytes):
        if isinstance(line, Problem):
            yield line
            continue
        number, text = line
        if text.strip():
            place = RecordLocation(path, number)
            yield _object(place, text)


def _object(place: RecordLocation, text: str) -> tuple[RecordLocation, dict[str, object]] | Problem:
    try:
        value: object = json.loads(text, parse_constant=_no_constant)
    except RecursionError:
        return place.problem("not a JSON object: nested too deeply")
    except ValueError as error:
        return place.problem(f"not a JSON object: {error}")
    if not is_object(value):
        return place.problem("not a JSON object: one object a line is expected")
    return place, value


def _no_constant(name: str) -> object:
    raise ValueError(f"{name} is not JSON")
