"""What filters, sight and scores need of each memory, as arrays."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from datetime import datetime
from functools import lru_cache
from typing import Any, Final, NamedTuple, TypeVar
from uuid import UUID

import numpy as np
from numpy.typing import NDArray

from remembrancer.adapters.relational.resident.growing import GrowingArray
from remembrancer.adapters.relational.rows import LEVEL
from remembrancer.adapters.relational.times import micros
from remembrancer.domain.candidates import States
from remembrancer.domain.query import Filter
from remembrancer.domain.scope import Reach, Reader, Visibility
from remembrancer.domain.strength import Exposure
from remembrancer.domain.validation import JsonScalar

Number = TypeVar("Number", bound=np.generic)

_EVERY: Final = slice(None)
_UNKNOWN: Final = -1
"""The code of a word that no memory has."""
_NEVER: Final = 2**63 - 1
_ALWAYS: Final = -(2**63) + 1  # the least whole number that SQLite reads as one


class MemoryRow(NamedTuple):
    """What is kept of a memory, as `SELECT` reads it."""

    id: bytes
    revision: int
    project: str
    crew: str
    agent: str
    session: str
    visibility: str
    tier: str
    kind: str
    source: str
    occurred_from: int
    occurred_to: int
    current_from: int
    current_until: int
    last_reviewed_at: int
    last_retrieved_at: int
    last_shown_at: int
    last_used_at: int
    importance: float
    importance_floor: float
    confidence: float
    stability: float
    priority: int
    level: int
    retrieved: int
    shown: int
    used: int
    tags: str
    metadata: str


SELECT: Final = (
    "m.id, m.revision, m.project, m.crew, m.agent, m.session, m.visibility, m.tier, m.kind, ifnull(m.source, ''),"
    f" m.occurred_from, m.occurred_to, max(m.recorded_at, ifnull(m.valid_from, {_ALWAYS})),"
    f" min(ifnull(m.valid_until, {_NEVER}),"
    f" CASE WHEN m.superseded_by IS NULL THEN {_NEVER} ELSE ifnull(m.superseded_at, {_ALWAYS}) END,"
    f" CASE WHEN m.status = 'active' THEN {_NEVER} ELSE ifnull(m.retired_at, {_ALWAYS}) END),"
    " ifnull(m.last_reviewed_at, 0), ifnull(m.last_retrieved_at, 0), ifnull(m.last_shown_at, 0),"
    " ifnull(m.last_used_at, 0), m.importance, m.importance_floor, m.confidence, m.stability, m.priority,"
    f" {LEVEL}, m.retrieved, m.shown, m.used, m.tags, m.metadata"
)
"""The columns of table `m` in the order of MemoryRow. It is current from `current_from` until `current_until`."""

_WORDS: Final = ("project", "crew", "agent", "session", "visibility", "tier", "kind", "source")
_FIXED: Final[dict[str, type[np.generic]]] = {"occurred_from": np.int64, "occurred_to": np.int64, "level": np.int8}
_MOVING: Final[dict[str, type[np.generic]]] = {
    "current_from": np.int64,
    "current_until": np.int64,
    "last_reviewed_at": np.int64,
    "last_retrieved_at": np.int64,
    "last_shown_at": np.int64,
    "last_used_at": np.int64,
    "importance": np.float64,  # whole: what a reader sees from .65 on must not depend on how .65 is rounded
    "importance_floor": np.float32,
    "confidence": np.float32,
    "stability": np.float32,
    "priority": np.int8,
    "retrieved": np.int32,
    "shown": np.int32,
    "used": np.int32,
}
"""What may change while a memory says the same."""


class MemoryColumns:
    """One slot per memory. A memory whose text changes leaves its slot and takes a new one."""

    def __init__(self) -> None:
        self.ids: list[UUID] = []
        self.revisions: list[int] = []
        self._oldness = GrowingArray[np.int64](np.int64)
        self._id_halves = GrowingArray[np.uint64](np.uint64, 2)
        self._codes: dict[str, dict[str, int]] = {word: {"": 0} for word in _WORDS}
        self._words = {word: GrowingArray[np.int32](np.int32) for word in _WORDS}
        self._numbers = {name: GrowingArray[Any](kind) for name, kind in (_FIXED | _MOVING).items()}
        self._alive = GrowingArray[np.bool_](np.bool_)
        self._marks = GrowingArray[np.int64](np.int64)
        """Hashes of tags and of single metadata values, each with the slot that has it in `_marked`."""
        self._marked = GrowingArray[np.int32](np.int32)

    def __len__(self) -> int:
        return len(self.ids)

    @property
    def nbytes(self) -> int:
        arrays = (*self._words.values(), *self._numbers.values(), self._alive, self._marks, self._marked)
        return sum(array.nbytes for array in arrays) + 124 * len(self.ids)

    @property
    def newest_first(self) -> tuple[NDArray[np.generic], ...]:
        """Keys that sort slots newest first, then by id."""
        halves = self._id_halves.values
        return self._oldness.values, halves[:, 0], halves[:, 1]

    def states(self, slots: NDArray[np.int64]) -> States:
        def column(name: str, kind: type[Number]) -> NDArray[Number]:
            return self._numbers[name].values.take(slots).astype(kind, copy=False)

        return States(
            occurred_from=column("occurred_from", np.int64),
            occurred_at=column("occurred_to", np.int64),
            importance=column("importance", np.float32),
            importance_floor=column("importance_floor", np.float32),
            confidence=column("confidence", np.float32),
            priority=column("priority", np.int32),
            stability=column("stability", np.float32),
            reviewed_at=column("last_reviewed_at", np.int64),
            level=column("level", np.int32),
            exposed={exposure: column(exposure.value, np.int32) for exposure in Exposure},
            exposed_at={exposure: column(f"last_{exposure}_at", np.int64) for exposure in Exposure},
        )

    def append(self, rows: Sequence[MemoryRow]) -> None:
        first = len(self.ids)
        columns = dict(zip(MemoryRow._fields, zip(*rows, strict=True), strict=True))
        self.ids.extend(UUID(bytes=value) for value in columns["id"])
        self._oldness.extend(-np.array(columns["occurred_to"], dtype=np.int64))
        self._id_halves.extend(np.frombuffer(b"".join(columns["id"]), dtype=">u8").reshape(-1, 2).astype(np.uint64))
        self.revisions.extend(columns["revision"])
        for word, growing in self._words.items():
            codes = self._codes[word]
            values = [codes.setdefault(value, len(codes)) for value in columns[word]]
            growing.extend(np.array(values, dtype=np.int32))
        for name, growing in self._numbers.items():
            growing.extend(np.array(columns[name], dtype=(_FIXED | _MOVING)[name]))
        self._alive.extend(np.ones(len(rows), dtype=np.bool_))
        marks = [
            (mark, slot)
            for slot, tags, metadata in zip(
                range(first, len(self.ids)), columns["tags"], columns["metadata"], strict=True
            )
            for mark in _marks_of(tags, metadata)
        ]
        self._marks.extend(np.array([mark for mark, _ in marks], dtype=np.int64))
        self._marked.extend(np.array([slot for _, slot in marks], dtype=np.int32))

    def update(self, slot: int, row: MemoryRow) -> None:
        """Take over what may change while a memory says the same: its validity and its strength."""
        for name in _MOVING:
            self._numbers[name].values[slot] = getattr(row, name)

    def bury(self, slot: int) -> None:
        self._alive.values[slot] = False

    def mask(self, reader: Reader, where: Filter) -> NDArray[np.bool_]:
        """Slots that the reader may see and the filter keeps, shape (memories,): as `policies.ranking.selection`."""
        at = micros(where.current_at)
        keep = self.seen_by(reader)
        keep &= self._numbers["current_from"].values <= at
        keep &= self._numbers["current_until"].values > at
        for word, values in (("kind", where.kinds), ("tier", where.tiers), ("visibility", where.visibilities)):
            if values is not None:
                keep &= self._is_any(word, values)
        keep &= ~self._is_any("kind", where.without_kinds)
        for word, value in (("source", where.source), ("crew", where.crew), ("session", where.session)):
            if value is not None:
                keep &= self._is(word, value)
        for tag in where.tags:
            keep &= self._has(_tag_mark(tag))
        for tag in where.without_tags:
            keep &= ~self._has(_tag_mark(tag))
        for key, held in where.metadata:
            keep &= self._has(_value_mark(key, held))
        if where.since is not None:
            keep &= self._numbers["occurred_to"].values >= micros(where.since)
        if where.until is not None:
            keep &= self._numbers["occurred_from"].values < micros(where.until)
        return keep

    def happened_in(self, start: datetime, end: datetime) -> NDArray[np.bool_]:
        """The slots whose span overlaps [start, end), shape (memories,)."""
        since = self._numbers["occurred_to"].values >= micros(start)
        return since & (self._numbers["occurred_from"].values < micros(end))

    def seen_by(self, reader: Reader, slots: NDArray[np.integer] | slice = _EVERY) -> NDArray[np.bool_]:
        """Which of these slots the reader may see, in their order."""
        mine = reader.scope

        def are(word: str, value: str | None) -> NDArray[np.bool_]:
            return self._words[word].values[slots] == self._code(word, value)

        seen = self._alive.values[slots].copy()
        if mine.project is not None:
            seen &= are("project", None) | are("project", mine.project)
        if len(self._codes["visibility"]) > 2 or Visibility.WORKSPACE not in self._codes["visibility"]:
            seen &= (
                are("visibility", Visibility.WORKSPACE)
                | (are("visibility", Visibility.CREW) & are("crew", mine.crew))
                | (are("visibility", Visibility.OWN) & are("agent", mine.agent))
                | (are("visibility", Visibility.SESSION) & are("agent", mine.agent) & are("session", mine.session))
            )
        if reader.reach is Reach.WORKSPACE:
            return seen
        own = are("agent", None) & (are("crew", None) | are("crew", mine.crew))
        if mine.agent is not None:
            own |= are("agent", mine.agent)
        match reader.reach:
            case Reach.CREW_SHARED:
                shared = are("crew", mine.crew)
                if reader.shared_from > 0:
                    shared &= self._numbers["importance"].values[slots] >= reader.shared_from
                return seen & (shared | own)
            case Reach.OWN:
                return seen & own
            case Reach.SESSION:
                return seen & are("session", mine.session) & own

    def _has(self, mark: int) -> NDArray[np.bool_]:
        those = np.zeros(len(self.ids), dtype=np.bool_)
        those[self._marked.values[self._marks.values == mark]] = True
        return those

    def _is(self, word: str, value: str | None) -> NDArray[np.bool_]:
        return self._words[word].values == self._code(word, value)

    def _code(self, word: str, value: str | None) -> int:
        return self._codes[word].get(value or "", _UNKNOWN)

    def _is_any(self, word: str, values: frozenset[str]) -> NDArray[np.bool_]:
        column, those = self._words[word].values, np.zeros(len(self.ids), dtype=np.bool_)
        for value in values:
            those |= column == self._codes[word].get(value, _UNKNOWN)
        return those


def _marks_of(tags: str, metadata: str) -> Iterator[int]:
    """Of a memory's tags and metadata, as its row has them. Most have none, which is told without reading JSON."""
    if tags != "[]":
        yield from _tag_marks(tags)
    if metadata != "{}":
        for key, value in json.loads(metadata).items():
            if not isinstance(value, dict | list):
                yield _value_mark(key, value)


@lru_cache(maxsize=1024)
def _tag_marks(tags: str) -> tuple[int, ...]:
    """Many memories have the same tags."""
    return tuple(_tag_mark(tag) for tag in json.loads(tags))


def _tag_mark(tag: str) -> int:
    return hash(("tag", tag))


def _value_mark(key: str, value: JsonScalar) -> int:
    """64 bits, good in this process only. Two values sharing them by chance: 1 in 10^19 a pair.

    Equal numbers are one value, and true is not 1. A number is hashed by its digits: Python hashes -1 and -2 alike.
    """
    match value:
        case None | bool():
            return hash(("constant", key, str(value)))
        case float() if value.is_integer():
            return hash(("number", key, str(int(value))))
        case int() | float():
            return hash(("number", key, str(value)))
        case str():
            return hash(("text", key, value))
