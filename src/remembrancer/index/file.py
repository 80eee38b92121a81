"""An index in a file: named arrays that are mapped into memory, and a small table of other values.

A file has a prefix (`_PREFIX`), a header (JSON in UTF-8), and the arrays, each of which begins at a multiple of 4,096
bytes. Room follows each array, so that rows can be appended in memory. Header and arrays have checksums. Numbers are
little-endian. The file of an encrypted store is sealed as a whole: it is read into memory of the process.
"""

from __future__ import annotations

import json
import mmap
import struct
import sys
import zlib
from collections.abc import Mapping, Sequence
from io import BytesIO
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, Final

import numpy as np

from remembrancer.index.growing import GrowingArray
from remembrancer.values import dataclass

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from remembrancer.ports.sealing import Sealer

FORMAT: Final = 5
"""Raised when an array or a checksum changes its meaning, or a migration changes what is stored: files of another
format are not read.
"""
_MAGIC: Final = b"RMBR-IDX"
_PREFIX: Final = struct.Struct("<8sQI")
"""The magic bytes, the header's length in bytes, and its CRC-32."""
_PAGE: Final = 4096
_ROOM: Final = 16
"""Room is left for one further row to this many."""
_LEAST_ROOM: Final = 256


class BadIndexFile(Exception):
    """A file is missing, truncated, damaged, of another format or of another index."""


@dataclass(frozen=True, slots=True)
class Stored:
    """The contents of a file: the arrays by name, and the table."""

    arrays: Mapping[str, GrowingArray[Any]]
    table: Mapping[str, Any]


def write(
    path: Path, arrays: Mapping[str, GrowingArray[Any]], table: Mapping[str, Any], sealer: Sealer | None = None
) -> None:
    """Write a file that only its owner can read. `table` is JSON. A power cut may damage the file, which the checksums
    tell. `sealer`: seal the contents.

    Raises FileExistsError if it exists, OSError.
    """
    sections: list[dict[str, Any]] = []
    at = 0
    for name, array in arrays.items():
        rows = np.ascontiguousarray(array.values)
        room = len(rows) + max(_LEAST_ROOM, len(rows) // _ROOM)
        sections.append(
            {
                "name": name,
                "type": rows.dtype.str,
                "shape": rows.shape,
                "room": room,
                "at": at,
                "sum": checksum(rows),
            }
        )
        at += -(-room * rows.itemsize * int(np.prod(rows.shape[1:])) // _PAGE) * _PAGE
    header = json.dumps({"format": FORMAT, "size": at, "arrays": sections, "table": table}).encode()
    begin = _first_array(len(header))
    path.touch(mode=0o600, exist_ok=False)
    with path.open("wb") as file:
        if sealer is None:
            _write_contents(file, header, begin, sections, arrays)
            file.truncate(begin + at)
        else:
            contents = BytesIO(bytes(begin + at))
            _write_contents(contents, header, begin, sections, arrays)
            for part in sealer.seal(contents.getbuffer()):
                file.write(part)


def _write_contents(
    file: IO[bytes],
    header: bytes,
    begin: int,
    sections: Sequence[Mapping[str, Any]],
    arrays: Mapping[str, GrowingArray[Any]],
) -> None:
    file.write(_PREFIX.pack(_MAGIC, len(header), zlib.crc32(header)))
    file.write(header)
    for section, array in zip(sections, arrays.values(), strict=True):
        file.seek(begin + section["at"])
        file.write(np.ascontiguousarray(array.values).data)


def read(path: Path, sealer: Sealer | None = None) -> Stored:
    """Map a file into memory, or open what `sealer` sealed. What is changed in the arrays stays in this process. Raises
    BadIndexFile.
    """
    try:
        with path.open("rb") as file:
            contents = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_COPY) if sealer is None else sealer.open(file)
    except (OSError, ValueError) as error:  # ValueError: an empty file, or one that was not sealed so
        raise BadIndexFile(str(error)) from error
    try:
        return _stored(contents)
    except (ArithmeticError, AttributeError, LookupError, RecursionError, TypeError, ValueError) as error:
        raise BadIndexFile(f"its header has another form ({error})") from error


def _stored(contents: mmap.mmap | bytearray) -> Stored:
    header = _header(contents)
    begin = _first_array(_PREFIX.unpack_from(contents)[1])
    if len(contents) != begin + header["size"]:
        raise BadIndexFile(f"{len(contents)} bytes instead of {begin + header['size']}")
    whole = np.frombuffer(contents, dtype=np.uint8)
    arrays: dict[str, GrowingArray[Any]] = {}
    for section in header["arrays"]:
        kind, (length, *width) = np.dtype(section["type"]), section["shape"]
        size = section["room"] * kind.itemsize * int(np.prod(width))
        start = begin + section["at"]
        storage: NDArray[Any] = whole[start : start + size].view(kind).reshape(section["room"], *width)
        arrays[section["name"]] = GrowingArray.over(storage, length)
        if checksum(storage[:length]) != section["sum"]:
            raise BadIndexFile(f"the array {section['name']} is damaged")
    return Stored(arrays, header["table"])


def checksum(rows: NDArray[Any]) -> int:
    """The CRC-32 of an array's bytes, which must be contiguous."""
    return zlib.crc32(rows.reshape(-1).view(np.uint8).data)


def _header(mapped: mmap.mmap | bytearray) -> dict[str, Any]:
    if sys.byteorder != "little":
        raise BadIndexFile("this machine is not little-endian")
    if len(mapped) < _PREFIX.size:
        raise BadIndexFile("too short")
    magic, length, crc = _PREFIX.unpack_from(mapped)
    text = mapped[_PREFIX.size : _PREFIX.size + length]
    if magic != _MAGIC or zlib.crc32(text) != crc:
        raise BadIndexFile("no index, or a damaged header")
    header = json.loads(text)
    if header["format"] != FORMAT:
        raise BadIndexFile(f"format {header['format']}; this version reads {FORMAT}")
    return header


def _first_array(header: int) -> int:
    """The place of the first array, given the header's length."""
    return -(-(_PREFIX.size + header) // _PAGE) * _PAGE
