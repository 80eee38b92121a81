"""Built graphs kept in a folder, so that a process starts without reading and rebuilding 91 MB of weights."""

from __future__ import annotations

import hashlib
import os
import tempfile
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

_DIGEST_BYTES = 32


def cached(folder: Path, name: str, build: Callable[[], bytes]) -> bytes:
    """The graph kept as `name` in `folder`, or else what `build` returns, which is then kept.

    A file is its content's SHA-256 followed by the content; one that does not match is built again. Processes
    may race: each writes a file of its own and renames it into place. An unwritable folder is no error.
    """
    path = folder / name
    graph = _read(path)
    if graph is None:
        graph = build()
        # Without a cache the next start is slower, nothing else: a full disk must not stop this one.
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
    # Private to the user: whoever can write here chooses the graph that is run.
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
