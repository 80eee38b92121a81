"""Authenticated encryption of what is kept beside a store."""

from __future__ import annotations

from collections.abc import Iterator
from typing import IO, Protocol


class Sealer(Protocol):
    """Encrypts contents under one key, and tells whether they were altered."""

    def seal(self, plain: bytes | bytearray | memoryview) -> Iterator[bytes]:
        """The parts of the sealed form, in order. Sealing the same contents again gives another form."""
        ...

    def open(self, file: IO[bytes]) -> bytearray:
        """The contents of a file that holds a sealed form, read from its beginning. Raises ValueError for anything that
        was not sealed whole under this key.
        """
        ...
