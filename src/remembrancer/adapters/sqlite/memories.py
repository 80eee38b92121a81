"""Memories with their cues and full-text rows: added, revised, adjusted, listed."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

from remembrancer.adapters.sqlite.connection import Connection

from remembrancer.adapters.sqlite.clauses import Where, kept_by, owner, seen_by
from remembrancer.adapters.sqlite.rows import (
    MEMORY_COLUMNS,
    MEMORY_SELECT,
    STRENGTH_COLUMNS,
    Row,
    memory_bindings,
    memory_of,
    packed_terms,
    strength_bindings,
)
from remembrancer.adapters.sqlite.times import micros, moment
from remembrancer.domain.memory import Cue, IndexedCue, Memory, MemoryWrite, Revision, Status
from remembrancer.domain.query import Filter
from remembrancer.domain.relation import Relation, RelationKind
from remembrancer.domain.scope import Reader, Scope
from remembrancer.domain.strength import Strength
from remembrancer.errors import Conflict, InvalidInput, NotFound

_CHUNK = 500
"""Ids in one statement."""


# ── writing ──────────────────────────────────────────────────────────────────────────────────────────────────────────


def next_change(connection: Connection) -> int:
    """The next number of the change sequence: whatever is written with it, every copy will read again."""
    return connection.execute("UPDATE sequence SET change = change + 1 RETURNING change").get


def add_memory(connection: Connection, write: MemoryWrite, event_numbers: Mapping[UUID, int]) -> None:
    """Insert a memory, its provenance, its cues and their full-text rows. `event_numbers`: those just inserted."""
    number = insert_row(connection, write.memory)
    numbers = _event_numbers(connection, write, event_numbers)
    connection.executemany(
        "INSERT INTO memory_events (memory, ordinal, event) VALUES (?, ?, ?)",
        [(number, ordinal, numbers[event]) for ordinal, event in enumerate(write.event_ids)],
    )
    for indexed in write.cues:
        add_cue(connection, write.memory.scope.workspace, number, indexed, numbers)


def insert_row(connection: Connection, memory: Memory) -> int:
    """Only the memory's own row. Returns its number."""
    columns = ", ".join((*MEMORY_COLUMNS, "change"))
    marks = ", ".join("?" * (len(MEMORY_COLUMNS) + 1))
    connection.execute(
        f"INSERT INTO memories ({columns}) VALUES ({marks})", (*memory_bindings(memory), next_change(connection))
    )
    return connection.last_insert_rowid()


def add_cue(
    connection: Connection,
    workspace: str,
    memory_number: int,
    indexed: IndexedCue,
    event_numbers: Mapping[UUID, int],
) -> None:
    cue = indexed.cue
    event = None if cue.event_id is None else event_numbers[cue.event_id]
    connection.execute(
        "INSERT INTO cues (workspace, memory, ordinal, event, heading, text, terms, length)"
        " VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
        (
            workspace,
            memory_number,
            cue.ordinal,
            event,
            cue.heading,
            cue.text,
            packed_terms(indexed.terms),
            len(indexed.terms),
        ),
    )
    connection.execute(
        "INSERT INTO cues_fts (rowid, words) VALUES (?, ?)", (connection.last_insert_rowid(), " ".join(indexed.tokens))
    )


def insert(connection: Connection, scope: Scope, write: MemoryWrite) -> tuple[Memory, bool]:
    memory = write.memory
    _check_workspace(scope, memory)
    if memory.key is not None:
        known = _one(connection, memory.scope, "key", memory.key)
        if known is not None:
            if known.text != memory.text and known.revision == 1:
                raise Conflict(f"key {memory.key!r}: already remembered with another text ({known.id})")
            return known, False
    if memory.topic_key is not None:
        known = by_topic(connection, memory.scope, memory.topic_key)
        if known is not None:
            raise Conflict(f"topic key {memory.topic_key!r}: memory {known.id} is at revision {known.revision}")
    add_memory(connection, write, {})
    return memory, True


def revise(
    connection: Connection, scope: Scope, write: MemoryWrite, expected_revision: int, at: datetime
) -> Memory:
    memory = write.memory
    _check_workspace(scope, memory)
    row = connection.execute(
        "SELECT n, revision, title, text FROM memories WHERE workspace = ? AND id = ?",
        (scope.workspace, memory.id.bytes),
    ).fetchone()
    if row is None:
        raise NotFound("memory", memory.id)
    number, revision, title, text = row
    if revision != expected_revision:
        raise Conflict(f"memory {memory.id} is at revision {revision}, not {expected_revision}")
    connection.execute(
        "INSERT INTO revisions (memory, number, title, text, replaced_at) VALUES (?, ?, ?, ?, ?)",
        (number, revision, title, text, micros(at)),
    )
    assignments = ", ".join(f"{column} = ?" for column in (*MEMORY_COLUMNS, "change"))
    connection.execute(
        f"UPDATE memories SET {assignments} WHERE n = ?", (*memory_bindings(memory), next_change(connection), number)
    )
    connection.execute("DELETE FROM cues WHERE memory = ?", (number,))
    numbers = _event_numbers(connection, write, {})
    for indexed in write.cues:
        add_cue(connection, scope.workspace, number, indexed, numbers)
    return memory


def adjust(
    connection: Connection, reader: Reader, ids: Sequence[UUID], change: Callable[[Strength], Strength]
) -> dict[UUID, Strength]:
    found = get(connection, reader, ids)
    adjusted: dict[UUID, Strength] = {}
    assignments = ", ".join(f"{column} = ?" for column in (*STRENGTH_COLUMNS, "change"))
    for identifier in dict.fromkeys(ids):
        if identifier not in found:
            raise NotFound("memory", identifier)
        strength = change(found[identifier].strength)
        connection.execute(
            f"UPDATE memories SET {assignments} WHERE workspace = ? AND id = ?",
            (*strength_bindings(strength), next_change(connection), reader.scope.workspace, identifier.bytes),
        )
        adjusted[identifier] = strength
    return adjusted


def set_status(
    connection: Connection, reader: Reader, memory_id: UUID, status: Status, at: datetime
) -> Memory:
    if memory_id not in get(connection, reader, [memory_id]):
        raise NotFound("memory", memory_id)
    retired = None if status is Status.ACTIVE else micros(at)
    connection.execute(
        "UPDATE memories SET status = ?, retired_at = ?, change = ? WHERE workspace = ? AND id = ?",
        (status, retired, next_change(connection), reader.scope.workspace, memory_id.bytes),
    )
    return get(connection, reader, [memory_id])[memory_id]


# ── reading ──────────────────────────────────────────────────────────────────────────────────────────────────────────


def get(connection: Connection, reader: Reader, ids: Sequence[UUID]) -> dict[UUID, Memory]:
    rows = _by_ids(connection, reader, ids, MEMORY_SELECT)
    return {memory.id: memory for memory in (memory_of(row) for row in rows)}


def cues(connection: Connection, reader: Reader, ids: Sequence[UUID]) -> dict[UUID, tuple[Cue, ...]]:
    rows = _by_ids(
        connection,
        reader,
        ids,
        "m.id, c.ordinal, c.text, c.heading, e.id",
        "JOIN cues c ON c.memory = m.n LEFT JOIN events e ON e.n = c.event",
    )
    found: dict[UUID, list[Cue]] = {}
    for memory, ordinal, text, heading, event in rows:
        identifier = UUID(bytes=memory)
        cue = Cue(
            memory_id=identifier,
            ordinal=ordinal,
            text=text,
            heading=heading,
            event_id=None if event is None else UUID(bytes=event),
        )
        found.setdefault(identifier, []).append(cue)
    return {
        identifier: tuple(sorted(several, key=lambda cue: cue.ordinal)) for identifier, several in found.items()
    }


def memories(
    connection: Connection, reader: Reader, where: Filter, limit: int, oldest_first: bool
) -> tuple[Memory, ...]:
    conditions = kept_by(where, seen_by(reader, "m", visibility=True))
    order = "ASC" if oldest_first else "DESC"
    rows = connection.execute(
        f"SELECT {MEMORY_SELECT} FROM memories m WHERE {conditions.sql}"
        f" ORDER BY m.occurred_to {order}, m.id LIMIT ?",
        (*conditions.bindings, limit),
    )
    return tuple(memory_of(row) for row in rows)


def by_topic(connection: Connection, scope: Scope, topic_key: str) -> Memory | None:
    return _one(connection, scope, "topic_key", topic_key, "AND m.status = 'active'")


def revisions(connection: Connection, reader: Reader, memory_id: UUID) -> tuple[Revision, ...]:
    conditions = _memory(reader, memory_id)
    rows = connection.execute(
        "SELECT r.number, r.title, r.text, r.replaced_at FROM revisions r JOIN memories m ON m.n = r.memory"
        f" WHERE {conditions.sql} ORDER BY r.number",
        conditions.bindings,
    )
    return tuple(
        Revision(memory_id=memory_id, number=number, title=title, text=text, replaced_at=moment(at))
        for number, title, text, at in rows
    )


def relations(connection: Connection, reader: Reader, memory_id: UUID) -> tuple[Relation, ...]:
    ends = [seen_by(reader, table, visibility=True) for table in ("s", "t")]
    rows = connection.execute(
        "SELECT s.id, t.id, r.kind, r.weight, r.created_at FROM relations r"
        " JOIN memories s ON s.n = r.source JOIN memories t ON t.n = r.target"
        f" WHERE {ends[0].sql} AND {ends[1].sql} AND (s.id = ? OR t.id = ?) ORDER BY r.created_at, s.id, t.id, r.kind",
        (*ends[0].bindings, *ends[1].bindings, memory_id.bytes, memory_id.bytes),
    )
    return tuple(
        Relation(UUID(bytes=source), UUID(bytes=target), RelationKind(kind), weight, moment(at))
        for source, target, kind, weight, at in rows
    )


def _memory(reader: Reader, memory_id: UUID) -> Where:
    conditions = seen_by(reader, "m", visibility=True)
    conditions.add("m.id = ?", memory_id.bytes)
    return conditions


def _by_ids(
    connection: Connection, reader: Reader, ids: Sequence[UUID], columns: str, joins: str = ""
) -> list[Row]:
    conditions = seen_by(reader, "m", visibility=True)
    rows: list[Row] = []
    distinct = list(dict.fromkeys(ids))
    for start in range(0, len(distinct), _CHUNK):
        chunk = [identifier.bytes for identifier in distinct[start : start + _CHUNK]]
        marks = ", ".join("?" * len(chunk))
        rows.extend(
            connection.execute(
                f"SELECT {columns} FROM memories m {joins} WHERE {conditions.sql} AND m.id IN ({marks})",
                (*conditions.bindings, *chunk),
            )
        )
    return rows


def _one(connection: Connection, scope: Scope, column: str, value: str, extra: str = "") -> Memory | None:
    """The memory of exactly this scope (session apart) with that value in one of its unique columns."""
    row: tuple[Any, ...] | None = connection.execute(
        f"SELECT {MEMORY_SELECT} FROM memories m WHERE m.workspace = ? AND m.project = ? AND m.crew = ?"
        f" AND m.agent = ? AND m.{column} = ? {extra}",
        (*owner(scope), value),
    ).fetchone()
    return None if row is None else memory_of(row)


def _event_numbers(
    connection: Connection, write: MemoryWrite, known: Mapping[UUID, int]
) -> dict[UUID, int]:
    """Row numbers of the events that the memory and its cues name. Raises NotFound for one that is not recorded."""
    named = (*write.event_ids, *(indexed.cue.event_id for indexed in write.cues))
    numbers: dict[UUID, int] = {}
    for event in dict.fromkeys(identifier for identifier in named if identifier is not None):
        if event in known:
            numbers[event] = known[event]
            continue
        row = connection.execute(
            "SELECT n FROM events WHERE workspace = ? AND id = ?", (write.memory.scope.workspace, event.bytes)
        ).fetchone()
        if row is None:
            raise NotFound("event", event)
        numbers[event] = row[0]
    return numbers


def _check_workspace(scope: Scope, memory: Memory) -> None:
    if memory.scope.workspace != scope.workspace:
        raise InvalidInput("memory.scope.workspace", memory.scope.workspace, repr(scope.workspace))
