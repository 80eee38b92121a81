"""Cache of built graphs on disk, so that a process starts without reading and converting 91 MB of weights."""

from __future__ import annotations

import hashlib
import logging
import os
import tempfile
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Final, TypeVar

from remembrancer.errors import ModelUnavailable

T = TypeVar("T")

_DIGEST_BYTES = 32
_OTHERS_WRITE: Final = 0o022

_log = logging.getLogger("remembrancer")


def opened(folder: Path, name: str, build: Callable[[], bytes], load: Callable[[bytes], T]) -> T:
    """The result of `load` for the cached graph `name` in `folder`; otherwise of the result of `build`, which is then
    cached.

    A cache file is the SHA-256 of the content followed by the content. A file is not used, but replaced, with a warning
    that says why, if the two do not match, if others may write to it, or if `load` raises ModelUnavailable: whoever can
    compute the SHA-256 of another graph cannot make it pass for this one. Concurrent processes are safe: each writes
    its own file and renames it into place. An unwritable folder is not an error.

    Raises ModelUnavailable if a graph cannot be built, or cannot be loaded right after it was built.
    """
    path = folder / name
    problem = ""
    try:
        return load(_read(path))
    except FileNotFoundError:
        pass
    except (OSError, ModelUnavailable) as error:
        problem = str(error)
    if problem:
        _log.warning("the cached model %s is not used, but built anew: %s", path, problem)
    graph = build()
    loaded = load(graph)
    # Without a cache only the next start is slower, so a full disk is not an error here.
    with suppress(OSError):
        _write(path, graph)
    return loaded


def _read(path: Path) -> bytes:
    """The graph in a cache file. Raises OSError, and ModelUnavailable for a file that must not be used."""
    with path.open("rb") as file:
        status = os.fstat(file.fileno())
        content = file.read()
    # Windows has neither user ids nor these bits.
    if hasattr(os, "getuid"):
        if status.st_uid not in {os.getuid(), 0}:
            raise ModelUnavailable(f"it belongs to another user (uid {status.st_uid})")
        if status.st_mode & _OTHERS_WRITE:
            raise ModelUnavailable(f"other users may write to it (mode {status.st_mode & 0o777:o})")
    graph = content[_DIGEST_BYTES:]
    if hashlib.sha256(graph).digest() != content[:_DIGEST_BYTES]:
        raise ModelUnavailable("its content does not match its checksum: it is damaged, or was changed")
    return graph


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
