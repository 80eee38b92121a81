"""8-bit quantisation of weight matrices, and smoothing of a layer's inputs before it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

_LEVELS = 127  # on each side of zero


def quantised_by_row(matrix: NDArray[np.float32]) -> tuple[NDArray[np.int8], NDArray[np.float32]]:
    """Quantise `matrix` (rows, columns): int8 levels of the same shape, -127 to 127, and scales (rows,). An element is
    approximately level · scale.
    """
    # At least the smallest float, so that a row of zeros can be divided.
    scales = np.maximum(np.abs(matrix).max(axis=1) / _LEVELS, np.finfo(np.float32).tiny).astype(np.float32)
    return np.rint(matrix / scales[:, None]).astype(np.int8), scales


def smoothing_factors(sizes: NDArray[np.float32], matrix: NDArray[np.float32]) -> NDArray[np.float32]:
    """Smoothing factors (inputs,): the inputs of `matrix` (outputs, inputs) are multiplied by them, and its columns
    divided.

    A row of inputs has one scale, but a few inputs, always the same ones, are many times larger than the others.
    Smoothing moves half of that range into the weights: the factors are sqrt(column length / input size). `sizes`
    (inputs,): relative size of each input. Source: SmoothQuant, Xiao et al., ICML 2023, eq. 4, alpha 0.5, which uses
    maxima for both, over sample texts for the inputs.
    """
    lengths = np.linalg.norm(matrix, axis=0)
    return np.sqrt(_bounded(lengths) / _bounded(sizes)).astype(np.float32)


def _bounded(values: NDArray[np.floating]) -> NDArray[np.floating]:
    """The values, at least a hundredth of their mean, so that unused channels can be divided by."""
    return np.maximum(values, values.mean() / 100)
