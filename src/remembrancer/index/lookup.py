"""Finds memories by id and cues by ref: in a sorted array for those read from a file, in a dict for those appended."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, Final
from uuid import UUID

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

UNKNOWN: Final = -1


class SlotLookup:
    """The last slot of each memory."""

    def __init__(self) -> None:
        self._appended: dict[UUID, int] = {}
        self._high = self._low = np.zeros(0, dtype=np.uint64)
        self._slots = np.zeros(0, dtype=np.int64)

    @classmethod
    def restored(cls, id_halves: NDArray[np.uint64], slots: NDArray[np.int64]) -> SlotLookup:
        """`slots`: those in use, in the order of their ids. `id_halves`: of all slots."""
        lookup = cls()
        lookup._high, lookup._low = id_halves[slots, 0], id_halves[slots, 1]
        lookup._slots = slots
        return lookup

    def add(self, ids: Iterable[UUID], slots: Iterable[int]) -> None:
        self._appended.update(zip(ids, slots, strict=True))

    def get(self, memory_id: UUID) -> int | None:
        """The memory's slot. None: unknown."""
        slot = self._appended.get(memory_id)
        if slot is not None or not len(self._slots):
            return slot
        high, low = np.uint64(memory_id.int >> 64), memory_id.int & 0xFFFFFFFFFFFFFFFF
        first, end = np.searchsorted(self._high, high), np.searchsorted(self._high, high, side="right")
        place = first + np.searchsorted(self._low[first:end], np.uint64(low))
        return int(self._slots[place]) if place < end and int(self._low[place]) == low else None


class CueLookup:
    """The number of each cue. A ref that was appended again has its last number."""

    def __init__(self) -> None:
        self._appended: dict[int, int] = {}
        self._refs = self._cues = np.zeros(0, dtype=np.int64)

    @classmethod
    def restored(cls, refs: NDArray[np.int64], cues: NDArray[np.int64]) -> CueLookup:
        """`refs`, ascending, and the number of each."""
        lookup = cls()
        lookup._refs, lookup._cues = refs, cues
        return lookup

    def add(self, refs: Iterable[int], cues: Iterable[int]) -> None:
        self._appended.update(zip(refs, cues, strict=True))

    def find(self, refs: Sequence[int]) -> NDArray[np.int64]:
        """The number of each of these cues; UNKNOWN for an unknown one."""
        found: NDArray[Any] = np.array([self._appended.get(ref, UNKNOWN) for ref in refs], dtype=np.int64)
        if len(self._refs):
            asked = np.array(refs, dtype=np.int64)
            places = np.searchsorted(self._refs, asked).clip(max=len(self._refs) - 1)
            found = np.where((found == UNKNOWN) & (self._refs[places] == asked), self._cues[places], found)
        return found

    def knows(self, refs: Iterable[int]) -> bool:
        """Whether all of these cues are known."""
        missing = [ref for ref in refs if ref not in self._appended]
        return not missing or bool((self.find(missing) != UNKNOWN).all())
