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
from remembrancer.domain.candidates import States
from remembrancer.domain.query import Filter
from remembrancer.domain.scope import Reach, Reader, Visibility
from remembrancer.domain.strength import Exposure
from remembrancer.domain.validation import JsonScalar

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
    " CASE WHEN m.session <> '' THEN 4 WHEN m.agent <> '' THEN 3 WHEN m.crew <> '' THEN 2 WHEN m.project <> '' THEN 1"
    " ELSE 0 END, m.retrieved, m.shown, m.used, m.tags, m.metadata"
)
"""The columns of table `m` in the order of MemoryRow. It is current from `current_from` until `current_until`."""

_WORDS: Final = ("project", "crew", "agent", "session", "visibility", "tier", "kind", "source")
_MOVING_TIMES: Final = (
    "current_from",
    "current_until",
    "last_reviewed_at",
    "last_retrieved_at",
    "last_shown_at",
    "last_used_at",
)
_TIMES: Final = ("occurred_from", "occurred_to", *_MOVING_TIMES)
_SHARES: Final = ("importance", "importance_floor", "confidence", "stability")
_COUNTS: Final = ("priority", "level", "retrieved", "shown", "used")


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
        self._shares = {share: GrowingArray[np.float32](np.float32) for share in _SHARES}
        self._counts = {count: GrowingArray[np.int32](np.int32) for count in _COUNTS}
        self._alive = GrowingArray[np.bool_](np.bool_)
        self._tags: defaultdict[str, list[int]] = defaultdict(list)
        self._metadata: defaultdict[tuple[str, JsonScalar], list[int]] = defaultdict(list)

    def __len__(self) -> int:
        return len(self.ids)

    @property
    def nbytes(self) -> int:
        arrays = (
            *self._words.values(),
            *self._times.values(),
            *self._shares.values(),
            *self._counts.values(),
            self._alive,
        )
        return sum(array.nbytes for array in arrays) + 124 * len(self.ids)

    @property
    def newest_first(self) -> tuple[NDArray[np.generic], ...]:
        """Keys that sort slots newest first, then by id."""
        halves = self._id_halves.values
        return self._oldness.values, halves[:, 0], halves[:, 1]

    def states(self, slots: NDArray[np.int64]) -> States:
        times = {time: growing.values[slots] for time, growing in self._times.items()}
        shares = {share: growing.values[slots] for share, growing in self._shares.items()}
        counts = {count: growing.values[slots] for count, growing in self._counts.items()}
        return States(
            occurred_at=times["occurred_to"],
            importance=shares["importance"],
            importance_floor=shares["importance_floor"],
            confidence=shares["confidence"],
            priority=counts["priority"],
            stability=shares["stability"],
            reviewed_at=times["last_reviewed_at"],
            level=counts["level"],
            exposed={exposure: counts[exposure.value] for exposure in Exposure},
            exposed_at={exposure: times[f"last_{exposure}_at"] for exposure in Exposure},
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
        for time, growing in self._times.items():
            growing.extend(np.array(columns[time], dtype=np.int64))
        for share, growing in self._shares.items():
            growing.extend(np.array(columns[share], dtype=np.float32))
        for count, growing in self._counts.items():
            growing.extend(np.array(columns[count], dtype=np.int32))
        self._alive.extend(np.ones(len(rows), dtype=np.bool_))
        for offset, tags in enumerate(columns["tags"]):
            if tags != "[]":
                for tag in json.loads(tags):
                    self._tags[tag].append(first + offset)
        for offset, metadata in enumerate(columns["metadata"]):
            if metadata != "{}":
                for key, value in json.loads(metadata).items():
                    if not isinstance(value, dict | list):
                        self._metadata[key, _marked(value)].append(first + offset)

    def update(self, slot: int, row: MemoryRow) -> None:
        """Take over what may change while a memory says the same: its validity and its strength."""
        for time in _MOVING_TIMES:
            self._times[time].values[slot] = getattr(row, time)
        for share in _SHARES:
            self._shares[share].values[slot] = getattr(row, share)
        for count in _COUNTS:
            self._counts[count].values[slot] = getattr(row, count)

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
        if where.visibilities is not None:
            keep &= np.isin(self._words["visibility"].values, self._known("visibility", where.visibilities))
        for tag in where.tags:
            keep &= self._among(self._tags.get(tag, []))
        for tag in where.without_tags:
            keep &= ~self._among(self._tags.get(tag, []))
        for key, value in where.metadata:
            keep &= self._among(self._metadata.get((key, _marked(value)), []))
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
                shared = self._is("crew", mine.crew)
                if reader.shared_from > 0:
                    shared &= self._shares["importance"].values >= np.float32(reader.shared_from)
                return seen & (shared | own)
            case Reach.OWN:
                return seen & own
            case Reach.SESSION:
                return seen & self._is("session", mine.session) & own

    def _among(self, slots: list[int]) -> NDArray[np.bool_]:
        those = np.zeros(len(self.ids), dtype=np.bool_)
        those[slots] = True
        return those

    def _is(self, word: str, value: str | None) -> NDArray[np.bool_]:
        return self._words[word].values == self._codes[word].get(value or "", -1)

    def _known(self, word: str, values: frozenset[str]) -> list[int]:
        return [code for value, code in self._codes[word].items() if value in values]


def _marked(value: JsonScalar) -> JsonScalar:
    """As a key: true must not meet 1. No text of metadata holds a NUL beside these two words."""
    return f"\x00{value}" if isinstance(value, bool) else value
