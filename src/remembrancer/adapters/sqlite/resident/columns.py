"""What filters, sight and scores need of each memory, as arrays."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Sequence
from typing import Final, NamedTuple
from uuid import UUID

import numpy as np
from numpy.typing import NDArray

from remembrancer.adapters.sqlite.resident.growing import GrowingArray
from remembrancer.adapters.sqlite.times import micros
from remembrancer.domain.query import Filter
from remembrancer.domain.scope import Reach, Reader, Visibility

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
    importance: float
    confidence: float
    priority: int
    tags: str


SELECT: Final = (
    "m.id, m.revision, m.project, m.crew, m.agent, m.session, m.visibility, m.tier, m.kind, ifnull(m.source, ''),"
    f" m.occurred_from, m.occurred_to, max(m.recorded_at, ifnull(m.valid_from, {_ALWAYS})),"
    f" min(ifnull(m.valid_until, {_NEVER}),"
    f" CASE WHEN m.superseded_by IS NULL THEN {_NEVER} ELSE ifnull(m.superseded_at, {_ALWAYS}) END,"
    f" CASE WHEN m.status = 'active' THEN {_NEVER} ELSE ifnull(m.retired_at, {_ALWAYS}) END),"
    " m.importance, m.confidence, m.priority, m.tags"
)
"""The columns of table `m` in the order of MemoryRow. It is current from `current_from` until `current_until`."""

_WORDS: Final = ("project", "crew", "agent", "session", "visibility", "tier", "kind", "source")
_TIMES: Final = ("occurred_from", "occurred_to", "current_from", "current_until")
_NUMBERS: Final = ("importance", "confidence", "priority")


class MemoryColumns:
    """One slot per memory. A memory whose text changes leaves its slot and takes a new one."""

    def __init__(self) -> None:
        self.ids: list[UUID] = []
        self.revisions: list[int] = []
        self._oldness = GrowingArray[np.int64](np.int64)
        self._id_halves = GrowingArray[np.uint64](np.uint64, 2)
        self._codes: dict[str, dict[str, int]] = {word: {"": 0} for word in _WORDS}
        self._words = {word: GrowingArray[np.int32](np.int32) for word in _WORDS}
        self._times = {time: GrowingArray[np.int64](np.int64) for time in _TIMES}
        self._numbers = {number: GrowingArray[np.float32](np.float32) for number in _NUMBERS}
        self._alive = GrowingArray[np.bool_](np.bool_)
        self._tags: defaultdict[str, list[int]] = defaultdict(list)

    def __len__(self) -> int:
        return len(self.ids)

    @property
    def nbytes(self) -> int:
        arrays = (*self._words.values(), *self._times.values(), *self._numbers.values(), self._alive)
        return sum(array.nbytes for array in arrays) + 124 * len(self.ids)

    @property
    def occurred_to(self) -> NDArray[np.int64]:
        return self._times["occurred_to"].values

    @property
    def newest_first(self) -> tuple[NDArray[np.generic], ...]:
        """Keys that sort slots newest first, then by id."""
        halves = self._id_halves.values
        return self._oldness.values, halves[:, 0], halves[:, 1]

    def number(self, name: str) -> NDArray[np.float32]:
        return self._numbers[name].values

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
        for time, growing in self._times.items():
            growing.extend(np.array(columns[time], dtype=np.int64))
        for number, growing in self._numbers.items():
            growing.extend(np.array(columns[number], dtype=np.float32))
        self._alive.extend(np.ones(len(rows), dtype=np.bool_))
        for offset, tags in enumerate(columns["tags"]):
            if tags != "[]":
                for tag in json.loads(tags):
                    self._tags[tag].append(first + offset)

    def update(self, slot: int, row: MemoryRow) -> None:
        """Take over what may change while a memory says the same: its validity and its strength."""
        for time in ("current_from", "current_until"):
            self._times[time].values[slot] = getattr(row, time)
        for number in _NUMBERS:
            self._numbers[number].values[slot] = getattr(row, number)

    def bury(self, slot: int) -> None:
        self._alive.values[slot] = False

    def mask(self, reader: Reader, where: Filter) -> NDArray[np.bool_]:
        """The slots the reader may see and the filter keeps, shape (memories,): `policies.selection` on arrays."""
        at = micros(where.current_at)
        keep = self._alive.values & (self._times["current_from"].values <= at)
        keep &= self._times["current_until"].values > at
        keep &= self._seen_by(reader)
        if where.kinds is not None:
            keep &= np.isin(self._words["kind"].values, self._known("kind", where.kinds))
        if where.tiers is not None:
            keep &= np.isin(self._words["tier"].values, self._known("tier", where.tiers))
        for word in ("source", "session"):
            wanted = getattr(where, word)
            if wanted is not None:
                keep &= self._is(word, wanted)
        for tag in where.tags:
            tagged = np.zeros(len(self.ids), dtype=np.bool_)
            tagged[self._tags.get(tag, [])] = True
            keep &= tagged
        if where.since is not None:
            keep &= self._times["occurred_to"].values >= micros(where.since)
        if where.until is not None:
            keep &= self._times["occurred_from"].values < micros(where.until)
        return keep

    def _seen_by(self, reader: Reader) -> NDArray[np.bool_]:
        mine = reader.scope
        seen = np.ones(len(self.ids), dtype=np.bool_)
        if mine.project is not None:
            seen &= self._is("project", None) | self._is("project", mine.project)
        if len(self._codes["visibility"]) > 2 or Visibility.WORKSPACE not in self._codes["visibility"]:
            seen &= (
                self._is("visibility", Visibility.WORKSPACE)
                | (self._is("visibility", Visibility.CREW) & self._is("crew", mine.crew))
                | (self._is("visibility", Visibility.OWN) & self._is("agent", mine.agent))
                | (
                    self._is("visibility", Visibility.SESSION)
                    & self._is("agent", mine.agent)
                    & self._is("session", mine.session)
                )
            )
        if reader.reach is Reach.WORKSPACE:
            return seen
        own = self._is("agent", mine.agent) | (
            self._is("agent", None) & (self._is("crew", None) | self._is("crew", mine.crew))
        )
        match reader.reach:
            case Reach.CREW_SHARED:
                return seen & (self._is("crew", mine.crew) | own)
            case Reach.OWN:
                return seen & own
            case Reach.SESSION:
                return seen & self._is("session", mine.session) & own

    def _is(self, word: str, value: str | None) -> NDArray[np.bool_]:
        return self._words[word].values == self._codes[word].get(value or "", -1)

    def _known(self, word: str, values: frozenset[str]) -> list[int]:
        return [code for value, code in self._codes[word].items() if value in values]
