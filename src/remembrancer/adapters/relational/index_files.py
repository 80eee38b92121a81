"""The tokens of the files of an index."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from remembrancer.adapters.relational.connection import Connection
    from remembrancer.domain.scope import Scope


def put_index_token(connection: Connection, scope: Scope, model: str | None, token: bytes, *, erasures: int) -> bool:
    last = connection.execute("SELECT coalesce(max(n), 0) FROM erasures WHERE workspace = ?", (scope.workspace,)).get
    if last != erasures:
        return False
    connection.execute(
        "INSERT INTO index_files (workspace, model, token) VALUES (?, ?, ?)"
        " ON CONFLICT (workspace, model) DO UPDATE SET token = excluded.token",
        (scope.workspace, model or "", token),
    )
    return True


def index_token(connection: Connection, scope: Scope, model: str | None) -> bytes | None:
    return connection.execute(
        "SELECT token FROM index_files WHERE workspace = ? AND model = ?", (scope.workspace, model or "")
    ).get
