"""An integer matrix product of bits and 8-bit levels, computed by onnxruntime with the kernels that the model uses.

For 3,000 rows of bits and 15 rows of levels it takes a tenth of the time of comparing the pairs one by one.

The same graph detects whether this processor sums 8-bit products exactly. Without VNNI, the kernels for x86-64 add two
neighbouring products in 16 bits, which saturates: 2 · 255 · 127 gives 32,767 instead of 64,770 (onnxruntime's
documentation on quantisation, "U8S8"). Sums of bits are exact on every processor, because two levels add up to at most
254.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from remembrancer.adapters.embedders.local.bindings import ModelSession, session_errors
from remembrancer.errors import ModelUnavailable

if TYPE_CHECKING:
    from numpy.typing import NDArray


class BitSums:
    """Implements `domain.arithmetic.SumOfBits` with a loaded graph."""

    def __init__(self, session: ModelSession) -> None:
        self._session = session

    def __call__(self, bits: NDArray[np.uint8], levels: NDArray[np.int8], /) -> NDArray[np.int32]:
        """Raises ModelUnavailable when onnxruntime fails."""
        return self._sums(bits, levels)

    def products_are_exact(self) -> bool:
        """Whether this processor sums the largest 8-bit products exactly. Takes 0.15 ms.

        Raises ModelUnavailable when onnxruntime fails.
        """
        rows, columns = np.full((4, 64), 255, np.uint8), np.full((32, 64), 127, np.int8)
        return bool((self._sums(rows, columns) == 64 * 255 * 127).all())

    def _sums(self, bits: NDArray[np.uint8], levels: NDArray[np.int8]) -> NDArray[np.int32]:
        try:
            return self._session.run(None, {"bits": bits, "levels": np.ascontiguousarray(levels.T)})[0]
        except session_errors() as error:
            raise ModelUnavailable(f"onnxruntime could not compare {len(bits)} words: {error}") from error
