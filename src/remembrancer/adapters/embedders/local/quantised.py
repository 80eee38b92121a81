"""Matrices in 8 bits, and how the inputs of a layer are evened out before they are."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

_LEVELS = 127  # on each side of zero


def quantised_by_row(matrix: NDArray[np.float32]) -> tuple[NDArray[np.int8], NDArray[np.float32]]:
    """`matrix` (rows, columns) in 8 bits: levels of its shape, -127 to 127, and scales (rows,): level times scale."""
    # Never zero, so that a row of zeros divides.
    scales = np.maximum(np.abs(matrix).max(axis=1) / _LEVELS, np.finfo(np.float32).tiny).astype(np.float32)
    return np.rint(matrix / scales[:, None]).astype(np.int8), scales


def evening_factors(sizes: NDArray[np.float32], matrix: NDArray[np.float32]) -> NDArray[np.float32]:
    """What to multiply the inputs of `matrix` (outputs, inputs) by, and divide its columns by, before 8 bits.

    One scale must serve all inputs of a row, and a few of them, always the same, are many times as large as the rest.
    Half of that goes into the weights: the factors are sqrt(length of the column / size of the input). `sizes`
    (inputs,) says how large each input is beside the others. Source: SmoothQuant, Xiao et al., ICML 2023, eq. 4,
    alpha 0.5; there, both are maxima, over sample texts for the inputs.
    """
    lengths = np.linalg.norm(matrix, axis=0)
    return np.sqrt(_bounded(lengths) / _bounded(sizes)).astype(np.float32)


def _bounded(values: NDArray[np.floating]) -> NDArray[np.floating]:
    """Nothing below a hundredth of the mean: a channel that is never used divides too."""
    return np.maximum(values, values.mean() / 100)
