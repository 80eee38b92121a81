"""Move old events that no memory was formed from into the archive, in shortened form."""

from __future__ import annotations

from datetime import datetime
from typing import Final

from remembrancer.adapters.relational.clauses import Where
from remembrancer.adapters.relational.columns import insert_into
from remembrancer.adapters.relational.connection import Connection
from remembrancer.adapters.relational.full_text import add_words, tokens_of
from remembrancer.adapters.relational.retention import held
from remembrancer.adapters.relational.rows import EVENTS
from remembrancer.domain.event import Event, archived
from remembrancer.domain.instants import micros
from remembrancer.domain.memory import Analyse
from remembrancer.domain.scope import Scope
from remembrancer.ports.journal import Aged

_TYPES: Final = (
    "WITH RECURSIVE found (type) AS (SELECT min(type) FROM events WHERE workspace = ?"
    " UNION ALL SELECT (SELECT min(type) FROM events WHERE workspace = ? AND type > found.type) FROM found"
    " WHERE found.type IS NOT NULL) SELECT type FROM found WHERE type IS NOT NULL"
)
"""The types of the workspace's events, by one index step per type; DISTINCT would read every event."""

Due = tuple[int, int, bytes, int]
"""The occurred_at, seq, id and row number of an event to archive. Events are archived in this order."""


def archive(connection: Connection, scope: Scope, aged: Aged, at: datetime, limit: int, analyse: Analyse) -> int:
    due: list[Due] = []
    for (kind,) in list(connection.execute(_TYPES, (scope.workspace, scope.workspace))):
        if _matches(kind, aged):
            due += _oldest(connection, scope, aged, kind, limit)
    chosen = sorted(due)[:limit]
    for *_, number in chosen:
        event = EVENTS.first(connection, "events e WHERE e.n = ?", (number,))
        if event is not None:
            connection.execute("DELETE FROM events WHERE n = ?", (number,))
            put(connection, archived(event), at, analyse)
    return len(chosen)


def put(connection: Connection, event: Event, at: datetime, analyse: Analyse) -> None:
    """Insert an archived event and index its remaining words."""
    insertion = insert_into("archive", (*EVENTS.names, "archived_at"))
    number = connection.number_of(insertion, (*EVENTS.bindings(event), micros(at)))
    add_words(connection, "archive", [(number, tokens_of(event, analyse))])


def _matches(kind: str, aged: Aged) -> bool:
    return any(kind.startswith(each[:-1]) if each.endswith("*") else kind == each for each in aged.types)


def _oldest(connection: Connection, scope: Scope, aged: Aged, kind: str, limit: int) -> list[Due]:
    """The oldest events of one type, read in index order: only the events to move are read."""
    where = Where()
    where.add("e.workspace = ? AND e.type = ? AND e.occurred_at < ?", scope.workspace, kind, micros(aged.before))
    where.add_one_of("e.priority", aged.keep, but=True)
    where.add("NOT EXISTS (SELECT 1 FROM memory_events l WHERE l.event = e.n)")
    where.add("NOT EXISTS (SELECT 1 FROM cues c WHERE c.event = e.n)")
    where.add(f"NOT {held('events', 'e')}")
    return [
        (occurred_at, seq, identifier, number)
        for occurred_at, seq, identifier, number in connection.execute(
            "SELECT e.occurred_at, e.seq, e.id, e.n FROM events e"
            f" WHERE {where.sql} ORDER BY e.occurred_at, e.seq, e.id LIMIT ?",
            (*where.bindings, limit),
        )
    ]
