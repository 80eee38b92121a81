"""Import: exported rows into a workspace. Existing rows stay unchanged."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any, Final, TypeVar
from uuid import UUID

from remembrancer.adapters.relational import archive, streams
from remembrancer.adapters.relational.clauses import owner, stream_of
from remembrancer.adapters.relational.columns import Columns, add_row
from remembrancer.adapters.relational.connection import Binding, Connection
from remembrancer.adapters.relational.embeddings import put_token_embeddings, require_dim
from remembrancer.adapters.relational.exporting import VECTORS
from remembrancer.adapters.relational.full_text import tokens_of
from remembrancer.adapters.relational.journal import add_event, next_seq
from remembrancer.adapters.relational.memories import add_cue, insert_row, next_change
from remembrancer.adapters.relational.rows import (
    AUDIT,
    CHANGES,
    EVENTS,
    EXPOSURES,
    RELATIONS,
    REVIEWS,
    REVISIONS,
    SNAPSHOTS,
    TABLES,
)
from remembrancer.domain.event import Event, archived
from remembrancer.domain.health import HealthSnapshot
from remembrancer.domain.journal import PriorityChange
from remembrancer.domain.memory import Analyse, Revision
from remembrancer.domain.relation import Relation
from remembrancer.domain.review import Review
from remembrancer.domain.scope import Scope
from remembrancer.domain.stream import Cursor
from remembrancer.domain.strength import Exposed
from remembrancer.errors import Conflict, InvalidInput
from remembrancer.ports import exchange
from remembrancer.ports.exchange import (
    ArchivedRecord,
    CueRecord,
    Memorial,
    MemoryRecord,
    StreamRecord,
    VectorRecord,
)
from remembrancer.ports.memories import Audited
from remembrancer.ports.transfer import ExportRow

T = TypeVar("T")


def import_rows(
    connection: Connection, scope: Scope, rows: Iterable[ExportRow], analyse: Analyse, dry_run: bool
) -> int:
    """Write the rows. Returns how many were new. A dry run undoes them."""
    connection.execute("SAVEPOINT rows")
    new = sum(_import_one(connection, scope.workspace, row, analyse) for row in rows)
    if dry_run:
        connection.execute("ROLLBACK TO SAVEPOINT rows")
    connection.execute("RELEASE SAVEPOINT rows")
    return new


def _import_one(connection: Connection, workspace: str, row: ExportRow, analyse: Analyse) -> bool:
    match exchange.row_to_record(row, workspace):
        case Event() | ArchivedRecord() | PriorityChange() | StreamRecord() as record:
            return _import_journal(connection, workspace, record, analyse)
        case MemoryRecord() as record:
            return _import_memory(connection, record)
        case CueRecord() as record:
            return _import_cue(connection, workspace, record, analyse)
        case VectorRecord() as record:
            return _import_vector(connection, workspace, record)
        case record:
            return _import_history(connection, workspace, record)


def _import_journal(
    connection: Connection,
    workspace: str,
    record: Event | ArchivedRecord | PriorityChange | StreamRecord,
    analyse: Analyse,
) -> bool:
    match record:
        case Event() as event:
            return _import_event(connection, event, analyse)
        case ArchivedRecord():
            return _import_archived(connection, record, analyse)
        case PriorityChange() as change:
            return _import_priority_change(connection, workspace, change)
        case StreamRecord():
            return _import_stream(connection, record)


def _import_history(connection: Connection, workspace: str, record: Memorial) -> bool:
    """Add a log line of a memory, or a snapshot, unless it exists. Existing lines never change."""
    if isinstance(record, HealthSnapshot):
        return _add(connection, "health_snapshots", SNAPSHOTS, record, workspace=workspace)
    if isinstance(record, Relation):
        source = _memory_number(connection, "relation.source", workspace, record.source)
        target = _memory_number(connection, "relation.target", workspace, record.target)
        return _add(connection, "relations", RELATIONS, record, workspace=workspace, source=source, target=target)
    name, table, columns = _LINES[type(record)]
    number = _memory_number(connection, f"{name}.memory_id", workspace, record.memory_id)
    if isinstance(record, Revision) and record.number >= _revision(connection, number):
        return False  # the stored memory is at an older revision: its own next revision takes this number
    return _add(connection, table, columns, record, memory=number)


_LINES: Final[dict[type, tuple[str, str, Columns[Any]]]] = {
    Revision: ("revision", "revisions", REVISIONS),
    Exposed: ("exposure", "exposures", EXPOSURES),
    Review: ("review", "reviews", REVIEWS),
    Audited: ("audit", "audit", AUDIT),
}
"""The rows that belong to a memory: the record's name, its table and its columns."""


def _add(connection: Connection, table: str, columns: Columns[T], value: T, **owner: Binding) -> bool:
    """Insert the value unless it exists. Returns whether it is new. `owner`: the columns of the row it belongs to."""
    return add_row(connection, table, (*owner, *columns.names), (*owner.values(), *columns.bindings(value)))


def _import_event(connection: Connection, event: Event, analyse: Analyse) -> bool:
    if _number(connection, "events", event.scope.workspace, event.id) is not None:
        return False
    row = connection.execute(
        f"SELECT {EVENTS.select}, e.n FROM archive e WHERE e.workspace = ? AND e.id = ?",
        (event.scope.workspace, event.id.bytes),
    ).fetchone()
    if row is not None:
        return _restore(connection, event, EVENTS.value_of(row[:-1]), row[-1], analyse)
    event = replace(event, seq=_free_place(connection, event))
    _require_free_key(connection, event, "archive")
    try:
        add_event(connection, event, tokens_of(event, analyse))
    except connection.dialect.row_is_taken as error:
        raise Conflict(f"event {event.id}: its key {event.key!r} is taken here") from error
    return True


def _restore(connection: Connection, event: Event, cut: Event, number: int, analyse: Analyse) -> bool:
    """Replace an archived event by the whole event, at its stored position."""
    whole = replace(event, seq=cut.seq)
    if archived(whole) != cut:
        return False
    connection.execute("DELETE FROM archive WHERE n = ?", (number,))
    add_event(connection, whole, tokens_of(whole, analyse))
    return True


def _import_archived(connection: Connection, record: ArchivedRecord, analyse: Analyse) -> bool:
    event = record.event
    if any(_number(connection, table, event.scope.workspace, event.id) is not None for table in TABLES):
        return False
    event = replace(event, seq=_free_place(connection, event))
    for table in TABLES:
        _require_free_key(connection, event, table)
    archive.put(connection, event, record.at, analyse)
    return True


def _import_priority_change(connection: Connection, workspace: str, change: PriorityChange) -> bool:
    """Add the log line only: the stored event keeps its priority."""
    if all(_number(connection, table, workspace, change.event_id) is None for table in TABLES):
        raise InvalidInput("priority.event_id", str(change.event_id), "an event that stands before it in the export")
    return _add(connection, "priority_changes", CHANGES, change, workspace=workspace)


def _free_place(connection: Connection, event: Event) -> int:
    """The event's position in its stream, or the next one after the last if another event has it."""
    stream = stream_of(event.scope)
    taken = any(
        connection.execute(
            f"SELECT 1 FROM {table} WHERE workspace = ? AND project = ? AND crew = ? AND agent = ? AND session = ?"
            " AND seq = ?",
            (*stream, event.seq),
        ).get
        for table in TABLES
    )
    if taken:
        return next_seq(connection, event.scope)
    connection.execute(
        "INSERT INTO streams (workspace, project, crew, agent, session, last_seq) VALUES (?, ?, ?, ?, ?, ?)"
        " ON CONFLICT (workspace, project, crew, agent, session) DO UPDATE SET last_seq = excluded.last_seq"
        " WHERE excluded.last_seq > streams.last_seq",
        (*stream, event.seq),
    )
    return event.seq


def _require_free_key(connection: Connection, event: Event, table: str) -> None:
    holder = connection.execute(
        f"SELECT 1 FROM {table} WHERE workspace = ? AND project = ? AND crew = ? AND agent = ? AND key = ?",
        (*owner(event.scope), event.key),
    ).get
    if holder:
        raise Conflict(f"event {event.id}: its key {event.key!r} is taken here")


def _import_stream(connection: Connection, record: StreamRecord) -> bool:
    """Move the cursor forward if the stream has the same events up to there; otherwise it is another stream."""
    here, last, note = streams.place(connection, record.stream)
    is_news = (record.cursor, bool(record.note)) > (here, note != "{}")
    if not is_news or record.cursor > last:
        return False
    if streams.digest_until(connection, record.stream, record.cursor) != record.read:
        return False
    streams.advance(connection, Cursor(stream=record.stream, expected=here, to=record.cursor, note=record.note))
    return True


def _import_memory(connection: Connection, record: MemoryRecord) -> bool:
    memory = record.memory
    workspace = memory.scope.workspace
    if _number(connection, "memories", workspace, memory.id) is not None:
        return False
    try:
        number = insert_row(connection, memory)
    except connection.dialect.row_is_taken as error:
        raise Conflict(
            f"memory {memory.id}: its key {memory.key!r} or topic key {memory.topic_key!r} is taken here"
        ) from error
    for ordinal, event_id in enumerate(record.event_ids):
        connection.execute(
            "INSERT INTO memory_events (memory, ordinal, event) VALUES (?, ?, ?)",
            (number, ordinal, _event_number(connection, "memory.event_ids", workspace, event_id)),
        )
    return True


def _import_cue(connection: Connection, workspace: str, record: CueRecord, analyse: Analyse) -> bool:
    cue = record.cue
    number = _memory_number(connection, "cue.memory_id", workspace, cue.memory_id)
    if _revision(connection, number) != record.revision or _cue_number(connection, number, cue.ordinal) is not None:
        return False
    events: dict[UUID, int] = {}
    if cue.event_id is not None:
        events[cue.event_id] = _event_number(connection, "cue.event_id", workspace, cue.event_id)
    add_cue(connection, workspace, number, analyse(cue), events)
    connection.execute("UPDATE memories SET change = ? WHERE n = ?", (next_change(connection, workspace), number))
    return True


def _import_vector(connection: Connection, workspace: str, record: VectorRecord) -> bool:
    number = _memory_number(connection, "vector.memory_id", workspace, record.memory_id)
    if _revision(connection, number) != record.revision:
        return False
    cue = _cue_number(connection, number, record.ordinal)
    if cue is None:
        raise InvalidInput("vector.ordinal", record.ordinal, f"the ordinal of a cue of memory {record.memory_id}")
    require_dim(connection, workspace, record.model, record.dim)
    if not _add(connection, "embeddings", VECTORS, record, cue=cue, dim=record.dim):
        return False
    if record.token_embeddings is not None:
        put_token_embeddings(connection, cue, record.model, record.token_embeddings)
    connection.execute("UPDATE memories SET change = ? WHERE n = ?", (next_change(connection, workspace), number))
    return True


def _revision(connection: Connection, memory_number: int) -> int:
    return connection.execute("SELECT revision FROM memories WHERE n = ?", (memory_number,)).get


def _cue_number(connection: Connection, memory_number: int, ordinal: int) -> int | None:
    return connection.execute("SELECT n FROM cues WHERE memory = ? AND ordinal = ?", (memory_number, ordinal)).get


def _memory_number(connection: Connection, argument: str, workspace: str, identifier: UUID) -> int:
    number = _number(connection, "memories", workspace, identifier)
    if number is None:
        raise InvalidInput(argument, str(identifier), "a memory that stands before it in the export")
    return number


def _event_number(connection: Connection, argument: str, workspace: str, identifier: UUID) -> int:
    number = _number(connection, "events", workspace, identifier)
    if number is None:
        raise InvalidInput(argument, str(identifier), "an event that stands before it in the export")
    return number


def _number(connection: Connection, table: str, workspace: str, identifier: UUID) -> int | None:
    return connection.execute(
        f"SELECT n FROM {table} WHERE workspace = ? AND id = ?", (workspace, identifier.bytes)
    ).get
