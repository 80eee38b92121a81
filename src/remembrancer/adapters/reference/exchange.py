"""Export and import of the reference store: conversion between its rows and records."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any, TypeVar
from uuid import UUID

import numpy as np

from remembrancer.adapters.reference.journal import in_order_of_events, place_of
from remembrancer.adapters.reference.rows import Rows, StoredVector, StreamProgress
from remembrancer.domain.event import Event, archived
from remembrancer.domain.health import HealthSnapshot
from remembrancer.domain.journal import PriorityChange
from remembrancer.domain.memory import Cue, Memory, Revision
from remembrancer.domain.relation import Relation
from remembrancer.domain.review import Review
from remembrancer.domain.scope import Scope
from remembrancer.domain.stream import digest_of
from remembrancer.domain.strength import Exposed
from remembrancer.errors import Conflict, InvalidInput
from remembrancer.ports import exchange
from remembrancer.ports.memories import Audited
from remembrancer.ports.transfer import ExportRow

T = TypeVar("T")
K = TypeVar("K")


def export(rows: Rows) -> Iterator[ExportRow]:
    """Every row, in an order determined by the rows."""
    return map(exchange.record_to_row, _records(rows))


def _records(rows: Rows) -> Iterator[exchange.Record]:
    yield from _journal(rows)
    for memory in sorted(rows.memories.values(), key=lambda memory: (memory.recorded_at, memory.id)):
        yield exchange.MemoryRecord(memory, rows.provenance[memory.id])
    refs = sorted(rows.cues, key=lambda ref: (rows.cues[ref].cue.memory_id, rows.cues[ref].cue.ordinal))
    for ref in refs:
        cue = rows.cues[ref].cue
        yield exchange.CueRecord(cue, rows.memories[cue.memory_id].revision)
    for ref in refs:
        for model in sorted(model for at, model in rows.vectors if at == ref):
            yield _vector_record(rows, rows.cues[ref].cue, model, rows.vectors[ref, model])
    yield from _by_key(rows.revisions)
    yield from _by_key(rows.relations)
    yield from _by_key(rows.exposures)
    yield from _by_key(rows.reviews)
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
    return sum(_take_in(rows, record) for record in records)


def _take_in(rows: Rows, record: exchange.Record) -> bool:  # noqa: PLR0911  a case for each
    match record:
        case Event():
            return _take_in_event(rows, record)
        case exchange.ArchivedRecord():
            return _take_in_archived(rows, record)
        case PriorityChange():
            return _take_in_priority_change(rows, record)
        case exchange.StreamRecord():
            return _take_in_stream(rows, record)
        case exchange.MemoryRecord(memory, event_ids):
            return _take_in_memory(rows, memory, event_ids)
        case exchange.CueRecord():
            return _take_in_cue(rows, record)
        case exchange.VectorRecord():
            return _take_in_vector(rows, record)
        case _:
            return _take_in_history(rows, record)


def _take_in_history(rows: Rows, record: exchange.Memorial) -> bool:
    """Add a log line of a memory, or a snapshot, unless it exists. Existing lines never change."""
    match record:
        case Revision():
            memory = _require("revision.memory_id", record.memory_id, rows.memories)
            at_hand = record.number < memory.revision  # otherwise the memory's own next revision takes this number
            return at_hand and _add(rows.revisions, (record.memory_id, record.number), record)
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


def _take_in_memory(rows: Rows, memory: Memory, event_ids: Sequence[UUID]) -> bool:
    if memory.id in rows.memories:
        return False
    for event_id in event_ids:
        _require("memory.event_ids", event_id, rows.events)
    rows.put_memory(memory)
    rows.provenance[memory.id] = tuple(event_ids)
    return True


def _take_in_cue(rows: Rows, record: exchange.CueRecord) -> bool:
    cue = record.cue
    memory = _require("cue.memory_id", cue.memory_id, rows.memories)
    if memory.revision != record.revision or _ref(rows, cue.memory_id, cue.ordinal) is not None:
        return False
    if cue.event_id is not None:
        _require("cue.event_id", cue.event_id, rows.events)
    rows.cues[rows.new_ref()] = rows.analyse(cue)
    return True


def _take_in_vector(rows: Rows, record: exchange.VectorRecord) -> bool:
    memory = _require("vector.memory_id", record.memory_id, rows.memories)
    if memory.revision != record.revision:
        return False
    ref = _ref(rows, record.memory_id, record.ordinal)
    if ref is None:
        raise InvalidInput("vector.ordinal", record.ordinal, f"the ordinal of a cue of memory {record.memory_id}")
    if (ref, record.model) in rows.vectors:
        return False
    rows.require_dim(record.model, [record.dim])
    vector = np.frombuffer(record.data, dtype="<f4").astype(np.float32)
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


def _ref(rows: Rows, memory_id: UUID, ordinal: int) -> int | None:
    for ref, indexed in rows.cues_of(memory_id):
        if indexed.cue.ordinal == ordinal:
            return ref
    return None


def _in_order(event: Event) -> tuple[datetime, tuple[str, ...], int]:
    return event.recorded_at, place_of(event.scope), event.seq


def _read(rows: Rows, stream: Scope, cursor: int) -> str:
    """The digest of the ids of a stream's events up to the cursor, archived or not."""
    until = [event for event in rows.all_events() if event.scope == stream and event.seq <= cursor]
    return digest_of(event.id for event in sorted(until, key=lambda event: event.seq))


def _vector_record(rows: Rows, cue: Cue, model: str, stored: StoredVector) -> exchange.VectorRecord:
    return exchange.VectorRecord(
        memory_id=cue.memory_id,
        ordinal=cue.ordinal,
        revision=rows.memories[cue.memory_id].revision,
        model=model,
        truncated=stored.truncated,
        data=stored.vector.astype("<f4").tobytes(),
        indexed_at=stored.indexed_at,
        token_embeddings=None if stored.token_embeddings is None else stored.token_embeddings.tobytes(),
    )
