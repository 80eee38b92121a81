"""Files that survive a power cut: data is on the disk after a sync of the file, a name after a sync of the folder."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path


def put_in_place(partial: Path, path: Path) -> None:
    """Give a complete file its name, replacing a file of that name. After a power cut, the name is that of the whole
    new file, or what it was before; once this has returned, the new one. Raises OSError.
    """
    with partial.open("rb+") as file:
        os.fsync(file.fileno())  # SQLite does not do this for a copy
    partial.replace(path)
    sync_folder(path.parent)


def sync_folder(folder: Path) -> None:
    """Have the names of new, renamed and deleted files reach the disk, if the system can."""
    with suppress(OSError):  # Windows cannot open a folder, some network file systems cannot sync one
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
