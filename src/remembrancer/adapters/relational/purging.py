"""What deleted rows leave in the files, and how the files are rid of it: full-text words, free pages, the log."""

from __future__ import annotations

from contextlib import suppress
from datetime import datetime
from typing import Final

import apsw

from remembrancer.adapters.relational.connection import Connection
from remembrancer.adapters.relational.errors import as_written
from remembrancer.adapters.relational.overwriting import overwriting
from remembrancer.adapters.relational.rows import TABLES
from remembrancer.adapters.relational.times import micros, optional_moment
from remembrancer.domain.erasure import Erasure
from remembrancer.domain.scope import Scope
from remembrancer.ports.receipts import erasure_of

PATIENCE_S: Final = 5.0
"""How long it waits for whoever reads or writes the file: no other write of this process is done meanwhile."""


def erasures(connection: Connection, scope: Scope, limit: int) -> tuple[Erasure, ...]:
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


def purge(connection: Connection, scope: Scope, at: datetime, *, in_memory: bool) -> str:
    """Outside of any transaction. "" when no trace is left, else why there may be."""
    try:
        with overwriting(connection):
            _drop_words(connection)
        if not in_memory:
            _rewrite(connection)
            if _log_is_held(connection):
                return "another reader holds the file's log"
    except (apsw.BusyError, apsw.LockedError):
        return "somebody else is writing to the file"
    except apsw.FullError:
        return "there is no room to write the file anew"
    connection.execute(
        "UPDATE erasures SET purged_at = ? WHERE workspace = ? AND purged_at IS NULL", (micros(at), scope.workspace)
    )
    return ""


def _drop_words(connection: Connection) -> None:
    """A row that leaves an index without content is only struck out there: its words go when the index is merged."""
    connection.execute("BEGIN IMMEDIATE")
    try:
        for table in ("cues", *TABLES):
            connection.execute(f"INSERT INTO {table}_fts ({table}_fts) VALUES ('optimize')")
        connection.execute("COMMIT")
    except apsw.Error:
        if connection.in_transaction:
            with suppress(apsw.Error):
                connection.execute("ROLLBACK")
        raise


def _rewrite(connection: Connection) -> None:
    """Into a copy and back, so that no free page and no gap within one is left of what rows were before, also of those
    that went when nothing was overwritten yet.
    """
    connection.pragma("temp_store", "file")  # the copy may be larger than what there is of memory
    try:
        connection.execute("VACUUM")
    finally:
        connection.pragma("temp_store", "memory")


def _log_is_held(connection: Connection) -> bool:
    """Bring the log into the file and empty it; whether somebody kept that from being done."""
    busy, *_ = connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").get
    return bool(busy)
