"""Fields of memories as arrays, for filters, access checks and scores."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from functools import lru_cache
from hashlib import blake2b
from itertools import starmap
from typing import TYPE_CHECKING, Any, Final, Self, cast, overload
from uuid import UUID

import numpy as np

from remembrancer.domain.candidates import States
from remembrancer.domain.instants import micros
from remembrancer.domain.preference import ALWAYS, KINDS, PREFERENCE
from remembrancer.domain.query import Filter
from remembrancer.domain.scope import Level, Reach, Reader, Visibility
from remembrancer.domain.selection import value_key
from remembrancer.domain.strength import Exposure
from remembrancer.domain.validation import JsonScalar, JsonValue
from remembrancer.index.growing import GrowingArray, Number
from remembrancer.ports.changes import ChangedMemory

if TYPE_CHECKING:
    from numpy.typing import NDArray

_EVERY: Final = slice(None)
_UNKNOWN: Final = -1
"""The code of a text that occurs in no memory."""
_APPENDED: Final = ChangedMemory._fields[:-1]
"""All fields of `ChangedMemory` except the cues."""
_TEXTS: Final = ("project", "crew", "agent", "session", "visibility", "tier", "kind", "source")
_FIXED: Final[dict[str, type[np.generic]]] = {"occurred_from": np.int64, "occurred_to": np.int64}
_MOVING: Final[dict[str, type[np.generic]]] = {
    "current_from": np.int64,
    "current_until": np.int64,
    "last_reviewed_at": np.int64,
    "last_retrieved_at": np.int64,
    "last_shown_at": np.int64,
    "last_used_at": np.int64,
    # float64, because rounding to float32 would change who sees a memory at the threshold `Reader.shared_from`
    "importance": np.float64,
    "importance_floor": np.float32,
    "confidence": np.float32,
    "stability": np.float32,
    "priority": np.int8,
    "retrieved": np.int32,
    "shown": np.int32,
    "used": np.int32,
    "worked": np.float32,
    "failed": np.float32,
}
"""Fields that can change while `revision` stays the same."""
_EXPOSED_AT: Final = {exposure: f"last_{exposure}_at" for exposure in Exposure}
_LEVELS: Final = tuple((int(level), level.name.lower()) for level in list(Level)[1:])


class CandidateIds(Sequence[UUID]):
    """Ids of memories, each made from its two halves when it is read: of hundreds of candidates, a recall reads ten."""

    def __init__(self, halves: NDArray[np.uint64]) -> None:
        """`halves`: shape (memories, 2)."""
        self._halves = halves
        self._made: dict[int, UUID] = {}

    def __len__(self) -> int:
        return len(self._halves)

    def __iter__(self) -> Iterator[UUID]:
        return (UUID(int=high << 64 | low) for high, low in self._halves.tolist())

    @overload
    def __getitem__(self, place: int) -> UUID: ...

    @overload
    def __getitem__(self, place: slice) -> CandidateIds: ...

    def __getitem__(self, place: int | slice) -> UUID | CandidateIds:
        if isinstance(place, slice):
            return CandidateIds(self._halves[place])
        made = self._made.get(place)
        if made is None:
            high, low = self._halves[place].tolist()
            made = self._made[place] = UUID(int=high << 64 | low)
        return made

    def __eq__(self, other: object) -> bool:
        return tuple(self) == tuple(cast("tuple[object]", other)) if isinstance(other, tuple | CandidateIds) else False

    def __hash__(self) -> int:
        return hash(tuple(self))


class MemoryColumns:
    """Memory fields by slot. A new revision of a memory takes a new slot; the old slot is no longer used."""

    def __init__(self) -> None:
        self._revisions = GrowingArray[np.int64](np.int64)
        self._oldness = GrowingArray[np.int64](np.int64)
        self._id_halves = GrowingArray[np.uint64](np.uint64, 2)
        self._codes: dict[str, dict[str, int]] = {name: {"": 0} for name in _TEXTS}
        self._texts = {name: GrowingArray[np.int32](np.int32) for name in _TEXTS}
        self._numbers = {name: GrowingArray[Any](kind) for name, kind in (_FIXED | _MOVING).items()}
        self._alive = GrowingArray[np.bool_](np.bool_)
        self._labels = GrowingArray[np.int64](np.int64)
        """Hashes of tags and of metadata values. `_labelled` has the slot of each."""
        self._labelled = GrowingArray[np.int32](np.int32)

    @classmethod
    def restored(cls, arrays: Mapping[str, GrowingArray[Any]], texts: Mapping[str, Sequence[str]]) -> Self:
        """Columns of the `arrays` and `texts` of others."""
        columns = cls()
        columns._revisions, columns._oldness = arrays["revisions"], arrays["oldness"]
        columns._id_halves, columns._alive = arrays["id_halves"], arrays["alive"]
        columns._labels, columns._labelled = arrays["labels"], arrays["labelled"]
        columns._texts = {name: arrays[name] for name in _TEXTS}
        columns._numbers = {name: arrays[name] for name in _FIXED | _MOVING}
        columns._codes = {name: {text: code for code, text in enumerate(texts[name])} for name in _TEXTS}
        return columns

    def arrays(self) -> dict[str, GrowingArray[Any]]:
        """All arrays, by name."""
        return {
            "revisions": self._revisions,
            "oldness": self._oldness,
            "id_halves": self._id_halves,
            "alive": self._alive,
            "labels": self._labels,
            "labelled": self._labelled,
            **self._texts,
            **self._numbers,
        }

    @property
    def texts(self) -> dict[str, list[str]]:
        """The texts of each column, by their codes."""
        return {name: list(codes) for name, codes in self._codes.items()}

    def __len__(self) -> int:
        return len(self._revisions)

    @property
    def nbytes(self) -> int:
        return sum(array.nbytes for array in self.arrays().values()) + 92 * len(self)

    @property
    def newest_first(self) -> tuple[NDArray[np.generic], ...]:
        """The keys for `order.ordered` that sort slots newest first, then by id."""
        halves = self._id_halves.values
        return self._oldness.values, halves[:, 0], halves[:, 1]

    @property
    def id_halves(self) -> NDArray[np.uint64]:
        """The first and the last 64 bits of each memory's id, shape (memories, 2)."""
        return self._id_halves.values

    @property
    def alive(self) -> NDArray[np.bool_]:
        """The slots in use, shape (memories,)."""
        return self._alive.values

    def ids(self, slots: NDArray[np.integer]) -> CandidateIds:
        return CandidateIds(self._id_halves.values.take(slots, axis=0))

    def revision(self, slot: int) -> int:
        return int(self._revisions.values[slot])

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
            level=self._levels(slots),
            worked=column("worked", np.float32),
            failed=column("failed", np.float32),
            exposed={exposure: column(exposure, np.int32) for exposure in _EXPOSED_AT},
            exposed_at={exposure: column(name, np.int64) for exposure, name in _EXPOSED_AT.items()},
        )

    def append(self, memories: Iterable[ChangedMemory]) -> int:
        """Append memories; returns how many. Consumes them one by one, because many tuples at once slow the garbage
        collector.
        """
        first = len(self)
        values: list[Any] = []
        for memory in memories:
            values.extend(memory[:-1])
        if not values:
            return 0
        columns = {name: values[place :: len(_APPENDED)] for place, name in enumerate(_APPENDED)}
        self._oldness.extend(-np.array(columns["occurred_to"], dtype=np.int64))
        halves = np.frombuffer(b"".join(one.bytes for one in columns["id"]), dtype=">u8")
        self._id_halves.extend(halves.reshape(-1, 2).astype(np.uint64))
        self._revisions.extend(np.array(columns["revision"], dtype=np.int64))
        for name, growing in self._texts.items():
            codes = self._codes[name]
            for value in dict.fromkeys(columns[name]):
                codes.setdefault(value, len(codes))
            growing.extend(np.array(list(map(codes.__getitem__, columns[name])), dtype=np.int32))
        for name, growing in self._numbers.items():
            growing.extend(np.array(columns[name], dtype=(_FIXED | _MOVING)[name]))
        self._alive.extend(np.ones(len(self) - first, dtype=np.bool_))
        labels = [
            (label, slot)
            for slot, tags, metadata in zip(range(first, len(self)), columns["tags"], columns["metadata"], strict=True)
            for label in _labels_of(tags, metadata)
        ]
        self._labels.extend(np.array([label for label, _ in labels], dtype=np.int64))
        self._labelled.extend(np.array([slot for _, slot in labels], dtype=np.int32))
        return len(self) - first

    def update(self, slot: int, memory: ChangedMemory) -> None:
        """Update the fields in `_MOVING` (validity and strength) of a slot."""
        for name in _MOVING:
            self._numbers[name].values[slot] = getattr(memory, name)

    def bury(self, slot: int) -> None:
        self._alive.values[slot] = False

    def mask(self, reader: Reader, where: Filter) -> NDArray[np.bool_]:
        """The slots that the reader may see and the filter keeps, shape (memories,), as `domain.selection`."""
        at = micros(where.current_at)
        keep = self.seen_by(reader)
        keep &= self._numbers["current_from"].values <= at
        keep &= self._numbers["current_until"].values > at
        for name, values in (("kind", where.kinds), ("tier", where.tiers), ("visibility", where.visibilities)):
            if values is not None:
                keep &= self._is_any(name, values)
        for kind in where.without_kinds & self._codes["kind"].keys():
            keep &= ~self._is("kind", kind)
        for name, value in (("source", where.source), ("crew", where.crew), ("session", where.session)):
            if value is not None:
                keep &= self._is(name, value)
        for label in (*map(_tag_label, where.tags), *starmap(_value_label, where.metadata)):
            keep &= self._has(label)
        for tag in where.without_tags:
            keep[self._slots_with(_tag_label(tag))] = False
        if where.since is not None:
            keep &= self._numbers["occurred_to"].values >= micros(where.since)
        if where.until is not None:
            keep &= self._numbers["occurred_from"].values < micros(where.until)
        return keep

    def has_any_tag(self, tags: Iterable[str]) -> bool:
        """Whether a memory in use has one of these tags."""
        return any(bool(self._alive.values[self._slots_with(_tag_label(tag))].any()) for tag in tags)

    def preferences(self) -> NDArray[np.int8]:
        """The `domain.preference.Stated` of each slot, shape (memories,)."""
        stated = self._is_any("kind", KINDS) | self._has(_tag_label(PREFERENCE))
        return stated.astype(np.int8) + (stated & self._has(_tag_label(ALWAYS)))

    def happened_in(self, start: datetime, end: datetime) -> NDArray[np.bool_]:
        """The slots with a time span that overlaps [start, end), shape (memories,)."""
        since = self._numbers["occurred_to"].values >= micros(start)
        return since & (self._numbers["occurred_from"].values < micros(end))

    def seen_by(self, reader: Reader, slots: NDArray[np.integer] | slice = _EVERY) -> NDArray[np.bool_]:
        """The slots among these that the reader may see, in their order."""
        mine = reader.scope

        def are(name: str, value: str | None) -> NDArray[np.bool_]:
            return self._texts[name].values[slots] == self._code(name, value)

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

    def _levels(self, slots: NDArray[np.int64]) -> NDArray[np.int32]:
        """The `domain.scope.Level` of each slot: the narrowest part of its scope that is set."""
        levels = np.zeros(len(slots), dtype=np.int32)
        for level, name in _LEVELS:
            levels[self._texts[name].values.take(slots) != 0] = level
        return levels

    def _has(self, label: int) -> NDArray[np.bool_]:
        those = np.zeros(len(self), dtype=np.bool_)
        those[self._slots_with(label)] = True
        return those

    def _slots_with(self, label: int) -> NDArray[np.int32]:
        return self._labelled.values[self._labels.values == label]

    def _is(self, name: str, value: str | None) -> NDArray[np.bool_]:
        return self._texts[name].values == self._code(name, value)

    def _code(self, name: str, value: str | None) -> int:
        return self._codes[name].get(value or "", _UNKNOWN)

    def _is_any(self, name: str, values: frozenset[str]) -> NDArray[np.bool_]:
        column, those = self._texts[name].values, np.zeros(len(self), dtype=np.bool_)
        for value in values:
            those |= column == self._codes[name].get(value, _UNKNOWN)
        return those


def _labels_of(tags: Iterable[str], metadata: Mapping[str, JsonValue]) -> Iterator[int]:
    """The hashes of a memory's tags and metadata values, for filters."""
    yield from map(_tag_label, tags)
    for key, value in metadata.items():
        if not isinstance(value, dict | list):
            yield _value_label(key, value)


def _tag_label(tag: str) -> int:
    return _label("tag", tag, "")


def _value_label(key: str, value: JsonScalar) -> int:
    return _label(*value_key(key, value))


@lru_cache(maxsize=4096)
def _label(kind: str, key: str, value: str) -> int:
    """A 64-bit hash, the same in every process. Collision probability: 1 in 10^19 for each pair."""
    sized = f"{kind} {len(key)} {key}{value}".encode("utf-8", "surrogatepass")
    return int.from_bytes(blake2b(sized, digest_size=8).digest(), "little", signed=True)
