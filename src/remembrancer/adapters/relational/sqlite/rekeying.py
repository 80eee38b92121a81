"""Encrypt a store's file, decrypt it, or change its key: the file is written anew, checked, and renamed.

Until the new file has its name, the old one stays as it is. No other process may have the store open.
"""

from __future__ import annotations

import os
import re
from collections.abc import Generator
from contextlib import closing, contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import IO, TYPE_CHECKING, Final

import apsw

from remembrancer.adapters.relational import moving
from remembrancer.adapters.relational.schema import OF_FILES
from remembrancer.adapters.relational.sqlite import ciphers, row_keys, schema
from remembrancer.adapters.relational.sqlite.backups import new_file, rows_of
from remembrancer.adapters.relational.sqlite.dialect import connect, connect_immutable
from remembrancer.adapters.relational.sqlite.errors import translated
from remembrancer.adapters.relational.sqlite.file import ALONE_S, SqliteFile, copies
from remembrancer.durable import sync_folder
from remembrancer.errors import StoreUnavailable, unreadable
from remembrancer.ports.transfer import EncryptionReport, EncryptionStatus

if TYPE_CHECKING:
    from remembrancer.adapters.encryption import EncryptionKey, FileKey
    from remembrancer.adapters.relational.sqlite.dialect import SqliteConnection
    from remembrancer.domain.memory import Analyse

_PARTIAL: Final = re.compile(r"\.[0-9a-f]{8}\.partial$")
_INDEX: Final = re.compile(r"\.index(\.[0-9a-f]+\.partial)?$")
_BLOCK: Final = 1 << 20


def status(path: Path) -> EncryptionStatus:
    """Whether a store, and its copies beside it, are encrypted. Needs no key, and reads the beginnings of files only.

    Raises InvalidInput if there is no file.
    """
    if not path.is_file():
        raise unreadable("url", path, "a store's file")
    in_plain = tuple(name for name in copies(str(path)) if ciphers.is_plain(str(path.with_name(name))))
    return EncryptionStatus(
        path=str(path), cipher=ciphers.NAME if ciphers.is_encrypted(str(path)) else None, plain_copies=in_plain
    )


def rekey(
    path: Path, before: EncryptionKey | None, after: EncryptionKey | None, *, analyse: Analyse
) -> EncryptionReport:
    """Write the file anew, encrypted with `after`, or not encrypted (None). `before`: the present key. `analyse`: gives
    the words of a decrypted store, whose full-text indexes are made anew.

    The index files beside it are deleted, because they have the old key or none. The bytes of the old file are
    overwritten. Raises InvalidInput if there is no file; StoreUnavailable for a wrong key, if another process has the
    file open, or if the new file cannot be written.
    """
    if not path.is_file():
        raise unreadable("url", path, "a store's file")
    ciphers.require(str(path))
    old_key = ciphers.file_key(str(path), before, str(path))
    write = partial(_decrypted, path, before, analyse) if after is None else partial(_encrypted, after)
    with translated(str(path)), _alone(path, old_key) as source, _overwritten(path):
        _delete_beside(path, _PARTIAL)
        _rekey_keys(row_keys.path_of(str(path)), before, after)
        with new_file(path) as written:
            rows = write(source, written)
    _delete_beside(path, _INDEX)
    sync_folder(path.parent)
    told = status(path)
    return EncryptionReport(
        path=told.path, cipher=told.cipher, plain_copies=told.plain_copies, rows=rows, bytes=path.stat().st_size
    )


@contextmanager
def _alone(path: Path, key: FileKey | None) -> Generator[SqliteConnection]:
    """The only connection to the file, which has no log then."""
    with closing(connect(str(path.absolute()), create=False, key=key, uris=True)) as connection:
        try:
            schema.version_of(connection, str(path))
            connection.wait_for_locks(ALONE_S)
            connection.pragma("journal_mode", "delete")  # fails where another connection is open
            connection.pragma("locking_mode", "exclusive")
            connection.execute("BEGIN EXCLUSIVE; COMMIT")
        except apsw.BusyError as error:
            raise StoreUnavailable(f"{path}: is open in another process; stop it first") from error
        yield connection


def _encrypted(key: EncryptionKey, source: SqliteConnection, path: Path) -> int:
    """Copy all rows to a new file, and check it. Returns the number of rows."""
    file_key = key.of_file(ciphers.new_salt())
    source.execute("VACUUM INTO ?", (ciphers.uri(path, file_key),))
    expected = rows_of(source)
    with closing(connect_immutable(path, file_key)) as copy:
        faults = [row[0] for row in copy.execute("PRAGMA integrity_check(1)")]
        counted = rows_of(copy)
    if faults != ["ok"] or counted != expected:
        raise StoreUnavailable(f"{path}: differs from the store ({faults[0]}); the store is as it was")
    return sum(number for table, number in counted.items() if "_fts_" not in table and table not in OF_FILES)


def _decrypted(store: Path, key: EncryptionKey | None, analyse: Analyse, source: SqliteConnection, path: Path) -> int:
    """Move all rows to a new file, and compare them. Returns the number of rows.

    `VACUUM INTO` would keep the space of the tags in each page, beside which there is no place for checksums.
    """
    source.pragma("locking_mode", "normal")
    source.pragma("schema_version")  # gives up the exclusive lock
    source.execute("BEGIN IMMEDIATE")  # until the end of the connection: nobody writes to the store, and it can be read
    path.unlink()
    here = SqliteFile(str(store), read_only=True, encryption=key)
    moved = moving.move(here, SqliteFile(str(path)), analyse=analyse)
    if not moved.is_whole:
        raise StoreUnavailable(f"{store}: was written to meanwhile, and is as it was; run the same command again")
    with closing(connect(str(path), create=False)) as whole:
        whole.pragma("journal_mode", "delete")
    return moved.rows


def _rekey_keys(path: Path, before: EncryptionKey | None, after: EncryptionKey | None) -> None:
    """Encrypt the key file of sealed backups with the new key too. It comes first, and a second call finds that."""
    if not path.exists() or before is None:
        return
    if after is None:
        raise StoreUnavailable(
            f"{path}: has the keys of sealed backups, which a store that is not encrypted cannot keep; delete it first,"
            " and with it whatever only these backups have"
        )
    salt = ciphers.salt_of(str(path)) or b""
    with suppress(StoreUnavailable), closing(connect(str(path), create=False, key=after.of_file(salt))):
        return
    old_key, new_key = before.of_file(salt), after.of_file(ciphers.new_salt())
    with (
        translated(str(path)),
        _overwritten(path),
        closing(connect(str(path.absolute()), create=False, key=old_key, uris=True)) as source,
        new_file(path) as written,
    ):
        source.execute("VACUUM INTO ?", (ciphers.uri(written, new_key),))


@contextmanager
def _overwritten(path: Path) -> Generator[None]:
    """Fill what has this name now with zeros, if it has no name any more at the end of the block."""
    with path.open("r+b") as old:
        yield
        if not os.fstat(old.fileno()).st_nlink:  # a copy by a hard link stays
            _zero(old)


def _zero(file: IO[bytes]) -> None:
    size = os.fstat(file.fileno()).st_size
    for start in range(0, size, _BLOCK):
        file.write(bytes(min(_BLOCK, size - start)))
    file.flush()
    os.fsync(file.fileno())


def _delete_beside(path: Path, suffix: re.Pattern[str]) -> None:
    for one in path.parent.iterdir():
        if one.name.startswith(f"{path.name}.") and suffix.search(one.name):
            one.unlink(missing_ok=True)
