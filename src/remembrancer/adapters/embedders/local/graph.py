"""The ONNX graph of all-MiniLM-L6-v2, built from its weights.

Inputs: `ids` int64 (texts, pieces), zero where padded; `mask` int32 (texts, pieces), 1 for a piece and 0 for
padding; `pooled` int32 (texts, pieces), 1 for a piece that the text's vector is the mean of. Outputs: `vectors` float32
(texts, 384), unit rows: the mean of the last layer over the pooled pieces; `words` float32 (texts, pieces, 384): the
last layer itself, unit rows too.

The operators of the domain com.microsoft are onnxruntime's fused forms of attention, of bias + erf GELU and
of residual + layer norm: exact, and one pass over memory each.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from remembrancer.adapters.embedders.local import bindings

Precision = Literal["fp32", "int8"]

# Raise it whenever the bytes of a graph change: caches are keyed by it.
GRAPH_VERSION = 2

DIM = 384
MAX_PIECES = 256
_LAYERS = 6
_HEADS = 12
_LAYER_NORM_EPSILON = 1e-12
_FUSED = "com.microsoft"
_OPSET = 20
_IR_VERSION = 10

# Weights of one output and 64 inputs share a scale, and so do 64 activations of one piece. Because no scale
# spans two pieces, a text's vector does not depend on its neighbours in the batch.
_BLOCK = 64
_INT8_ACTIVATIONS = 4  # MatMulNBits' accuracy_level: multiply int8 by int8 instead of expanding to float32

_Array = NDArray[Any]
_Weights = Mapping[str, NDArray[np.float32]]


def build(weights: _Weights, precision: Precision) -> bytes:
    """The serialised graph. `weights` are named as in the published file."""
    return _Graph(weights, precision).serialised()


def quantised_by_block(matrix: NDArray[np.float32]) -> tuple[NDArray[np.uint8], NDArray[np.float32]]:
    """`matrix` (outputs, inputs) in 8 bits: levels (outputs, blocks, 64) around 128, scale of each block."""
    blocks = matrix.reshape(matrix.shape[0], -1, _BLOCK)
    scales = _scales(blocks)
    return (np.rint(blocks / scales[..., None]) + 128).astype(np.uint8), scales


def quantised_by_row(matrix: NDArray[np.float32]) -> tuple[NDArray[np.int8], NDArray[np.float32]]:
    """`matrix` (rows, columns) in 8 bits: levels of its shape, scales (rows, 1)."""
    scales = _scales(matrix)[:, None]
    return np.rint(matrix / scales).astype(np.int8), scales


def _scales(values: NDArray[np.float32]) -> NDArray[np.float32]:
    """What one of 127 levels is worth, per last axis; never zero, so that a row of zeros divides."""
    return np.maximum(np.abs(values).max(axis=-1) / 127, np.finfo(np.float32).tiny).astype(np.float32)


class _Graph:
    """A graph under construction: each method adds operators and returns the name of their result."""

    def __init__(self, weights: _Weights, precision: Precision) -> None:
        self._onnx = bindings.onnx()
        self._weights = weights
        self._precision: Precision = precision
        self._nodes: list[object] = []
        self._constants: list[object] = []
        self._names = 0

    def serialised(self) -> bytes:
        hidden = self._embeddings()
        for layer in range(_LAYERS):
            hidden = self._layer(f"encoder.layer.{layer}.", hidden)
        self._pooled(hidden)
        helper, types = self._onnx.helper, self._onnx.TensorProto
        graph = helper.make_graph(
            self._nodes,
            "all-MiniLM-L6-v2",
            [
                helper.make_tensor_value_info("ids", types.INT64, ["texts", "pieces"]),
                helper.make_tensor_value_info("mask", types.INT32, ["texts", "pieces"]),
                helper.make_tensor_value_info("pooled", types.INT32, ["texts", "pieces"]),
            ],
            [
                helper.make_tensor_value_info("vectors", types.FLOAT, ["texts", DIM]),
                helper.make_tensor_value_info("words", types.FLOAT, ["texts", "pieces", DIM]),
            ],
            self._constants,
        )
        opsets = [helper.make_opsetid("", _OPSET), helper.make_opsetid(_FUSED, 1)]
        return helper.make_model(graph, opset_imports=opsets, ir_version=_IR_VERSION).SerializeToString()

    def _embeddings(self) -> str:
        words = self._words()
        # Every piece is of segment 0, so that segment's vector is added to the positions once, here.
        positions = (
            self._weights["embeddings.position_embeddings.weight"][:MAX_PIECES]
            + self._weights["embeddings.token_type_embeddings.weight"][0]
        )
        pieces = self._add("Slice", self._add("Shape", "ids"), self._integers(1), self._integers(2))
        used = self._add("Slice", self._constant(positions), self._integers(0), pieces, self._integers(0))
        return self._add(
            "LayerNormalization",
            self._add("Add", words, used),
            self._weight("embeddings.LayerNorm.weight"),
            self._weight("embeddings.LayerNorm.bias"),
            epsilon=_LAYER_NORM_EPSILON,
        )

    def _words(self) -> str:
        table = self._weights["embeddings.word_embeddings.weight"]
        if self._precision == "fp32":
            return self._add("Gather", self._constant(table), "ids")
        levels, scales = quantised_by_row(table)
        rows = self._add("Gather", self._constant(levels), "ids")
        exact = self._add("Cast", rows, to=self._onnx.TensorProto.FLOAT)
        return self._add("Mul", exact, self._add("Gather", self._constant(scales), "ids"))

    def _layer(self, layer: str, hidden: str) -> str:
        parts = [f"{layer}attention.self.{part}." for part in ("query", "key", "value")]
        projected = self._product(hidden, np.concatenate([self._weights[f"{part}weight"] for part in parts]))
        attended = self._add(
            "MultiHeadAttention",
            *self._thirds(projected),
            self._constant(np.concatenate([self._weights[f"{part}bias"] for part in parts])),
            "mask",
            domain=_FUSED,
            num_heads=_HEADS,
        )
        hidden = self._residual(f"{layer}attention.output.", attended, hidden)
        inner = self._product(hidden, self._weights[f"{layer}intermediate.dense.weight"])
        inner = self._add("BiasGelu", inner, self._weight(f"{layer}intermediate.dense.bias"), domain=_FUSED)
        return self._residual(f"{layer}output.", inner, hidden)

    def _residual(self, part: str, values: str, skipped: str) -> str:
        """Project `values`, add `skipped`, normalise."""
        return self._add(
            "SkipLayerNormalization",
            self._product(values, self._weights[f"{part}dense.weight"]),
            skipped,
            self._weight(f"{part}LayerNorm.weight"),
            self._weight(f"{part}LayerNorm.bias"),
            self._weight(f"{part}dense.bias"),
            domain=_FUSED,
            epsilon=_LAYER_NORM_EPSILON,
        )

    def _product(self, values: str, matrix: NDArray[np.float32]) -> str:
        """`values` times the transpose of `matrix` (outputs, inputs)."""
        if self._precision == "fp32":
            return self._add("MatMul", values, self._constant(np.ascontiguousarray(matrix.T)))
        levels, scales = quantised_by_block(matrix)
        outputs, inputs = matrix.shape
        return self._add(
            "MatMulNBits",
            values,
            self._constant(levels),
            self._constant(scales),
            domain=_FUSED,
            N=outputs,
            K=inputs,
            bits=8,
            block_size=_BLOCK,
            accuracy_level=_INT8_ACTIVATIONS,
        )

    def _pooled(self, hidden: str) -> None:
        """The mean over pieces at unit length, which is the sum at unit length; and the pieces at unit length."""
        weights = self._add(
            "Unsqueeze", self._add("Cast", "pooled", to=self._onnx.TensorProto.FLOAT), self._integers(1)
        )
        total = self._add("Squeeze", self._add("MatMul", weights, hidden), self._integers(1))
        self._nodes += [
            self._onnx.helper.make_node("LpNormalization", [values], [name], domain="", p=2, axis=-1)
            for values, name in ((total, "vectors"), (hidden, "words"))
        ]

    def _thirds(self, values: str) -> list[str]:
        names = [self._fresh() for _ in range(3)]
        self._nodes.append(self._onnx.helper.make_node("Split", [values], names, domain="", axis=-1, num_outputs=3))
        return names

    def _add(self, operator: str, *inputs: str, domain: str = "", **attributes: object) -> str:
        name = self._fresh()
        self._nodes.append(self._onnx.helper.make_node(operator, inputs, [name], domain=domain, **attributes))
        return name

    def _weight(self, name: str) -> str:
        return self._constant(self._weights[name])

    def _integers(self, *values: int) -> str:
        return self._constant(np.array(values, np.int64))

    def _constant(self, values: _Array) -> str:
        name = self._fresh()
        self._constants.append(self._onnx.numpy_helper.from_array(values, name))
        return name

    def _fresh(self) -> str:
        self._names += 1
        return f"value_{self._names}"
