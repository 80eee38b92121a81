"""Every row of a workspace out as export rows, and back in."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any, Final
from uuid import UUID

import apsw
from remembrancer.adapters.sqlite.connection import Connection

from remembrancer.adapters.sqlite.clauses import owner
from remembrancer.adapters.sqlite.journal import add_event
from remembrancer.adapters.sqlite.memories import add_cue, insert_row, next_change
from remembrancer.adapters.sqlite.rows import EVENT_COLUMNS, MEMORY_COLUMNS, MEMORY_SELECT, event_of, memory_of
from remembrancer.adapters.sqlite.times import micros, moment
from remembrancer.domain.event import Event
from remembrancer.domain.memory import Cue, IndexedCue, Revision, searchable_text
from remembrancer.domain.relation import Relation, RelationKind
from remembrancer.domain.scope import Scope
from remembrancer.errors import Conflict, EmbedderMismatch, InvalidInput
from remembrancer.ports import exchange
from remembrancer.ports.exchange import Analyse, CueRecord, MemoryRecord, VectorRecord
from remembrancer.ports.store import ExportRow

PAGE: Final = 1000
"""Rows read in one transaction of an export."""

Page = tuple[list[ExportRow], Any]
"""Some rows, and the position after them: None when there are no more."""


def export_page(connection: Connection, workspace: str, record: str, after: Any) -> Page:
    """The next rows of one kind of record, after the position the page before gave (None: from the start)."""
    rows, position = _PAGES[record](connection, workspace, after)
    return rows, position if len(rows) == PAGE else None


def import_rows(
    connection: Connection, scope: Scope, rows: Iterable[ExportRow], analyse: Analyse, dry_run: bool
) -> int:
    """Write them; rows already there are left alone. Returns how many were new; a dry run takes them back."""
    connection.execute("SAVEPOINT rows")
    new = sum(_import_one(connection, scope.workspace, row, analyse) for row in rows)
    if dry_run:
        connection.execute("ROLLBACK TO rows")
    connection.execute("RELEASE rows")
    return new


# ── out ──────────────────────────────────────────────────────────────────────────────────────────────────────────────


def _events(connection: Connection, workspace: str, after: Any) -> Page:
    rows = list(
        connection.execute(
            f"SELECT {EVENT_COLUMNS} FROM events e WHERE e.workspace = ? AND e.id > ? ORDER BY e.id LIMIT ?",
            (workspace, after or b"", PAGE),
        )
    )
    return [exchange.event_to_row(event_of(row)) for row in rows], rows[-1][0] if rows else None


def _memories(connection: Connection, workspace: str, after: Any) -> Page:
    rows = list(
        connection.execute(
            f"SELECT {MEMORY_SELECT}, m.n FROM memories m WHERE m.workspace = ? AND m.id > ? ORDER BY m.id LIMIT ?",
            (workspace, after or b"", PAGE),
        )
    )
    exported = [
        exchange.memory_to_row(memory_of(row), _event_ids(connection, row[len(MEMORY_COLUMNS)])) for row in rows
    ]
    return exported, rows[-1][0] if rows else None


def _event_ids(connection: Connection, memory: int) -> Iterator[UUID]:
    rows = connection.execute(
        "SELECT e.id FROM memory_events l JOIN events e ON e.n = l.event WHERE l.memory = ? ORDER BY l.ordinal",
        (memory,),
    )
    return (UUID(bytes=identifier) for (identifier,) in rows)


def _cues(connection: Connection, workspace: str, after: Any) -> Page:
    rows = list(
        connection.execute(
            "SELECT m.id, c.ordinal, m.revision, c.text, c.heading, e.id FROM memories m JOIN cues c ON c.memory = m.n"
            " LEFT JOIN events e ON e.n = c.event"
            " WHERE m.workspace = ? AND (m.id, c.ordinal) > (?, ?) ORDER BY m.id, c.ordinal LIMIT ?",
            (workspace, *(after or (b"", -1)), PAGE),
        )
    )
    exported = [
        exchange.cue_to_row(
            Cue(
                memory_id=UUID(bytes=memory),
                ordinal=ordinal,
                text=text,
                heading=heading,
                event_id=None if event is None else UUID(bytes=event),
            ),
            revision,
        )
        for memory, ordinal, revision, text, heading, event in rows
    ]
    return exported, rows[-1][:2] if rows else None


def _vectors(connection: Connection, workspace: str, after: Any) -> Page:
    rows = list(
        connection.execute(
            "SELECT m.id, c.ordinal, v.model, m.revision, v.truncated, v.vector"
            " FROM memories m JOIN cues c ON c.memory = m.n JOIN embeddings v ON v.cue = c.n"
            " WHERE m.workspace = ? AND (m.id, c.ordinal, v.model) > (?, ?, ?)"
            " ORDER BY m.id, c.ordinal, v.model LIMIT ?",
            (workspace, *(after or (b"", -1, "")), PAGE),
        )
    )
    exported = [
        exchange.vector_to_row(
            VectorRecord(
                memory_id=UUID(bytes=memory),
                ordinal=ordinal,
                revision=revision,
                model=model,
                truncated=bool(truncated),
                data=vector,
            )
        )
        for memory, ordinal, model, revision, truncated, vector in rows
    ]
    return exported, rows[-1][:3] if rows else None


def _revisions(connection: Connection, workspace: str, after: Any) -> Page:
    rows = list(
        connection.execute(
            "SELECT m.id, r.number, r.title, r.text, r.replaced_at FROM memories m JOIN revisions r ON r.memory = m.n"
            " WHERE m.workspace = ? AND (m.id, r.number) > (?, ?) ORDER BY m.id, r.number LIMIT ?",
            (workspace, *(after or (b"", -1)), PAGE),
        )
    )
    exported = [
        exchange.revision_to_row(
            Revision(
                memory_id=UUID(bytes=memory), number=number, title=title, text=text, replaced_at=moment(replaced_at)
            )
        )
        for memory, number, title, text, replaced_at in rows
    ]
    return exported, rows[-1][:2] if rows else None


def _relations(connection: Connection, workspace: str, after: Any) -> Page:
    rows = list(
        connection.execute(
            "SELECT s.id, t.id, r.kind, r.weight, r.created_at FROM memories s JOIN relations r ON r.source = s.n"
            " JOIN memories t ON t.n = r.target WHERE s.workspace = ? AND (s.id, t.id, r.kind) > (?, ?, ?)"
            " ORDER BY s.id, t.id, r.kind LIMIT ?",
            (workspace, *(after or (b"", b"", "")), PAGE),
        )
    )
    exported = [
        exchange.relation_to_row(
            Relation(UUID(bytes=source), UUID(bytes=target), RelationKind(kind), weight, moment(created_at))
        )
        for source, target, kind, weight, created_at in rows
    ]
    return exported, rows[-1][:3] if rows else None


_PAGES: Final[dict[str, Callable[[Connection, str, Any], Page]]] = {
    "event": _events,
    "memory": _memories,
    "cue": _cues,
    "vector": _vectors,
    "revision": _revisions,
    "relation": _relations,
}


# ── in ───────────────────────────────────────────────────────────────────────────────────────────────────────────────


def _import_one(connection: Connection, workspace: str, row: ExportRow, analyse: Analyse) -> bool:
    match exchange.row_to_record(row, workspace):
        case Event() as event:
            return _import_event(connection, event)
        case MemoryRecord() as record:
            return _import_memory(connection, record)
        case CueRecord() as record:
            return _import_cue(connection, workspace, record, analyse)
        case VectorRecord() as record:
            return _import_vector(connection, workspace, record)
        case Revision() as revision:
            number = _memory_number(connection, workspace, revision.memory_id)
            connection.execute(
                "INSERT INTO revisions (memory, number, title, text, replaced_at) VALUES (?, ?, ?, ?, ?)"
                " ON CONFLICT DO NOTHING",
                (number, revision.number, revision.title, revision.text, micros(revision.replaced_at)),
            )
            return connection.changes() > 0
        case Relation() as relation:
            connection.execute(
                "INSERT INTO relations (workspace, source, target, kind, weight, created_at) VALUES (?, ?, ?, ?, ?, ?)"
                " ON CONFLICT DO NOTHING",
                (
                    workspace,
                    _memory_number(connection, workspace, relation.source),
                    _memory_number(connection, workspace, relation.target),
                    relation.kind,
                    relation.weight,
                    micros(relation.created_at),
                ),
            )
            return connection.changes() > 0


def _import_event(connection: Connection, event: Event) -> bool:
    if _number(connection, "events", event.scope.workspace, event.id) is not None:
        return False
    try:
        add_event(connection, event, event.seq)
    except apsw.ConstraintError as error:
        raise Conflict(
            f"event {event.id}: its key {event.key!r} or its place {event.seq} in its stream is taken here"
        ) from error
    connection.execute(
        "INSERT INTO streams (workspace, project, crew, agent, session, last_seq) VALUES (?, ?, ?, ?, ?, ?)"
        " ON CONFLICT DO UPDATE SET last_seq = max(last_seq, excluded.last_seq)",
        (*owner(event.scope), event.scope.session or "", event.seq),
    )
    return True


def _import_memory(connection: Connection, record: MemoryRecord) -> bool:
    memory = record.memory
    workspace = memory.scope.workspace
    if _number(connection, "memories", workspace, memory.id) is not None:
        return False
    try:
        number = insert_row(connection, memory)
    except apsw.ConstraintError as error:
        raise Conflict(
            f"memory {memory.id}: its key {memory.key!r} or topic key {memory.topic_key!r} is taken here"
        ) from error
    for ordinal, event_id in enumerate(record.event_ids):
        connection.execute(
            "INSERT INTO memory_events (memory, ordinal, event) VALUES (?, ?, ?)",
            (number, ordinal, _event_number(connection, workspace, event_id)),
        )
    return True


def _import_cue(connection: Connection, workspace: str, record: CueRecord, analyse: Analyse) -> bool:
    cue = record.cue
    number = _memory_number(connection, workspace, cue.memory_id)
    at_revision = connection.execute("SELECT revision FROM memories WHERE n = ?", (number,)).get
    known = connection.execute("SELECT 1 FROM cues WHERE memory = ? AND ordinal = ?", (number, cue.ordinal)).get
    if known or at_revision != record.revision:
        return False
    tokens, terms = analyse(searchable_text(cue))
    events = {} if cue.event_id is None else {cue.event_id: _event_number(connection, workspace, cue.event_id)}
    add_cue(connection, workspace, number, IndexedCue(cue, tokens, terms), events)
    connection.execute("UPDATE memories SET change = ? WHERE n = ?", (next_change(connection), number))
    return True


def _import_vector(connection: Connection, workspace: str, record: VectorRecord) -> bool:
    known = connection.execute("SELECT dim FROM embeddings WHERE model = ? LIMIT 1", (record.model,)).get
    if known is not None and known != record.dim:
        raise EmbedderMismatch(f"model {record.model!r} has vectors of {known} dimensions here, not {record.dim}")
    number = _memory_number(connection, workspace, record.memory_id)
    connection.execute(
        "INSERT INTO embeddings (cue, model, dim, truncated, vector)"
        " SELECT c.n, ?, ?, ?, ? FROM cues c JOIN memories m ON m.n = c.memory"
        " WHERE c.memory = ? AND c.ordinal = ? AND m.revision = ? ON CONFLICT DO NOTHING",
        (record.model, record.dim, record.truncated, record.data, number, record.ordinal, record.revision),
    )
    if not connection.changes():
        return False
    connection.execute("UPDATE memories SET change = ? WHERE n = ?", (next_change(connection), number))
    return True


def _memory_number(connection: Connection, workspace: str, identifier: UUID) -> int:
    number = _number(connection, "memories", workspace, identifier)
    if number is None:
        raise InvalidInput("memory_id", str(identifier), "a memory that stands before it in the export")
    return number


def _event_number(connection: Connection, workspace: str, identifier: UUID) -> int:
    number = _number(connection, "events", workspace, identifier)
    if number is None:
        raise InvalidInput("event_id", str(identifier), "an event that stands before it in the export")
    return number


def _number(connection: Connection, table: str, workspace: str, identifier: UUID) -> int | None:
    return connection.execute(
        f"SELECT n FROM {table} WHERE workspace = ? AND id = ?", (workspace, identifier.bytes)
    ).get
