"""One SQLite file, or a database in memory: connections, settings, and what removes deleted rows from its pages."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final, cast

import apsw

from remembrancer.adapters import relational
from remembrancer.adapters.relational import sqlite
from remembrancer.adapters.relational.connection import LOCK_TIMEOUT_S, Connection
from remembrancer.adapters.relational.sqlite import schema
from remembrancer.adapters.relational.sqlite.dialect import SqliteConnection, connect
from remembrancer.adapters.relational.sqlite.errors import translated
from remembrancer.errors import InvalidInput, StoreUnavailable

if TYPE_CHECKING:
    from remembrancer.domain.memory import Analyse
    from remembrancer.ports.inspection import Finding

CACHE_KIB: Final = 32_768
LOG_BYTES: Final = 64 << 20
"""To what the write-ahead log is cut back after it was larger."""
WORDS_OF_EVENTS: Final = 7
"""The version of the file since which events are found by their words."""


class SqliteFile:
    """See `Backend`."""

    failure: type[Exception] = apsw.Error

    def __init__(self, path: str, *, create: bool = True, full_sync: bool = False) -> None:
        """`path` is a file's, or `:memory:`. `create`: make the file if it is not there. `full_sync`: wait for the disk
        at every commit.

        Raises InvalidInput for what is no path, StoreUnavailable for a path that cannot be opened or made.
        """
        self.name = path
        self.is_private = path == ":memory:"
        self._full_sync = full_sync
        if not self.is_private:
            check_path(path, create=create)

    def translated(self) -> AbstractContextManager[None]:
        return translated(self.name)

    def connect(self, *, reading: bool = False) -> SqliteConnection:
        connection = connect(self.name)
        try:
            connection.wait_for_locks(LOCK_TIMEOUT_S)
            connection.pragma("foreign_keys", True)
            connection.pragma("cache_size", -CACHE_KIB)
            connection.pragma("temp_store", "memory")
            # NORMAL: a killed process loses nothing that was acknowledged; a power cut may lose the last moments, never
            # the file. FULL waits for the disk at every commit.
            connection.pragma("synchronous", "FULL" if self._full_sync else "NORMAL")
            # Without a limit the log keeps, until the last process closes the file, the size of the largest import.
            connection.pragma("journal_size_limit", LOG_BYTES)
            if reading:
                connection.pragma("query_only", True)
        except BaseException:
            connection.close()
            raise
        return connection

    def prepare(self, connection: Connection, analyse: Analyse) -> None:
        """Bring the tables up to date and turn on the write-ahead log, in a file that is ours or empty.

        Changing the journal mode does not wait for other connections as other statements do, so processes that open a
        new file at the same moment try again here.
        """
        writing = cast("SqliteConnection", connection)
        fills: Mapping[int, schema.Fill] = {
            WORDS_OF_EVENTS: lambda connection: relational.full_text.add_all_words(connection, analyse)
        }
        deadline = time.monotonic() + LOCK_TIMEOUT_S
        while True:
            try:
                schema.refuse_others(writing, self.name)  # before anything is written to the file
                if not self.is_private:
                    writing.pragma("journal_mode", "wal")
                schema.prepare(writing, self.name, fills)
            except apsw.BusyError:
                if time.monotonic() > deadline:
                    raise
                time.sleep(0.005 + 0.045 * os.urandom(1)[0] / 255)
            else:
                return

    def copy(self, connection: Connection) -> Connection:
        contents = cast("SqliteConnection", connection).serialize("main")
        copied = self.connect()
        copied.deserialize("main", contents)
        return copied

    def purge(self, connection: Connection) -> str:
        try:
            with connection.dialect.overwriting(connection):
                _drop_words(connection)
            if not self.is_private:
                _rewrite(connection)
                if _log_is_held(connection):
                    return "another reader holds the file's log"
        except (apsw.BusyError, apsw.LockedError):
            return "somebody else is writing to the file"
        except apsw.FullError:
            return "there is no room to write the file anew"
        return ""

    def copies(self) -> tuple[str, ...]:
        return () if self.is_private else copies(self.name)

    def soundness(self, connection: Connection) -> Mapping[str, Callable[[], Finding]]:
        return {"sqlite": sqlite.doctor.library, "file": partial(sqlite.doctor.pages, connection)}

    def consistency(self, connection: Connection) -> Mapping[str, Callable[[], Finding]]:
        return {
            "references": partial(sqlite.doctor.references, connection),
            "full text": partial(sqlite.doctor.full_text, connection),
        }


def _drop_words(connection: Connection) -> None:
    """A row deleted from a full-text index is only marked there: its words are removed when the index is merged."""
    connection.execute("BEGIN IMMEDIATE")
    try:
        for table in relational.rows.INDEXED:
            connection.execute(f"INSERT INTO {table}_fts ({table}_fts) VALUES ('optimize')")
        connection.execute("COMMIT")
    except apsw.Error:
        if connection.in_transaction:
            with suppress(apsw.Error):
                connection.execute("ROLLBACK")
        raise


def _rewrite(connection: Connection) -> None:
    """Copy the file and write it back: no free page, and no gap within a page, keeps bytes of deleted rows. That holds
    for rows deleted before deleted rows were overwritten, too.
    """
    connection.execute("PRAGMA temp_store = file")  # the copy may be larger than the memory
    try:
        connection.execute("VACUUM")
    finally:
        connection.execute("PRAGMA temp_store = memory")


def _log_is_held(connection: Connection) -> bool:
    """Write the log into the file and empty it. Returns whether another reader prevented that."""
    busy, *_ = connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").get
    return bool(busy)


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
