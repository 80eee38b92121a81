"""A folder of markdown files with memories: listing, reading, and writing without overwriting other changes.

Paths are relative to its root, with `/` between their parts.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final, Protocol

from remembrancer.values import dataclass

MAX_FILE_BYTES: Final = 16 * 1024 * 1024
"""One file of a vault."""
MAX_FILES: Final = 200_000
"""Files of one vault."""


@dataclass(frozen=True, slots=True)
class Stat:
    """When a file was last modified, in nanoseconds since 1970, and its size in bytes."""

    modified: int
    size: int


@dataclass(frozen=True, slots=True)
class Scan:
    """The markdown files of a vault, by path, and the files that were skipped, with the reason.

    `indexed_at`: when the index was last written, by the file system's clock; 0: never.
    """

    files: Mapping[str, Stat]
    refused: Mapping[str, str]
    indexed_at: int


@dataclass(frozen=True, slots=True)
class Content:
    """A file as read: its text, byte order mark and line ends included, and the SHA-256 of its bytes, in hex."""

    text: str
    digest: str
    stat: Stat


class VaultFiles(Protocol):
    @property
    def name(self) -> str:
        """The name under which the workspace keeps this vault's memories; unique among its vaults."""
        ...

    async def scan(self) -> Scan:
        """Raises InvalidInput where the root is no folder, or holds more files than a vault may."""
        ...

    async def read(self, paths: Sequence[str]) -> Mapping[str, Content | str]:
        """The content of each file, or why it cannot be read: gone, too large, not UTF-8, outside the root."""
        ...

    async def replace(self, path: str, text: str, *, expected: str | None) -> Content:
        """Replace a file atomically: a reader sees the old or the new content.

        `expected`: the digest it must still have; None: it must not exist. Raises Conflict if it differs,
        InvalidInput for a path outside the root or a text too large, StoreUnavailable where it cannot be written.
        """
        ...

    async def index(self) -> str | None:
        """The index that `put_index` wrote last; None if there is none that can be read."""
        ...

    async def put_index(self, text: str) -> None:
        """Write the index of the vault. Raises StoreUnavailable."""
        ...
