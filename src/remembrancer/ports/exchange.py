"""The rows of an export: one JSON shape per record, the same for every store.

A row names no workspace: an import writes into a given one. Times are ISO 8601 in UTC with microseconds, ids are text,
bytes are base64. A missing field counts as null, or as its default if older exports lack it.

Not exported, because they belong to one machine: runs of jobs, deferred work, and the log of language model calls.
"""

from __future__ import annotations

import base64
import binascii
import math
import struct
from collections.abc import Callable, Mapping, Sequence
from dataclasses import field, replace
from datetime import UTC, date, datetime
from enum import Enum, StrEnum
from functools import cache
from operator import attrgetter
from typing import TYPE_CHECKING, Any, Final, Generic, TypeVar, cast
from uuid import UUID

from remembrancer.domain import validation
from remembrancer.domain.event import MAX_EVENT_MB, Event, Origin, Priority, Role, Severity
from remembrancer.domain.flat import Flat
from remembrancer.domain.health import HealthSnapshot, Metrics
from remembrancer.domain.journal import PriorityChange
from remembrancer.domain.memory import Cue, Memory, Revision, Status, Tier
from remembrancer.domain.outcome import Credit, CreditBasis, TaskResult
from remembrancer.domain.past import PastState
from remembrancer.domain.relation import Relation, RelationKind
from remembrancer.domain.review import Rating, Review
from remembrancer.domain.scope import Scope, Visibility
from remembrancer.domain.strength import INITIAL_DIFFICULTY, INITIAL_STABILITY, Exposed, Exposure, Strength, Usage
from remembrancer.errors import InvalidInput
from remembrancer.ports.memories import Audited
from remembrancer.values import dataclass

if TYPE_CHECKING:
    from remembrancer.domain.validation import JsonValue
    from remembrancer.ports.transfer import ExportRow

MAX_RECORD_TEXT_BYTES: Final = 1_048_576
"""Greater than the limit of one text: a memory may be formed from many turns."""

MAX_DIM: Final = 65_536
_MAX_COUNT: Final = 2**63 - 1
_MAX_USES: Final = 2**31 - 1
"""The greatest count of exposures of one kind, because `States` has 32 bits for it."""
_LEAST_DAYS: Final = 1e-6
_MOST_DAYS: Final = 1e9
"""The greatest stability in days: more than any review gives, and within the limits of `States`."""
_MOST_EVIDENCE: Final = 1e6
"""The greatest evidence for or against a memory: more than any number of outcomes gives."""
_UNIT_TOLERANCE: Final = 0.01
_LARGEST_COSINE: Final = (1 + _UNIT_TOLERANCE) ** 2 + 0.003
"""The greatest accepted cosine. It is slightly above 1, because stored vectors are rounded."""

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class ArchivedRecord:
    """An archived event, and when it was archived."""

    event: Event
    at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class StreamRecord:
    """The position up to which a stream has been formed into episodes, and the note for the next run.

    `read`: the digest of the events up to `cursor`, archived or not. If the importing store has other events there, the
    cursor is ignored, because it belongs to another stream of the same name.
    """

    stream: Scope
    cursor: int
    read: str
    note: Mapping[str, JsonValue]


@dataclass(frozen=True, slots=True)
class MemoryRecord:
    """A memory with the events it was formed from, in order.

    `changed_at`: when it was last written; None in older exports: as far as its fields tell. Of two forms of a memory
    that said the same before, an import keeps the one at the later revision, else the one that was written later.
    """

    memory: Memory
    event_ids: tuple[UUID, ...]
    changed_at: datetime | None = None

    @property
    def written_at(self) -> datetime:
        """`changed_at`, or the latest time that the memory names."""
        memory, usage = self.memory, self.memory.strength.usage
        known = (memory.superseded_at, memory.retired_at, memory.consolidated_at, memory.strength.last_reviewed_at)
        used = (usage.last_retrieved_at, usage.last_shown_at, usage.last_used_at)
        return self.changed_at or max([memory.recorded_at, *(at for at in (*known, *used) if at is not None)])


@dataclass(frozen=True, slots=True)
class CueRecord:
    """A cue, and the revisions of its memory that it belongs to: from `revision` to `last` (None: the present one).

    Tokens and terms are not exported; an import analyses the text again.
    """

    cue: Cue
    revision: int
    last: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class VectorRecord:
    """The vector of one cue: `data` is little-endian float32, unit length, 4 bytes for each of `dim` components.

    `revision`: the first revision of the memory that has the cue.
    """

    memory_id: UUID
    ordinal: int
    revision: int
    model: str
    truncated: bool
    data: bytes
    indexed_at: datetime | None = None
    token_embeddings: bytes | None = None
    """As `CueVector.token_embeddings`, row by row: dim / 8 bytes, rounded up, for each token."""

    @property
    def dim(self) -> int:
        return len(self.data) // 4


TextRecord = CueRecord | VectorRecord | Revision | PastState
"""The text and fields of one past revision of a memory."""

HistoryRecord = Relation | Exposed | Review | Credit | Audited | HealthSnapshot
"""The history of memories. These rows have no id: an exposure is identified by its memory, kind and time, a review by
its memory and time, a credit by its memory and outcome, an audit line by all its fields.
"""

Record = Event | ArchivedRecord | PriorityChange | StreamRecord | MemoryRecord | TextRecord | HistoryRecord
"""Any exported record. An imported event replaces its archived form. A stream's cursor only moves forward."""


def record_owner(record: TextRecord) -> UUID:
    """The memory that a record belongs to."""
    return record.cue.memory_id if isinstance(record, CueRecord) else record.memory_id


def cue_of(revision: Revision) -> Cue:
    """A cue made from a revision's text, for exports that have no cues of it."""
    text = revision.text if revision.title is None else f"{revision.title}\n{revision.text}"
    return Cue(memory_id=revision.memory_id, ordinal=0, text=text)


@dataclass(frozen=True, slots=True)
class OtherForm:
    """A memory of an export that the importing store has in another form, with its earlier texts and states."""

    record: MemoryRecord
    texts: list[TextRecord] = field(default_factory=list[TextRecord])

    def shares_past(self, said: Mapping[int, tuple[str | None, str]]) -> bool:
        """Whether the older of the two forms is an earlier state of the newer one. `said`: title and text of each
        revision of the store's form.
        """
        memory = self.record.memory
        mine = {one.number: (one.title, one.text) for one in self.texts if isinstance(one, Revision)}
        mine[memory.revision] = memory.title, memory.text
        common = min(memory.revision, max(said))
        return common in mine and said.get(common) == mine[common]

    def is_later(self, revision: int, changed_at: datetime) -> bool:
        """Whether this record is newer than the store's row with these values."""
        return (self.record.memory.revision, self.record.written_at) > (revision, changed_at)

    def last_of(self, ordinal: int, revision: int, last: int) -> int | None:
        """The last revision that has the store's cue at this place since `revision`. `last`: the store's present
        revision, if the cue is in use.
        """
        for one in self.texts:
            if isinstance(one, CueRecord) and (one.cue.ordinal, one.revision) == (ordinal, revision):
                return one.last
        return None if self.record.memory.revision == last else last

    def texts_of(self, revision: int) -> list[TextRecord]:
        """The earlier texts and fields that a store at a later revision lacks."""
        mine = self.record.memory.revision
        return [
            replace(one, last=mine) if isinstance(one, CueRecord) and one.last is None and mine < revision else one
            for one in self.texts
        ]


def record_to_row(record: Record) -> ExportRow:
    """The record as a JSON object. Equal records give equal rows, with fields in the same order."""
    return _SHAPE_OF[type(record)].to_row(record)


def row_to_record(row: Mapping[str, JsonValue], workspace: str) -> Record:
    """The row as a record of this workspace. Raises InvalidInput naming the record and the invalid field."""
    record = row.get("record")
    if isinstance(record, str) and record in _SHAPES:
        return _SHAPES[record].to_record(row, workspace)
    raise InvalidInput("record", record, "one of " + ", ".join(RECORDS))


_Check = Callable[[str, object], object]
"""Takes the name of a field ("memory.text") and its JSON value. Returns the value to use, or raises InvalidInput."""


@dataclass(frozen=True, slots=True)
class _Field:
    """One field of a row, and how an import checks it."""

    name: str
    check: _Check
    path: str = ""
    """The path in the record, if it differs from the name, such as "strength.usage.shown"."""
    missing: JsonValue = None
    """The value if the row lacks the field, because its export is older."""
    formerly: str = ""
    """The field's name in older exports, if it was renamed."""

    @property
    def place(self) -> str:
        return self.path or self.name

    def value_in(self, row: Mapping[str, JsonValue]) -> JsonValue:
        if self.name in row:
            return row[self.name]
        return row.get(self.formerly, self.missing) if self.formerly else self.missing


class _Shape(Generic[T]):
    """The fields of one kind of record, in row order, and the constructors of its values.

    `inner`: the constructors of nested values by path; "" replaces the record's own constructor. `scope`: the path of
    the record's scope, if it has one.
    """

    def __init__(
        self,
        name: str,
        kind: type[T],
        fields: Sequence[_Field],
        inner: Mapping[str, Callable[..., object]] | None = None,
        *,
        scope: str = "",
    ) -> None:
        self.name = name
        self.kind = kind
        self._fields = fields
        self._columns = ("record", *(field.name for field in fields))
        self._former = {field.formerly: field.name for field in fields if field.formerly}
        self._workspace = [f"{scope}.workspace"] if scope else []
        makers = {"": kind, **({scope: Scope} if scope else {}), **(inner or {})}
        self._flat = Flat[T]((*self._workspace, *(field.place for field in fields)), makers)

    def to_row(self, record: T) -> ExportRow:
        values = self._flat.fields_of(record)[len(self._workspace) :]
        # Most values need no conversion: calling a function for each would double the time of an export.
        written = [value if type(value) in _PLAIN else _writer(type(value))(value) for value in values]
        return dict(zip(self._columns, (self.name, *cast("list[JsonValue]", written)), strict=True))

    def to_record(self, row: Mapping[str, JsonValue], workspace: str) -> T:
        checked = [field.check(f"{self.name}.{field.name}", field.value_in(row)) for field in self._fields]
        record = self._flat.value_of([workspace for _ in self._workspace] + checked)
        for name, value in row.items():
            if name not in self._columns and self._former.get(name, name) in row:
                # Written by another version. Ignoring the field would lose data silently.
                raise InvalidInput(f"{self.name}.{name}", value, "no such field")
        return record


def _list(items: tuple[object, ...]) -> JsonValue:
    return [_writer(type(item))(item) for item in items]


def _unchanged(value: Any) -> JsonValue:
    return value


@cache
def _writer(kind: type) -> Callable[[Any], JsonValue]:
    """The function that converts values of this type to JSON."""
    return next((write for known, write in _WRITERS.items() if issubclass(kind, known)), _unchanged)


_PLAIN: Final = frozenset({str, int, float, bool, type(None)})
"""The types of values that are the same in JSON."""
_WRITERS: Final[dict[type, Callable[[Any], JsonValue]]] = {
    Enum: attrgetter("value"),
    tuple: _list,
    UUID: str,
    datetime: lambda at: at.astimezone(UTC).isoformat(timespec="microseconds"),
    date: date.isoformat,
    bytes: lambda data: base64.b64encode(data).decode("ascii"),
    Mapping: dict,
}
"""Converters of types that JSON lacks. The first match is used, so datetime precedes date."""


# ── checks ───────────────────────────────────────────────────────────────────────────────────────────────────────────


def _optional(check: _Check) -> _Check:
    return lambda argument, value: None if value is None else check(argument, value)


def _choice(options: type[StrEnum]) -> _Check:
    return lambda argument, value: validation.choice(argument, value, options)


def _whole(low: int, high: int = _MAX_COUNT) -> _Check:
    return lambda argument, value: validation.whole(argument, value, low, high)


def _number(low: float, high: float) -> _Check:
    return lambda argument, value: validation.number(argument, value, low, high)


def _rating(argument: str, value: object) -> Rating:
    return Rating(validation.whole(argument, value, min(Rating), max(Rating)))


def _moment(argument: str, value: object) -> datetime:
    if not isinstance(value, str):
        raise InvalidInput(argument, value, "an ISO 8601 time with a UTC offset, such as 2026-03-04T09:00:00Z")
    return validation.parse_moment(argument, value)


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


def _event_text(argument: str, value: object) -> str:
    return validation.text(argument, value, max_bytes=MAX_EVENT_MB << 20)


def _title(argument: str, value: object) -> str | None:
    return validation.optional_name(argument, value, max_chars=validation.MAX_TITLE_CHARS)


def _role_and_name(argument: str, value: object) -> str:
    return validation.name(argument, value, max_chars=2 * validation.MAX_NAME_CHARS + 1)


def _text_or_empty(argument: str, value: object) -> str:
    return "" if value == "" else _text(argument, value)


def _any_text(argument: str, value: object) -> str:
    """Also accepts a blank text: an archived text may be the blank beginning of a longer one."""
    return value if isinstance(value, str) and not value.strip() else _text(argument, value)


_days: Final = _number(_LEAST_DAYS, _MOST_DAYS)
_difficulty: Final = _number(1.0, 10.0)
_share: Final = _number(1e-6, 1.0)
_evidence: Final = _number(0.0, _MOST_EVIDENCE)
_percent: Final = _optional(_number(0.0, 100.0))


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


def _base64(allowed: str) -> _Check:
    def check(argument: str, value: object) -> bytes:
        if not isinstance(value, str):
            raise InvalidInput(argument, value, allowed)
        try:
            return base64.b64decode(value, validate=True)
        except (binascii.Error, ValueError):
            raise InvalidInput(argument, value, allowed) from None

    return check


# ── records made from several fields ─────────────────────────────────────────────────────────────────────────────────


def _memory(**fields: Any) -> Memory:
    memory = Memory(**fields)
    if memory.occurred_to < memory.occurred_from:
        raise InvalidInput("memory.occurred_to", memory.occurred_to.isoformat(), "a time not before occurred_from")
    if memory.valid_from and memory.valid_until and memory.valid_until <= memory.valid_from:
        raise InvalidInput("memory.valid_until", memory.valid_until.isoformat(), "a time after valid_from")
    return memory


def _cue(*, cue: Cue, revision: int, last: int | None) -> CueRecord:
    if last is not None and last < revision:
        raise InvalidInput("cue.last", last, f"{revision} or more: the last revision that has the cue")
    return CueRecord(cue, revision, last)


def _revision(**fields: Any) -> Revision:
    """Check that a revision has all fields besides its text, or none."""
    revision = Revision(**fields)
    needed = ("tier", "origin", "visibility", "occurred_from", "occurred_to")
    if revision.kind is not None:
        for name in needed:
            if getattr(revision, name) is None:
                raise InvalidInput(f"revision.{name}", None, "a value, as `kind` has one")
    return revision


def _vector(*, dim: int, **fields: Any) -> VectorRecord:
    vector = VectorRecord(**fields)
    if len(vector.data) != 4 * dim:
        allowed = f"{4 * dim} bytes: float32 for each of {dim} components"
        raise InvalidInput("vector.vector", f"{len(vector.data)} bytes", allowed)
    length = math.hypot(*struct.unpack(f"<{dim}f", vector.data))
    # A cosine is computed as a plain product, so a longer vector would rank above others.
    if not abs(length - 1.0) <= _UNIT_TOLERANCE:
        raise InvalidInput("vector.vector", f"a vector of length {length:g}", "a vector of length 1")
    size = -(-dim // 8)
    if vector.token_embeddings is not None and len(vector.token_embeddings) % size:
        allowed = f"a multiple of {size} bytes: a bit for each component"
        raise InvalidInput("vector.token_embeddings", f"{len(vector.token_embeddings)} bytes", allowed)
    return vector


# ── the table of fields ──────────────────────────────────────────────────────────────────────────────────────────────


def _fields(names: str, check: _Check, *, missing: JsonValue = None) -> tuple[_Field, ...]:
    """One field with this check for each of the blank-separated names. `missing`: as of a field."""
    return tuple(_Field(name, check, missing=missing) for name in names.split())


def _inside(owner: str, *fields: _Field) -> tuple[_Field, ...]:
    """The fields of a value nested under this path in its record."""
    return tuple(replace(field, path=f"{owner}.{field.place}") for field in fields)


_SCOPE: Final = _fields("project crew agent session", validation.optional_name)
_MEMORY_ID: Final = _Field("memory_id", validation.identifier)
_ORDINAL: Final = _Field("ordinal", _whole(0))
_REVISION: Final = _Field("revision", _whole(1))
_AT: Final = _Field("at", _moment)
_REASON: Final = _Field("reason", _text_or_empty)


def _event_fields(text: _Check) -> tuple[_Field, ...]:
    return (
        _Field("id", validation.identifier),
        *_inside("scope", *_SCOPE),
        _Field("seq", _whole(1)),
        *_fields("occurred_at recorded_at", _moment),
        _Field("type", validation.slug),
        _Field("severity", _choice(Severity)),
        _Field("priority", _choice(Priority)),
        _Field("actor", validation.optional_name),
        _Field("role", _choice(Role)),
        _Field("text", text),
        *_fields("payload refs", validation.json_object),
        _Field("key", validation.optional_name),
        _Field("origin", _choice(Origin)),
    )


_USAGE: Final = (
    *_fields("retrieved shown used", _whole(0, _MAX_USES)),
    _Field("helped", _whole(0)),
    _Field("unhelpful", _whole(0), missing=0),
    _Field("harmed", _whole(0)),
    *_fields("worked failed", _evidence, missing=0.0),
    *_fields("last_retrieved_at last_shown_at last_used_at", _optional(_moment)),
)
_STRENGTH: Final = (
    _Field("importance", validation.fraction),
    _Field("importance_floor", validation.fraction, missing=0.0),
    _Field("priority", _whole(1, 10)),
    *_fields("confidence surprise", validation.fraction),
    _Field("stability", _days, missing=INITIAL_STABILITY),
    _Field("difficulty", _difficulty, missing=INITIAL_DIFFICULTY),
    _Field("last_reviewed_at", _optional(_moment)),
    *_inside("usage", *_USAGE),
)
_MEMORY: Final = (
    _Field("id", validation.identifier),
    *_inside("scope", *_SCOPE),
    _Field("visibility", _choice(Visibility)),
    _Field("tier", _choice(Tier)),
    _Field("kind", validation.slug),
    _Field("title", _title),
    _Field("text", _text),
    _Field("source", validation.optional_name),
    _Field("origin", _choice(Origin)),
    _Field("actor", validation.optional_name, missing=None),
    _Field("role", _optional(_choice(Role)), missing=None),
    *_fields("occurred_from occurred_to recorded_at", _moment),
    *_fields("valid_from valid_until", _optional(_moment)),
    _Field("superseded_by", _optional(validation.identifier)),
    *_fields("superseded_at retired_at consolidated_at", _optional(_moment)),
    *_fields("topic_key key", validation.optional_name),
    _REVISION,
    _Field("tags", validation.tags),
    _Field("metadata", validation.json_object),
    _Field("status", _choice(Status)),
    *_inside("strength", *_STRENGTH),
)

_ALL: Final[tuple[_Shape[Any], ...]] = (
    _Shape("event", Event, _event_fields(_event_text), scope="scope"),
    _Shape(
        "archived",
        ArchivedRecord,
        (*_inside("event", *_event_fields(_any_text)), _Field("archived_at", _moment, "at")),
        {"event": Event},
        scope="event.scope",
    ),
    _Shape(
        "priority",
        PriorityChange,
        (
            _Field("event_id", validation.identifier),
            *_fields("previous priority", _choice(Priority)),
            _Field("by", _role_and_name),
            _REASON,
            _AT,
        ),
    ),
    _Shape(
        "stream",
        StreamRecord,
        (
            *_inside("stream", *_SCOPE),
            _Field("cursor", _whole(0)),
            _Field("read", validation.name),
            _Field("note", validation.json_object),
        ),
        scope="stream",
    ),
    _Shape(
        "memory",
        MemoryRecord,
        (
            *_inside("memory", *_MEMORY),
            _Field("event_ids", _identifiers),
            _Field("changed_at", _optional(_moment)),
        ),
        {"memory": _memory, "memory.strength": Strength, "memory.strength.usage": Usage},
        scope="memory.scope",
    ),
    _Shape(
        "cue",
        CueRecord,
        (
            *_inside("cue", _MEMORY_ID, _ORDINAL),
            _REVISION,
            *_inside(
                "cue",
                _Field("heading", _text_or_empty),
                _Field("text", _text),
                _Field("event_id", _optional(validation.identifier)),
                _Field("start", _optional(_whole(0)), missing=None),
            ),
            _Field("last", _optional(_whole(1))),
        ),
        {"": _cue, "cue": Cue},
    ),
    _Shape(
        "vector",
        VectorRecord,
        (
            _MEMORY_ID,
            _ORDINAL,
            _REVISION,
            _Field("model", validation.name),
            _Field("dim", _whole(1, MAX_DIM)),
            _Field("truncated", _boolean),
            _Field("vector", _base64("base64 of little-endian float32"), "data"),
            _Field("indexed_at", _optional(_moment)),
            _Field(
                "token_embeddings",
                _optional(_base64("base64 of the signs of token embeddings")),
                formerly="words",
            ),
        ),
        {"": _vector},
    ),
    _Shape(
        "revision",
        Revision,
        (
            _MEMORY_ID,
            _Field("number", _whole(1)),
            _Field("title", _title),
            _Field("text", _text),
            _Field("replaced_at", _moment),
            _Field("kind", _optional(validation.slug)),
            _Field("tier", _optional(_choice(Tier))),
            _Field("source", validation.optional_name),
            _Field("origin", _optional(_choice(Origin))),
            _Field("visibility", _optional(_choice(Visibility))),
            _Field("session", validation.optional_name),
            *_fields("occurred_from occurred_to valid_from", _optional(_moment)),
            _Field("tags", validation.tags, missing=[]),
            _Field("metadata", validation.json_object, missing={}),
            _Field("actor", validation.optional_name),
            _Field("role", _optional(_choice(Role))),
        ),
        {"": _revision},
    ),
    _Shape(
        "state",
        PastState,
        (
            _MEMORY_ID,
            _Field("until", _moment),
            _Field("valid_until", _optional(_moment)),
            _Field("superseded_by", _optional(validation.identifier)),
            *_fields("superseded_at retired_at", _optional(_moment)),
            _Field("status", _choice(Status)),
            *_inside("strength", *_STRENGTH),
        ),
        {"strength": Strength, "strength.usage": Usage},
    ),
    _Shape(
        "relation",
        Relation,
        (
            *_fields("source target", validation.identifier),
            _Field("kind", _choice(RelationKind)),
            _Field("weight", validation.fraction),
            _Field("created_at", _moment),
        ),
    ),
    _Shape(
        "exposure",
        Exposed,
        (
            _MEMORY_ID,
            _Field("kind", _choice(Exposure), "exposure"),
            _AT,
            _Field("similarity", _optional(_number(-_LARGEST_COSINE, _LARGEST_COSINE))),
            _Field("query", _any_text, missing=""),
            *_fields("session project crew agent", validation.optional_name),
        ),
    ),
    _Shape(
        "review",
        Review,
        (
            _MEMORY_ID,
            _Field("rating", _rating),
            *_fields("at evidence_until", _moment),
            _Field("previous", _optional(_moment)),
            *_fields("stability_before stability", _days),
            *_fields("difficulty_before difficulty", _difficulty),
            _Field("by", validation.name),
        ),
    ),
    _Shape(
        "credit",
        Credit,
        (
            _MEMORY_ID,
            _Field("outcome_id", validation.identifier),
            _AT,
            _Field("result", _choice(TaskResult)),
            _Field("basis", _choice(CreditBasis)),
            _Field("share", _share),
            *_inside("scope", *_SCOPE),
            _Field("recall_id", _optional(validation.identifier)),
            *_fields("task note", _text_or_empty),
            *_fields("worked_before worked failed_before failed", _evidence),
            *_fields("confidence_before confidence", validation.fraction),
            *_fields("stability_before stability", _days),
        ),
        scope="scope",
    ),
    _Shape("audit", Audited, (_MEMORY_ID, _Field("action", validation.name), _REASON, _AT)),
    _Shape(
        "health",
        HealthSnapshot,
        (
            _Field("crew", validation.optional_name),
            _Field("day", _day),
            _Field("taken_at", _moment),
            *_inside("metrics", *_fields("freshness coverage coherence efficiency reachability", _percent)),
            _Field("score", _percent),
        ),
        {"metrics": Metrics},
    ),
)

RECORDS: Final = tuple(shape.name for shape in _ALL)
"""The kinds of records in the order of an export: a row follows every row it refers to."""
_SHAPES: Final = {shape.name: shape for shape in _ALL}
_SHAPE_OF: Final = {shape.kind: shape for shape in _ALL}
