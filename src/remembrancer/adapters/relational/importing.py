"""Import: exported rows into a workspace. Existing rows stay unchanged."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any, Final, TypeVar
from uuid import UUID

import numpy as np

from remembrancer.adapters.relational import archive, streams
from remembrancer.adapters.relational.clauses import owner, stream_of
from remembrancer.adapters.relational.columns import Columns, add_row, assigned
from remembrancer.adapters.relational.connection import Binding, Connection
from remembrancer.adapters.relational.embeddings import put_token_embeddings, require_dim
from remembrancer.adapters.relational.exporting import VECTORS
from remembrancer.adapters.relational.full_text import tokens_of
from remembrancer.adapters.relational.journal import add_events, next_seq
from remembrancer.adapters.relational.lookup import there
from remembrancer.adapters.relational.memories import (
    NewCue,
    add_cues,
    add_provenance,
    insert_row,
    next_change,
    rows_of_events,
)
from remembrancer.adapters.relational.rows import (
    AUDIT,
    CHANGES,
    CREDITS,
    EVENTS,
    EXPOSURES,
    MEMORIES,
    PAST_STATES,
    RELATIONS,
    REVIEWS,
    REVISIONS,
    SNAPSHOTS,
    TABLES,
)
from remembrancer.adapters.relational.spaces import settle
from remembrancer.domain.event import Event, archived
from remembrancer.domain.health import HealthSnapshot
from remembrancer.domain.instants import micros, moment
from remembrancer.domain.journal import PriorityChange
from remembrancer.domain.memory import Analyse, Memory, Revision
from remembrancer.domain.outcome import Credit
from remembrancer.domain.past import PastState
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
    HistoryRecord,
    MemoryRecord,
    OtherForm,
    StreamRecord,
    TextRecord,
    VectorRecord,
    cue_of,
    record_owner,
)
from remembrancer.ports.memories import Audited
from remembrancer.ports.quantised import vector_bytes
from remembrancer.ports.transfer import ExportRow

T = TypeVar("T")


def import_rows(
    connection: Connection, scope: Scope, rows: Iterable[ExportRow], analyse: Analyse, dry_run: bool
) -> int:
    """Write the rows. Returns how many were new. A dry run undoes them."""
    connection.execute("SAVEPOINT rows")
    importing = _Import(connection, scope, analyse)
    new = sum(importing.add(exchange.row_to_record(row, scope.workspace)) for row in rows) + importing.merge()
    settle(connection, scope.workspace)
    if dry_run:
        connection.execute("ROLLBACK TO SAVEPOINT rows")
    connection.execute("RELEASE SAVEPOINT rows")
    return new


class _Import:
    """One import. Earlier texts and states of a memory that the store has in another form are collected until all of
    them are read: only then it is known whether the two forms share a past.
    """

    def __init__(self, connection: Connection, scope: Scope, analyse: Analyse) -> None:
        self._connection = connection
        self._scope = scope
        self._analyse = analyse
        self._held: dict[UUID, OtherForm] = {}

    def add(self, record: exchange.Record) -> bool:
        """Write a record, or collect it for `merge`. Returns whether a row was written."""
        match record:
            case MemoryRecord():
                return self._memory(record)
            case CueRecord() | VectorRecord() | Revision() | PastState() if record_owner(record) in self._held:
                self._held[record_owner(record)].texts.append(record)
                return False
            case CueRecord() | VectorRecord() | Revision() | PastState():
                return self._text(record)
            case Event() | ArchivedRecord() | PriorityChange() | StreamRecord():
                return _import_journal(self._connection, self._scope.workspace, record, self._analyse)
            case _:
                return _import_line(self._connection, self._scope.workspace, record)

    def merge(self) -> int:
        """Write the collected records that the store lacks. Returns the number of rows."""
        return sum(self._merge(*each) for each in self._held.items())

    def _memory(self, record: MemoryRecord) -> bool:
        memory = record.memory
        number = _number(self._connection, "memories", self._scope.workspace, memory.id)
        if number is None:
            return _import_memory(self._connection, record)
        here = self._connection.execute("SELECT revision, changed_at FROM memories WHERE n = ?", (number,)).get
        if here != (memory.revision, micros(record.written_at)):
            self._held[memory.id] = OtherForm(record)
        return False

    def _merge(self, memory_id: UUID, form: OtherForm) -> int:
        connection, workspace = self._connection, self._scope.workspace
        number = _memory_number(connection, "memory.id", workspace, memory_id)
        memory = there(connection, self._scope, memory_id)
        changed_at = moment(connection.execute("SELECT changed_at FROM memories WHERE n = ?", (number,)).get)
        said = connection.execute("SELECT number, title, text FROM revisions WHERE memory = ?", (number,))
        if not form.shares_past(
            {**{at: tuple(words) for at, *words in said}, memory.revision: (memory.title, memory.text)}
        ):
            return 0
        is_later = form.is_later(memory.revision, changed_at)
        if is_later:
            self._bring(number, memory, form)
        return is_later + sum(map(self._text, form.texts_of(memory.revision)))

    def _bring(self, number: int, memory: Memory, form: OtherForm) -> None:
        """Give the memory the form of the export."""
        connection, record = self._connection, form.record
        stamps = (next_change(connection, self._scope.workspace), micros(record.written_at))
        try:
            connection.execute(
                f"UPDATE memories SET {assigned(*MEMORIES.names, 'change', 'changed_at')} WHERE n = ?",
                (*MEMORIES.bindings(record.memory), *stamps, number),
            )
        except connection.dialect.row_is_taken as error:
            raise _taken(record.memory) from error
        events = [_event_number(connection, "memory.event_ids", self._scope.workspace, one) for one in record.event_ids]
        add_provenance(connection, number, events)
        in_use = connection.execute(
            "SELECT n, ordinal, revision FROM cues WHERE memory = ? AND last IS NULL", (number,)
        )
        for cue, ordinal, revision in list(in_use):
            last = form.last_of(ordinal, revision, memory.revision)
            connection.execute("UPDATE cues SET last = ? WHERE n = ?", (last, cue))

    def _text(self, record: TextRecord) -> bool:
        """Write an earlier text or state of a memory. Left out: existing ones, and those of a revision that the stored
        memory has not reached, because its own next revision will have that number.
        """
        connection = self._connection
        argument = f"{_TEXTS[type(record)]}.memory_id"
        number = _memory_number(connection, argument, self._scope.workspace, record_owner(record))
        revision: int = connection.execute("SELECT revision FROM memories WHERE n = ?", (number,)).get
        match record:
            case PastState():
                return _add(connection, "past_states", PAST_STATES, record, memory=number)
            case Revision():
                return record.number < revision and self._revision(number, record)
            case CueRecord():
                return record.revision <= revision and self._cue(number, record)
            case VectorRecord():
                return record.revision <= revision and self._vector(number, record)

    def _revision(self, number: int, record: Revision) -> bool:
        if not _add(self._connection, "revisions", REVISIONS, record, memory=number):
            return False
        if _cue_number(self._connection, number, 0, record.number) is None:  # an export from before these had cues
            self._cue(number, CueRecord(cue_of(record), record.number, record.number))
        return True

    def _cue(self, number: int, record: CueRecord) -> bool:
        connection, cue = self._connection, record.cue
        if _cue_number(connection, number, cue.ordinal, record.revision) is not None:
            return False
        later: int | None = connection.execute(
            "SELECT min(revision) FROM cues WHERE memory = ? AND ordinal = ? AND revision > ?",
            (number, cue.ordinal, record.revision),
        ).get
        events = {} if cue.event_id is None else rows_of_events(connection, self._scope.workspace, [cue.event_id])
        if cue.event_id is not None and not events:
            raise _not_preceding("cue.event_id", cue.event_id)
        last = record.last if record.last is not None or later is None else later - 1
        added = NewCue(number, self._analyse(cue), record.revision, last)
        add_cues(connection, self._scope.workspace, [added], events)
        self._number_change(number)
        return True

    def _vector(self, number: int, record: VectorRecord) -> bool:
        connection = self._connection
        cue = _cue_number(connection, number, record.ordinal, record.revision)
        if cue is None:
            raise InvalidInput("vector.ordinal", record.ordinal, f"the ordinal of a cue of memory {record.memory_id}")
        require_dim(connection, self._scope.workspace, record.model, record.dim)
        kept = replace(record, data=vector_bytes(np.frombuffer(record.data, "<f4")))
        if not _add(connection, "embeddings", VECTORS, kept, cue=cue, dim=record.dim):
            return False
        if record.token_embeddings is not None:
            put_token_embeddings(connection, cue, record.model, record.token_embeddings)
        self._number_change(number)
        return True

    def _number_change(self, number: int) -> None:
        change = next_change(self._connection, self._scope.workspace)
        self._connection.execute("UPDATE memories SET change = ? WHERE n = ?", (change, number))


_TEXTS: Final[Mapping[type, str]] = {
    CueRecord: "cue",
    VectorRecord: "vector",
    Revision: "revision",
    PastState: "state",
}


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


def _import_line(connection: Connection, workspace: str, record: HistoryRecord) -> bool:
    """Add a line of a memory's history, or a snapshot, unless it exists. Existing lines never change."""
    if isinstance(record, HealthSnapshot):
        return _add(connection, "health_snapshots", SNAPSHOTS, record, workspace=workspace)
    if isinstance(record, Relation):
        source = _memory_number(connection, "relation.source", workspace, record.source)
        target = _memory_number(connection, "relation.target", workspace, record.target)
        return _add(connection, "relations", RELATIONS, record, workspace=workspace, source=source, target=target)
    name, table, columns = _LINES[type(record)]
    number = _memory_number(connection, f"{name}.memory_id", workspace, record.memory_id)
    return _add(connection, table, columns, record, memory=number)


_LINES: Final[dict[type, tuple[str, str, Columns[Any]]]] = {
    Exposed: ("exposure", "exposures", EXPOSURES),
    Review: ("review", "reviews", REVIEWS),
    Credit: ("credit", "credits", CREDITS),
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
        add_events(connection, event.scope.workspace, [event], [tokens_of(event, analyse)])
    except connection.dialect.row_is_taken as error:
        raise Conflict(f"event {event.id}: its key {event.key!r} is taken here") from error
    return True


def _restore(connection: Connection, event: Event, cut: Event, number: int, analyse: Analyse) -> bool:
    """Replace an archived event by the whole event, at its stored position."""
    whole = replace(event, seq=cut.seq)
    if archived(whole) != cut:
        return False
    connection.execute("DELETE FROM archive WHERE n = ?", (number,))
    add_events(connection, whole.scope.workspace, [whole], [tokens_of(whole, analyse)])
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
        raise _not_preceding("priority.event_id", change.event_id)
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
    try:
        number = insert_row(connection, memory, record.written_at)
    except connection.dialect.row_is_taken as error:
        raise _taken(memory) from error
    for ordinal, event_id in enumerate(record.event_ids):
        connection.execute(
            "INSERT INTO memory_events (memory, ordinal, event) VALUES (?, ?, ?)",
            (number, ordinal, _event_number(connection, "memory.event_ids", workspace, event_id)),
        )
    return True


def _taken(memory: Memory) -> Conflict:
    return Conflict(f"memory {memory.id}: its key {memory.key!r} or topic key {memory.topic_key!r} is taken here")


def _cue_number(connection: Connection, memory_number: int, ordinal: int, revision: int) -> int | None:
    """The cue that a memory has at this place in a revision."""
    return connection.execute(
        "SELECT n FROM cues WHERE memory = ? AND ordinal = ? AND revision <= ? AND (last IS NULL OR last >= ?)",
        (memory_number, ordinal, revision, revision),
    ).get


def _memory_number(connection: Connection, argument: str, workspace: str, identifier: UUID) -> int:
    number = _number(connection, "memories", workspace, identifier)
    if number is None:
        raise InvalidInput(argument, str(identifier), "a memory that precedes it in the export")
    return number


def _event_number(connection: Connection, argument: str, workspace: str, identifier: UUID) -> int:
    number = _number(connection, "events", workspace, identifier)
    if number is None:
        raise _not_preceding(argument, identifier)
    return number


def _not_preceding(argument: str, identifier: UUID) -> InvalidInput:
    return InvalidInput(argument, str(identifier), "an event that precedes it in the export")


def _number(connection: Connection, table: str, workspace: str, identifier: UUID) -> int | None:
    return connection.execute(
        f"SELECT n FROM {table} WHERE workspace = ? AND id = ?", (workspace, identifier.bytes)
    ).get
