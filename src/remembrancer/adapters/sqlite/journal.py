"""Events: appended, listed, never changed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any
from uuid import UUID

from remembrancer.adapters.sqlite.clauses import events_kept_by, owner, seen_by
from remembrancer.adapters.sqlite.connection import Connection
from remembrancer.adapters.sqlite.memories import add_memory, check_workspace
from remembrancer.adapters.sqlite.rows import EVENT_COLUMNS, event_bindings, event_of
from remembrancer.domain.event import Event
from remembrancer.domain.scope import Reader, Scope
from remembrancer.errors import Conflict, InvalidInput
from remembrancer.ports.store import Appended, Entry, EventFilter


def append(connection: Connection, scope: Scope, entries: Sequence[Entry]) -> tuple[Appended, ...]:
    return tuple(_append_one(connection, scope, entry) for entry in entries)


def events(
    connection: Connection, reader: Reader, where: EventFilter, limit: int, oldest_first: bool
) -> tuple[Event, ...]:
    conditions = events_kept_by(where, seen_by(reader, "e", visibility=False))
    order = "ASC" if oldest_first else "DESC"
    rows = connection.execute(
        f"SELECT {EVENT_COLUMNS} FROM events e WHERE {conditions.sql}"
        f" ORDER BY e.occurred_at {order}, e.seq {order}, e.id {order} LIMIT ?",
        (*conditions.bindings, limit),
    )
    return tuple(event_of(row) for row in rows)


def count_events(connection: Connection, reader: Reader, where: EventFilter) -> int:
    conditions = events_kept_by(where, seen_by(reader, "e", visibility=False))
    return connection.execute(f"SELECT count(*) FROM events e WHERE {conditions.sql}", conditions.bindings).get


def provenance(connection: Connection, reader: Reader, memory_id: UUID) -> tuple[Event, ...]:
    memories, events = seen_by(reader, "m", visibility=True), seen_by(reader, "e", visibility=False)
    rows = connection.execute(
        f"SELECT {EVENT_COLUMNS} FROM memories m JOIN memory_events l ON l.memory = m.n JOIN events e ON e.n = l.event"
        f" WHERE {memories.sql} AND {events.sql} AND m.id = ? ORDER BY l.ordinal",
        (*memories.bindings, *events.bindings, memory_id.bytes),
    )
    return tuple(event_of(row) for row in rows)


def add_event(connection: Connection, event: Event, seq: int) -> int:
    """The new row's number."""
    connection.execute(
        "INSERT INTO events (workspace, id, project, crew, agent, session, seq, occurred_at, recorded_at, type,"
        " severity, priority, actor, role, text, payload, refs, key, origin)"
        " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        event_bindings(event, seq),
    )
    return connection.last_insert_rowid()


def _append_one(connection: Connection, scope: Scope, entry: Entry) -> Appended:
    event = entry.event
    if event.scope.workspace != scope.workspace:
        raise InvalidInput("event.scope.workspace", event.scope.workspace, repr(scope.workspace))
    if event.key is not None:
        row = _by_key(connection, event)
        if row is not None:
            known = event_of(row)
            if known.text != event.text:
                raise Conflict(f"key {event.key!r}: already recorded with another text ({known.id})")
            return Appended(known, created=False)
    seq = next_seq(connection, event.scope)
    number = add_event(connection, event, seq)
    if entry.memory is not None:
        check_workspace(scope, entry.memory.memory)
        add_memory(connection, entry.memory, {event.id: number})
    return Appended(replace(event, seq=seq), created=True)


def _by_key(connection: Connection, event: Event) -> tuple[Any, ...] | None:
    return connection.execute(
        f"SELECT {EVENT_COLUMNS} FROM events e WHERE e.workspace = ? AND e.project = ? AND e.crew = ? AND e.agent = ?"
        " AND e.key = ?",
        (*owner(event.scope), event.key),
    ).fetchone()


def next_seq(connection: Connection, scope: Scope) -> int:
    return connection.execute(
        "INSERT INTO streams (workspace, project, crew, agent, session, last_seq) VALUES (?, ?, ?, ?, ?, 1)"
        " ON CONFLICT DO UPDATE SET last_seq = last_seq + 1 RETURNING last_seq",
        (*owner(scope), scope.session or ""),
    ).get
