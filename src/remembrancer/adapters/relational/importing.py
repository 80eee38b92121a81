"""Export rows into a workspace; those already there are left alone."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from uuid import UUID

from remembrancer.adapters.relational import archive, streams
from remembrancer.adapters.relational.clauses import owner, stream_of
from remembrancer.adapters.relational.connection import Connection
from remembrancer.adapters.relational.embeddings import put_word_vectors, require_dim
from remembrancer.adapters.relational.full_text import tokens_of
from remembrancer.adapters.relational.health import SNAPSHOT_COLUMNS, snapshot_bindings
from remembrancer.adapters.relational.journal import add_event, next_seq
from remembrancer.adapters.relational.memories import add_cue, insert_row, next_change
from remembrancer.adapters.relational.priorities import insert_change
from remembrancer.adapters.relational.reviews import insert_review
from remembrancer.adapters.relational.rows import EVENT_COLUMNS, TABLES, event_of
from remembrancer.adapters.relational.times import micros
from remembrancer.domain.event import Event, archived
from remembrancer.domain.health import HealthSnapshot
from remembrancer.domain.journal import PriorityChange
from remembrancer.domain.memory import Revision
from remembrancer.domain.relation import Relation
from remembrancer.domain.review import Review
from remembrancer.domain.scope import Scope
from remembrancer.domain.stream import Cursor
from remembrancer.domain.strength import Exposed
from remembrancer.errors import Conflict, InvalidInput
from remembrancer.ports import exchange
from remembrancer.ports.exchange import (
    Analyse,
    ArchivedRecord,
    CueRecord,
    Memorial,
    MemoryRecord,
    StreamRecord,
    VectorRecord,
)
from remembrancer.ports.memories import Audited
from remembrancer.ports.transfer import ExportRow


def import_rows(
    connection: Connection, scope: Scope, rows: Iterable[ExportRow], analyse: Analyse, dry_run: bool
) -> int:
    """Write them. Returns how many were new; a dry run takes them back."""
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
    """What became of memories: added where it is not there yet, and never changed."""
    match record:
        case Revision() as revision:
            return _import_revision(connection, workspace, revision)
        case Relation() as relation:
            return _import_relation(connection, workspace, relation)
        case Exposed() as exposed:
            return _import_exposure(connection, workspace, exposed)
        case Review() as review:
            return _import_review(connection, workspace, review)
        case Audited() as line:
            return _import_audit(connection, workspace, line)
        case HealthSnapshot() as snapshot:
            return _import_health(connection, workspace, snapshot)


def _import_event(connection: Connection, event: Event, analyse: Analyse) -> bool:
    if _number(connection, "events", event.scope.workspace, event.id) is not None:
        return False
    row = connection.execute(
        f"SELECT {EVENT_COLUMNS}, e.n FROM archive e WHERE e.workspace = ? AND e.id = ?",
        (event.scope.workspace, event.id.bytes),
    ).fetchone()
    if row is not None:
        return _restore(connection, event, event_of(row[:-1]), row[-1], analyse)
    seq = _free_place(connection, event)
    _require_free_key(connection, event, "archive")
    try:
        add_event(connection, event, seq, tokens_of(event, analyse))
    except connection.dialect.row_is_taken as error:
        raise Conflict(f"event {event.id}: its key {event.key!r} is taken here") from error
    return True


def _restore(connection: Connection, event: Event, cut: Event, number: int, analyse: Analyse) -> bool:
    """An event that is only in the archive here becomes whole again, at the place that it has here."""
    whole = replace(event, seq=cut.seq)
    if archived(whole) != cut:
        return False
    connection.execute("DELETE FROM archive WHERE n = ?", (number,))
    add_event(connection, whole, cut.seq, tokens_of(whole, analyse))
    return True


def _import_archived(connection: Connection, record: ArchivedRecord, analyse: Analyse) -> bool:
    event = record.event
    if any(_number(connection, table, event.scope.workspace, event.id) is not None for table in TABLES):
        return False
    seq = _free_place(connection, event)
    for table in TABLES:
        _require_free_key(connection, event, table)
    archive.put(connection, event, seq, record.at, analyse)
    return True


def _import_priority_change(connection: Connection, workspace: str, change: PriorityChange) -> bool:
    """Only the line: an event that is there keeps the priority that it has here."""
    if all(_number(connection, table, workspace, change.event_id) is None for table in TABLES):
        raise InvalidInput("priority.event_id", str(change.event_id), "an event that stands before it in the export")
    return insert_change(connection, workspace, change)


def _free_place(connection: Connection, event: Event) -> int:
    """The event's place in its stream, or the one behind the last where another stands there."""
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
    """Only onwards, and only where the same events stand up to that place: what was read is then the stream here."""
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
    connection.execute("UPDATE memories SET change = ? WHERE n = ?", (next_change(connection), number))
    return True


def _import_vector(connection: Connection, workspace: str, record: VectorRecord) -> bool:
    number = _memory_number(connection, "vector.memory_id", workspace, record.memory_id)
    if _revision(connection, number) != record.revision:
        return False
    cue = _cue_number(connection, number, record.ordinal)
    if cue is None:
        raise InvalidInput("vector.ordinal", record.ordinal, f"the ordinal of a cue of memory {record.memory_id}")
    require_dim(connection, workspace, record.model, record.dim)
    inserted = connection.count(
        "INSERT INTO embeddings (cue, model, dim, truncated, vector, indexed_at) VALUES (?, ?, ?, ?, ?, ?)"
        " ON CONFLICT DO NOTHING",
        (cue, record.model, record.dim, int(record.truncated), record.data, micros(record.indexed_at)),
    )
    if not inserted:
        return False
    if record.words is not None:
        put_word_vectors(connection, cue, record.model, record.words)
    connection.execute("UPDATE memories SET change = ? WHERE n = ?", (next_change(connection), number))
    return True


def _import_revision(connection: Connection, workspace: str, revision: Revision) -> bool:
    number = _memory_number(connection, "revision.memory_id", workspace, revision.memory_id)
    if revision.number >= _revision(connection, number):
        return False  # the memory here has not come so far: its own next revision takes this number
    inserted = connection.count(
        "INSERT INTO revisions (memory, number, title, text, replaced_at) VALUES (?, ?, ?, ?, ?)"
        " ON CONFLICT DO NOTHING",
        (number, revision.number, revision.title, revision.text, micros(revision.replaced_at)),
    )
    return inserted > 0


def _import_relation(connection: Connection, workspace: str, relation: Relation) -> bool:
    source = _memory_number(connection, "relation.source", workspace, relation.source)
    target = _memory_number(connection, "relation.target", workspace, relation.target)
    inserted = connection.count(
        "INSERT INTO relations (workspace, source, target, kind, weight, created_at) VALUES (?, ?, ?, ?, ?, ?)"
        " ON CONFLICT DO NOTHING",
        (workspace, source, target, relation.kind, relation.weight, micros(relation.created_at)),
    )
    return inserted > 0


def _import_exposure(connection: Connection, workspace: str, exposed: Exposed) -> bool:
    number = _memory_number(connection, "exposure.memory_id", workspace, exposed.memory_id)
    inserted = connection.count(
        "INSERT INTO exposures (memory, kind, at, similarity, query, session) VALUES (?, ?, ?, ?, ?, ?)"
        " ON CONFLICT DO NOTHING",
        (number, exposed.exposure, micros(exposed.at), exposed.similarity, exposed.query, exposed.session or ""),
    )
    return inserted > 0


def _import_review(connection: Connection, workspace: str, review: Review) -> bool:
    number = _memory_number(connection, "review.memory_id", workspace, review.memory_id)
    return insert_review(connection, number, review)


def _import_audit(connection: Connection, workspace: str, line: Audited) -> bool:
    number = _memory_number(connection, "audit.memory_id", workspace, line.memory_id)
    inserted = connection.count(
        "INSERT INTO audit (memory, at, action, reason) VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING",
        (number, micros(line.at), line.action, line.reason),
    )
    return inserted > 0


def _import_health(connection: Connection, workspace: str, snapshot: HealthSnapshot) -> bool:
    inserted = connection.count(
        f"INSERT INTO health_snapshots (workspace, {SNAPSHOT_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
        " ON CONFLICT DO NOTHING",
        snapshot_bindings(workspace, snapshot),
    )
    return inserted > 0


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
