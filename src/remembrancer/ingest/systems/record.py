"""Records of other memory systems, and the drafts that are made from them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import field
from datetime import UTC, datetime
from typing import Final

from remembrancer.domain.event import EventDraft, Origin
from remembrancer.domain.memory import MemoryDraft
from remembrancer.domain.validation import MAX_NAME_CHARS, MAX_TEXT_BYTES, MAX_TITLE_CHARS, JsonValue
from remembrancer.errors import InvalidInput
from remembrancer.ingest import fields
from remembrancer.ingest.problem import Problem, RecordLocation
from remembrancer.ingest.turn import SUFFIX_CHARS, Turn, bounded, drafts, pieces
from remembrancer.values import dataclass

MAX_TAG_CHARS: Final = 100
_STRENGTHS: Final = ("importance", "confidence", "surprise", "priority")


def _nothing() -> Mapping[str, object]:
    return {}


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportedRecord:
    """A memory or a turn of another system as a draft. Parts of the scope that are None are the caller's.

    `successor`: the key of the memory that replaced this one, if the file says which.
    """

    place: RecordLocation
    draft: MemoryDraft | EventDraft
    project: str | None = None
    crew: str | None = None
    agent: str | None = None
    session: str | None = None
    successor: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ForeignMemory:
    """A memory of another system before it is checked. Its text may be of any length.

    `source`: the system. `identifier`: the record's id in it, which becomes its key. `successor`: the id of the record
    that replaced it. Values of `metadata` that are None or empty are left out. Strengths that are None are as those of
    a new memory.
    """

    source: str
    identifier: str
    text: str
    title: str | None = None
    tags: Iterable[str] = ()
    metadata: Mapping[str, object] = field(default_factory=_nothing)
    occurred_at: datetime | None = None
    valid_from: datetime | None = None
    valid_until: datetime | None = None
    importance: float | None = None
    confidence: float | None = None
    surprise: float | None = None
    priority: int | None = None
    project: str | None = None
    agent: str | None = None
    session: str | None = None
    successor: str | None = None


def key_of(source: str, identifier: str) -> str:
    """The key of a record.

    >>> key_of("mem0", "892db2ae-06d9-49e5-8b3e-585ef9b85b8e")
    'mem0:892db2ae-06d9-49e5-8b3e-585ef9b85b8e'
    """
    return bounded(f"{source}:{identifier}", MAX_NAME_CHARS - SUFFIX_CHARS)


def memories(note: ForeignMemory, place: RecordLocation) -> Iterator[ImportedRecord | Problem]:
    """The draft of a note, or several if its text is longer than that of a memory may be, or a Problem."""
    key = key_of(note.source, note.identifier)
    parts = pieces(fields.clean(note.text), MAX_TEXT_BYTES)
    if not parts:
        yield place.problem("text: it is empty")
        return
    try:
        metadata = _metadata(note.metadata)
        strengths = {name: value for name in _STRENGTHS if (value := getattr(note, name)) is not None}
        for number, text in enumerate(parts, start=1):
            draft = MemoryDraft(
                text=text.strip(),
                title=_title(note.title),
                source=note.source,
                origin=Origin.IMPORT,
                tags=tuple(tag for given in note.tags if (tag := bounded(given.strip(), MAX_TAG_CHARS))),
                metadata=metadata if number == 1 else {**metadata, "continues": key},
                occurred_at=note.occurred_at,
                valid_from=note.valid_from,
                valid_until=note.valid_until,
                key=key if number == 1 else f"{key}#{number}",
                **strengths,
            )
            yield ImportedRecord(
                place=place,
                draft=draft,
                project=_scope_part(note.project),
                agent=_scope_part(note.agent),
                session=_scope_part(note.session),
                successor=None if note.successor is None else key_of(note.source, note.successor),
            )
    except InvalidInput as error:
        yield place.problem(error)


def turns(
    turn: Turn,
    place: RecordLocation,
    *,
    project: str | None = None,
    crew: str | None = None,
    agent: str | None = None,
) -> Iterator[ImportedRecord | Problem]:
    """The drafts of a turn, or the Problem that prevents them. An empty turn gives nothing."""
    try:
        made = drafts(turn)
    except InvalidInput as error:
        yield place.problem(error)
        return
    for draft in made:
        yield ImportedRecord(
            place=place,
            draft=draft,
            project=_scope_part(project),
            crew=_scope_part(crew),
            agent=_scope_part(agent),
        )


def time(argument: str, value: object) -> datetime:
    """As `fields.time`; a text without a UTC offset is in UTC, as these systems write it. Raises InvalidInput."""
    if isinstance(value, str):
        try:
            parsed = datetime.fromisoformat(value.strip())
        except ValueError:
            raise InvalidInput(argument, value, "an ISO 8601 time such as 2026-03-04T09:00:00Z") from None
        value = (parsed if parsed.tzinfo else parsed.replace(tzinfo=UTC)).isoformat()
    return fields.time(argument, value)


def optional_time(record: Mapping[str, object], *keys: str) -> datetime | None:
    """The time under the first of `keys` that has a value; None if none has."""
    for key in keys:
        if record.get(key) not in (None, ""):
            return time(key, record[key])
    return None


def identifier(record: Mapping[str, object], key: str = "id") -> str:
    """The id of a record, which must be there: without it a second import could not know the record."""
    value = record.get(key)
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    if not isinstance(value, str) or not value:
        raise fields.wrong(key, value, "the record's id")
    return fields.clean(value)


def texts(argument: str, value: object) -> list[str]:
    """A list of strings, or one string of them separated by commas."""
    if value is None:
        return []
    given = value.split(",") if isinstance(value, str) else fields.as_list(argument, value)
    return [text for one in given if (text := fields.as_text(argument, one).strip())]


def _metadata(given: Mapping[str, object]) -> dict[str, JsonValue]:
    return {
        fields.clean(name): fields.clean_json("metadata", value)
        for name, value in given.items()
        if value is not None and value not in ("", [], {})
    }


def _title(title: str | None) -> str | None:
    return bounded(title.strip(), MAX_TITLE_CHARS) or None if title else None


def _scope_part(name: str | None) -> str | None:
    return bounded(name.strip()) or None if name else None
