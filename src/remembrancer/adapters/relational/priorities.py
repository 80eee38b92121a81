"""What an operator's mark changes: the event, the log, and the memories formed from it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Final
from uuid import UUID

from remembrancer.adapters.relational.clauses import seen_by
from remembrancer.adapters.relational.connection import Binding, Connection
from remembrancer.adapters.relational.errors import as_written
from remembrancer.adapters.relational.memories import adjust_one, next_change
from remembrancer.adapters.relational.rows import (
    EVENT_COLUMNS,
    MEMORY_SELECT,
    TABLES,
    Row,
    Table,
    event_of,
    memory_of,
)
from remembrancer.adapters.relational.times import micros, moment
from remembrancer.domain.event import Event, Priority
from remembrancer.domain.journal import PriorityChange
from remembrancer.domain.memory import Memory
from remembrancer.domain.scope import Reader, Scope
from remembrancer.domain.strength import Adjustment, Strength
from remembrancer.errors import Conflict, NotFound

CHANGE_COLUMNS: Final = "event, at, previous, priority, changed_by, reason"

Change = Callable[[Memory, Sequence[Event], Sequence[Event]], Strength]


def set_priority(connection: Connection, reader: Reader, wanted: PriorityChange, change: Change) -> PriorityChange:
    """As `Store.set_priority` says; of `wanted` all but what was before."""
    event = _seen(connection, reader, "events", wanted.event_id)
    if event is None:
        if _seen(connection, reader, "archive", wanted.event_id) is not None:
            raise Conflict(f"event {wanted.event_id} is in the archive: what is left of it keeps the priority it had")
        raise NotFound("event", wanted.event_id)
    done = replace(wanted, previous=event.priority)
    if not done.is_change:
        return done
    scope = reader.scope
    formed = [(memory, _sources(connection, number)) for number, memory in _formed_from(connection, scope, event.id)]
    connection.execute(
        "UPDATE events SET priority = ? WHERE workspace = ? AND id = ?",
        (done.priority, scope.workspace, event.id.bytes),
    )
    insert_change(connection, scope.workspace, done)
    number = next_change(connection, scope.workspace)
    for memory, before in formed:
        after = [replace(one, priority=done.priority) if one.id == event.id else one for one in before]
        strength = change(memory, before, after)
        adjust_one(connection, scope, memory, lambda _, strength=strength: Adjustment(strength), done.at, number)
    return done


def priority_changes(connection: Connection, reader: Reader, event_id: UUID) -> tuple[PriorityChange, ...]:
    if all(_seen(connection, reader, table, event_id) is None for table in TABLES):
        return ()
    rows = connection.execute(
        f"SELECT {CHANGE_COLUMNS} FROM priority_changes WHERE workspace = ? AND event = ?"
        " ORDER BY at, previous, priority, changed_by, reason",
        (reader.scope.workspace, event_id.bytes),
    )
    with as_written():
        return tuple(change_of(row) for row in rows)


def insert_change(connection: Connection, workspace: str, change: PriorityChange) -> bool:
    """Whether the line is new."""
    bindings: tuple[Binding, ...] = (
        workspace,
        change.event_id.bytes,
        micros(change.at),
        change.previous,
        change.priority,
        change.by,
        change.reason,
    )
    inserted = connection.count(
        f"INSERT INTO priority_changes (workspace, {CHANGE_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?)"
        " ON CONFLICT DO NOTHING",
        bindings,
    )
    return inserted > 0


def change_of(row: Row) -> PriorityChange:
    """Of the columns of CHANGE_COLUMNS."""
    event, at, previous, priority, by, reason = row
    return PriorityChange(
        event_id=UUID(bytes=event),
        previous=Priority(previous),
        priority=Priority(priority),
        by=by,
        reason=reason,
        at=moment(at),
    )


def _seen(connection: Connection, reader: Reader, table: Table, event_id: UUID) -> Event | None:
    conditions = seen_by(reader, "e", visibility=False)
    row = connection.execute(
        f"SELECT {EVENT_COLUMNS} FROM {table} e WHERE {conditions.sql} AND e.id = ?",
        (*conditions.bindings, event_id.bytes),
    ).fetchone()
    return None if row is None else event_of(row)


def _formed_from(connection: Connection, scope: Scope, event_id: UUID) -> list[tuple[int, Memory]]:
    rows = connection.execute(
        f"SELECT {MEMORY_SELECT}, m.n FROM events e JOIN memory_events l ON l.event = e.n"
        " JOIN memories m ON m.n = l.memory WHERE e.workspace = ? AND e.id = ? ORDER BY m.n",
        (scope.workspace, event_id.bytes),
    )
    return [(row[-1], memory_of(row)) for row in rows]


def _sources(connection: Connection, memory: int) -> list[Event]:
    rows = connection.execute(
        f"SELECT {EVENT_COLUMNS} FROM memory_events l JOIN events e ON e.n = l.event WHERE l.memory = ?"
        " ORDER BY l.ordinal",
        (memory,),
    )
    return [event_of(row) for row in rows]
