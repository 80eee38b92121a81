"""Unit vectors as 8-bit integers with one scale per vector: a quarter of the bytes, cosine within 0.003.

The resident index compares vectors in this form, and a store keeps them in it. Quantising what was quantised before
gives the same integers and the same scale, so an export and its import do not change a vector any further.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

_FLOAT32: Final = np.dtype("<f4")
SCALE_BYTES: Final = 4


def quantised(vectors: NDArray[np.float32]) -> tuple[NDArray[np.int8], NDArray[np.float32]]:
    """Integers in [-127, 127], shaped as `vectors` (n, dim), and the scale of each row: vector = integers * scale. The
    scale of a row of NaN is NaN.
    """
    peaks = np.abs(vectors).max(axis=1)
    scales = np.where(peaks == 0, 1, peaks / 127).astype(np.float32)
    with np.errstate(invalid="ignore"):
        codes = np.rint(np.nan_to_num(vectors) / np.nan_to_num(scales, nan=1)[:, np.newaxis]).astype(np.int8)
    return codes, scales


def vector_bytes(vector: NDArray[np.float32]) -> bytes:
    """The form in which a store keeps a vector of shape (dim,): its integers, a byte each, then its scale as
    little-endian float32.
    """
    codes, scales = quantised(np.asarray(vector, np.float32)[np.newaxis])
    return codes.tobytes() + scales.astype(_FLOAT32).tobytes()


def vector_of(data: bytes, dim: int) -> NDArray[np.float32]:
    """Read a stored vector, float32 (dim,). `data`: from `vector_bytes`, or, written by older versions, little-endian
    float32 components.

    Raises ValueError for another length.
    """
    if len(data) == dim + SCALE_BYTES:
        # The scale is an array, because numpy would compute the product with a Python number in float64.
        return np.frombuffer(data, np.int8, dim) * np.frombuffer(data, _FLOAT32, 1, dim)
    if len(data) == dim * _FLOAT32.itemsize:
        return np.frombuffer(data, _FLOAT32).astype(np.float32)
    raise ValueError(f"{len(data)} bytes are no vector of {dim} components")


def rounded(vector: NDArray[np.float32]) -> NDArray[np.float32]:
    """The vector as a store returns it."""
    return vector_of(vector_bytes(vector), len(vector))
