"""apsw's connection as the `Connection` of this package. apsw's own stubs leave parts of it untyped."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final, Protocol, cast

import apsw

from remembrancer.adapters.relational.connection import Binding, Connection
from remembrancer.adapters.relational.sqlite.dialect import SqliteDialect

_DIALECT: Final = SqliteDialect()


class SqliteConnection(Connection, Protocol):
    """What only the SQLite dialect calls."""

    def pragma(self, name: str, value: str | int | None = None) -> Any: ...
    def serialize(self, name: str) -> bytes: ...
    def deserialize(self, name: str, contents: bytes) -> None: ...


class _Connection(apsw.Connection):
    dialect = _DIALECT

    def count(self, statement: str, bindings: Sequence[Binding]) -> int:
        cast("Connection", self).execute(statement, bindings)
        return self.changes()

    def wait_for_locks(self, seconds: float) -> None:
        self.set_busy_timeout(int(seconds * 1000))


def connect(path: str) -> SqliteConnection:
    """A connection that may make the file. Raises apsw.Error."""
    return cast("SqliteConnection", _Connection(path))
