"""Every row of a workspace out as export rows, a page at a time."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Final
from uuid import UUID

from remembrancer.adapters.relational.connection import Connection
from remembrancer.adapters.relational.errors import as_written
from remembrancer.adapters.relational.health import SNAPSHOT_COLUMNS, snapshot_of
from remembrancer.adapters.relational.priorities import CHANGE_COLUMNS, change_of
from remembrancer.adapters.relational.reviews import REVIEW_COLUMNS, review_of
from remembrancer.adapters.relational.rows import (
    EVENT_COLUMNS,
    MEMORY_COLUMNS,
    MEMORY_SELECT,
    Row,
    decoded,
    event_of,
    memory_of,
    scope_of,
)
from remembrancer.adapters.relational.streams import digest_until
from remembrancer.adapters.relational.times import moment, optional_moment
from remembrancer.domain.memory import Cue, Revision
from remembrancer.domain.relation import Relation, RelationKind
from remembrancer.domain.strength import Exposed, Exposure
from remembrancer.ports import exchange
from remembrancer.ports.exchange import ArchivedRecord, CueRecord, MemoryRecord, StreamRecord, VectorRecord
from remembrancer.ports.memories import Audited
from remembrancer.ports.transfer import ExportRow

PAGE: Final = 1000
"""Rows read at once."""

Page = tuple[list[ExportRow], Any]
"""Some rows, and the position after them: None when there are no more."""


def export_page(connection: Connection, workspace: str, record: str, after: Any) -> Page:
    """The next rows of one kind of record, after the position the page before gave (None: from the start)."""
    with as_written():
        rows, position = _PAGES[record](connection, workspace, after)
    return rows, position if len(rows) == PAGE else None


def _events(connection: Connection, workspace: str, after: Any) -> Page:
    rows = list(
        connection.execute(
            f"SELECT {EVENT_COLUMNS} FROM events e WHERE e.workspace = ? AND e.id > ? ORDER BY e.id LIMIT ?",
            (workspace, after or b"", PAGE),
        )
    )
    return [exchange.record_to_row(event_of(row)) for row in rows], rows[-1][0] if rows else None


def _archived(connection: Connection, workspace: str, after: Any) -> Page:
    rows = list(
        connection.execute(
            f"SELECT {EVENT_COLUMNS}, e.archived_at FROM archive e WHERE e.workspace = ? AND e.id > ? ORDER BY e.id"
            " LIMIT ?",
            (workspace, after or b"", PAGE),
        )
    )
    exported = [exchange.record_to_row(ArchivedRecord(event_of(row[:-1]), moment(row[-1]))) for row in rows]
    return exported, rows[-1][0] if rows else None


def _priorities(connection: Connection, workspace: str, after: Any) -> Page:
    rows = list(
        connection.execute(
            f"SELECT {CHANGE_COLUMNS} FROM priority_changes WHERE workspace = ?"
            " AND (event, at, previous, priority, changed_by, reason) > (?, ?, ?, ?, ?, ?)"
            " ORDER BY event, at, previous, priority, changed_by, reason LIMIT ?",
            (workspace, *(after or (b"", 0, "", "", "", "")), PAGE),
        )
    )
    return [exchange.record_to_row(change_of(row)) for row in rows], rows[-1] if rows else None


def _streams(connection: Connection, workspace: str, after: Any) -> Page:
    # Nothing comes before the workspace's own stream, all four of whose parts are empty.
    onwards = "" if after is None else " AND (project, crew, agent, session) > (?, ?, ?, ?)"
    rows = list(
        connection.execute(
            "SELECT workspace, project, crew, agent, session, segmented, note FROM streams WHERE workspace = ?"
            f"{onwards} AND (segmented > 0 OR note <> '{{}}') ORDER BY project, crew, agent, session LIMIT ?",
            (workspace, *(after or ()), PAGE),
        )
    )
    return [exchange.record_to_row(_stream(connection, row)) for row in rows], rows[-1][1:5] if rows else None


def _stream(connection: Connection, row: Row) -> StreamRecord:
    stream, cursor = scope_of(row[:5]), row[5]
    read = digest_until(connection, stream, cursor)
    return StreamRecord(stream=stream, cursor=cursor, read=read, note=decoded(row[6]))


def _memories(connection: Connection, workspace: str, after: Any) -> Page:
    rows = list(
        connection.execute(
            f"SELECT {MEMORY_SELECT}, m.n FROM memories m WHERE m.workspace = ? AND m.id > ? ORDER BY m.id LIMIT ?",
            (workspace, after or b"", PAGE),
        )
    )
    exported = [
        exchange.record_to_row(MemoryRecord(memory_of(row), tuple(_event_ids(connection, row[len(MEMORY_COLUMNS)]))))
        for row in rows
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
            f" WHERE {_AFTER} AND (m.id, c.ordinal) > (?, ?) ORDER BY m.id, c.ordinal LIMIT ?",
            (*_after(workspace, after or (b"", -1)), PAGE),
        )
    )
    exported = [
        exchange.record_to_row(
            CueRecord(
                Cue(
                    memory_id=UUID(bytes=memory),
                    ordinal=ordinal,
                    text=text,
                    heading=heading,
                    event_id=None if event is None else UUID(bytes=event),
                ),
                revision,
            )
        )
        for memory, ordinal, revision, text, heading, event in rows
    ]
    return exported, rows[-1][:2] if rows else None


def _vectors(connection: Connection, workspace: str, after: Any) -> Page:
    rows = list(
        connection.execute(
            "SELECT m.id, c.ordinal, v.model, m.revision, v.truncated, v.vector, v.indexed_at,"
            " w.signs FROM memories m JOIN cues c ON c.memory = m.n JOIN embeddings v ON v.cue = c.n"
            " LEFT JOIN word_vectors w ON w.cue = v.cue AND w.model = v.model"
            f" WHERE {_AFTER} AND (m.id, c.ordinal, v.model) > (?, ?, ?)"
            " ORDER BY m.id, c.ordinal, v.model LIMIT ?",
            (*_after(workspace, after or (b"", -1, "")), PAGE),
        )
    )
    exported = [
        exchange.record_to_row(
            VectorRecord(
                memory_id=UUID(bytes=memory),
                ordinal=ordinal,
                revision=revision,
                model=model,
                truncated=bool(truncated),
                data=vector,
                indexed_at=optional_moment(indexed_at),
                words=signs,
            )
        )
        for memory, ordinal, model, revision, truncated, vector, indexed_at, signs in rows
    ]
    return exported, rows[-1][:3] if rows else None


def _revisions(connection: Connection, workspace: str, after: Any) -> Page:
    rows = list(
        connection.execute(
            "SELECT m.id, r.number, r.title, r.text, r.replaced_at FROM memories m JOIN revisions r ON r.memory = m.n"
            f" WHERE {_AFTER} AND (m.id, r.number) > (?, ?) ORDER BY m.id, r.number LIMIT ?",
            (*_after(workspace, after or (b"", -1)), PAGE),
        )
    )
    exported = [
        exchange.record_to_row(
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
            "SELECT m.id, t.id, r.kind, r.weight, r.created_at FROM memories m JOIN relations r ON r.source = m.n"
            f" JOIN memories t ON t.n = r.target WHERE {_AFTER} AND (m.id, t.id, r.kind) > (?, ?, ?)"
            " ORDER BY m.id, t.id, r.kind LIMIT ?",
            (*_after(workspace, after or (b"", b"", "")), PAGE),
        )
    )
    exported = [
        exchange.record_to_row(
            Relation(UUID(bytes=source), UUID(bytes=target), RelationKind(kind), weight, moment(created_at))
        )
        for source, target, kind, weight, created_at in rows
    ]
    return exported, rows[-1][:3] if rows else None


def _exposures(connection: Connection, workspace: str, after: Any) -> Page:
    rows = list(
        connection.execute(
            "SELECT m.id, x.kind, x.at, x.similarity, x.query, x.session FROM memories m"
            " JOIN exposures x ON x.memory = m.n"
            f" WHERE {_AFTER} AND (m.id, x.kind, x.at) > (?, ?, ?) ORDER BY m.id, x.kind, x.at LIMIT ?",
            (*_after(workspace, after or (b"", "", 0)), PAGE),
        )
    )
    exported = [
        exchange.record_to_row(
            Exposed(UUID(bytes=memory), Exposure(kind), moment(at), similarity, query, session or None)
        )
        for memory, kind, at, similarity, query, session in rows
    ]
    return exported, rows[-1][:3] if rows else None


def _reviews(connection: Connection, workspace: str, after: Any) -> Page:
    rows = list(
        connection.execute(
            f"SELECT m.id, {REVIEW_COLUMNS} FROM memories m JOIN reviews r ON r.memory = m.n"
            f" WHERE {_AFTER} AND (m.id, r.at) > (?, ?) ORDER BY m.id, r.at LIMIT ?",
            (*_after(workspace, after or (b"", 0)), PAGE),
        )
    )
    exported = [exchange.record_to_row(review_of(UUID(bytes=row[0]), row[1:])) for row in rows]
    return exported, rows[-1][:2] if rows else None


def _audit(connection: Connection, workspace: str, after: Any) -> Page:
    rows = list(
        connection.execute(
            "SELECT m.id, a.at, a.action, a.reason FROM memories m JOIN audit a ON a.memory = m.n"
            f" WHERE {_AFTER} AND (m.id, a.at, a.action, a.reason) > (?, ?, ?, ?)"
            " ORDER BY m.id, a.at, a.action, a.reason LIMIT ?",
            (*_after(workspace, after or (b"", 0, "", "")), PAGE),
        )
    )
    exported = [
        exchange.record_to_row(Audited(UUID(bytes=memory), action, reason, moment(at)))
        for memory, at, action, reason in rows
    ]
    return exported, rows[-1] if rows else None


def _health(connection: Connection, workspace: str, after: Any) -> Page:
    rows = list(
        connection.execute(
            f"SELECT {SNAPSHOT_COLUMNS} FROM health_snapshots WHERE workspace = ? AND (crew, day) > (?, ?)"
            " ORDER BY crew, day LIMIT ?",
            (workspace, *(after or ("", "")), PAGE),
        )
    )
    return [exchange.record_to_row(snapshot_of(row)) for row in rows], rows[-1][:2] if rows else None


_AFTER: Final = "m.workspace = ? AND m.id >= ?"
"""Found by index, as a comparison of columns of two tables is not: without it each page would read all before it."""


def _after(workspace: str, position: tuple[Any, ...]) -> tuple[Any, ...]:
    return workspace, position[0], *position


_PAGES: Final[dict[str, Callable[[Connection, str, Any], Page]]] = {
    "event": _events,
    "archived": _archived,
    "priority": _priorities,
    "stream": _streams,
    "memory": _memories,
    "cue": _cues,
    "vector": _vectors,
    "revision": _revisions,
    "relation": _relations,
    "exposure": _exposures,
    "review": _reviews,
    "audit": _audit,
    "health": _health,
}
