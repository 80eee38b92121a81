"""Events: appended, listed, and in the end moved into the archive."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from uuid import UUID

from remembrancer.adapters.sqlite.clauses import events_kept_by, owner, seen_by
from remembrancer.adapters.sqlite.connection import Connection
from remembrancer.adapters.sqlite.memories import add_memory, check_workspace
from remembrancer.adapters.sqlite.rows import EVENT_COLUMNS, event_bindings, event_of
from remembrancer.domain.event import Event, archived
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
    found = " UNION ALL ".join(
        f"SELECT {EVENT_COLUMNS} FROM {table} e WHERE {conditions.sql}" for table in _tables(where)
    )
    # By number: what is sorted is columns of the result, occurred_at, seq and id.
    rows = connection.execute(
        f"{found} ORDER BY 8 {order}, 7 {order}, 1 {order} LIMIT ?",
        (*conditions.bindings * len(_tables(where)), limit),
    )
    return tuple(event_of(row) for row in rows)


def count_events(connection: Connection, reader: Reader, where: EventFilter) -> int:
    conditions = events_kept_by(where, seen_by(reader, "e", visibility=False))
    return sum(
        connection.execute(f"SELECT count(*) FROM {table} e WHERE {conditions.sql}", conditions.bindings).get
        for table in _tables(where)
    )


def _tables(where: EventFilter) -> tuple[str, ...]:
    return ("events", "archive") if where.archived else ("events",)


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
    known = recorded_under_key(connection, event)
    if known is not None:
        return Appended(known, created=False)
    if archived_number(connection, scope, event.id) is not None:
        raise Conflict(f"event {event.id} is recorded already, and in the archive")
    seq = next_seq(connection, event.scope)
    number = add_event(connection, event, seq)
    if entry.memory is not None:
        check_workspace(scope, entry.memory.memory)
        add_memory(connection, entry.memory, {event.id: number})
    return Appended(replace(event, seq=seq), created=True)


def recorded_under_key(connection: Connection, event: Event) -> Event | None:
    """The event that has the key, where there is one. Raises Conflict when it says something else.

    Of one in the archive only the beginning is left to compare.
    """
    if event.key is None:
        return None
    for table, text in (("events", event.text), ("archive", archived(event).text)):
        row = connection.execute(
            f"SELECT {EVENT_COLUMNS} FROM {table} e WHERE e.workspace = ? AND e.project = ? AND e.crew = ?"
            " AND e.agent = ? AND e.key = ?",
            (*owner(event.scope), event.key),
        ).fetchone()
        if row is not None:
            known = event_of(row)
            if known.text != text:
                raise Conflict(f"key {event.key!r}: already recorded with another text ({known.id})")
            return known
    return None


def archived_number(connection: Connection, scope: Scope, event_id: UUID) -> int | None:
    """The row in the archive of an event, where it is there."""
    return connection.execute(
        "SELECT n FROM archive WHERE workspace = ? AND id = ?", (scope.workspace, event_id.bytes)
    ).get


def next_seq(connection: Connection, scope: Scope) -> int:
    return connection.execute(
        "INSERT INTO streams (workspace, project, crew, agent, session, last_seq) VALUES (?, ?, ?, ?, ?, 1)"
        " ON CONFLICT DO UPDATE SET last_seq = last_seq + 1 RETURNING last_seq",
        (*owner(scope), scope.session or ""),
    ).get
