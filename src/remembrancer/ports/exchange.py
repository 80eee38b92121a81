"""Rows of an export: one JSON shape per record, the same for every store, so that each can read what another wrote.

A row names no workspace: an import writes into the workspace it is given and cannot reach past it. Times are ISO 8601
in UTC with microseconds, ids are text, and a missing field counts as null; one that older exports did not have yet
counts as the value that a row without it has.

Not in an export is what belongs to the machine that the jobs run on: how their runs went, what of their work waits to
be tried again, and the ledger of what models were asked.
"""

from __future__ import annotations

import base64
import binascii
import math
import struct
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime
from hashlib import blake2b
from typing import Final, TypeVar, cast
from uuid import UUID

from remembrancer.domain import validation
from remembrancer.domain.event import Event, Origin, Priority, Role, Severity
from remembrancer.domain.health import HealthSnapshot, Metrics
from remembrancer.domain.journal import PriorityChange
from remembrancer.domain.memory import Cue, IndexedCue, Memory, Revision, Status, Tier
from remembrancer.domain.relation import Relation, RelationKind
from remembrancer.domain.review import Rating, Review
from remembrancer.domain.scope import Scope, Visibility
from remembrancer.domain.strength import INITIAL_DIFFICULTY, INITIAL_STABILITY, Exposed, Exposure, Strength, Usage
from remembrancer.domain.validation import E_, JsonValue
from remembrancer.errors import InvalidInput
from remembrancer.ports.memories import Audited
from remembrancer.ports.transfer import ExportRow

Analyse = Callable[[Cue], IndexedCue]
"""A cue to what search needs of it."""

RECORDS: Final = (
    "event",
    "archived",
    "priority",
    "stream",
    "memory",
    "cue",
    "vector",
    "revision",
    "relation",
    "exposure",
    "review",
    "audit",
    "health",
)
"""In the order of an export: a row comes after every row it names."""

MAX_RECORD_TEXT_BYTES: Final = 1_048_576
"""A memory formed from many turns may be longer than any one of them."""

MAX_DIM: Final = 65_536
_MAX_COUNT: Final = 2**63 - 1
_MAX_USES: Final = 2**31 - 1
"""Exposures of one kind: `States` counts them in 32 bits."""
_LEAST_DAYS: Final = 1e-6
_MOST_DAYS: Final = 1e9
"""Of stability: far beyond what any review gives, and within what `States` can hold."""
_UNIT_TOLERANCE: Final = 0.01
_LARGEST_COSINE: Final = (1 + _UNIT_TOLERANCE) ** 2 + 0.003
"""Of two vectors that pass for unit length, one of them in eight bits: what a store logged must come in again."""

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class ArchivedRecord:
    """An event as it is in the archive, and since when it is there."""

    event: Event
    at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class StreamRecord:
    """How far a stream has been read into episodes, and what its reader left for the next.

    `read`: the digest of the events up to there, archived or not. A store in which others stand there holds another
    stream under that name: what is read of the one says nothing of the other.
    """

    stream: Scope
    cursor: int
    read: str
    note: Mapping[str, JsonValue]


def digest_of(events: Iterable[UUID]) -> str:
    """Of the ids of events in the order of their stream, with the name of the hash.

    >>> digest_of([])
    'blake2b:cae66941d9efbd404e4d88758ea67670'
    """
    whole = blake2b(digest_size=16)
    for event_id in events:
        whole.update(event_id.bytes)
    return f"blake2b:{whole.hexdigest()}"


@dataclass(frozen=True, slots=True)
class MemoryRecord:
    """A memory with the events it was formed from, in order."""

    memory: Memory
    event_ids: tuple[UUID, ...]


@dataclass(frozen=True, slots=True)
class CueRecord:
    """A cue, and the revision of its memory that it belongs to: a memory that has moved on must not take it."""

    cue: Cue
    revision: int


@dataclass(frozen=True, slots=True, kw_only=True)
class VectorRecord:
    """The vector of one cue: `data` is little-endian float32, unit length, 4 bytes for each of `dim` components.

    `revision` is that of its memory, as for a cue.
    """

    memory_id: UUID
    ordinal: int
    revision: int
    model: str
    truncated: bool
    data: bytes
    indexed_at: datetime | None = None
    words: bytes | None = None
    """As `CueVector.words`, row after row: dim / 8 bytes, rounded up, for each piece of a word."""

    @property
    def dim(self) -> int:
        return len(self.data) // 4


Memorial = Revision | Relation | Exposed | Review | Audited | HealthSnapshot
"""What became of memories. Exposures, reviews and lines of the audit have no id. An exposure of the same memory, kind
and time is there already, as is a review of the same memory and time, and a line that is the same in every field.
"""

Record = Event | ArchivedRecord | PriorityChange | StreamRecord | MemoryRecord | CueRecord | VectorRecord | Memorial
"""An event that comes where it is archived takes the place of what was left of it. A stream's cursor only moves on."""


def row_to_record(row: Mapping[str, JsonValue], workspace: str) -> Record:
    """The row as a value of this workspace. Raises InvalidInput naming the record and the field that is wrong."""
    record = row.get("record")
    if isinstance(record, str) and record in _SCOPED_READERS:
        return _SCOPED_READERS[record](row, workspace)
    if isinstance(record, str) and record in _READERS:
        return _READERS[record](row)
    raise InvalidInput("record", record, "one of " + ", ".join(RECORDS))


def event_to_row(event: Event) -> ExportRow:
    return {
        "record": "event",
        "id": str(event.id),
        **_scope_to_row(event.scope),
        "seq": event.seq,
        "occurred_at": _iso(event.occurred_at),
        "recorded_at": _iso(event.recorded_at),
        "type": event.type,
        "severity": event.severity.value,
        "priority": event.priority.value,
        "actor": event.actor,
        "role": event.role.value,
        "text": event.text,
        "payload": dict(event.payload),
        "refs": dict(event.refs),
        "key": event.key,
        "origin": event.origin.value,
    }


def row_to_event(row: Mapping[str, JsonValue], workspace: str) -> Event:
    fields = _Fields("event", row)
    event = _row_to_event(fields, workspace, _text)
    fields.done()
    return event


def archived_to_row(event: Event, at: datetime) -> ExportRow:
    """`event` as it is in the archive."""
    return event_to_row(event) | {"record": "archived", "archived_at": _iso(at)}


def row_to_archived(row: Mapping[str, JsonValue], workspace: str) -> ArchivedRecord:
    fields = _Fields("archived", row)
    record = ArchivedRecord(_row_to_event(fields, workspace, _any_text), fields.take("archived_at", _moment))
    fields.done()
    return record


def priority_to_row(change: PriorityChange) -> ExportRow:
    return {
        "record": "priority",
        "event_id": str(change.event_id),
        "previous": change.previous.value,
        "priority": change.priority.value,
        "by": change.by,
        "reason": change.reason,
        "at": _iso(change.at),
    }


def row_to_priority(row: Mapping[str, JsonValue]) -> PriorityChange:
    fields = _Fields("priority", row)
    change = PriorityChange(
        event_id=fields.take("event_id", validation.identifier),
        previous=fields.choice("previous", Priority),
        priority=fields.choice("priority", Priority),
        by=fields.take("by", _role_and_name),
        reason=fields.take("reason", _text_or_empty),
        at=fields.take("at", _moment),
    )
    fields.done()
    return change


def stream_to_row(record: StreamRecord) -> ExportRow:
    return {
        "record": "stream",
        **_scope_to_row(record.stream),
        "cursor": record.cursor,
        "read": record.read,
        "note": dict(record.note),
    }


def row_to_stream(row: Mapping[str, JsonValue], workspace: str) -> StreamRecord:
    fields = _Fields("stream", row)
    record = StreamRecord(
        stream=_row_to_scope(fields, workspace),
        cursor=fields.whole("cursor", 0),
        read=fields.take("read", validation.name),
        note=fields.take("note", validation.json_object),
    )
    fields.done()
    return record


def memory_to_row(memory: Memory, event_ids: Iterable[UUID]) -> ExportRow:
    strength, usage = memory.strength, memory.strength.usage
    return {
        "record": "memory",
        "id": str(memory.id),
        **_scope_to_row(memory.scope),
        "visibility": memory.visibility.value,
        "tier": memory.tier.value,
        "kind": memory.kind,
        "title": memory.title,
        "text": memory.text,
        "source": memory.source,
        "origin": memory.origin.value,
        "occurred_from": _iso(memory.occurred_from),
        "occurred_to": _iso(memory.occurred_to),
        "recorded_at": _iso(memory.recorded_at),
        "valid_from": _optional_iso(memory.valid_from),
        "valid_until": _optional_iso(memory.valid_until),
        "superseded_by": _optional_id(memory.superseded_by),
        "superseded_at": _optional_iso(memory.superseded_at),
        "retired_at": _optional_iso(memory.retired_at),
        "consolidated_at": _optional_iso(memory.consolidated_at),
        "topic_key": memory.topic_key,
        "key": memory.key,
        "revision": memory.revision,
        "tags": list(memory.tags),
        "metadata": dict(memory.metadata),
        "status": memory.status.value,
        "importance": strength.importance,
        "importance_floor": strength.importance_floor,
        "priority": strength.priority,
        "confidence": strength.confidence,
        "surprise": strength.surprise,
        "stability": strength.stability,
        "difficulty": strength.difficulty,
        "last_reviewed_at": _optional_iso(strength.last_reviewed_at),
        "retrieved": usage.retrieved,
        "shown": usage.shown,
        "used": usage.used,
        "helped": usage.helped,
        "unhelpful": usage.unhelpful,
        "harmed": usage.harmed,
        "last_retrieved_at": _optional_iso(usage.last_retrieved_at),
        "last_shown_at": _optional_iso(usage.last_shown_at),
        "last_used_at": _optional_iso(usage.last_used_at),
        "event_ids": [str(event_id) for event_id in event_ids],
    }


def row_to_memory(row: Mapping[str, JsonValue], workspace: str) -> MemoryRecord:
    fields = _Fields("memory", row)
    memory = Memory(
        id=fields.take("id", validation.identifier),
        scope=_row_to_scope(fields, workspace),
        visibility=fields.choice("visibility", Visibility),
        tier=fields.choice("tier", Tier),
        kind=fields.take("kind", validation.slug),
        title=fields.take("title", _title),
        text=fields.take("text", _text),
        source=fields.take("source", validation.optional_name),
        origin=fields.choice("origin", Origin),
        occurred_from=fields.take("occurred_from", _moment),
        occurred_to=fields.take("occurred_to", _moment),
        recorded_at=fields.take("recorded_at", _moment),
        valid_from=fields.take("valid_from", _optional_moment),
        valid_until=fields.take("valid_until", _optional_moment),
        superseded_by=fields.take("superseded_by", _optional_identifier),
        superseded_at=fields.take("superseded_at", _optional_moment),
        retired_at=fields.take("retired_at", _optional_moment),
        consolidated_at=fields.take("consolidated_at", _optional_moment),
        topic_key=fields.take("topic_key", validation.optional_name),
        key=fields.take("key", validation.optional_name),
        revision=fields.whole("revision", 1),
        tags=fields.take("tags", validation.tags),
        metadata=fields.take("metadata", validation.json_object),
        status=fields.choice("status", Status),
        strength=_row_to_strength(fields),
    )
    if memory.occurred_to < memory.occurred_from:
        raise InvalidInput("memory.occurred_to", memory.occurred_to.isoformat(), "a time not before occurred_from")
    if memory.valid_from and memory.valid_until and memory.valid_until <= memory.valid_from:
        raise InvalidInput("memory.valid_until", memory.valid_until.isoformat(), "a time after valid_from")
    event_ids = fields.take("event_ids", _identifiers)
    fields.done()
    return MemoryRecord(memory, event_ids)


def cue_to_row(cue: Cue, revision: int) -> ExportRow:
    """Tokens and terms stay behind: an import analyses `searchable_text` again, with the analyser it has."""
    return {
        "record": "cue",
        "memory_id": str(cue.memory_id),
        "ordinal": cue.ordinal,
        "revision": revision,
        "heading": cue.heading,
        "text": cue.text,
        "event_id": _optional_id(cue.event_id),
    }


def row_to_cue(row: Mapping[str, JsonValue]) -> CueRecord:
    fields = _Fields("cue", row)
    cue = Cue(
        memory_id=fields.take("memory_id", validation.identifier),
        ordinal=fields.whole("ordinal", 0),
        text=fields.take("text", _text),
        heading=fields.take("heading", _text_or_empty),
        event_id=fields.take("event_id", _optional_identifier),
    )
    revision = fields.whole("revision", 1)
    fields.done()
    return CueRecord(cue, revision)


def vector_to_row(vector: VectorRecord) -> ExportRow:
    return {
        "record": "vector",
        "memory_id": str(vector.memory_id),
        "ordinal": vector.ordinal,
        "revision": vector.revision,
        "model": vector.model,
        "dim": vector.dim,
        "truncated": vector.truncated,
        "vector": base64.b64encode(vector.data).decode("ascii"),
        "indexed_at": _optional_iso(vector.indexed_at),
        "words": None if vector.words is None else base64.b64encode(vector.words).decode("ascii"),
    }


def row_to_vector(row: Mapping[str, JsonValue]) -> VectorRecord:
    fields = _Fields("vector", row)
    dim = fields.whole("dim", 1, MAX_DIM)
    vector = VectorRecord(
        memory_id=fields.take("memory_id", validation.identifier),
        ordinal=fields.whole("ordinal", 0),
        revision=fields.whole("revision", 1),
        model=fields.take("model", validation.name),
        truncated=fields.take("truncated", _boolean),
        data=fields.take("vector", lambda argument, value: _components(argument, value, dim)),
        indexed_at=fields.take("indexed_at", _optional_moment),
        words=fields.newer("words", None, lambda argument, value: _word_signs(argument, value, dim)),
    )
    fields.done()
    return vector


def revision_to_row(revision: Revision) -> ExportRow:
    return {
        "record": "revision",
        "memory_id": str(revision.memory_id),
        "number": revision.number,
        "title": revision.title,
        "text": revision.text,
        "replaced_at": _iso(revision.replaced_at),
    }


def row_to_revision(row: Mapping[str, JsonValue]) -> Revision:
    fields = _Fields("revision", row)
    revision = Revision(
        memory_id=fields.take("memory_id", validation.identifier),
        number=fields.whole("number", 1),
        title=fields.take("title", _title),
        text=fields.take("text", _text),
        replaced_at=fields.take("replaced_at", _moment),
    )
    fields.done()
    return revision


def relation_to_row(relation: Relation) -> ExportRow:
    return {
        "record": "relation",
        "source": str(relation.source),
        "target": str(relation.target),
        "kind": relation.kind.value,
        "weight": relation.weight,
        "created_at": _iso(relation.created_at),
    }


def row_to_relation(row: Mapping[str, JsonValue]) -> Relation:
    fields = _Fields("relation", row)
    relation = Relation(
        source=fields.take("source", validation.identifier),
        target=fields.take("target", validation.identifier),
        kind=fields.choice("kind", RelationKind),
        weight=fields.take("weight", validation.fraction),
        created_at=fields.take("created_at", _moment),
    )
    fields.done()
    return relation


def exposure_to_row(exposed: Exposed) -> ExportRow:
    return {
        "record": "exposure",
        "memory_id": str(exposed.memory_id),
        "kind": exposed.exposure.value,
        "at": _iso(exposed.at),
        "similarity": exposed.similarity,
        "query": exposed.query,
        "session": exposed.session,
    }


def row_to_exposure(row: Mapping[str, JsonValue]) -> Exposed:
    fields = _Fields("exposure", row)
    exposed = Exposed(
        memory_id=fields.take("memory_id", validation.identifier),
        exposure=fields.choice("kind", Exposure),
        at=fields.take("at", _moment),
        similarity=fields.take("similarity", _optional_cosine),
        query=fields.newer("query", "", _any_text),
        session=fields.take("session", validation.optional_name),
    )
    fields.done()
    return exposed


def review_to_row(review: Review) -> ExportRow:
    return {
        "record": "review",
        "memory_id": str(review.memory_id),
        "rating": review.rating.value,
        "at": _iso(review.at),
        "evidence_until": _iso(review.evidence_until),
        "previous": _optional_iso(review.previous),
        "stability_before": review.stability_before,
        "stability": review.stability,
        "difficulty_before": review.difficulty_before,
        "difficulty": review.difficulty,
        "by": review.by,
    }


def row_to_review(row: Mapping[str, JsonValue]) -> Review:
    fields = _Fields("review", row)
    review = Review(
        memory_id=fields.take("memory_id", validation.identifier),
        rating=Rating(fields.whole("rating", min(Rating), max(Rating))),
        at=fields.take("at", _moment),
        evidence_until=fields.take("evidence_until", _moment),
        previous=fields.take("previous", _optional_moment),
        stability_before=fields.take("stability_before", _days),
        stability=fields.take("stability", _days),
        difficulty_before=fields.take("difficulty_before", _difficulty),
        difficulty=fields.take("difficulty", _difficulty),
        by=fields.take("by", validation.name),
    )
    fields.done()
    return review


def audit_to_row(line: Audited) -> ExportRow:
    return {
        "record": "audit",
        "memory_id": str(line.memory_id),
        "action": line.action,
        "reason": line.reason,
        "at": _iso(line.at),
    }


def row_to_audit(row: Mapping[str, JsonValue]) -> Audited:
    fields = _Fields("audit", row)
    line = Audited(
        memory_id=fields.take("memory_id", validation.identifier),
        action=fields.take("action", validation.name),
        reason=fields.take("reason", _text_or_empty),
        at=fields.take("at", _moment),
    )
    fields.done()
    return line


def health_to_row(snapshot: HealthSnapshot) -> ExportRow:
    metrics = snapshot.metrics
    return {
        "record": "health",
        "crew": snapshot.crew,
        "day": snapshot.day.isoformat(),
        "taken_at": _iso(snapshot.taken_at),
        "freshness": metrics.freshness,
        "coverage": metrics.coverage,
        "coherence": metrics.coherence,
        "efficiency": metrics.efficiency,
        "reachability": metrics.reachability,
        "score": snapshot.score,
    }


def row_to_health(row: Mapping[str, JsonValue]) -> HealthSnapshot:
    fields = _Fields("health", row)
    snapshot = HealthSnapshot(
        crew=fields.take("crew", validation.optional_name),
        day=fields.take("day", _day),
        taken_at=fields.take("taken_at", _moment),
        metrics=Metrics(
            freshness=fields.take("freshness", _optional_percent),
            coverage=fields.take("coverage", _optional_percent),
            coherence=fields.take("coherence", _optional_percent),
            efficiency=fields.take("efficiency", _optional_percent),
            reachability=fields.take("reachability", _optional_percent),
        ),
        score=fields.take("score", _optional_percent),
    )
    fields.done()
    return snapshot


_SCOPED_READERS: Final[dict[str, Callable[[Mapping[str, JsonValue], str], Record]]] = {
    "event": row_to_event,
    "archived": row_to_archived,
    "stream": row_to_stream,
    "memory": row_to_memory,
}
"""Of the records that have a scope of their own."""

_READERS: Final[dict[str, Callable[[Mapping[str, JsonValue]], Record]]] = {
    "priority": row_to_priority,
    "cue": row_to_cue,
    "vector": row_to_vector,
    "revision": row_to_revision,
    "relation": row_to_relation,
    "exposure": row_to_exposure,
    "review": row_to_review,
    "audit": row_to_audit,
    "health": row_to_health,
}
"""Of the records that belong to an event or a memory, or to the workspace alone."""


class _Fields:
    """A row being read: each field once, through its check, under the name an error gives it ("memory.text")."""

    def __init__(self, record: str, row: Mapping[str, JsonValue]) -> None:
        self._record = record
        self._row = row
        self._read = {"record"}

    def take(self, field: str, check: Callable[[str, object], T]) -> T:
        self._read.add(field)
        return check(f"{self._record}.{field}", self._row.get(field))

    def whole(self, field: str, low: int, high: int = _MAX_COUNT) -> int:
        return self.take(field, lambda argument, value: validation.whole(argument, value, low, high))

    def newer(self, field: str, default: T, check: Callable[[str, object], T]) -> T:
        """A field that older exports do not have."""
        return self.take(field, check) if field in self._row else default

    def choice(self, field: str, options: type[E_]) -> E_:
        return self.take(field, lambda argument, value: validation.choice(argument, value, options))

    def done(self) -> None:
        """Refuse fields nobody read: dropping them silently would lose what another version wrote."""
        for field in self._row:
            if field not in self._read:
                raise InvalidInput(f"{self._record}.{field}", self._row[field], "no such field")


def _scope_to_row(scope: Scope) -> ExportRow:
    return {"project": scope.project, "crew": scope.crew, "agent": scope.agent, "session": scope.session}


def _row_to_scope(fields: _Fields, workspace: str) -> Scope:
    return Scope(
        workspace=workspace,
        project=fields.take("project", validation.optional_name),
        crew=fields.take("crew", validation.optional_name),
        agent=fields.take("agent", validation.optional_name),
        session=fields.take("session", validation.optional_name),
    )


def _row_to_event(fields: _Fields, workspace: str, check_text: Callable[[str, object], str]) -> Event:
    return Event(
        id=fields.take("id", validation.identifier),
        scope=_row_to_scope(fields, workspace),
        seq=fields.whole("seq", 1),
        occurred_at=fields.take("occurred_at", _moment),
        recorded_at=fields.take("recorded_at", _moment),
        type=fields.take("type", validation.slug),
        severity=fields.choice("severity", Severity),
        priority=fields.choice("priority", Priority),
        actor=fields.take("actor", validation.optional_name),
        role=fields.choice("role", Role),
        text=fields.take("text", check_text),
        payload=fields.take("payload", validation.json_object),
        refs=fields.take("refs", validation.json_object),
        key=fields.take("key", validation.optional_name),
        origin=fields.choice("origin", Origin),
    )


def _row_to_strength(fields: _Fields) -> Strength:
    return Strength(
        importance=fields.take("importance", validation.fraction),
        importance_floor=fields.newer("importance_floor", Strength().importance_floor, validation.fraction),
        priority=fields.whole("priority", 1, 10),
        confidence=fields.take("confidence", validation.fraction),
        surprise=fields.take("surprise", validation.fraction),
        stability=fields.newer("stability", INITIAL_STABILITY, _days),
        difficulty=fields.newer("difficulty", INITIAL_DIFFICULTY, _difficulty),
        last_reviewed_at=fields.take("last_reviewed_at", _optional_moment),
        usage=Usage(
            retrieved=fields.whole("retrieved", 0, _MAX_USES),
            shown=fields.whole("shown", 0, _MAX_USES),
            used=fields.whole("used", 0, _MAX_USES),
            helped=fields.whole("helped", 0),
            unhelpful=fields.newer("unhelpful", 0, _count),
            harmed=fields.whole("harmed", 0),
            last_retrieved_at=fields.take("last_retrieved_at", _optional_moment),
            last_shown_at=fields.take("last_shown_at", _optional_moment),
            last_used_at=fields.take("last_used_at", _optional_moment),
        ),
    )


def _iso(value: datetime) -> str:
    return value.astimezone(UTC).isoformat(timespec="microseconds")


def _optional_iso(value: datetime | None) -> str | None:
    return None if value is None else _iso(value)


def _optional_id(value: UUID | None) -> str | None:
    return None if value is None else str(value)


def _moment(argument: str, value: object) -> datetime:
    if not isinstance(value, str):
        raise InvalidInput(argument, value, "an ISO 8601 time with a UTC offset, such as 2026-03-04T09:00:00Z")
    return validation.parse_moment(argument, value)


def _optional_moment(argument: str, value: object) -> datetime | None:
    return None if value is None else _moment(argument, value)


def _optional_identifier(argument: str, value: object) -> UUID | None:
    return None if value is None else validation.identifier(argument, value)


def _identifiers(argument: str, value: object) -> tuple[UUID, ...]:
    if not isinstance(value, list):
        raise InvalidInput(argument, value, "a list of ids")
    items = cast("list[object]", value)
    ids = tuple(validation.identifier(argument, item) for item in items)
    if len(set(ids)) != len(ids):
        raise InvalidInput(argument, items, "distinct ids")
    return ids


def _text(argument: str, value: object) -> str:
    return validation.text(argument, value, max_bytes=MAX_RECORD_TEXT_BYTES)


def _title(argument: str, value: object) -> str | None:
    return validation.optional_name(argument, value, max_chars=validation.MAX_TITLE_CHARS)


def _role_and_name(argument: str, value: object) -> str:
    return validation.name(argument, value, max_chars=2 * validation.MAX_NAME_CHARS + 1)


def _text_or_empty(argument: str, value: object) -> str:
    return "" if value == "" else _text(argument, value)


def _any_text(argument: str, value: object) -> str:
    """Blank too: the beginning of a text may be."""
    return value if isinstance(value, str) and not value.strip() else _text(argument, value)


def _count(argument: str, value: object) -> int:
    return validation.whole(argument, value, 0, _MAX_COUNT)


def _days(argument: str, value: object) -> float:
    return validation.number(argument, value, _LEAST_DAYS, _MOST_DAYS)


def _difficulty(argument: str, value: object) -> float:
    return validation.number(argument, value, 1.0, 10.0)


def _optional_cosine(argument: str, value: object) -> float | None:
    return None if value is None else validation.number(argument, value, -_LARGEST_COSINE, _LARGEST_COSINE)


def _optional_percent(argument: str, value: object) -> float | None:
    return None if value is None else validation.number(argument, value, 0.0, 100.0)


def _day(argument: str, value: object) -> date:
    allowed = "a day such as 2026-03-04"
    if not isinstance(value, str):
        raise InvalidInput(argument, value, allowed)
    try:
        return date.fromisoformat(value)
    except ValueError:
        raise InvalidInput(argument, value, allowed) from None


def _boolean(argument: str, value: object) -> bool:
    if not isinstance(value, bool):
        raise InvalidInput(argument, value, "true or false")
    return value


def _word_signs(argument: str, value: object, dim: int) -> bytes | None:
    if value is None:
        return None
    data = _base64(argument, value, "base64 of the signs of word vectors")
    size = -(-dim // 8)
    if len(data) % size:
        raise InvalidInput(argument, f"{len(data)} bytes", f"a multiple of {size} bytes: a bit for each component")
    return data


def _base64(argument: str, value: object, allowed: str) -> bytes:
    if not isinstance(value, str):
        raise InvalidInput(argument, value, allowed)
    try:
        return base64.b64decode(value, validate=True)
    except (binascii.Error, ValueError):
        raise InvalidInput(argument, value, allowed) from None


def _components(argument: str, value: object, dim: int) -> bytes:
    data = _base64(argument, value, "base64 of little-endian float32")
    if len(data) != 4 * dim:
        raise InvalidInput(argument, f"{len(data)} bytes", f"{4 * dim} bytes: float32 for each of {dim} components")
    length = math.hypot(*struct.unpack(f"<{dim}f", data))
    # Every cosine is taken as a plain product, so a vector of another length would outrank the rest unseen.
    if not abs(length - 1.0) <= _UNIT_TOLERANCE:
        raise InvalidInput(argument, f"a vector of length {length:g}", "a vector of length 1")
    return data
