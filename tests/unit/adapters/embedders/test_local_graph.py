"""Eight bits lose at most half a level of a weight."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from remembrancer.adapters.embedders.local.graph import quantised_by_block, quantised_by_row


@pytest.fixture
def matrix() -> NDArray[np.float32]:
    values = np.random.default_rng(5).normal(size=(6, 128)).astype(np.float32)
    values[2, 64:] = 0
    values[4] = 0
    values[5, 7] = 40
    return values


def test_a_weight_is_within_half_a_level_of_its_block(matrix: NDArray[np.float32]) -> None:
    levels, scales = quantised_by_block(matrix)
    restored = (levels.astype(np.float32) - 128) * scales[..., None]
    assert levels.shape == (6, 2, 64)
    assert np.all(np.abs(restored - matrix.reshape(6, 2, 64)) <= 0.5001 * scales[..., None])


def test_a_weight_is_within_half_a_level_of_its_row(matrix: NDArray[np.float32]) -> None:
    levels, scales = quantised_by_row(matrix)
    assert np.all(np.abs(levels * scales - matrix) <= 0.5001 * scales)


def test_a_large_weight_coarsens_only_its_own_block(matrix: NDArray[np.float32]) -> None:
    without = matrix.copy()
    without[5, 7] = 0
    changed = quantised_by_block(matrix)[1] != quantised_by_block(without)[1]
    assert np.argwhere(changed).tolist() == [[5, 0]]
