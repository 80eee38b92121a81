"""A vault in a local folder.

Nothing outside the folder is read or written: symbolic links are reported and not followed. A file is replaced by
renaming a complete temporary file over it, after checking that its content has not changed since it was read.
"""

from __future__ import annotations

import asyncio
import errno
import os
import secrets
import stat as modes
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from typing import Final

from remembrancer.domain import validation
from remembrancer.errors import Conflict, InvalidInput, StoreUnavailable
from remembrancer.ports.vault import MAX_FILE_BYTES, MAX_FILES, Content, Scan, Stat

OWN_FOLDER: Final = ".remembrancer"
"""Folder below the root for derived data."""
INDEX: Final = "index.json"
SUFFIX: Final = ".md"
SKIPPED_FOLDERS: Final = frozenset({OWN_FOLDER, ".git", ".hg", ".svn", ".venv", "node_modules", "__pycache__"})
"""Folders that are not scanned."""

_NO_FOLLOW: Final = getattr(os, "O_NOFOLLOW", 0)
_BINARY: Final = getattr(os, "O_BINARY", 0)


class FolderVault:
    """A vault in a local folder. `root`: the folder. `name`: the vault's name in the memory; default: the folder's
    name. `create`: if nothing is at `root`, it is an empty vault, and the first write makes the folder.
    """

    def __init__(self, root: Path, *, name: str | None = None, create: bool = False) -> None:
        self._root = root.resolve()
        self._name = validation.name("vault", name or self._root.name or "vault")
        self._create = create
        if not self._root.is_dir() and not self._is_new():
            allowed = "a folder, or a new one in a folder that exists" if create else "a folder that exists"
            raise InvalidInput("vault", str(root), allowed)

    @property
    def name(self) -> str:
        return self._name

    @property
    def root(self) -> Path:
        return self._root

    async def scan(self) -> Scan:
        return await asyncio.to_thread(self._scan)

    async def read(self, paths: Sequence[str]) -> Mapping[str, Content | str]:
        return await asyncio.to_thread(lambda: {path: self._read(path) for path in paths})

    async def replace(self, path: str, text: str, *, expected: str | None) -> Content:
        return await asyncio.to_thread(self._replace, path, text, expected)

    async def index(self) -> str | None:
        return await asyncio.to_thread(self._index)

    async def put_index(self, text: str) -> None:
        await asyncio.to_thread(self._put_index, text)

    def _is_new(self) -> bool:
        """Whether the folder is still to be made."""
        return self._create and not os.path.lexists(self._root) and self._root.parent.is_dir()

    def _scan(self) -> Scan:
        if self._is_new():
            return Scan({}, {}, 0, new=True)
        if not self._root.is_dir():
            raise InvalidInput("vault", str(self._root), "a folder")
        files: dict[str, Stat] = {}
        refused: dict[str, str] = {}
        for entry, path in _walk(self._root, "", refused):
            found = entry.stat(follow_symlinks=False)
            files[path] = Stat(found.st_mtime_ns, found.st_size)
            if len(files) > MAX_FILES:
                raise InvalidInput("vault", str(self._root), f"a folder with at most {MAX_FILES:,} Markdown files")
        index = self._root / OWN_FOLDER / INDEX
        with suppress(OSError):
            return Scan(files, refused, index.stat().st_mtime_ns)
        return Scan(files, refused, 0)

    def _read(self, path: str) -> Content | str:
        try:
            return self._content(path)
        except InvalidInput as error:
            return f"expected {error.allowed}"
        except OSError as error:
            return f"cannot be read ({error.strerror})"

    def _content(self, path: str) -> Content:
        """Read a file. Raises InvalidInput, OSError."""
        descriptor = os.open(self._inside(path), os.O_RDONLY | _NO_FOLLOW | _BINARY)
        with os.fdopen(descriptor, "rb") as file:
            found = os.fstat(file.fileno())
            if not modes.S_ISREG(found.st_mode):
                raise InvalidInput("file", path, "a regular file")
            data = file.read(MAX_FILE_BYTES + 1)
        if len(data) > MAX_FILE_BYTES:
            raise InvalidInput("file", path, f"at most {MAX_FILE_BYTES:,} bytes")
        try:
            return Content(data.decode("utf-8"), sha256(data).hexdigest(), Stat(found.st_mtime_ns, found.st_size))
        except UnicodeDecodeError as error:
            raise InvalidInput("file", path, f"UTF-8 text (byte {error.start + 1:,} is not)") from None

    def _replace(self, path: str, text: str, expected: str | None) -> Content:
        target = self._inside(path)
        data = text.encode("utf-8")
        if len(data) > MAX_FILE_BYTES:
            raise InvalidInput("file", path, f"at most {MAX_FILE_BYTES:,} bytes, not {len(data):,}")
        try:
            if expected is None:
                target.parent.mkdir(parents=True, exist_ok=True)
                self._inside(path)  # a folder created meanwhile may be a link
            self._require(path, expected)
            temporary = self._write_temporary(data, None if expected is None else target)
            try:
                self._require(path, expected)  # again, because writing takes time
                if expected is None:
                    _create(temporary, target, path)
                else:
                    temporary.replace(target)
            finally:
                temporary.unlink(missing_ok=True)
            return self._content(path)
        except OSError as error:
            raise StoreUnavailable(f"{target}: cannot be written ({error.strerror or error})") from error

    def _require(self, path: str, expected: str | None) -> None:
        """Raises Conflict unless the file's digest is `expected`; None: unless the file does not exist."""
        try:
            digest = self._content(path).digest
        except FileNotFoundError:
            digest = None
        except InvalidInput as error:
            raise Conflict(f"{path}: changed on disk since it was read: expected {error.allowed}") from error
        if digest != expected:
            changed = "was created meanwhile" if expected is None else "changed on disk since it was read"
            raise Conflict(f"{path}: {changed}; nothing was written")

    def _write_temporary(self, data: bytes, like: Path | None) -> Path:
        """A temporary file with the data, flushed to disk, with the permissions of `like`."""
        temporary = self._own_folder() / f"{secrets.token_hex(8)}.tmp"
        with temporary.open("xb") as file:
            if like is not None and hasattr(os, "fchmod"):
                os.fchmod(file.fileno(), modes.S_IMODE(like.stat(follow_symlinks=False).st_mode))
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        return temporary

    def _index(self) -> str | None:
        try:
            return (self._root / OWN_FOLDER / INDEX).read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError):
            return None

    def _put_index(self, text: str) -> None:
        try:
            temporary = self._write_temporary(text.encode("utf-8"), None)
            temporary.replace(self._own_folder() / INDEX)
        except OSError as error:
            raise StoreUnavailable(f"{self._root / OWN_FOLDER}: cannot be written ({error.strerror})") from error

    def _own_folder(self) -> Path:
        """The folder for derived data, created with a .gitignore that excludes it from git."""
        folder = self._inside(OWN_FOLDER)
        if not folder.is_dir():
            folder.mkdir(parents=True, exist_ok=True)
            (folder / ".gitignore").write_text("*\n", encoding="utf-8")
        return folder

    def _inside(self, path: str) -> Path:
        """The absolute path. Raises InvalidInput for a path out of the root or through a symbolic link."""
        parts = path.split("/")
        if not path or any(part in {"", ".", ".."} or "\\" in part or "\x00" in part for part in parts):
            raise InvalidInput("file", path, "a path below the vault's root")
        found = self._root
        for part in parts:
            found /= part
            if found.is_symlink():
                raise InvalidInput("file", path, "a path without symbolic links")
        return found


def _walk(folder: Path, below: str, refused: dict[str, str]) -> Iterator[tuple[os.DirEntry[str], str]]:
    """The markdown files below `folder`, ordered by name; files that are not read are added to `refused`, with the
    reason.
    """
    try:
        with os.scandir(folder) as entries:
            found = sorted(entries, key=lambda entry: entry.name)
    except OSError as error:
        refused[below or "."] = f"cannot be listed ({error.strerror})"
        return
    for entry in found:
        path = f"{below}{entry.name}"
        if entry.is_symlink():
            if entry.name.lower().endswith(SUFFIX) or (entry.name not in SKIPPED_FOLDERS and entry.is_dir()):
                refused[path] = "a symbolic link: not followed"
        elif entry.is_dir(follow_symlinks=False):
            if entry.name not in SKIPPED_FOLDERS:
                yield from _walk(folder / entry.name, f"{path}/", refused)
        elif entry.name.lower().endswith(SUFFIX) and entry.is_file(follow_symlinks=False):
            if "\\" in entry.name or not entry.name.isprintable():
                refused[path] = "a name with a backslash or an unprintable character: not read"
            else:
                yield entry, path


def _create(temporary: Path, target: Path, path: str) -> None:
    """Move the temporary file to `target`. Raises Conflict when the target exists."""
    try:
        os.link(temporary, target)  # linking never overwrites, unlike renaming
    except FileExistsError:
        raise Conflict(f"{path}: was created meanwhile; nothing was written") from None
    except OSError as error:
        if error.errno not in {errno.EPERM, errno.ENOTSUP, errno.EXDEV}:
            raise
        if target.exists():  # the file system has no hard links
            raise Conflict(f"{path}: was created meanwhile; nothing was written") from None
        temporary.replace(target)
