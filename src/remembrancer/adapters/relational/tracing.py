"""Find the rows that an erasure selects and those connected to them, in the whole workspace; store receipts and record
purges.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from datetime import datetime
from typing import Final
from uuid import UUID

from remembrancer.adapters.relational.clauses import Where
from remembrancer.adapters.relational.columns import as_written
from remembrancer.adapters.relational.connection import Connection
from remembrancer.adapters.relational.dialect import Backend
from remembrancer.adapters.relational.retention import held
from remembrancer.adapters.relational.rows import EVENTS, MEMORIES, TABLES
from remembrancer.domain.erasure import Erasure, ErasureSelection, ErasureTrace, EventTrace, Traces
from remembrancer.domain.instants import micros, optional_moment
from remembrancer.domain.relation import RelationKind
from remembrancer.domain.scope import Scope
from remembrancer.errors import NotFound
from remembrancer.ports.receipts import erasure_of


def lying_in(
    connection: Connection, scope: Scope, choice: ErasureSelection, *, unheld: bool = False
) -> tuple[frozenset[UUID], frozenset[UUID]]:
    if choice.ids:
        _require(connection, scope, "memory", choice.ids, ("memories",))
        return choice.ids, frozenset()
    if choice.events:
        _require(connection, scope, "event", choice.events, TABLES)
        return frozenset(), choice.events
    found: dict[str, frozenset[UUID]] = {}
    for table, time in (("memories", "occurred_to"), ("events", "occurred_at"), ("archive", "occurred_at")):
        where = Where()
        where.add("workspace = ?", scope.workspace)
        for part, value in choice.parts.items():
            where.add(f"{'type' if part == 'kind' and table != 'memories' else part} = ?", value)
        if choice.before is not None:
            where.add(f"{time} < ?", micros(choice.before))
        if unheld:
            where.add(f"NOT {held(table, table)}")
        rows = connection.execute(f"SELECT id FROM {table} WHERE {where.sql}", where.bindings)
        found[table] = frozenset(UUID(bytes=identifier) for (identifier,) in rows)
    return found["memories"], found["events"] | found["archive"]


def traces(connection: Connection, scope: Scope, *, memories: Collection[UUID], events: Collection[UUID]) -> Traces:
    return Traces(_memories(connection, scope, memories), _events(connection, scope, events))


def _memories(connection: Connection, scope: Scope, ids: Collection[UUID]) -> dict[UUID, ErasureTrace]:
    rows = connection.execute(
        f"SELECT {MEMORIES.select}, m.n FROM memories m WHERE m.workspace = ? AND {connection.dialect.in_ids('m.id')}",
        (scope.workspace, connection.dialect.ids(ids)),
    )
    found: dict[UUID, ErasureTrace] = {}
    for row in list(rows):
        memory, number = MEMORIES.value_of(row), row[-1]
        found[memory.id] = ErasureTrace(
            memory=memory,
            events=_ids(
                connection,
                "SELECT e.id FROM memory_events l JOIN events e ON e.n = l.event WHERE l.memory = ? ORDER BY l.ordinal",
                number,
            ),
            turns=frozenset(_ids(connection, _TURNS, number)),
            sources=frozenset(_ids(connection, _edges("target", "source"), number, RelationKind.DERIVED_FROM)),
            derived=frozenset(_ids(connection, _edges("source", "target"), number, RelationKind.DERIVED_FROM)),
        )
    return found


_TURNS: Final = "SELECT e.id FROM cues c JOIN events e ON e.n = c.event WHERE c.memory = ? AND c.last IS NULL"


def _edges(far: str, near: str) -> str:
    return f"SELECT o.id FROM relations r JOIN memories o ON o.n = r.{far} WHERE r.{near} = ? AND r.kind = ?"


def _events(connection: Connection, scope: Scope, ids: Collection[UUID]) -> dict[UUID, EventTrace]:
    found: dict[UUID, EventTrace] = {}
    for table in TABLES:
        rows = connection.execute(
            f"SELECT {EVENTS.select}, e.n FROM {table} e WHERE e.workspace = ? AND {connection.dialect.in_ids('e.id')}",
            (scope.workspace, connection.dialect.ids(ids)),
        )
        for row in list(rows):
            event = EVENTS.value_of(row[:-1])
            # No memory was formed from an archived event.
            formed = _ids(connection, _FORMED, row[-1], row[-1]) if table == "events" else ()
            found[event.id] = EventTrace(event, frozenset(formed))
    return found


_FORMED: Final = (
    "SELECT m.id FROM memory_events l JOIN memories m ON m.n = l.memory WHERE l.event = ?"
    " UNION SELECT m.id FROM cues c JOIN memories m ON m.n = c.memory WHERE c.event = ?"
)


def _ids(connection: Connection, statement: str, *bindings: int | str) -> tuple[UUID, ...]:
    return tuple(UUID(bytes=identifier) for (identifier,) in connection.execute(statement, bindings))


def _require(connection: Connection, scope: Scope, kind: str, ids: Collection[UUID], tables: Iterable[str]) -> None:
    there = {
        UUID(bytes=identifier)
        for table in tables
        for (identifier,) in connection.execute(
            f"SELECT id FROM {table} WHERE workspace = ? AND {connection.dialect.in_ids('id')}",
            (scope.workspace, connection.dialect.ids(ids)),
        )
    }
    for missing in sorted(ids - there if isinstance(ids, frozenset) else set(ids) - there):
        raise NotFound(kind, missing)


PATIENCE_S: Final = 5.0
"""The time in seconds that a purge waits for other readers and writers. This process writes nothing meanwhile."""


def erasures(connection: Connection, scope: Scope, *, limit: int) -> tuple[Erasure, ...]:
    rows = connection.execute(
        "SELECT receipt, purged_at FROM erasures WHERE workspace = ? ORDER BY n DESC LIMIT ?", (scope.workspace, limit)
    )
    with as_written():
        return tuple(erasure_of(receipt, purged_at=optional_moment(at)) for receipt, at in rows)


def erased(connection: Connection, scope: Scope, *, after: int) -> frozenset[UUID]:
    rows = connection.execute("SELECT receipt FROM erasures WHERE workspace = ? AND n > ?", (scope.workspace, after))
    with as_written():
        receipts = [erasure_of(receipt, purged_at=None) for (receipt,) in rows]
    return frozenset(gone for one in receipts for gone in (*one.memories, *one.derived, *one.rebuilt))


def last_due(connection: Connection, scope: Scope) -> int | None:
    """The number of the last erasure that is not purged yet; None: all are."""
    due = "SELECT max(n) FROM erasures WHERE workspace = ? AND purged_at IS NULL"
    last: int | None = connection.execute(due, (scope.workspace,)).get
    return last


def purge(connection: Connection, backend: Backend, scope: Scope, at: datetime) -> str:
    """Clear the database of erased data, outside of any transaction. Does nothing if another purge, which this one has
    waited for, cleared it. Returns "" if no trace is left, otherwise the reason why one may be.
    """
    connection.execute(connection.dialect.begin_reading)
    connection.within(scope.workspace)
    last = last_due(connection, scope)
    connection.execute("COMMIT")
    if last is None:
        return ""
    left = backend.purge(connection)
    if not left:
        connection.execute(connection.dialect.begin_writing)
        connection.within(scope.workspace)
        connection.execute(  # not of erasures by other processes meanwhile
            "UPDATE erasures SET purged_at = ? WHERE workspace = ? AND purged_at IS NULL AND n <= ?",
            (micros(at), scope.workspace, last),
        )
        connection.execute("COMMIT")
    return left
