"""Token embeddings that questions were compared with last, kept so that the next question need not read them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

MAX_BYTES: Final = 64 << 20
"""Of some forty thousand short turns."""
_OVERHEAD: Final = 300
"""What those of one cue take in memory beside their bits: the entry, the array and the bytes object."""


class TokenEmbeddingCache:
    """By the ref of their cue. Beyond `MAX_BYTES` what was read first is dropped first."""

    def __init__(self) -> None:
        self._kept: dict[int, NDArray[np.uint8]] = {}
        self.nbytes = 0

    def of(self, refs: Iterable[int]) -> dict[int, NDArray[np.uint8]]:
        """Those that are kept."""
        return {ref: self._kept[ref] for ref in refs if ref in self._kept}

    def keep(self, ref: int, signs: NDArray[np.uint8]) -> None:
        self.drop([ref])
        self._kept[ref] = signs
        self.nbytes += signs.nbytes + _OVERHEAD
        while self.nbytes > MAX_BYTES:
            self.drop([next(iter(self._kept))])

    def drop(self, refs: Iterable[int]) -> None:
        """Forget those of cues that have changed; refs that are not kept are passed over."""
        for ref in refs:
            signs = self._kept.pop(ref, None)
            if signs is not None:
                self.nbytes -= signs.nbytes + _OVERHEAD
