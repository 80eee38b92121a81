"""Kept recalls: answers by reference to what memories said."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final
from uuid import UUID

from remembrancer.adapters.relational.clauses import Where, seen_by
from remembrancer.adapters.relational.columns import ID, OBJECT, TIME, Column, Columns, add_row, inside, scope_of
from remembrancer.adapters.relational.rows import SCOPE
from remembrancer.domain.instants import micros
from remembrancer.domain.kept import MAX_KEPT, KeptRecall
from remembrancer.domain.scope import SCOPE_PARTS
from remembrancer.errors import Conflict, InvalidInput

if TYPE_CHECKING:
    from collections.abc import Callable

    from remembrancer.adapters.relational.connection import Connection
    from remembrancer.domain.erasure import ErasureSelection
    from remembrancer.domain.scope import Reader, Scope

KEPT: Final = Columns[KeptRecall](
    "k",
    KeptRecall,
    (Column("id", ID), *inside("scope", SCOPE), Column("at", TIME), Column("query"), Column("answer", OBJECT)),
    {"scope": scope_of},
)


def keep_recall(connection: Connection, scope: Scope, kept: KeptRecall) -> None:
    if kept.scope.workspace != scope.workspace:
        raise InvalidInput("kept.scope.workspace", kept.scope.workspace, repr(scope.workspace))
    if not add_row(connection, "kept_recalls", KEPT.names, KEPT.bindings(kept)):
        raise Conflict(f"recall {kept.id} is kept already")
    connection.execute(
        "DELETE FROM kept_recalls WHERE workspace = ? AND n NOT IN"
        " (SELECT n FROM kept_recalls WHERE workspace = ? ORDER BY n DESC LIMIT ?)",
        (scope.workspace, scope.workspace, MAX_KEPT),
    )


def kept_recall(connection: Connection, reader: Reader, recall_id: UUID) -> KeptRecall | None:
    seen = seen_by(reader, "k", visibility=False)
    return KEPT.first(connection, f"kept_recalls k WHERE {seen.sql} AND k.id = ?", (*seen.bindings, recall_id.bytes))


def drop_recall(connection: Connection, reader: Reader, recall_id: UUID) -> bool:
    if kept_recall(connection, reader, recall_id) is None:
        return False
    connection.execute(
        "DELETE FROM kept_recalls WHERE workspace = ? AND id = ?", (reader.scope.workspace, recall_id.bytes)
    )
    return True


def erase_asked_in(connection: Connection, table: str, scope: Scope, choice: ErasureSelection) -> int:
    """Remove the kept answers, the credits or the exposures that were asked for or reported in the scope that an
    erasure selects. Returns how many.

    None, if it selects by anything else too, such as an actor: these rows have none.
    """
    if not choice.parts or not choice.parts.keys() <= set(SCOPE_PARTS):
        return 0
    where = Where()
    if table == "exposures":
        where.add("memory IN (SELECT n FROM memories WHERE workspace = ?)", scope.workspace)
    else:
        where.add("workspace = ?", scope.workspace)
    for part, value in choice.parts.items():
        where.add(f"{part} = ?", value)
    if choice.before is not None:
        where.add("at < ?", micros(choice.before))
    return connection.count(f"DELETE FROM {table} WHERE {where.sql}", where.bindings)


def erase_quoting(connection: Connection, scope: Scope, quotes: Callable[[str], bool]) -> int:
    """Remove the answers whose question quotes an erased text. Returns how many."""
    rows = list(connection.execute("SELECT n, query FROM kept_recalls WHERE workspace = ?", (scope.workspace,)))
    going = [(number,) for number, query in rows if quotes(query)]
    connection.executemany("DELETE FROM kept_recalls WHERE n = ?", going)
    return len(going)
