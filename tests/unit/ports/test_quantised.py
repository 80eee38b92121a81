"""The 8-bit form of vectors."""

from __future__ import annotations

import numpy as np
import pytest

from remembrancer.ports.quantised import quantised, rounded, vector_bytes, vector_of


def test_the_integers_of_a_vector_are_its_components_over_its_scale() -> None:
    codes, scales = quantised(np.array([[0.6, -0.8, 0.0]], np.float32))
    assert (codes.tolist(), scales.tolist()) == ([[95, -127, 0]], [np.float32(0.8) / np.float32(127)])


def test_a_vector_of_zeros_stays_one() -> None:
    assert rounded(np.zeros(3, np.float32)).tolist() == [0, 0, 0]


def test_quantising_again_changes_nothing() -> None:
    # Over all significands of the greatest component that a stride reaches: the scale has to come back to the last bit.
    peaks = np.linspace(0.5, 1, 100_003, dtype=np.float32)[:, np.newaxis]
    vectors = peaks * np.array([1, -0.37, 0.011, 0.5], np.float32)
    codes, scales = quantised(vectors)
    again = quantised(codes * scales[:, np.newaxis])
    assert np.array_equal(again[0], codes)
    assert np.array_equal(again[1], scales)


def test_float32_components_are_read_as_they_are() -> None:
    vector = np.array([0.6, -0.8], np.float32)
    assert vector_of(vector.astype("<f4").tobytes(), 2).tolist() == vector.tolist()


def test_bytes_of_another_length_are_no_vector() -> None:
    with pytest.raises(ValueError, match="5 bytes are no vector of 2 components"):
        vector_of(b"12345", 2)


def test_a_vector_and_its_rounded_form_point_the_same_way() -> None:
    vectors = np.random.default_rng(1).standard_normal((50, 384)).astype(np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    assert min(float(vector @ vector_of(vector_bytes(vector), 384)) for vector in vectors) > 0.999
