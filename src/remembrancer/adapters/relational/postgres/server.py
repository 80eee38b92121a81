"""A PostgreSQL database: connections, tables, checks, and the purge of deleted rows."""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Collection, Generator, Mapping
from contextlib import closing, contextmanager
from functools import partial
from typing import TYPE_CHECKING, Final
from urllib.parse import urlsplit, urlunsplit

import psycopg
from psycopg import conninfo, errors

from remembrancer.adapters import relational
from remembrancer.adapters.relational.connection import Connection
from remembrancer.adapters.relational.database import READERS
from remembrancer.adapters.relational.postgres import pgvector, schema
from remembrancer.adapters.relational.postgres.dialect import CONNECT_TIMEOUT_S, LOCK, PostgresConnection, connected
from remembrancer.adapters.relational.postgres.listening import Listener, notify
from remembrancer.adapters.relational.rows import INDEXED
from remembrancer.adapters.relational.schema import (
    NAME_TAGS,
    PREFERENCE_TAGS,
    Readiness,
    current_version,
    readiness,
    require_current,
)
from remembrancer.adapters.relational.store import RelationalStore
from remembrancer.errors import Conflict, InvalidInput, RemembrancerError, StoreUnavailable, Unsupported
from remembrancer.ports.changes import UnreadableRow
from remembrancer.ports.inspection import Finding

if TYPE_CHECKING:
    from pathlib import Path

    from remembrancer.domain.memory import Analyse
    from remembrancer.ports.candidate_source import CandidateSource
    from remembrancer.ports.notifications import Subscription
    from remembrancer.ports.store import Store
    from remembrancer.ports.transfer import BackupReport, OnPages

OLDEST: Final = 15
"""The oldest major version of the server that is tested."""
MOST_PARTITIONS: Final = 256
CONNECTIONS: Final = 12
"""The most connections of a process, besides the one that listens, unless the address has `connections`."""
LANES: Final = 4
_LEAST: Final = 2 * READERS + 2
"""A connection for each thread that reads, one that writes, and one for exports and backups."""
_MOST_CONNECTIONS: Final = 1_000
_RESTORE: Final = "restore a backup of the database"
MEANINGS: Final[tuple[tuple[type[psycopg.Error], type[RemembrancerError], str], ...]] = (
    (errors.IntegrityError, Conflict, "the row already exists, or a row it refers to does not"),
    (errors.LockNotAvailable, StoreUnavailable, "another process held a lock for too long; try again"),
    (errors.QueryCanceled, StoreUnavailable, "a statement took too long, or the server's administrator cancelled it"),
    (errors.DiskFull, StoreUnavailable, "the server's disk is full; this write was rolled back"),
    (errors.InsufficientPrivilege, StoreUnavailable, "this user has no permission for it"),
    (errors.UndefinedTable, StoreUnavailable, "its tables are not those of Remembrancer"),
    (errors.OperationalError, StoreUnavailable, "the server does not answer"),
)
"""The messages for failures of the server and conflicts with other writers; the first that fits counts."""
_FULL: Final = re.compile("too many (clients|connections)|connection slots are reserved")
_IS_FULL: Final = (
    "it accepts no more connections; use fewer processes, or fewer `connections` in their addresses, or raise the"
    " server's max_connections"
)


class PostgresServer:
    """See `Backend`."""

    failure: type[Exception] = psycopg.Error
    is_private = False
    is_file = False

    def __init__(self, url: str, *, create: bool = True, read_only: bool = False) -> None:
        """`url`: postgresql://user:password@host:port/database, with any parameters of libpq, and two more.
        `partitions`: the number into which each table is divided by workspace when it is made. `connections`: the most
        connections of this process, besides the one that listens. `create`: make the tables if there are none.
        `read_only`: the server refuses to write, and no tables are migrated.

        Raises InvalidInput for an invalid URL.
        """
        url, self._partitions = _without(url, "partitions", 2, MOST_PARTITIONS)
        url, connections = _without(url, "connections", _LEAST, _MOST_CONNECTIONS)
        self._connections = connections or CONNECTIONS
        self._free = threading.Semaphore(self._connections)
        self.lanes = min(LANES, self._connections - _LEAST + 1)
        try:
            conninfo.conninfo_to_dict(url)
        except psycopg.Error as error:
            raise InvalidInput("url", without_password(url), "postgresql://user:password@host:port/database") from error
        self.name = without_password(url)
        self._url = url
        self._create = create
        self._listener = Listener(lambda: connected(self._url))
        self._read_only = read_only

    @property
    def address(self) -> str:
        """The URL with libpq's parameters only."""
        return self._url

    @contextmanager
    def translated(self) -> Generator[None]:
        try:
            yield
        except psycopg.Error as error:
            if isinstance(error, errors.OperationalError) and _FULL.search(str(error)):
                raise StoreUnavailable(f"{self.name}: {_IS_FULL} ({' '.join(str(error).split())})") from error
            for kind, ours, meaning in MEANINGS:
                if isinstance(error, kind):
                    raise ours(f"{self.name}: {meaning} ({' '.join(str(error).split())})") from error
            raise
        except UnreadableRow as error:
            raise StoreUnavailable(f"{self.name}: a row is damaged ({error}); {_RESTORE}") from error

    def connect(self, *, reading: bool = False) -> PostgresConnection:
        if not self._free.acquire(timeout=CONNECT_TIMEOUT_S):
            raise StoreUnavailable(
                f"{self.name}: all {self._connections} connections of this process are in use; try again when an export"
                " has ended, or raise `connections` in the address"
            )
        try:
            connection = PostgresConnection(self._url, on_close=self._free.release)
        except BaseException:
            self._free.release()
            raise
        if self._read_only:
            connection.execute("SET default_transaction_read_only = on")
        return connection

    def prepare(self, analyse: Analyse) -> Connection:
        connection = self.connect()
        try:
            if self._read_only:
                require_current(schema.stored_version(connection), self.name)
                return connection
            schema.prepare(
                connection,
                self.name,
                create=self._create,
                partitions=self._partitions,
                fills={
                    PREFERENCE_TAGS: lambda connection: relational.turn_tags.add_preferences(connection, analyse),
                    NAME_TAGS: lambda connection: relational.turn_tags.add_names(connection, analyse),
                },
                migrated=pgvector.renew_function,
            )
        except BaseException:
            connection.close()
            raise
        return connection

    def readiness(self) -> Readiness:
        with closing(self.connect(reading=True)) as connection:
            return readiness(schema.stored_version(connection), self.name)

    def fill(self, analyse: Analyse) -> Connection:
        ready = self.readiness() is not Readiness.UNFINISHED
        connection = self.prepare(analyse) if ready else self.connect()
        try:
            self._fill_alone(connection)
            connection.execute("BEGIN")
            schema.set_version(connection, -current_version())
            schema.obey_policies(connection, owner=False)  # what is there is compared for all workspaces
            connection.execute("COMMIT")
        except BaseException:
            connection.close()
            raise
        return connection

    def _fill_alone(self, connection: Connection) -> None:
        """Take a lock that lasts as long as the connection."""
        taking = "SELECT pg_try_advisory_lock(hashtextextended(current_schema() || ' being filled', ?))"
        if not connection.execute(taking, (LOCK,)).get:
            raise StoreUnavailable(f"{self.name}: another process is filling it; stop that first")

    def read_everything(self, connection: Connection) -> None:
        hidden = connection.execute(
            "SELECT count(*) FROM pg_class c WHERE c.relnamespace = current_schema()::regnamespace"
            " AND row_security_active(c.oid)"
        ).get
        if not hidden:
            connection.execute(connection.dialect.begin_reading)
            return
        connection.execute("BEGIN ISOLATION LEVEL REPEATABLE READ READ WRITE")
        schema.obey_policies(connection, owner=False)  # undone with the transaction

    def finish(self, connection: Connection) -> None:
        connection.execute("ANALYZE")  # the planner knows nothing of rows that came at once
        connection.execute("BEGIN")
        schema.obey_policies(connection, owner=True)
        schema.set_version(connection, current_version())
        connection.execute("COMMIT")

    def require_in_place(self) -> None:
        """A server keeps its files to itself."""

    def notify(self, connection: Connection, workspaces: Collection[str]) -> None:
        notify(connection, workspaces)

    def subscribe(self, workspace: str, wake: Callable[[], None]) -> Subscription:
        return self._listener.subscribe(workspace, wake)

    def close(self) -> None:
        self._listener.close()

    def copy(self, connection: Connection) -> Connection:
        raise Unsupported(f"{self.name}: only a database in memory is copied")

    def purge(self, connection: Connection) -> str:
        """Write each table anew: the server keeps the bytes of deleted rows in the table's file until then."""
        try:
            for table in schema.tables(connection):
                connection.execute(f'VACUUM (FULL) "{table}"')
        except errors.LockNotAvailable:
            return "another connection is using a table"
        except errors.DiskFull:
            return "there is not enough disk space to write a table anew"
        return ""

    def back_up(self, connection: Connection, path: Path, on_pages: OnPages | None) -> BackupReport:
        raise Unsupported(f"{self.name}: a PostgreSQL database is backed up with pg_dump")

    def candidate_source(self, model: str | None, dim: int, *, install: bool) -> CandidateSource | None:
        with self.translated():
            connection = self.connect()
            try:
                later = partial(self.candidate_source, install=True)
                return pgvector.source(connection, self.name, model, dim, install=install, later=later)
            finally:
                connection.close()

    def copies(self) -> tuple[str, ...]:
        return ("the server's write-ahead log, until it is recycled", "the server's backups and replicas")

    def soundness(self, connection: Connection) -> Mapping[str, Callable[[], Finding]]:
        return {
            "postgresql": partial(_version, connection),
            "row-level security": partial(_row_level_security, connection),
            pgvector.NAME: partial(pgvector.check, connection),
        }

    def consistency(self, connection: Connection) -> Mapping[str, Callable[[], Finding]]:
        return {"full text": partial(_full_text, connection)}


def open_store(url: str, /, *, analyse: Analyse, create: bool) -> Store:
    """See `StoreOpener`; registered for postgresql:// and postgres://."""
    return RelationalStore(PostgresServer(url, create=create), analyse=analyse)


def without_password(url: str) -> str:
    """The URL for messages."""
    parts = urlsplit(url)
    place = parts.hostname or ""
    if parts.port:
        place = f"{place}:{parts.port}"
    if parts.username:
        place = f"{parts.username}@{place}"
    return urlunsplit((parts.scheme, place, parts.path, "", ""))


def _without(url: str, name: str, least: int, most: int) -> tuple[str, int]:
    """The URL without a parameter of ours, and its value; 0: it has none."""
    match = re.search(rf"(?<=[?&]){name}=([^&]*)&?", url)
    if match is None:
        return url, 0
    if match[1] not in {str(number) for number in range(least, most + 1)}:
        raise InvalidInput(name, match[1], f"a whole number from {least} to {most}")
    return url.replace(match[0], "").rstrip("?&"), int(match[1])


def _version(connection: Connection) -> Finding:
    number = int(connection.execute("SHOW server_version_num").get)
    encoding: str = connection.execute("SHOW server_encoding").get
    sound = number >= OLDEST * 10_000 and encoding == "UTF8"
    detail = f"PostgreSQL {number // 10_000}.{number % 10_000}, {encoding}, tables of version {current_version()}"
    return Finding("postgresql", sound, detail, f"use PostgreSQL {OLDEST} or newer, and a database in UTF8")


def _row_level_security(connection: Connection) -> Finding:
    """Whether the policies hold for this user: not for a superuser, nor for a role with BYPASSRLS."""
    dialect = connection.dialect
    user, bypassed = connection.execute(
        "SELECT current_user, count(*) FILTER (WHERE NOT row_security_active(c.oid)) FROM pg_class c"
        f" WHERE c.relnamespace = current_schema()::regnamespace AND {dialect.in_list('c.relname')}",
        (dialect.listed(schema.names()),),
    ).get
    state = f"not in force for the user {user}, in {bypassed} tables" if bypassed else f"in force for the user {user}"
    repair = "connect as a role that is no superuser and lacks BYPASSRLS"
    return Finding("row-level security", True, state, repair, warning=bypassed > 0)


def _full_text(connection: Connection) -> Finding:
    """Whether every cue, event and archived event has its full-text row. A foreign key forbids others."""
    missing = sum(
        connection.execute(
            f"SELECT count(*) FROM {table} c WHERE NOT EXISTS (SELECT 1 FROM {table}_words w WHERE w.n = c.n)"
        ).get
        for table in INDEXED
    )
    return Finding("full text", missing == 0, f"{missing} texts without a full-text row", _RESTORE)
