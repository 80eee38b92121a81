"""Table rows to domain values, and back."""

from __future__ import annotations

import json
import zlib
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any, Final, Literal, cast
from uuid import UUID

from remembrancer.adapters.relational.connection import Binding
from remembrancer.adapters.relational.errors import UNREADABLE, unreadable
from remembrancer.adapters.relational.times import micros, moment, optional_moment
from remembrancer.domain.event import Event, Origin, Priority, Role, Severity
from remembrancer.domain.memory import Memory, Status, Tier
from remembrancer.domain.scope import Scope, Visibility
from remembrancer.domain.strength import Strength, Usage
from remembrancer.domain.validation import JsonValue

Row = tuple[Any, ...]
Table = Literal["events", "archive"]
"""The tables of events. Both have the same columns but for the last."""
TABLES: Final[tuple[Table, ...]] = ("events", "archive")
INDEXED: Final = ("cues", *TABLES)
"""The tables whose rows are found by their words."""

EVENT_COLUMNS: Final = (
    "e.id, e.workspace, e.project, e.crew, e.agent, e.session, e.seq, e.occurred_at, e.recorded_at, e.type,"
    " e.severity, e.priority, e.actor, e.role, e.text, e.payload, e.refs, e.key, e.origin"
)

MEMORY_COLUMNS: Final = (
    "id workspace project crew agent session visibility tier kind title text source origin occurred_from occurred_to"
    " recorded_at valid_from valid_until superseded_by superseded_at retired_at topic_key key revision tags metadata"
    " status consolidated_at importance importance_floor priority confidence surprise stability difficulty"
    " last_reviewed_at retrieved shown used helped unhelpful harmed last_retrieved_at last_shown_at last_used_at"
).split()

MEMORY_SELECT: Final = ", ".join(f"m.{column}" for column in MEMORY_COLUMNS)

LEVEL: Final = (
    "CASE WHEN m.session <> '' THEN 4 WHEN m.agent <> '' THEN 3 WHEN m.crew <> '' THEN 2 WHEN m.project <> '' THEN 1"
    " ELSE 0 END"
)
"""`domain.scope.level_of` for table `m`."""


def event_of(row: Row) -> Event:
    """Raises UnreadableRow for a row that this program never writes."""
    try:
        return _event(row)
    except UNREADABLE as error:
        raise unreadable(error) from error


def _event(row: Row) -> Event:
    return Event(
        id=UUID(bytes=row[0]),
        scope=scope_of(row[1:6]),
        seq=row[6],
        occurred_at=moment(row[7]),
        recorded_at=moment(row[8]),
        type=row[9],
        severity=Severity(row[10]),
        priority=Priority(row[11]),
        actor=row[12],
        role=Role(row[13]),
        text=row[14],
        payload=decoded(row[15]),
        refs=decoded(row[16]),
        key=row[17],
        origin=Origin(row[18]),
    )


def event_bindings(event: Event, seq: int) -> tuple[Binding, ...]:
    return (
        event.scope.workspace,
        event.id.bytes,
        *_scope_parts(event.scope),
        seq,
        micros(event.occurred_at),
        micros(event.recorded_at),
        event.type,
        event.severity,
        event.priority,
        event.actor,
        event.role,
        event.text,
        encoded(event.payload),
        encoded(event.refs),
        event.key,
        event.origin,
    )


def memory_of(row: Row) -> Memory:
    """Raises UnreadableRow for a row that this program never writes."""
    try:
        return _memory(row)
    except UNREADABLE as error:
        raise unreadable(error) from error


def _memory(row: Row) -> Memory:
    return Memory(
        id=UUID(bytes=row[0]),
        scope=scope_of(row[1:6]),
        visibility=Visibility(row[6]),
        tier=Tier(row[7]),
        kind=row[8],
        title=row[9],
        text=row[10],
        source=row[11],
        origin=Origin(row[12]),
        occurred_from=moment(row[13]),
        occurred_to=moment(row[14]),
        recorded_at=moment(row[15]),
        valid_from=optional_moment(row[16]),
        valid_until=optional_moment(row[17]),
        superseded_by=None if row[18] is None else UUID(bytes=row[18]),
        superseded_at=optional_moment(row[19]),
        retired_at=optional_moment(row[20]),
        topic_key=row[21],
        key=row[22],
        revision=row[23],
        tags=() if row[24] == "[]" else tuple(cast("list[str]", json.loads(row[24]))),
        metadata=decoded(row[25]),
        status=Status(row[26]),
        consolidated_at=optional_moment(row[27]),
        strength=Strength(
            importance=row[28],
            importance_floor=row[29],
            priority=row[30],
            confidence=row[31],
            surprise=row[32],
            stability=row[33],
            difficulty=row[34],
            last_reviewed_at=optional_moment(row[35]),
            usage=Usage(
                retrieved=row[36],
                shown=row[37],
                used=row[38],
                helped=row[39],
                unhelpful=row[40],
                harmed=row[41],
                last_retrieved_at=optional_moment(row[42]),
                last_shown_at=optional_moment(row[43]),
                last_used_at=optional_moment(row[44]),
            ),
        ),
    )


def memory_bindings(memory: Memory) -> tuple[Binding, ...]:
    """In the order of MEMORY_COLUMNS."""
    return (
        memory.id.bytes,
        memory.scope.workspace,
        *_scope_parts(memory.scope),
        memory.visibility,
        memory.tier,
        memory.kind,
        memory.title,
        memory.text,
        memory.source,
        memory.origin,
        micros(memory.occurred_from),
        micros(memory.occurred_to),
        micros(memory.recorded_at),
        micros(memory.valid_from),
        micros(memory.valid_until),
        None if memory.superseded_by is None else memory.superseded_by.bytes,
        micros(memory.superseded_at),
        micros(memory.retired_at),
        memory.topic_key,
        memory.key,
        memory.revision,
        json.dumps(memory.tags, ensure_ascii=False),
        encoded(memory.metadata),
        memory.status,
        micros(memory.consolidated_at),
        *strength_bindings(memory.strength),
    )


STRENGTH_COLUMNS: Final = MEMORY_COLUMNS[MEMORY_COLUMNS.index("importance") :]


def strength_bindings(strength: Strength) -> tuple[Binding, ...]:
    """In the order of STRENGTH_COLUMNS."""
    usage = strength.usage
    return (
        strength.importance,
        strength.importance_floor,
        strength.priority,
        strength.confidence,
        strength.surprise,
        strength.stability,
        strength.difficulty,
        micros(strength.last_reviewed_at),
        usage.retrieved,
        usage.shown,
        usage.used,
        usage.helped,
        usage.unhelpful,
        usage.harmed,
        micros(usage.last_retrieved_at),
        micros(usage.last_shown_at),
        micros(usage.last_used_at),
    )


def term_hash(term: str) -> int:
    """32 bits that stand for a term. Two terms of one question sharing them by chance: 1 in 4 billion a pair."""
    return zlib.crc32(term.encode("utf-8"))


def packed_terms(terms: Sequence[str]) -> bytes:
    """Distinct term hashes (little-endian uint32), then how often each stands in the text (uint8, at most 255)."""
    counts = Counter(map(term_hash, terms))
    hashes = b"".join(value.to_bytes(4, "little") for value in counts)
    return hashes + bytes(min(count, 255) for count in counts.values())


def encoded(value: Mapping[str, JsonValue]) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def decoded(value: str) -> dict[str, JsonValue]:
    return {} if value == "{}" else json.loads(value)


def scope_of(parts: Row) -> Scope:
    """Of workspace, project, crew, agent and session, as the tables hold them."""
    return _scope_of(*parts)


@lru_cache(maxsize=1024)  # the rows of one answer are of few scopes
def _scope_of(workspace: str, project: str, crew: str, agent: str, session: str) -> Scope:
    return Scope(
        workspace=workspace,
        project=project or None,
        crew=crew or None,
        agent=agent or None,
        session=session or None,
    )


def _scope_parts(scope: Scope) -> tuple[str, str, str, str]:
    return scope.project or "", scope.crew or "", scope.agent or "", scope.session or ""
