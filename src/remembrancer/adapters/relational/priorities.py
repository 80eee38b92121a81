"""Change the priority of an event: the event itself, the log, and the memories formed from it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import datetime
from uuid import UUID

from remembrancer.adapters.relational.clauses import seen_by
from remembrancer.adapters.relational.columns import add_row
from remembrancer.adapters.relational.connection import Connection
from remembrancer.adapters.relational.memories import adjust_one, next_change
from remembrancer.adapters.relational.rows import CHANGES, EVENTS, MEMORIES, TABLES, EventTable
from remembrancer.domain.event import Event, Priority
from remembrancer.domain.journal import PriorityChange
from remembrancer.domain.memory import Memory
from remembrancer.domain.scope import Reader, Scope
from remembrancer.domain.strength import Adjustment, Strength
from remembrancer.errors import Conflict, NotFound

StrengthChange = Callable[[Memory, Sequence[Event], Sequence[Event]], Strength]


def set_priority(
    connection: Connection,
    reader: Reader,
    event_id: UUID,
    priority: Priority,
    *,
    by: str,
    reason: str,
    at: datetime,
    change: StrengthChange,
) -> PriorityChange:
    event = _seen(connection, reader, "events", event_id)
    if event is None:
        if _seen(connection, reader, "archive", event_id) is not None:
            raise Conflict(f"event {event_id} is in the archive: what is left of it keeps the priority it had")
        raise NotFound("event", event_id)
    done = PriorityChange(event_id=event_id, previous=event.priority, priority=priority, by=by, reason=reason, at=at)
    if not done.is_change:
        return done
    scope = reader.scope
    formed = [(memory, _sources(connection, number)) for number, memory in _formed_from(connection, scope, event.id)]
    connection.execute(
        "UPDATE events SET priority = ? WHERE workspace = ? AND id = ?",
        (priority, scope.workspace, event.id.bytes),
    )
    add_row(connection, "priority_changes", ("workspace", *CHANGES.names), (scope.workspace, *CHANGES.bindings(done)))
    number = next_change(connection, scope.workspace)
    for memory, before in formed:
        after = [replace(one, priority=priority) if one.id == event.id else one for one in before]
        strength = change(memory, before, after)
        adjust_one(connection, scope, memory, lambda _, strength=strength: Adjustment(strength), at, number)
    return done


def priority_changes(connection: Connection, reader: Reader, event_id: UUID) -> tuple[PriorityChange, ...]:
    if all(_seen(connection, reader, table, event_id) is None for table in TABLES):
        return ()
    return CHANGES.all(
        connection,
        "priority_changes p WHERE workspace = ? AND event = ? ORDER BY at, previous, priority, changed_by, reason",
        (reader.scope.workspace, event_id.bytes),
    )


def _seen(connection: Connection, reader: Reader, table: EventTable, event_id: UUID) -> Event | None:
    conditions = seen_by(reader, "e", visibility=False)
    return EVENTS.first(
        connection, f"{table} e WHERE {conditions.sql} AND e.id = ?", (*conditions.bindings, event_id.bytes)
    )


def _formed_from(connection: Connection, scope: Scope, event_id: UUID) -> list[tuple[int, Memory]]:
    rows = connection.execute(
        f"SELECT {MEMORIES.select}, m.n FROM events e JOIN memory_events l ON l.event = e.n"
        " JOIN memories m ON m.n = l.memory WHERE e.workspace = ? AND e.id = ? ORDER BY m.n",
        (scope.workspace, event_id.bytes),
    )
    return [(row[-1], MEMORIES.value_of(row)) for row in rows]


def _sources(connection: Connection, memory: int) -> tuple[Event, ...]:
    return EVENTS.all(
        connection, "memory_events l JOIN events e ON e.n = l.event WHERE l.memory = ? ORDER BY l.ordinal", (memory,)
    )
