"""Check a path before SQLite opens it, whose messages say less."""

from __future__ import annotations

import os
from pathlib import Path

from remembrancer.errors import InvalidInput, StoreUnavailable


def check_path(path: str, *, create: bool) -> None:
    """Raises InvalidInput if it is not a path, StoreUnavailable if the file cannot be opened, or made (`create`)."""
    if not path or not _is_text(path):
        raise InvalidInput("url", path, "a file's path, or :memory:")
    file = Path(path)
    try:
        if file.is_dir():
            raise StoreUnavailable(f"{path}: is a folder; give a file's path")
        if not file.parent.is_dir():
            raise StoreUnavailable(f"{path}: its folder {file.parent} does not exist")
        if file.exists():
            _check_file(file, path)
            if not create and not file.stat().st_size:
                raise StoreUnavailable(f"{path}: is empty; no memory was ever kept in it, or it was cut to nothing")
            return
    except OSError as error:
        raise StoreUnavailable(f"{path}: cannot be opened ({error.strerror})") from error
    if not create:
        raise StoreUnavailable(f"{path}: no such file; `remembrancer remember` or `ingest` makes one")
    if not os.access(file.parent, os.W_OK):
        raise StoreUnavailable(f"{path}: cannot be made, its folder is read-only")


def copies(path: str) -> tuple[str, ...]:
    """The names of the file's backups beside it, which migrations made."""
    file = Path(path)
    # Not a glob: the name may contain characters that are patterns there.
    beside = (one.name for one in file.parent.iterdir() if one.name.startswith(f"{file.name}."))
    return tuple(sorted(name for name in beside if name.endswith((".backup", ".backup.partial"))))


def _check_file(file: Path, path: str) -> None:
    if not file.is_file():  # opening a pipe could wait for ever
        raise StoreUnavailable(f"{path}: is not a file but a device, a pipe or a socket")
    if not os.access(file, os.R_OK):
        raise StoreUnavailable(f"{path}: no permission to read it")
    if not os.access(file, os.W_OK) or not os.access(file.parent, os.W_OK):
        raise StoreUnavailable(f"{path}: the file or its folder is read-only; Remembrancer needs to write beside it")


def _is_text(path: str) -> bool:
    """Whether SQLite takes the path, which is Unicode without a NUL."""
    try:
        return b"\0" not in path.encode()
    except UnicodeEncodeError:
        return False
