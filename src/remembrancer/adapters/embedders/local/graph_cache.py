"""Cache of built graphs on disk, so that a process starts without reading and converting 91 MB of weights."""

from __future__ import annotations

import hashlib
import os
import tempfile
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

_DIGEST_BYTES = 32


def cached(folder: Path, name: str, build: Callable[[], bytes]) -> bytes:
    """The cached graph `name` in `folder`; otherwise the result of `build`, which is then cached.

    A cache file is the SHA-256 of the content followed by the content; a file that does not match is rebuilt.
    Concurrent processes are safe: each writes its own file and renames it into place. An unwritable folder is not an
    error.
    """
    path = folder / name
    graph = _read(path)
    if graph is None:
        graph = build()
        # Without a cache only the next start is slower, so a full disk is not an error here.
        with suppress(OSError):
            _write(path, graph)
    return graph


def _read(path: Path) -> bytes | None:
    try:
        content = path.read_bytes()
    except OSError:
        return None
    graph = content[_DIGEST_BYTES:]
    return graph if hashlib.sha256(graph).digest() == content[:_DIGEST_BYTES] else None


def _write(path: Path, graph: bytes) -> None:
    # Private to the user, because whoever can write here decides which graph is run.
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f"{path.name}.")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(hashlib.sha256(graph).digest())
            file.write(graph)
        Path(temporary).replace(path)
    except OSError:
        Path(temporary).unlink()
        raise
