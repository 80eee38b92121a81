"""Procrastinate's tables, in a schema of their own: created and migrated when a queue is first used."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Final

from procrastinate.schema import SchemaManager

from remembrancer.errors import Unsupported

if TYPE_CHECKING:
    from remembrancer.adapters.relational.postgres.dialect import PostgresConnection

SUFFIX: Final = "_jobs"
"""The schema's name is that of the memory's schema with this suffix: `public_jobs`."""
_VERSION: Final = "remembrancer_jobs"
"""Holds the name of procrastinate's newest migration in the tables, in its one row."""


def prepare(connection: PostgresConnection, name: str) -> str:
    """Create procrastinate's tables, or migrate older ones. Of several processes, one does it. Nothing is ever dropped.

    Returns the schema's name, quoted. Raises Unsupported for the tables of a newer procrastinate.
    """
    schema: str = connection.execute("SELECT quote_ident(current_schema() || ?)", (SUFFIX,)).get
    newest = migrations()[-1].name
    if _version(connection, schema, name, newest) == newest:
        return schema
    connection.execute("BEGIN")
    try:
        connection.dialect.serialise(connection, (SUFFIX,))
        version = _version(connection, schema, name, newest)  # another process may have made them meanwhile
        if not _count(connection, "pg_namespace WHERE quote_ident(nspname) = ?", schema):
            connection.execute(f"CREATE SCHEMA {schema}")
        connection.execute(f"SET LOCAL search_path TO {schema}")
        if version is None:
            connection.execute(SchemaManager.get_schema())
            connection.execute(f"CREATE TABLE {_VERSION} (migration text NOT NULL)")
            connection.execute(f"INSERT INTO {_VERSION} VALUES ('')")
        else:
            for step in migrations():
                if step.name > version:
                    connection.execute(step.read_text(encoding="utf-8"))
        connection.execute(f"UPDATE {_VERSION} SET migration = ?", (newest,))
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise
    return schema


def migrations() -> list[Path]:
    """The migrations of the installed procrastinate, oldest first."""
    return sorted(Path(SchemaManager.get_migrations_path()).glob("*.sql"))


def _version(connection: PostgresConnection, schema: str, name: str, newest: str) -> str | None:
    """The newest migration in the tables; None: there are no tables."""
    if not _count(connection, "pg_tables WHERE quote_ident(schemaname) = ? AND tablename = ?", schema, _VERSION):
        return None
    version: str = connection.execute(f"SELECT migration FROM {schema}.{_VERSION}").get
    if version > newest:
        raise Unsupported(
            f"{name}: its job queue was made by a newer procrastinate ({version}; this one knows up to {newest});"
            " upgrade procrastinate"
        )
    return version


def _count(connection: PostgresConnection, what: str, *names: str) -> int:
    # Not `to_regclass`, which may answer from a cache that is older than the other process's commit.
    return connection.execute(f"SELECT count(*) FROM {what}", names).get
