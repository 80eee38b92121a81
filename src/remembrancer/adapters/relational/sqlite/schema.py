"""Create, check and migrate the tables of a file."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import closing
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

from remembrancer.adapters.relational.connection import Connection
from remembrancer.adapters.relational.schema import (
    current_version,
    migrations,
    require_finished,
    schema_sql,
)
from remembrancer.adapters.relational.sqlite.dialect import SqliteConnection, connect, copy_pages
from remembrancer.adapters.relational.sqlite.errors import DAMAGED
from remembrancer.durable import put_in_place
from remembrancer.errors import StoreUnavailable

if TYPE_CHECKING:
    from remembrancer.adapters.encryption import FileKey

APPLICATION_ID: Final = 0x52454D42  # "REMB", in the file's header: identifies files of this package


def version_of(connection: SqliteConnection, path: str) -> int:
    """The version of the file, 0 for an empty one; writes nothing.

    Raises StoreUnavailable for another program's file and for one that is being filled, Unsupported for a newer
    version.
    """
    version = stored_version(connection, path)
    require_finished(version, path)
    return version


def stored_version(connection: SqliteConnection, path: str) -> int:
    """The number in the file; negative while a move fills it. Raises StoreUnavailable for another program's file."""
    connection.execute("BEGIN")
    try:
        return _version(connection, path)
    finally:
        connection.execute("ROLLBACK")


def set_version(connection: SqliteConnection, version: int) -> None:
    connection.execute(f"PRAGMA user_version = {version}")


Fill = Callable[[Connection], None]
"""A function that runs after a migration's statements, in the same transaction."""
NO_FILLS: Final[Mapping[int, Fill]] = MappingProxyType({})


def prepare(connection: SqliteConnection, path: str, fills: Mapping[int, Fill] = NO_FILLS) -> None:
    """Create the tables in an empty file; back up and migrate an older file. `fills`: by migration number.

    Raises StoreUnavailable for another program's file, Unsupported for one of a newer version.
    """
    if connection.pragma("user_version") == current_version():
        return
    connection.execute("BEGIN IMMEDIATE")
    try:
        version = _version(connection, path)  # another process may have migrated it meanwhile
        require_finished(version, path)
        if version == 0:
            connection.execute(schema_sql())
        elif version < current_version():
            _backup(path, version, connection.file_key)
            for step in migrations()[version:]:
                connection.execute(step.sql)
                if step.number in fills:
                    fills[step.number](connection)
        connection.execute(f"PRAGMA application_id = {APPLICATION_ID}; PRAGMA user_version = {current_version()}")
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise


def _version(connection: SqliteConnection, path: str) -> int:
    """The file's version; 0: empty. Read in a transaction, because another process may create the tables meanwhile."""
    application = connection.pragma("application_id")
    version = connection.pragma("user_version")
    if application == APPLICATION_ID:
        if version == 0:
            raise StoreUnavailable(f"{path}: {DAMAGED} (file version {version})")
        return version
    tables = connection.execute("SELECT count(*) FROM sqlite_schema").get
    if application or version or tables:
        raise StoreUnavailable(f"{path}: another program's SQLite database; Remembrancer needs its own file")
    return 0


def _backup(path: str, version: int, key: FileKey | None) -> None:
    """Write a copy next to the file, under a temporary name until it is complete.

    The caller holds the write lock, so the copy is exactly the state before the migration, and only one process makes
    it. Another connection reads it.
    """
    target = Path(f"{path}.v{version}.backup")
    partial = Path(f"{target}.partial")
    try:
        partial.unlink(missing_ok=True)
        with closing(connect(path, key=key)) as connection:
            copy_pages(connection, str(partial))
        put_in_place(partial, target)  # on the disk before the migration is
    except OSError as error:
        raise StoreUnavailable(f"{path}: its backup {target} cannot be written ({error.strerror})") from error
    finally:
        partial.unlink(missing_ok=True)
