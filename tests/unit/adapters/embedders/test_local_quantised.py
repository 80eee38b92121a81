"""8-bit quantisation loses at most half a level of a weight, and smoothing changes no product."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from minilm_graphs.graph import product_in_eight_sums, quantised_by_row, smoothing_factors


@pytest.fixture
def matrix() -> NDArray[np.float32]:
    values = np.random.default_rng(5).normal(size=(6, 128)).astype(np.float32)
    values[2, 64:] = 0
    values[4] = 0
    values[5, 7] = 40
    return values


def test_a_weight_is_within_half_a_level_of_its_row(matrix: NDArray[np.float32]) -> None:
    levels, scales = quantised_by_row(matrix)
    assert levels.shape == matrix.shape
    assert np.all(np.abs(levels * scales[:, None] - matrix) <= 0.5001 * scales[:, None])


def test_the_largest_weight_of_a_row_takes_the_last_level(matrix: NDArray[np.float32]) -> None:
    levels, _ = quantised_by_row(matrix)
    assert np.abs(levels.astype(np.int16)).max(axis=1).tolist() == [127, 127, 127, 127, 0, 127]


def test_a_large_weight_coarsens_only_its_own_row(matrix: NDArray[np.float32]) -> None:
    without = matrix.copy()
    without[5, 7] = 0
    changed = quantised_by_row(matrix)[1] != quantised_by_row(without)[1]
    assert np.flatnonzero(changed).tolist() == [5]


def test_evened_inputs_and_columns_give_the_same_product(matrix: NDArray[np.float32]) -> None:
    generator = np.random.default_rng(6)
    rows = generator.normal(size=(3, 128)).astype(np.float32)
    factors = smoothing_factors(generator.uniform(0.1, 9, 128).astype(np.float32), matrix)
    assert np.allclose((rows * factors) @ (matrix / factors).T, rows @ matrix.T, rtol=1e-4, atol=1e-4)


def test_smoothing_gives_inputs_the_relative_sizes_of_the_columns(matrix: NDArray[np.float32]) -> None:
    sizes = np.random.default_rng(6).uniform(0.1, 9, 128).astype(np.float32)
    factors = smoothing_factors(sizes, matrix)
    assert np.allclose(sizes * factors, np.linalg.norm(matrix / factors, axis=0), rtol=1e-4)


def test_a_channel_of_no_size_and_no_weights_can_be_evened(matrix: NDArray[np.float32]) -> None:
    sizes = np.ones(128, np.float32)
    matrix[:, 9] = sizes[10] = 0
    factors = smoothing_factors(sizes, matrix)
    assert np.all(np.isfinite(factors))
    assert factors.min() > 0


def test_evening_makes_eight_bits_finer_where_large_inputs_meet_small_weights() -> None:
    generator = np.random.default_rng(7)
    sizes = np.ones(384, np.float32)
    sizes[11] = 30
    rows = generator.normal(size=(40, 384)).astype(np.float32) * sizes
    matrix = generator.normal(size=(64, 384)).astype(np.float32) / sizes
    factors = smoothing_factors(sizes, matrix)

    def error(rows: NDArray[np.float32], matrix: NDArray[np.float32]) -> float:
        (inputs, of_row), (weights, of_output) = quantised_by_row(rows), quantised_by_row(matrix)
        product = inputs.astype(np.float64) @ weights.T.astype(np.float64) * of_row[:, None] * of_output
        return float(np.abs(product - rows.astype(np.float64) @ matrix.T).mean())

    assert error(rows * factors, matrix / factors) < error(rows, matrix) / 3


def test_a_product_in_eight_sums_is_a_product(matrix: NDArray[np.float32]) -> None:
    vector = np.random.default_rng(8).normal(size=128).astype(np.float32)
    assert np.allclose(product_in_eight_sums(matrix, vector), matrix.astype(np.float64) @ vector, rtol=1e-5, atol=1e-4)
