"""The receipts of erasures, and whether the database is rid of what they deleted."""

from __future__ import annotations

from datetime import datetime
from typing import Final

from remembrancer.adapters.relational.connection import Connection
from remembrancer.adapters.relational.dialect import Backend
from remembrancer.adapters.relational.errors import as_written
from remembrancer.domain.erasure import Erasure
from remembrancer.domain.instants import micros, optional_moment
from remembrancer.domain.scope import Scope
from remembrancer.ports.receipts import erasure_of

PATIENCE_S: Final = 5.0
"""How long a purge waits for other readers and writers of the database. This process writes nothing meanwhile."""


def erasures(connection: Connection, scope: Scope, *, limit: int) -> tuple[Erasure, ...]:
    rows = connection.execute(
        "SELECT receipt, purged_at FROM erasures WHERE workspace = ? ORDER BY n DESC LIMIT ?", (scope.workspace, limit)
    )
    with as_written():
        return tuple(erasure_of(receipt, purged_at=optional_moment(at)) for receipt, at in rows)


def is_due(connection: Connection, scope: Scope) -> bool:
    found: int = connection.execute(
        "SELECT EXISTS (SELECT 1 FROM erasures WHERE workspace = ? AND purged_at IS NULL)", (scope.workspace,)
    ).get
    return bool(found)


def purge(connection: Connection, backend: Backend, scope: Scope, at: datetime) -> str:
    """Purge the database outside of any transaction. Returns "" when no trace is left, else why there may be one."""
    left = backend.purge(connection)
    if not left:
        connection.execute(
            "UPDATE erasures SET purged_at = ? WHERE workspace = ? AND purged_at IS NULL", (micros(at), scope.workspace)
        )
    return left
