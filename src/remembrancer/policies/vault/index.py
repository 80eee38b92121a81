"""The state of a vault after its last sync. It is derived, and rebuilt if it does not match."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import field
from datetime import datetime
from types import MappingProxyType
from typing import Any, Final
from uuid import UUID

from remembrancer.policies.vault.merging import Base
from remembrancer.values import dataclass

VERSION: Final = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Known:
    """A file after its last sync: modification time (nanoseconds since 1970), size in bytes, SHA-256 of its content;
    `bases`: the agreed state of each entry, by id; `chunks`: the ids of its passages.

    `modified` -1: read the file again in any case.
    """

    modified: int
    size: int
    digest: str
    bases: Mapping[UUID, Base]
    chunks: tuple[UUID, ...] = ()


@dataclass(frozen=True, slots=True)
class VaultIndex:
    """The index of a vault. `files`: by path."""

    files: Mapping[str, Known] = field(default_factory=lambda: MappingProxyType({}))

    def bases(self) -> dict[UUID, Base]:
        return {identifier: base for known in self.files.values() for identifier, base in known.bases.items()}

    def owners(self) -> dict[UUID, str]:
        """The path of the file of each entry and passage."""
        return {identifier: path for path, known in self.files.items() for identifier in (*known.bases, *known.chunks)}


def index_text(index: VaultIndex) -> str:
    """The index as deterministic JSON."""
    files = {path: _told(index.files[path]) for path in sorted(index.files)}
    return json.dumps({"version": VERSION, "files": files}, ensure_ascii=False, separators=(",", ":"))


def index_of(text: str | None) -> VaultIndex:
    """Parse the JSON of `index_text`. None or another format gives an empty index, so that all files are read again."""
    if text is None:
        return VaultIndex()
    try:
        read: Any = json.loads(text)
        if read["version"] != VERSION:
            return VaultIndex()
        return VaultIndex({str(path): _known(known) for path, known in read["files"].items()})
    except (ArithmeticError, AttributeError, KeyError, RecursionError, TypeError, ValueError):
        return VaultIndex()


def _told(known: Known) -> dict[str, Any]:
    return {
        "modified": known.modified,
        "size": known.size,
        "sha256": known.digest,
        "entries": {
            str(identifier): {"recorded_at": base.recorded_at.isoformat(), "agreed": base.agreed}
            for identifier, base in sorted(known.bases.items())
        },
        "chunks": [str(identifier) for identifier in known.chunks],
    }


def _known(read: Any) -> Known:
    return Known(
        modified=int(read["modified"]),
        size=int(read["size"]),
        digest=str(read["sha256"]),
        bases={
            UUID(identifier): Base(dict(base["agreed"]), datetime.fromisoformat(base["recorded_at"]))
            for identifier, base in read["entries"].items()
        },
        chunks=tuple(UUID(identifier) for identifier in read["chunks"]),
    )
