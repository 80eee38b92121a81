"""Small tables in memory that processes of one machine share."""

from __future__ import annotations

import mmap
import os
import struct
from contextlib import AbstractContextManager
from hashlib import blake2b
from pathlib import Path
from typing import Final

from remembrancer.adapters.siblings.locks import ProcessLocks

_ENTRY: Final = struct.Struct("=16sdd")
_WAYS: Final = 8
_FREE: Final = bytes(16)
_COUNT: Final = struct.Struct("=i")
_MOST_COUNTS: Final = 128


class SharedTable:
    """Pairs of numbers by name, in a file that all processes map. The second number of a pair is the time of its last
    use: of eight names in one place, the one used least recently is forgotten. Names are kept as digests.
    """

    def __init__(self, file: Path, locks: ProcessLocks, *, places: int = 2048) -> None:
        self._name = file.name
        self._locks = locks
        self._places = places
        self._map = _mapped(file, places * _WAYS * _ENTRY.size)

    def locked(self) -> AbstractContextManager[None]:
        """A context in which one process at a time can be. Waits for the others."""
        return self._locks.held(self._name)

    def get(self, name: str) -> tuple[float, float] | None:
        found, _ = self._find(name)
        return None if found is None else _ENTRY.unpack_from(self._map, found)[1:]

    def put(self, name: str, pair: tuple[float, float]) -> None:
        found, replaced = self._find(name)
        _ENTRY.pack_into(self._map, replaced if found is None else found, _digest(name), *pair)

    def _find(self, name: str) -> tuple[int | None, int]:
        """The offset of the entry with that name, and of the one that a new name replaces."""
        digest = _digest(name)
        first = int.from_bytes(digest[:8], "big") % self._places * _WAYS
        replaced, oldest = first * _ENTRY.size, float("inf")
        for number in range(first, first + _WAYS):
            offset = number * _ENTRY.size
            known, _, at = _ENTRY.unpack_from(self._map, offset)
            if known == digest:
                return offset, offset
            at = float("-inf") if known == _FREE else at
            if at < oldest:
                replaced, oldest = offset, at
        return None, replaced


def _digest(name: str) -> bytes:
    return blake2b(name.encode("utf-8", "surrogatepass"), digest_size=16).digest()


class SharedCounts:
    """A count for each of up to 128 processes, in a file that all of them map."""

    def __init__(self, file: Path, locks: ProcessLocks) -> None:
        self._counts = _mapped(file, _MOST_COUNTS * _COUNT.size)
        own = next(place for place in range(_MOST_COUNTS) if locks.take(f"{file.name} {place}"))
        self._own = own * _COUNT.size
        self.set(0)

    def set(self, count: int) -> None:
        """Set this process's count."""
        _COUNT.pack_into(self._counts, self._own, count + 1)  # 0: no process

    def least_of_others(self) -> int | None:
        """The smallest count of another process; None if there is none."""
        others = [
            count - 1
            for place, (count,) in enumerate(_COUNT.iter_unpack(self._counts))
            if count and place * _COUNT.size != self._own
        ]
        return min(others, default=None)

    def close(self) -> None:
        """Remove this process's count."""
        _COUNT.pack_into(self._counts, self._own, 0)


def _mapped(file: Path, size: int) -> mmap.mmap:
    """The file in memory, shared with all who map it; zero at first."""
    descriptor = os.open(file, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        os.ftruncate(descriptor, size)
        return mmap.mmap(descriptor, size)
    finally:
        os.close(descriptor)
