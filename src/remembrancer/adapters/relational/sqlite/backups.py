"""Backups of an SQLite file: one file that holds everything, checked before it gets its name; and their restoration."""

from __future__ import annotations

import os
from collections.abc import Generator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Final

import apsw

from remembrancer.adapters.relational.schema import OF_FILES
from remembrancer.adapters.relational.sqlite import ciphers, schema, sealed
from remembrancer.adapters.relational.sqlite.dialect import connect, connect_immutable, copy_pages
from remembrancer.adapters.relational.sqlite.errors import translated
from remembrancer.durable import put_in_place, sync_folder
from remembrancer.errors import InvalidInput, StoreUnavailable, unreadable, unwritable
from remembrancer.ports.transfer import BackupReport, RestoreReport

if TYPE_CHECKING:
    from remembrancer.adapters.encryption import EncryptionKey
    from remembrancer.adapters.relational.sqlite.dialect import SqliteConnection
    from remembrancer.domain.memory import Analyse
    from remembrancer.ports.transfer import OnPages

BESIDE: Final = ("-wal", "-shm", "-journal")
"""The suffixes of the files that SQLite writes next to a database."""
SET_ASIDE: Final = ".replaced-"
"""The text before the number in the names of files that a restoration has set aside."""


def back_up(source: SqliteConnection, path: Path, on_pages: OnPages | None) -> BackupReport:
    """Copy the state that this connection reads, which others may change meanwhile, into a new file.

    Raises InvalidInput if the file, or one that SQLite would take for its log, exists; StoreUnavailable if it cannot be
    written, or is not equal to the state.
    """
    with new_file(path) as partial:
        rows = _copy(source, partial, on_pages)
        _require_nothing_at(path)
    return BackupReport(path=str(path), rows=rows, bytes=path.stat().st_size)


def back_up_sealed(
    source: SqliteConnection, path: Path, store: str, encryption: EncryptionKey, on_rows: OnPages | None
) -> BackupReport:
    """As `back_up`, with each row sealed under a key of its own. `store`: the path beside which the keys are."""
    with new_file(path) as partial:
        rows = sealed.write(source, partial, store, encryption, on_rows)
        _require_nothing_at(path)
    return BackupReport(path=str(path), rows=rows, bytes=path.stat().st_size, sealed=True)


def restore(
    backup: Path,
    path: Path,
    *,
    replace: bool,
    on_pages: OnPages | None,
    encryption: EncryptionKey | None = None,
    analyse: Analyse,
) -> RestoreReport:
    """Copy a backup to where a store is opened. `replace`: set aside what lies there, with its log. `encryption`: the
    key of an encrypted backup, which the restored store has too. `analyse`: gives the words of a sealed one.

    Raises InvalidInput if something lies there, or the backup is not a database or has a write-ahead log;
    StoreUnavailable if the backup is damaged, or another process has the store open.
    """
    _require_alone(backup)
    if not replace:
        _require_nothing_at(path)
    elif path.exists() and path.samefile(backup):
        raise InvalidInput("path", str(path), "a file other than the backup")
    aside: Path | None = None
    with new_file(path) as partial:
        with translated(str(backup)):
            if ciphers.is_sealed(str(backup)):
                if encryption is None:
                    raise StoreUnavailable(f"{backup}: is a sealed backup; its keys open with the key of the store")
                restored = sealed.read(backup, partial, str(path), encryption, analyse)
            else:
                key = ciphers.file_key(str(backup), encryption, str(backup))
                with closing(connect_immutable(backup, key)) as source:
                    if not schema.version_of(source, str(backup)):
                        raise InvalidInput("backup", str(backup), "a backup of a store; this file is empty")
                    restored = sealed.Restored(_copy(source, partial, on_pages), 0)
        if replace:
            aside = _set_aside(path, encryption)
        _require_nothing_at(path)
    return RestoreReport(
        path=str(path),
        rows=restored.rows,
        bytes=path.stat().st_size,
        set_aside=None if aside is None else str(aside),
        unreadable=restored.unreadable,
    )


@contextmanager
def new_file(path: Path) -> Generator[Path]:
    """A temporary name for a file, which has its own name after the block, if that ends well, and is on the disk."""
    partial = path.with_name(f"{path.name}.{os.urandom(4).hex()}.partial")
    try:
        partial.touch(exist_ok=False)
        yield partial
        put_in_place(partial, path)
    except OSError as error:
        raise StoreUnavailable(f"{path}: {unwritable(error)}") from error
    finally:
        for suffix in ("", *BESIDE):
            with suppress(OSError):
                Path(f"{partial}{suffix}").unlink()


def _copy(source: SqliteConnection, path: Path, on_pages: OnPages | None) -> int:
    """Copy all pages, and check the copy. Returns the number of its rows."""
    # The first read of the transaction: from here on it sees one state, whatever others write.
    expected = rows_of(source)
    with translated(str(path)):
        copy_pages(source, str(path), on_pages)
        with closing(connect_immutable(path, source.file_key)) as copy:
            faults = [row[0] for row in copy.execute("PRAGMA integrity_check(1)")]
            counted = rows_of(copy)
    if faults != ["ok"] or counted != expected:
        raise StoreUnavailable(f"{path}: the copy differs from what was copied ({faults[0]}); nothing was kept of it")
    return sum(number for table, number in counted.items() if "_fts_" not in table and table not in OF_FILES)


def rows_of(connection: SqliteConnection) -> dict[str, int]:
    """The number of rows by table."""
    tables = connection.execute(
        "SELECT name FROM sqlite_schema WHERE type = 'table' AND sql NOT LIKE 'CREATE VIRTUAL TABLE %' ORDER BY name"
    )
    return {name: connection.execute(f'SELECT count(*) FROM "{name}"').get for (name,) in list(tables)}


def _require_nothing_at(path: Path) -> None:
    for suffix in ("", *BESIDE):
        lying = Path(f"{path}{suffix}")
        if lying.exists():
            why = "a file that does not exist yet" if not suffix else f"a path without {lying.name} beside it"
            raise InvalidInput("path", str(path), why)


def _require_alone(backup: Path) -> None:
    if not backup.is_file():
        raise unreadable("backup", backup, "a backup")
    for suffix in ("-wal", "-journal"):
        log = Path(f"{backup}{suffix}")
        if log.exists() and log.stat().st_size:
            raise InvalidInput(
                "backup", str(backup), f"a backup; {log.name} beside it shows a store in use, or a copy made by hand"
            )


def _set_aside(path: Path, encryption: EncryptionKey | None) -> Path | None:
    """Rename all files of a store together, so that none is used as a part of another store. Returns its new name."""
    lying = [suffix for suffix in ("", *BESIDE) if Path(f"{path}{suffix}").exists()]
    if not lying:
        return None
    require_unused(path, encryption)
    number = 1
    while any(Path(f"{path}{SET_ASIDE}{number}{suffix}").exists() for suffix in ("", *BESIDE)):
        number += 1
    aside = Path(f"{path}{SET_ASIDE}{number}")
    for suffix in lying:  # the file first: a process that is killed here leaves no store that lacks its log
        Path(f"{path}{suffix}").rename(f"{aside}{suffix}")
        sync_folder(path.parent)  # a power cut may reorder what was renamed since: neither does it, nor the new file
    return aside


def require_unused(path: Path, encryption: EncryptionKey | None) -> None:
    """Raises StoreUnavailable if another connection has the file open. Does not change it, nor its log."""
    if not path.exists():
        return
    try:
        has_log = Path(f"{path}-wal").exists()
        key = ciphers.file_key(str(path), encryption, str(path)) if ciphers.is_encrypted(str(path)) else None
        with closing(connect(str(path), create=False, key=key)) as connection:
            connection.wait_for_locks(1)
            # With a log, closing writes it into the file; an empty one, which is made here, is only removed.
            connection.config(apsw.SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, int(has_log))
            connection.pragma("locking_mode", "exclusive")
            connection.execute("BEGIN EXCLUSIVE; ROLLBACK")
    except apsw.BusyError as error:
        raise StoreUnavailable(f"{path}: is open in another process; stop it first") from error
    except apsw.Error:
        return  # damaged, which may be why it is replaced
