"""Record the operations of this process on the files of a folder, by SQLite and by Python.

The recorder's VFS must be registered before SQLite's checksum VFS is loaded, which stays on top of the default VFS of
that moment: record in a process of its own. Files that Python writes are compared with what was recorded at each
operation that is no write; renames, deletions and syncs are recorded as they happen.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import apsw

from benchmarks.power_cut.disk import (
    Create,
    Image,
    Mark,
    Operation,
    Rename,
    Sync,
    SyncFolder,
    Truncate,
    Unlink,
    Write,
)

NAME: Final = "power-cut"
_BASE: Final = "unix"
_SYNCS_FOLDER: Final = apsw.SQLITE_OPEN_MAIN_JOURNAL | apsw.SQLITE_OPEN_SUPER_JOURNAL | apsw.SQLITE_OPEN_WAL
"""The kinds of files whose first sync, by SQLite's own VFS, also syncs the folder, if it created them."""
_SHARED_MEMORY: Final = "-shm"
"""The end of the name of a file that SQLite makes anew after a crash."""
_BLOCK: Final = 4096


class Recorder:
    """The operations on the files of `folder`, in order, from when it is made; of one process."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder.resolve()
        self.before: Image = {path.name: path.read_bytes() for path in sorted(self.folder.iterdir())}
        self.operations: list[Operation] = []
        self.lock = threading.RLock()
        self._numbers = {_identity(self.folder / name): -number for number, name in enumerate(self.before, start=1)}
        self._written_by_python: dict[int, bytes] = {}
        self._last = 0
        self._vfs = _Vfs(self)
        for name in ("rename", "replace"):
            self._patch(name, self._renaming)
        for name in ("unlink", "remove"):
            self._patch(name, self._deleting)
        self._patch("fsync", self._syncing)
        self._by_sqlite: set[int] = set()

    def mark(self, step: str, *, done: bool = False, **details: Any) -> None:
        with self.lock:
            self.scan()
            self.operations.append(Mark(step, done, details))

    def name_of(self, path: str | bytes | os.PathLike[Any] | None) -> str | None:
        """The name of a file of the folder; None for another file."""
        if path is None:
            return None
        found = Path(os.fsdecode(path)).absolute()
        if found.parent.resolve() != self.folder or found.name.endswith(_SHARED_MEMORY):
            return None
        return found.name

    def opened(self, name: str, *, by_sqlite: bool) -> int:
        """The number of a file that exists; a new one is recorded."""
        identity = _identity(self.folder / name)
        if identity not in self._numbers:
            self._last += 1
            self._numbers[identity] = self._last
            self.operations.append(Create(name, self._last))
        number = self._numbers[identity]
        if by_sqlite:
            self._by_sqlite.add(number)
        return number

    def deleted(self, name: str) -> None:
        self._numbers.pop(_identity(self.folder / name), None)
        self.operations.append(Unlink(name))

    def scan(self) -> None:
        """Record what Python wrote since the last scan."""
        for name in sorted(os.listdir(self.folder)):  # noqa: PTH208  names only
            if name.endswith(_SHARED_MEMORY):
                continue
            number = self.opened(name, by_sqlite=False)
            if number in self._by_sqlite or (number < 0 and number not in self._written_by_python):
                continue
            before, content = self._written_by_python.get(number, b""), (self.folder / name).read_bytes()
            if content != before:
                self._compare(number, before, content)
                self._written_by_python[number] = content

    def _compare(self, number: int, before: bytes, content: bytes) -> None:
        for at in range(0, len(content), _BLOCK):
            block = content[at : at + _BLOCK]
            if block != before[at : at + _BLOCK]:
                self.operations.append(Write(number, at, block))
        if len(content) < len(before):
            self.operations.append(Truncate(number, len(content)))

    def _patch(self, name: str, around: Callable[..., Any]) -> None:
        real = getattr(os, name)

        def recorded(*given: Any, **named: Any) -> Any:
            return around(real, *given, **named)

        setattr(os, name, recorded)

    def _renaming(self, real: Callable[..., None], old: Any, new: Any, **named: Any) -> None:
        before, after = self.name_of(old), self.name_of(new)
        with self.lock:
            if before and after:
                self.scan()
                if (self.folder / after).exists():
                    self._numbers.pop(_identity(self.folder / after), None)
                self.operations.append(Rename(before, after))
            real(old, new, **named)

    def _deleting(self, real: Callable[..., None], path: Any, **named: Any) -> None:
        name = self.name_of(path) if not named else None
        with self.lock:
            if name and (self.folder / name).exists():
                self.scan()
                self.deleted(name)
            real(path, **named)

    def _syncing(self, real: Callable[[int], None], handle: int) -> None:
        path = Path(f"/proc/self/fd/{handle}").readlink()
        with self.lock:
            if path == self.folder:
                self.scan()
                self.operations.append(SyncFolder())
            elif name := self.name_of(path):
                self.scan()
                self.operations.append(Sync(self.opened(name, by_sqlite=False)))
            real(handle)


def _identity(path: Path) -> tuple[int, int]:
    found = path.stat()
    return found.st_dev, found.st_ino


class _Vfs(apsw.VFS):
    """SQLite's VFS for this system, with a recorder."""

    def __init__(self, recorder: Recorder) -> None:
        self._recorder = recorder
        super().__init__(NAME, base=_BASE, makedefault=True)

    def xOpen(self, name: Any, flags: list[int]) -> apsw.VFSFile:  # noqa: N802  SQLite's name
        path = name.filename() if isinstance(name, apsw.URIFilename) else name
        return _File(self._recorder, path, name, flags)

    def xDelete(self, filename: str, syncdir: bool) -> None:  # noqa: N802
        name = self._recorder.name_of(filename)
        with self._recorder.lock:
            if name and Path(filename).exists():
                self._recorder.scan()
                self._recorder.deleted(name)
            super().xDelete(filename, syncdir)
            if name and syncdir:
                self._recorder.operations.append(SyncFolder())


class _File(apsw.VFSFile):
    def __init__(self, recorder: Recorder, path: str | None, name: Any, flags: list[int]) -> None:
        asked = flags[0]
        self._recorder = recorder
        self._number: int | None = None
        with recorder.lock:
            known = recorder.name_of(path)
            existed = bool(known) and Path(str(path)).exists()
            super().__init__(_BASE, name, flags)
            if known:
                recorder.scan()
                self._number = recorder.opened(known, by_sqlite=bool(asked & apsw.SQLITE_OPEN_READWRITE))
            self._syncs_folder = not existed and bool(asked & _SYNCS_FOLDER)

    def xWrite(self, data: Any, offset: int) -> None:  # noqa: N802
        with self._recorder.lock:
            super().xWrite(data, offset)  # pyright: ignore[reportUnknownMemberType]  a type that it does not know
            if self._number is not None:
                self._recorder.operations.append(Write(self._number, offset, bytes(data)))

    def xTruncate(self, newsize: int) -> None:  # noqa: N802
        with self._recorder.lock:
            super().xTruncate(newsize)
            if self._number is not None:
                self._recorder.operations.append(Truncate(self._number, newsize))

    def xSync(self, flags: int) -> None:  # noqa: N802
        with self._recorder.lock:
            if self._number is not None:
                self._recorder.scan()
                self._recorder.operations.append(Sync(self._number))
                if self._syncs_folder:
                    self._recorder.operations.append(SyncFolder())
                    self._syncs_folder = False
            super().xSync(flags)
