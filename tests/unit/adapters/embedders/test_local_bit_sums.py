from __future__ import annotations

import asyncio

import numpy as np
import pytest
from numpy.typing import NDArray

from remembrancer.adapters.embedders.local import bindings, bit_sums, weights
from remembrancer.adapters.embedders.local.model import LocalEmbedder
from remembrancer.errors import ModelUnavailable
from remembrancer.policies.ranking.late_interaction import QuestionTokens, compared, packed, sum_of_bits
from remembrancer.ports.embedder import EmbeddedQuestion

DIM = 384


@pytest.fixture(scope="module")
def sums() -> bit_sums.BitSums:
    graph = weights.read_verified(weights.located(None, "int8") / weights.BIT_SUMS)
    return bit_sums.BitSums(bindings.open_session(graph, threads=1))


def random_bits(rows: int, seed: int = 1) -> NDArray[np.uint8]:
    return np.random.default_rng(seed).integers(0, 2, (rows, DIM), dtype=np.uint8)


def random_levels(rows: int, seed: int = 2) -> NDArray[np.int8]:
    return np.random.default_rng(seed).integers(-127, 128, (rows, DIM), dtype=np.int8)


@pytest.mark.parametrize(("rows", "columns"), [(1, 1), (1, 20), (63, 7), (3_000, 15)])
def test_they_are_those_that_numpy_finds(sums: bit_sums.BitSums, rows: int, columns: int) -> None:
    bits, levels = random_bits(rows), random_levels(columns)
    assert np.array_equal(sums(bits, levels), bits.astype(np.int64) @ levels.T.astype(np.int64))


def test_the_greatest_sums_there_can_be_are_exact(sums: bit_sums.BitSums) -> None:
    bits, levels = np.ones((5, DIM), np.uint8), np.array([[127] * DIM, [-127] * DIM], np.int8)
    assert sums(bits, levels).tolist() == [[127 * DIM, -127 * DIM]] * 5


def test_they_are_those_that_are_found_pair_by_pair(sums: bit_sums.BitSums) -> None:
    bits, levels = random_bits(200), random_levels(9)
    assert np.array_equal(sums(bits, levels), sum_of_bits(bits, levels))


def test_arrays_that_cannot_be_multiplied_raise_our_own_error(sums: bit_sums.BitSums) -> None:
    with pytest.raises(ModelUnavailable, match="could not compare 3 words"):
        sums(random_bits(3), random_levels(2)[:, :7])


def test_a_question_embedded_here_is_compared_as_it_would_be_pair_by_pair() -> None:
    async def embedded() -> EmbeddedQuestion:
        embedder = LocalEmbedder.open()
        try:
            return await embedder.embed_question("Who fixed the payment worker?")
        finally:
            await embedder.close()

    question = asyncio.run(embedded())
    assert isinstance(question.sum_of_bits, bit_sums.BitSums)
    texts = [packed(np.random.default_rng(seed).normal(size=(9, DIM)).astype(np.float32)) for seed in range(5)]
    weights = np.full(len(question.spelled), 1 / len(question.spelled), dtype=np.float32)
    mine, plain = (
        compared(QuestionTokens(question.token_embeddings, weights, sums), texts).nearest
        for sums in (question.sum_of_bits, sum_of_bits)
    )
    assert np.array_equal(mine, plain)
