"""Export: every row of a workspace as JSON, a page at a time."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, Final
from uuid import UUID

from remembrancer.adapters.relational.clauses import marks
from remembrancer.adapters.relational.columns import FLAG, TIME, Column, Columns, Row, as_written, decoded, scope_of
from remembrancer.adapters.relational.connection import Connection
from remembrancer.adapters.relational.rows import (
    AUDIT,
    CHANGES,
    CREDITS,
    CUES,
    EVENTS,
    EXPOSURES,
    MEMORIES,
    MEMORY_ID,
    PAST_STATES,
    RELATIONS,
    REVIEWS,
    REVISIONS,
    SNAPSHOTS,
)
from remembrancer.adapters.relational.streams import digest_until
from remembrancer.domain.instants import moment
from remembrancer.ports.exchange import (
    RECORDS,
    ArchivedRecord,
    CueRecord,
    MemoryRecord,
    Record,
    StreamRecord,
    VectorRecord,
    record_to_row,
)
from remembrancer.ports.quantised import vector_of
from remembrancer.ports.transfer import ExportRow
from remembrancer.values import dataclass

KINDS: Final = RECORDS
"""The kinds of export rows, in order: a row follows every row it refers to."""

PAGE: Final = 1000
"""The number of rows of one read."""

VECTORS: Final = Columns[VectorRecord](
    "v",
    VectorRecord,
    (
        MEMORY_ID,
        Column("c.ordinal"),
        Column("model"),
        Column("c.revision"),
        Column("truncated", FLAG),
        Column("vector", path="data"),
        Column("indexed_at", TIME),
        Column("w.signs", path="token_embeddings"),
    ),
)

Page = tuple[list[ExportRow], Any]
"""Some rows, and the position after them; the position is None on the last page."""


@dataclass(frozen=True, slots=True)
class _Source:
    """The tables of one kind of record, and the function that makes a record from a row."""

    select: tuple[str, ...]
    key: int
    """The number of leading columns that form a unique key. Rows are exported in its order."""
    rows: str
    """The tables, and the condition for the rows of one workspace."""
    record_of: Callable[[Connection, Row], Record]


def export_page(connection: Connection, workspace: str, record: str, after: Any) -> Page:
    """The next rows of one kind of record, after the position of the previous page (None: from the start)."""
    source = _SOURCES[record]
    keys = source.select[: source.key]
    onwards, position = "", ()
    if after is not None:
        # The first condition follows from the second. It lets the database use the index of one table if
        # the keys are columns of several; without it, each page would read all previous rows.
        onwards, position = f" AND {keys[0]} >= ? AND ({', '.join(keys)}) > ({marks(keys)})", (after[0], *after)
    rows = list(
        connection.execute(
            f"SELECT {', '.join(source.select)} FROM {source.rows}{onwards} ORDER BY {', '.join(keys)} LIMIT ?",
            (workspace, *position, PAGE),
        )
    )
    with as_written():
        exported = [record_to_row(source.record_of(connection, row)) for row in rows]
    return exported, rows[-1][: source.key] if len(rows) == PAGE else None


def _source(columns: Columns[Any], key: int, rows: str) -> _Source:
    """The source of records whose rows contain the whole record."""
    return _Source(columns.selected, key, rows, lambda _connection, row: columns.value_of(row))


def _archived(_connection: Connection, row: Row) -> ArchivedRecord:
    return ArchivedRecord(EVENTS.value_of(row), moment(row[-1]))


def _stream(connection: Connection, row: Row) -> StreamRecord:
    *parts, workspace, cursor, note = row
    stream = scope_of(workspace, *parts)
    read = digest_until(connection, stream, cursor)
    return StreamRecord(stream=stream, cursor=cursor, read=read, note=decoded(note))


def _memory(connection: Connection, row: Row) -> MemoryRecord:
    events = connection.execute(
        "SELECT e.id FROM memory_events l JOIN events e ON e.n = l.event WHERE l.memory = ? ORDER BY l.ordinal",
        (row[-1],),
    )
    ids = tuple(UUID(bytes=identifier) for (identifier,) in events)
    return MemoryRecord(MEMORIES.value_of(row), ids, moment(row[-2]))


def _vector(_connection: Connection, row: Row) -> VectorRecord:
    stored = VECTORS.value_of(row)
    return replace(stored, data=vector_of(stored.data, row[-1]).astype("<f4").tobytes())


def _cue(_connection: Connection, row: Row) -> CueRecord:
    identifier, ordinal, revision, *rest, last = row
    return CueRecord(CUES.value_of((identifier, ordinal, *rest)), revision, last)


_OF_MEMORIES: Final = "memories m JOIN {} WHERE m.workspace = ?"
_SOURCES: Final[dict[str, _Source]] = {
    "event": _source(EVENTS, 1, "events e WHERE e.workspace = ?"),
    "archived": _Source((*EVENTS.selected, "e.archived_at"), 1, "archive e WHERE e.workspace = ?", _archived),
    "priority": _source(CHANGES, 6, "priority_changes p WHERE p.workspace = ?"),
    "stream": _Source(
        ("s.project", "s.crew", "s.agent", "s.session", "s.workspace", "s.segmented", "s.note"),
        4,
        "streams s WHERE s.workspace = ? AND (s.segmented > 0 OR s.note <> '{}')",
        _stream,
    ),
    "memory": _Source((*MEMORIES.selected, "m.changed_at", "m.n"), 1, "memories m WHERE m.workspace = ?", _memory),
    "cue": _Source(
        (*CUES.selected[:2], "c.revision", *CUES.selected[2:], "c.last"),
        3,
        _OF_MEMORIES.format("cues c ON c.memory = m.n LEFT JOIN events e ON e.n = c.event"),
        _cue,
    ),
    "vector": _Source(
        (*VECTORS.selected, "v.dim"),
        4,
        _OF_MEMORIES.format(
            "cues c ON c.memory = m.n JOIN embeddings v ON v.cue = c.n"
            " LEFT JOIN word_vectors w ON w.cue = v.cue AND w.model = v.model"
        ),
        _vector,
    ),
    "revision": _source(REVISIONS, 2, _OF_MEMORIES.format("revisions r ON r.memory = m.n")),
    "state": _source(PAST_STATES, 2, _OF_MEMORIES.format("past_states s ON s.memory = m.n")),
    "relation": _source(
        RELATIONS,
        3,
        "memories s JOIN relations r ON r.source = s.n JOIN memories t ON t.n = r.target WHERE s.workspace = ?",
    ),
    "exposure": _source(EXPOSURES, 3, _OF_MEMORIES.format("exposures x ON x.memory = m.n")),
    "review": _source(REVIEWS, 2, _OF_MEMORIES.format("reviews r ON r.memory = m.n")),
    "credit": _source(CREDITS, 2, _OF_MEMORIES.format("credits c ON c.memory = m.n")),
    "audit": _source(AUDIT, 4, _OF_MEMORIES.format("audit a ON a.memory = m.n")),
    "health": _source(SNAPSHOTS, 2, "health_snapshots h WHERE h.workspace = ?"),
}
