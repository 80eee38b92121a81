"""The words' vectors that questions were compared with last, so that the next question need not read them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, NamedTuple
from uuid import UUID

import numpy as np
from numpy.typing import NDArray

MAX_BYTES: Final = 64 << 20
"""Of some forty thousand short turns."""
_OVERHEAD: Final = 400
"""What one takes in memory beside its words: the entry, the array, the bytes object and the id."""


class _Kept(NamedTuple):
    slot: int
    ordinal: int
    signs: NDArray[np.uint8]


class KeptWords:
    """By memory, of one of its cues. Beyond `MAX_BYTES` what was read first is dropped first."""

    def __init__(self) -> None:
        self._kept: dict[UUID, _Kept] = {}
        self.nbytes = 0

    def of(self, cues: Mapping[UUID, int], seen: NDArray[np.bool_]) -> dict[UUID, NDArray[np.uint8]]:
        """Those of `cues` (memory → ordinal) that are kept; `seen`, by slot: what the reader may see."""
        found: dict[UUID, NDArray[np.uint8]] = {}
        for identifier, ordinal in cues.items():
            kept = self._kept.get(identifier)
            if kept is not None and kept.ordinal == ordinal and seen[kept.slot]:
                found[identifier] = kept.signs
        return found

    def keep(self, identifier: UUID, slot: int, ordinal: int, signs: NDArray[np.uint8]) -> None:
        self.drop(identifier)
        self._kept[identifier] = _Kept(slot, ordinal, signs)
        self.nbytes += signs.nbytes + _OVERHEAD
        while self.nbytes > MAX_BYTES:
            self.drop(next(iter(self._kept)))

    def drop(self, identifier: UUID) -> None:
        """What is kept of a memory that has changed. Nothing where nothing is kept."""
        kept = self._kept.pop(identifier, None)
        if kept is not None:
            self.nbytes -= kept.signs.nbytes + _OVERHEAD
