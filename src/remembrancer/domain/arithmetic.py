"""Protocols for arithmetic that an embedder's library may do faster than numpy."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


class SumOfBits(Protocol):
    """For each row of bits and each row of levels, the sum of the levels whose bit is 1.

    `bits`: uint8 (n, dim), each 0 or 1. `levels`: int8 (m, dim), in [-127, 127]. The sums: int32 (n, m), exact.
    """

    def __call__(self, bits: NDArray[np.uint8], levels: NDArray[np.int8], /) -> NDArray[np.int32]:
        """Raises ModelUnavailable if the library fails."""
        ...
