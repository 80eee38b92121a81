"""Encryption of SQLite files by SQLite3 Multiple Ciphers, which the package apsw-sqlite3mc contains.

Every page of the file, its logs and its temporary files is encrypted with ChaCha20. At its end it has a nonce and a
Poly1305 tag, by which altered pages are noticed. Page 1 begins with the salt, in plain. The salts that this package
makes begin with four known bytes, by which an encrypted file is recognised. See
https://utelle.github.io/SQLite3MultipleCiphers.
"""

from __future__ import annotations

import os
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Final

import apsw

from remembrancer.adapters.encryption import SALT_BYTES
from remembrancer.errors import StoreUnavailable

if TYPE_CHECKING:
    from remembrancer.adapters.encryption import EncryptionKey, FileKey
    from remembrancer.adapters.relational.sqlite.dialect import SqliteConnection

CIPHER: Final = "chacha20"
NAME: Final = "ChaCha20-Poly1305"
_MARK: Final = b"REMB"
_SEALED: Final = b"REMS"
_PLAIN: Final = b"SQLite format 3\x00"
_VFS: Final = "multipleciphers-"
ABSENT: Final = (
    "this build of apsw has no ciphers: the package apsw replaced apsw-sqlite3mc, whose module has the same name; run"
    " `pip uninstall apsw`, then `pip install --force-reinstall apsw-sqlite3mc`"
)
NEEDS_KEY: Final = "is encrypted, and no key is set; set encryption_key_file, encryption_key_command or encryption_key"
WRONG_KEY: Final = "the encryption key is not the key of this file, or its first page is damaged; nothing was written"
SEALED: Final = "is a sealed backup; `remembrancer restore` opens it"
NOT_ENCRYPTED: Final = (
    "is not encrypted, although an encryption key is set; `remembrancer encryption enable` encrypts it"
)


@cache
def vfs() -> str | None:
    """The name of the VFS that encrypts; None if apsw was built without it."""
    return next((name for name in apsw.vfs_names() if name.startswith(_VFS)), None)


def require(path: str) -> str:
    """The name of the VFS. Raises StoreUnavailable."""
    name = vfs()
    if name is None:
        raise StoreUnavailable(f"{path}: {ABSENT}")
    return name


def new_salt(*, sealed: bool = False) -> bytes:
    """A salt for a store, or for a sealed backup."""
    mark = _SEALED if sealed else _MARK
    return mark + os.urandom(SALT_BYTES - len(mark))


def sealed_salt_of(path: str) -> bytes:
    """The salt of a sealed backup. Raises StoreUnavailable for another file."""
    begin = _begin(path)
    if not begin.startswith(_SEALED):
        raise StoreUnavailable(f"{path}: is no sealed backup")
    return begin


def is_sealed(path: str) -> bool:
    """Whether it is a sealed backup."""
    return _begin(path).startswith(_SEALED)


def salt_of(path: str) -> bytes | None:
    """The salt of an encrypted file; None if there is no file, or an empty one, or one that is not encrypted.

    SQLite reads it: closing a descriptor of another reader would end this process's locks on the file.
    """
    begin = _begin(path)
    return begin if begin.startswith(_MARK) else None


def is_encrypted(path: str) -> bool:
    """Whether this package encrypted the file."""
    return salt_of(path) is not None


def is_plain(path: str) -> bool:
    """Whether there is an SQLite file that is not encrypted."""
    return _begin(path) == _PLAIN


def file_key(path: str, key: EncryptionKey | None, name: str) -> FileKey | None:
    """The key of an encrypted file; None if there is no file, or an empty one. `name`: the file's in messages.

    Raises StoreUnavailable if the file is encrypted and there is no key, or the other way round.
    """
    if is_sealed(path):
        raise StoreUnavailable(f"{name}: {SEALED}")
    salt = salt_of(path)
    if key is None:
        if salt is not None:
            raise StoreUnavailable(f"{name}: {NEEDS_KEY}")
        return None
    require(name)
    if salt is None and is_plain(path):
        raise StoreUnavailable(f"{name}: {NOT_ENCRYPTED}")
    return None if salt is None else key.of_file(salt)


def unlock(connection: SqliteConnection, key: FileKey, name: str) -> None:
    """Give a new connection the key, and try it. Raises StoreUnavailable for a wrong one."""
    connection.pragma("cipher", CIPHER)
    connection.pragma("key", _raw(key))
    try:
        connection.pragma("schema_version")
    except apsw.NotADBError as error:
        raise StoreUnavailable(f"{name}: {WRONG_KEY}") from error


def name_once(partial: Path, path: Path) -> None:
    """Give a new file its name, unless another one has it."""
    try:
        os.link(partial, path)
    except FileExistsError:
        return
    except OSError:  # this file system has no links
        if not path.exists():
            partial.replace(path)


def uri(path: Path, key: FileKey | None) -> str:
    """The file for `VACUUM INTO`: with the key, or not encrypted."""
    return f"{path.absolute().as_uri()}?vfs={require(str(path))}&cipher={CIPHER}&key={_raw(key) if key else ''}"


def _raw(key: FileKey) -> str:
    return f"raw:{key.key.hex()}{key.salt.hex()}"


def _begin(path: str) -> bytes:
    """The first bytes of a file; none if there is no file, or an empty one."""
    try:
        file = apsw.VFSFile(
            (vfs() or "").removeprefix(_VFS), path, [apsw.SQLITE_OPEN_MAIN_DB | apsw.SQLITE_OPEN_READONLY, 0]
        )
    except apsw.Error:
        return b""
    try:
        return file.xRead(SALT_BYTES, 0) if file.xFileSize() >= SALT_BYTES else b""
    except apsw.Error:
        return b""
    finally:
        file.xClose()
