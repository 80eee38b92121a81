"""A folder of markdown files: list, read, and write without overwriting concurrent changes.

Paths are relative to the folder, with `/` as separator.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final, Protocol

from remembrancer.values import dataclass

MAX_FILE_BYTES: Final = 16 * 1024 * 1024
"""The limit of one file."""
MAX_FILES: Final = 200_000
"""The limit of one vault."""


@dataclass(frozen=True, slots=True)
class Stat:
    """The time of a file's last modification, in nanoseconds since 1970, and its size in bytes."""

    modified: int
    size: int


@dataclass(frozen=True, slots=True)
class Scan:
    """The markdown files of a vault, by path, and the files that were skipped, with the reason.

    `indexed_at`: when the index was last written, by the file system's clock; 0: never. `new`: nothing is at the root;
    the first write makes the folder.
    """

    files: Mapping[str, Stat]
    refused: Mapping[str, str]
    indexed_at: int
    new: bool = False


@dataclass(frozen=True, slots=True)
class Content:
    """A file's text, with byte order mark and line ends, and the SHA-256 of its bytes, in hex."""

    text: str
    digest: str
    stat: Stat


class VaultFiles(Protocol):
    @property
    def name(self) -> str:
        """The vault's name in the workspace; unique among its vaults."""
        ...

    async def scan(self) -> Scan:
        """List the files. Raises InvalidInput if the root is not a folder or has more than `MAX_FILES` files."""
        ...

    async def read(self, paths: Sequence[str]) -> Mapping[str, Content | str]:
        """The content of each file, or the reason why it cannot be read: missing, too large, not UTF-8, outside the
        root.
        """
        ...

    async def replace(self, path: str, text: str, *, expected: str | None) -> Content:
        """Replace a file atomically: a reader sees the old or the new content.

        `expected`: the digest that it must still have; None: it must not exist. Raises Conflict if it differs,
        InvalidInput for a path outside the root or a text too large, StoreUnavailable if it cannot be written.
        """
        ...

    async def index(self) -> str | None:
        """The index that `put_index` last wrote; None if there is none that can be read."""
        ...

    async def put_index(self, text: str) -> None:
        """Write the index of the vault. Raises StoreUnavailable."""
        ...
