"""Export and import of the reference store: conversion between its rows and records."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from datetime import datetime
from typing import Any, Final, TypeVar
from uuid import UUID

import numpy as np

from remembrancer.adapters.reference.journal import in_order_of_events, place_of
from remembrancer.adapters.reference.rows import CueSpan, Rows, StoredVector, StreamProgress
from remembrancer.domain.event import Event, archived
from remembrancer.domain.health import HealthSnapshot
from remembrancer.domain.journal import PriorityChange
from remembrancer.domain.memory import Memory, Revision
from remembrancer.domain.outcome import Credit
from remembrancer.domain.past import PastState
from remembrancer.domain.relation import Relation
from remembrancer.domain.review import Review
from remembrancer.domain.scope import Scope
from remembrancer.domain.stream import digest_of
from remembrancer.domain.strength import Exposed
from remembrancer.errors import Conflict, InvalidInput
from remembrancer.ports import exchange
from remembrancer.ports.memories import Audited
from remembrancer.ports.quantised import rounded
from remembrancer.ports.transfer import ExportRow

T = TypeVar("T")
K = TypeVar("K")


def export(rows: Rows) -> Iterator[ExportRow]:
    """Every row, in an order determined by the rows."""
    return map(exchange.record_to_row, _records(rows))


def _records(rows: Rows) -> Iterator[exchange.Record]:
    yield from _journal(rows)
    for memory in sorted(rows.memories.values(), key=lambda memory: (memory.recorded_at, memory.id)):
        yield exchange.MemoryRecord(memory, rows.provenance[memory.id], rows.changed_at[memory.id])
    places = {ref: (one.cue.memory_id, one.cue.ordinal, rows.spans[ref].first) for ref, one in rows.cues.items()}
    for ref in sorted(rows.cues, key=places.__getitem__):
        yield exchange.CueRecord(rows.cues[ref].cue, rows.spans[ref].first, rows.spans[ref].last)
    vectors = sorted(rows.vectors, key=lambda at: (*places[at[0]][:2], at[1], places[at[0]][2]))
    for ref, model in vectors:
        yield _vector_record(rows, ref, model, rows.vectors[ref, model])
    yield from _by_key(rows.revisions)
    yield from _by_key(rows.past_states)
    yield from _by_key(rows.relations)
    yield from _by_key(rows.exposures)
    yield from _by_key(rows.reviews)
    yield from _by_key(rows.credits)
    yield from sorted(rows.audit, key=lambda line: (line.memory_id, line.at, line.action, line.reason))
    yield from _by_key(rows.health)


def _by_key(held: Mapping[tuple[Any, ...], T]) -> Iterator[T]:
    return (held[key] for key in sorted(held))


def _journal(rows: Rows) -> Iterator[exchange.Record]:
    yield from sorted(rows.events.values(), key=_in_order)
    yield from sorted(rows.archive.values(), key=lambda one: _in_order(one.event))
    yield from in_order_of_events(rows.priority_changes)
    for stream, progress in sorted(rows.streams.items(), key=lambda pair: place_of(pair[0])):
        if progress != StreamProgress():
            read = _read(rows, stream, progress.cursor)
            yield exchange.StreamRecord(stream=stream, cursor=progress.cursor, read=read, note=progress.note)


def take_in(rows: Rows, records: Iterable[exchange.Record]) -> int:
    """Add records that do not exist yet. Returns how many were new."""
    taking = _Import(rows)
    return sum(map(taking.take_in, records)) + taking.merge()


class _Import:
    """One import. Earlier texts and states of a memory that the store has in another form are collected until all of
    them are read.
    """

    def __init__(self, rows: Rows) -> None:
        self._rows = rows
        self._held: dict[UUID, exchange.OtherForm] = {}

    def take_in(self, record: exchange.Record) -> bool:
        match record:
            case exchange.MemoryRecord():
                return self._memory(record)
            case exchange.CueRecord() | exchange.VectorRecord() | Revision() | PastState():
                form = self._held.get(exchange.record_owner(record))
                if form is None:
                    return self._text(record)
                form.texts.append(record)
                return False
            case Event() | exchange.ArchivedRecord() | PriorityChange() | exchange.StreamRecord():
                return _take_in_journal(self._rows, record)
            case _:
                return _take_in_line(self._rows, record)

    def merge(self) -> int:
        return sum(self._merge(self._rows.memories[memory_id], form) for memory_id, form in self._held.items())

    def _memory(self, record: exchange.MemoryRecord) -> bool:
        rows, memory = self._rows, record.memory
        here = rows.memories.get(memory.id)
        if here is None:
            _take_in_memory(rows, record)
            return True
        if (here.revision, rows.changed_at[memory.id]) != (memory.revision, record.written_at):
            self._held[memory.id] = exchange.OtherForm(record)
        return False

    def _merge(self, memory: Memory, form: exchange.OtherForm) -> int:
        rows = self._rows
        said = {number: (one.title, one.text) for (owner, number), one in rows.revisions.items() if owner == memory.id}
        if not form.shares_past({**said, memory.revision: (memory.title, memory.text)}):
            return 0
        is_later = form.is_later(memory.revision, rows.changed_at[memory.id])
        if is_later:
            refs = [ref for ref, _ in rows.cues_of(memory.id)]
            events = dict.fromkeys((*rows.provenance[memory.id], *form.record.event_ids))
            _take_in_memory(rows, replace(form.record, event_ids=tuple(events)))
            for ref in refs:
                last = form.last_of(rows.cues[ref].cue.ordinal, rows.spans[ref].first, memory.revision)
                rows.spans[ref] = CueSpan(rows.spans[ref].first, last)
        return is_later + sum(map(self._text, form.texts_of(memory.revision)))

    def _text(self, record: exchange.TextRecord) -> bool:
        rows, owner = self._rows, exchange.record_owner(record)
        memory = _require(f"{_NAMES[type(record)]}.memory_id", owner, rows.memories)
        match record:
            case PastState():
                return _add(rows.past_states, (owner, record.until), record)
            case Revision():
                # Otherwise the memory's own next revision takes this number.
                return record.number < memory.revision and _take_in_revision(rows, memory, record)
            case exchange.CueRecord():
                return record.revision <= memory.revision and _take_in_cue(rows, record)
            case exchange.VectorRecord():
                return record.revision <= memory.revision and _take_in_vector(rows, record)


_NAMES: Final[Mapping[type, str]] = {
    exchange.CueRecord: "cue",
    exchange.VectorRecord: "vector",
    Revision: "revision",
    PastState: "state",
}


def _take_in_journal(
    rows: Rows, record: Event | exchange.ArchivedRecord | PriorityChange | exchange.StreamRecord
) -> bool:
    match record:
        case Event():
            return _take_in_event(rows, record)
        case exchange.ArchivedRecord():
            return _take_in_archived(rows, record)
        case PriorityChange():
            return _take_in_priority_change(rows, record)
        case exchange.StreamRecord():
            return _take_in_stream(rows, record)


def _take_in_line(rows: Rows, record: exchange.HistoryRecord) -> bool:
    """Add a line of a memory's history, or a snapshot, unless it exists. Existing lines never change."""
    match record:
        case Relation():
            _require("relation.source", record.source, rows.memories)
            _require("relation.target", record.target, rows.memories)
            return _add(rows.relations, (record.source, record.target, record.kind), record)
        case Exposed():
            _require("exposure.memory_id", record.memory_id, rows.memories)
            return _add(rows.exposures, (record.memory_id, record.exposure, record.at), record)
        case Review():
            _require("review.memory_id", record.memory_id, rows.memories)
            return _add(rows.reviews, (record.memory_id, record.at), record)
        case Credit():
            _require("credit.memory_id", record.memory_id, rows.memories)
            return _add(rows.credits, (record.memory_id, record.outcome_id), record)
        case Audited():
            _require("audit.memory_id", record.memory_id, rows.memories)
            is_new = record not in rows.audit
            rows.audit.add(record)
            return is_new
        case HealthSnapshot():
            return _add(rows.health, (record.crew or "", record.day), record)


def _add(held: dict[K, T], key: K, value: T) -> bool:
    """Add the value unless the key exists. Returns whether it was added."""
    is_new = key not in held
    held.setdefault(key, value)
    return is_new


def _take_in_event(rows: Rows, event: Event) -> bool:
    if event.id in rows.events:
        return False
    cut = rows.archive.get(event.id)
    if cut is not None:
        whole = replace(event, seq=cut.event.seq)
        if archived(whole) != cut.event:
            return False
        del rows.archive[event.id]
        rows.record(whole)
        return True
    rows.record(_placed(rows, event))
    return True


def _take_in_archived(rows: Rows, record: exchange.ArchivedRecord) -> bool:
    event = record.event
    if event.id in rows.events or event.id in rows.archive:
        return False
    rows.archive[event.id] = replace(record, event=_placed(rows, event))
    return True


def _take_in_priority_change(rows: Rows, change: PriorityChange) -> bool:
    """Add the log line only: the stored event keeps its priority."""
    _require("priority.event_id", change.event_id, {**rows.events, **rows.archive})
    if change in rows.priority_changes:
        return False
    rows.priority_changes.add(change)
    return True


def _placed(rows: Rows, event: Event) -> Event:
    """The event at its position in its stream, or after the last event if the position is taken."""
    holder = rows.event_with_key(event.scope, event.key)
    if holder is not None:
        raise Conflict(f"key {event.key!r} belongs to event {holder.id}")
    taken = any(other.scope == event.scope and other.seq == event.seq for other in rows.all_events())
    return replace(event, seq=rows.last_seq(event.scope) + 1) if taken else event


def _take_in_stream(rows: Rows, record: exchange.StreamRecord) -> bool:
    here = rows.progress(record.stream)
    is_news = (record.cursor, bool(record.note)) > (here.cursor, bool(here.note))
    is_same = record.cursor <= rows.last_seq(record.stream)
    is_same = is_same and _read(rows, record.stream, record.cursor) == record.read
    if is_news and is_same:
        rows.streams[record.stream] = StreamProgress(record.cursor, record.note)
    return is_news and is_same


def _take_in_memory(rows: Rows, record: exchange.MemoryRecord) -> None:
    for event_id in record.event_ids:
        _require("memory.event_ids", event_id, rows.events)
    rows.put_memory(record.memory)
    rows.provenance[record.memory.id] = tuple(record.event_ids)
    rows.changed_at[record.memory.id] = record.written_at


def _take_in_revision(rows: Rows, memory: Memory, revision: Revision) -> bool:
    if not _add(rows.revisions, (memory.id, revision.number), revision):
        return False
    if _ref(rows, memory.id, 0, revision.number) is None:  # an export from before revisions had cues
        _take_in_cue(rows, exchange.CueRecord(exchange.cue_of(revision), revision.number, revision.number))
    return True


def _take_in_cue(rows: Rows, record: exchange.CueRecord) -> bool:
    cue = record.cue
    if _ref(rows, cue.memory_id, cue.ordinal, record.revision) is not None:
        return False
    if cue.event_id is not None:
        _require("cue.event_id", cue.event_id, rows.events)
    later = [
        rows.spans[ref].first - 1
        for ref, indexed in rows.cues.items()
        if (indexed.cue.memory_id, indexed.cue.ordinal) == (cue.memory_id, cue.ordinal)
        and rows.spans[ref].first > record.revision
    ]
    last = min(later, default=None) if record.last is None else record.last
    rows.add_cue(rows.analyse(cue), record.revision, last)
    return True


def _take_in_vector(rows: Rows, record: exchange.VectorRecord) -> bool:
    ref = _ref(rows, record.memory_id, record.ordinal, record.revision)
    if ref is None:
        raise InvalidInput("vector.ordinal", record.ordinal, f"the ordinal of a cue of memory {record.memory_id}")
    if (ref, record.model) in rows.vectors:
        return False
    rows.require_dim(record.model, [record.dim])
    vector = rounded(np.frombuffer(record.data, dtype="<f4"))
    size = -(-record.dim // 8)
    token_embeddings = (
        None
        if record.token_embeddings is None
        else np.frombuffer(record.token_embeddings, dtype=np.uint8).reshape(-1, size)
    )
    rows.vectors[ref, record.model] = StoredVector(vector, record.truncated, record.indexed_at, token_embeddings)
    return True


def _require(argument: str, row_id: UUID, rows: Mapping[UUID, T]) -> T:
    if row_id not in rows:
        raise InvalidInput(argument, str(row_id), "the id of a stored row, or of an earlier row of the export")
    return rows[row_id]


def _ref(rows: Rows, memory_id: UUID, ordinal: int, revision: int) -> int | None:
    """The cue that a memory has at this place in a revision."""
    for ref, indexed in rows.cues.items():
        cue = indexed.cue
        if (cue.memory_id, cue.ordinal) == (memory_id, ordinal) and rows.spans[ref].holds(revision):
            return ref
    return None


def _in_order(event: Event) -> tuple[datetime, tuple[str, ...], int]:
    return event.recorded_at, place_of(event.scope), event.seq


def _read(rows: Rows, stream: Scope, cursor: int) -> str:
    """The digest of the ids of a stream's events up to the cursor, archived or not."""
    until = [event for event in rows.all_events() if event.scope == stream and event.seq <= cursor]
    return digest_of(event.id for event in sorted(until, key=lambda event: event.seq))


def _vector_record(rows: Rows, ref: int, model: str, stored: StoredVector) -> exchange.VectorRecord:
    cue = rows.cues[ref].cue
    return exchange.VectorRecord(
        memory_id=cue.memory_id,
        ordinal=cue.ordinal,
        revision=rows.spans[ref].first,
        model=model,
        truncated=stored.truncated,
        data=stored.vector.astype("<f4").tobytes(),
        indexed_at=stored.indexed_at,
        token_embeddings=None if stored.token_embeddings is None else stored.token_embeddings.tobytes(),
    )
