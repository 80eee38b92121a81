"""One SQLite file, or a database in memory: connections, settings, and the purge of deleted rows."""

from __future__ import annotations

import os
import re
import time
from collections.abc import Callable, Collection, Mapping
from contextlib import AbstractContextManager, closing, suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final, cast

import apsw

from remembrancer.adapters import relational
from remembrancer.adapters.relational import sqlite
from remembrancer.adapters.relational.connection import LOCK_TIMEOUT_S, Connection
from remembrancer.adapters.relational.schema import (
    NAME_TAGS,
    PREFERENCE_TAGS,
    Readiness,
    current_version,
    readiness,
    require_current,
)
from remembrancer.adapters.relational.sqlite import checksums, ciphers, schema
from remembrancer.adapters.relational.sqlite.dialect import SqliteConnection, connect
from remembrancer.adapters.relational.sqlite.errors import translated
from remembrancer.errors import InvalidInput, StoreUnavailable, Unsupported
from remembrancer.ports.notifications import Polled

if TYPE_CHECKING:
    from remembrancer.adapters.encryption import EncryptionKey, FileKey
    from remembrancer.domain.memory import Analyse
    from remembrancer.ports.candidate_source import CandidateSource
    from remembrancer.ports.inspection import Finding
    from remembrancer.ports.transfer import BackupReport, OnPages

ALONE_S: Final = 1.0
"""The time in seconds that `fill` waits for other connections to be closed."""
CACHE_KIB: Final = 32_768
PAGE_BYTES: Final = 2_048
"""The size of the pages of a new file; older files keep theirs. Larger pages have more unused space: every table needs
one, and two rows of 1.6 kB, as token signs are, fill 80 % of 4,096 bytes.
"""
LOG_PAGES: Final = 4_000
"""SQLite copies the write-ahead log into the file when the log has this many pages. A turn writes some 34 pages, many
of which the turn before also wrote; each is copied once. With SQLite's default of 1,000, a turn takes some 8 % more
CPU. Above 4,062, a reader has to search a second block of the log's index.
"""
LOG_BYTES: Final = 64 << 20
"""The size to which a larger write-ahead log is truncated."""
WORDS_OF_EVENTS: Final = 7
"""The first file version with a full-text index of events."""
CUES_OF_REVISIONS: Final = 17
"""The migration after which earlier revisions are found too."""


class SqliteFile:
    """See `Backend`."""

    failure: type[Exception] = apsw.Error
    lanes = 1

    def __init__(
        self,
        path: str,
        *,
        create: bool = True,
        full_sync: bool = False,
        read_only: bool = False,
        encryption: EncryptionKey | None = None,
        sealed_backups: bool = False,
    ) -> None:
        """`path` is a file's, or `:memory:`. `create`: create the file if it does not exist. `full_sync`: wait for the
        disk at every commit. `read_only`: change no byte of it, and migrate no tables. `encryption`: the key of an
        encrypted file; a new file is encrypted with it. `sealed_backups`: seal the rows of backups.

        Raises InvalidInput for an invalid path, StoreUnavailable for one that cannot be opened or created, and for a
        key where the file is not encrypted, or none where it is.
        """
        self.name = path
        self.is_private = path == ":memory:"
        self.is_file = not self.is_private
        self._full_sync = full_sync
        self._path = path
        self._create = create and not read_only
        self._read_only = read_only
        self._in_place: dict[str, tuple[int, int]] = {}
        """The device and inode of each file that is open, by its path."""
        if not self.is_private:
            check_path(path, create=self._create)
            self._path = os.path.abspath(path)  # noqa: PTH100  readers open it later: the folder may have changed
        self._encryption = encryption
        self._sealed_backups = sealed_backups
        self._key = self._file_key()

    def _file_key(self) -> FileKey | None:
        """None for a file that is not encrypted, and for one that does not exist yet."""
        return None if self.is_private else ciphers.file_key(self._path, self._encryption, self.name)

    def translated(self) -> AbstractContextManager[None]:
        return translated(self.name)

    def connect(self, *, reading: bool = False) -> SqliteConnection:
        self.require_in_place()
        keeps_log = self._read_only and Path(f"{self._path}-wal").exists()
        connection = connect(self._path, create=self._create and not self._in_place, key=self._key)
        try:
            self.require_in_place()  # again: another file may have come between
            connection.wait_for_locks(LOCK_TIMEOUT_S)
            connection.pragma("foreign_keys", True)
            connection.pragma("cache_size", -CACHE_KIB)
            connection.pragma("temp_store", "memory")
            # NORMAL: a killed process loses no acknowledged write; a power cut may lose the last moments, never
            # the file. FULL waits for the disk at every commit.
            connection.pragma("synchronous", "FULL" if self._full_sync else "NORMAL")
            connection.pragma("wal_autocheckpoint", LOG_PAGES)
            # Without a limit the log keeps the size of the largest import until the last process closes the file.
            connection.pragma("journal_size_limit", LOG_BYTES)
            if reading or self._read_only:
                connection.pragma("query_only", True)
            if keeps_log:  # which closing would write into the file
                connection.config(apsw.SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1)
        except BaseException:
            connection.close()
            raise
        return connection

    def prepare(self, analyse: Analyse) -> Connection:
        """Migrate the tables, and turn on checksums and the write-ahead log, if the file is empty or of this package.

        Changing the journal mode does not wait for locks as other statements do, so processes that open a new file at
        the same moment retry here. Each try has a new connection: a connection notices that a file has checksums when
        it reads the first page from the file itself, not from the log.
        """
        if self._read_only:
            return self._current()
        if self._encryption is not None and self._key is None and self._create and not self.is_private:
            create_encrypted(self._path, self._encryption)
            self._key = self._file_key()
        deadline = time.monotonic() + LOCK_TIMEOUT_S
        converted = False
        while True:
            connection = self.connect()
            try:
                schema.version_of(connection, self.name)  # before anything is written to the file
                if not connection.pragma("page_count"):
                    connection.pragma("page_size", PAGE_BYTES)
                convert = not converted and self._lacks_checksums(connection)
                if convert:
                    checksums.turn_on(connection)
                if not self.is_private:
                    connection.pragma("journal_mode", "wal")
                if not convert:
                    self._migrate(connection, analyse)
                    return connection
                converted = True
                connection.close()
            except BaseException as error:
                connection.close()
                if not isinstance(error, apsw.BusyError) or time.monotonic() > deadline:
                    raise
                time.sleep(0.005 + 0.045 * os.urandom(1)[0] / 255)

    def _current(self) -> SqliteConnection:
        """A connection to a file whose tables are those of this version."""
        connection = self.connect()
        try:
            require_current(schema.stored_version(connection, self.name), self.name)
        except BaseException:
            connection.close()
            raise
        return connection

    def readiness(self) -> Readiness:
        file = Path(self._path)
        if self.is_private or not file.exists() or not file.stat().st_size:
            return Readiness.ABSENT
        with closing(self.connect(reading=True)) as connection:
            return readiness(schema.stored_version(connection, self.name), self.name)

    def fill(self, analyse: Analyse) -> Connection:
        ready = self.readiness() is not Readiness.UNFINISHED
        connection = self.prepare(analyse) if ready else self.connect()
        try:
            connection.wait_for_locks(ALONE_S)
            cast("SqliteConnection", connection).pragma("locking_mode", "exclusive")
            connection.execute("BEGIN EXCLUSIVE")
            schema.set_version(cast("SqliteConnection", connection), -current_version())
            connection.execute("COMMIT")
        except BaseException as error:
            connection.close()
            if isinstance(error, apsw.BusyError):
                raise StoreUnavailable(f"{self.name}: is open in another process; stop it first") from error
            raise
        return connection

    def read_everything(self, connection: Connection) -> None:
        connection.execute(connection.dialect.begin_reading)

    def finish(self, connection: Connection) -> None:
        schema.set_version(cast("SqliteConnection", connection), current_version())

    def _migrate(self, connection: SqliteConnection, analyse: Analyse) -> None:
        fills: Mapping[int, schema.Fill] = {
            WORDS_OF_EVENTS: lambda connection: relational.full_text.add_all_words(connection, analyse),
            CUES_OF_REVISIONS: lambda connection: relational.memories.add_cues_of_revisions(connection, analyse),
            PREFERENCE_TAGS: lambda connection: relational.turn_tags.add_preferences(connection, analyse),
            NAME_TAGS: lambda connection: relational.turn_tags.add_names(connection, analyse),
        }
        schema.prepare(connection, self.name, fills)
        if not self.is_private:
            files = [f"{self._path}{suffix}" for suffix in ("", "-wal", "-shm")]
            self._in_place = {file: found for file in files if (found := _identity(file)) is not None}

    def _lacks_checksums(self, connection: SqliteConnection) -> bool:
        """Whether the file has no checksums and should have them.

        Raises Unsupported for one that has them if apsw cannot compute them, because pages written without them would
        be reported as damaged.
        """
        if self.is_private or self._key is not None:  # encrypted pages have tags, which take their place
            return False
        if checksums.vfs() is not None:
            return not checksums.are_on(connection)
        if checksums.reserved(connection):
            raise Unsupported(f"{self.name}: its pages have checksums; {checksums.ABSENT}")
        return False

    def require_in_place(self) -> None:
        for file, identity in self._in_place.items():
            if _identity(file) != identity:
                raise StoreUnavailable(
                    f"{file}: was deleted, moved or replaced while it was open; nothing more is written to it; put it"
                    " back, or restore a backup, then open it again"
                )

    def notify(self, connection: Connection, workspaces: Collection[str]) -> None:
        """SQLite has no notifications."""

    def subscribe(self, workspace: str, wake: Callable[[], None]) -> Polled:
        return Polled()

    def close(self) -> None:
        """There are no subscriptions."""

    def copy(self, connection: Connection) -> Connection:
        contents = cast("SqliteConnection", connection).serialize("main")
        copied = self.connect()
        copied.deserialize("main", contents)
        return copied

    def purge(self, connection: Connection) -> str:
        if self._encryption is not None and not self.is_private:
            try:
                sqlite.row_keys.destroy_erased(connection, self._path, self._encryption)
            except StoreUnavailable as error:
                return f"keys of sealed backups are not destroyed yet: {error}"
        try:
            with connection.dialect.overwriting(connection):
                _drop_words(connection)
            if not self.is_private:
                _rewrite(connection)
                if _log_is_held(connection):
                    return "another reader is using the file's log"
        except (apsw.BusyError, apsw.LockedError):
            return "another process is writing to the file"
        except apsw.FullError:
            return "there is not enough disk space to rewrite the file"
        return ""

    def back_up(self, connection: Connection, path: Path, on_pages: OnPages | None) -> BackupReport:
        source = cast("SqliteConnection", connection)
        if self._sealed_backups and self._encryption is not None and not self.is_private:
            return sqlite.backups.back_up_sealed(source, path, self._path, self._encryption, on_pages)
        return sqlite.backups.back_up(source, path, on_pages)

    def candidate_source(self, model: str | None, dim: int, *, install: bool) -> CandidateSource | None:
        if install:
            raise Unsupported(f"{self.name}: an SQLite file has no vector index; use index=auto or index=resident")
        return None

    def copies(self) -> tuple[str, ...]:
        return () if self.is_private else copies(self.name)

    def soundness(self, connection: Connection) -> Mapping[str, Callable[[], Finding]]:
        looks = {"sqlite": sqlite.doctor.library, "file": partial(sqlite.doctor.pages, connection)}
        if self._key is not None:
            looks["encryption"] = sqlite.doctor.encryption
        elif not self.is_private:
            looks["checksums"] = partial(sqlite.doctor.page_checksums, cast("SqliteConnection", connection))
        return looks

    def consistency(self, connection: Connection) -> Mapping[str, Callable[[], Finding]]:
        return {
            "references": partial(sqlite.doctor.references, connection),
            "full text": partial(sqlite.doctor.full_text, connection),
        }


def _drop_words(connection: Connection) -> None:
    """Merge the full-text indexes, because a deleted row is only marked there until its index is merged."""
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
    """Copy the file and write it back, so that no free page or gap within a page keeps bytes of deleted rows, including
    rows deleted before overwriting was turned on.
    """
    connection.execute("PRAGMA temp_store = file")  # the copy may exceed the memory
    try:
        connection.execute("VACUUM")
    finally:
        connection.execute("PRAGMA temp_store = memory")


def _log_is_held(connection: Connection) -> bool:
    """Write the log into the file and empty it. Returns whether another reader prevented that."""
    busy, *_ = connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").get
    return bool(busy)


def _identity(file: str) -> tuple[int, int] | None:
    """The device and inode of a file; None if there is none. Opening it instead would end SQLite's locks on it."""
    try:
        found = os.stat(file)  # noqa: PTH116  half the time of Path.stat, at every commit
    except OSError:
        return None
    return found.st_dev, found.st_ino


def check_path(path: str, *, create: bool) -> None:
    """Raises InvalidInput if it is not a path, StoreUnavailable if the file cannot be opened, or created (`create`)."""
    if not path or not _is_text(path):
        raise InvalidInput("url", path, "a file's path, or :memory:")
    file = Path(path)
    try:
        if file.is_dir():
            raise StoreUnavailable(f"{path}: is a folder; give a file's path")
        if not file.parent.is_dir():
            raise StoreUnavailable(f"{path}: its folder {file.parent} does not exist: create it, or give another path")
        if file.exists():
            _check_file(file, path)
            if not create and not file.stat().st_size:
                raise StoreUnavailable(f"{path}: the file is empty; it was never a database, or it was truncated")
            return
    except OSError as error:
        raise StoreUnavailable(f"{path}: cannot be opened ({error.strerror})") from error
    if not create:
        raise StoreUnavailable(f"{path}: no such file; `remembrancer remember` or `ingest` creates one")
    if not os.access(file.parent, os.W_OK):
        raise StoreUnavailable(f"{path}: cannot be created, its folder is read-only: give another path")


def create_encrypted(path: str, encryption: EncryptionKey) -> None:
    """Create a file without tables, if there is none yet. Two processes that do this at once use one salt: that of the
    file that was first given its name.
    """
    partial = f"{path}.{os.urandom(4).hex()}.partial"
    try:
        with closing(connect(partial, key=encryption.of_file(ciphers.new_salt()))) as connection:
            connection.pragma("page_size", PAGE_BYTES)
            connection.pragma("journal_mode", "wal")  # writes the first page, with the salt
        if Path(path).exists() and not Path(path).stat().st_size:
            Path(partial).replace(path)
        else:
            ciphers.name_once(Path(partial), Path(path))
    except OSError as error:
        raise StoreUnavailable(f"{path}: cannot be created ({error.strerror})") from error
    finally:
        Path(partial).unlink(missing_ok=True)


def copies(path: str) -> tuple[str, ...]:
    """The names of the file's copies next to it, made by migrations and restorations, complete or not."""
    file = Path(path)
    # Not a glob: the name may contain pattern characters.
    begin = f"{file.name}."
    beside = (one.name for one in file.parent.iterdir() if one.name.startswith(begin))
    made = re.compile(r"(.*\.)?(backup(\.partial)?|replaced-\d+)|[0-9a-f]{8}\.partial")
    return tuple(sorted(name for name in beside if made.fullmatch(name.removeprefix(begin))))


def _check_file(file: Path, path: str) -> None:
    if not file.is_file():  # opening a pipe could block forever
        raise StoreUnavailable(f"{path}: is a device, a pipe or a socket, not a file")
    if not os.access(file, os.R_OK):
        raise StoreUnavailable(f"{path}: no permission to read it")
    if not os.access(file, os.W_OK) or not os.access(file.parent, os.W_OK):
        raise StoreUnavailable(f"{path}: the file or its folder is read-only; Remembrancer must write next to it")


def _is_text(path: str) -> bool:
    """Whether SQLite accepts the path: Unicode without NUL."""
    try:
        return b"\0" not in path.encode()
    except UnicodeEncodeError:
        return False
