"""The two ONNX graphs of all-MiniLM-L6-v2, made from its weights.

The first embeds texts alone. Inputs: `ids` int64 (texts, pieces), 0 for padding; `mask` int32 (texts, pieces), 1 for a
piece and 0 for padding; `pooled` int32 (texts, pieces), 1 for the pieces whose mean is the text's vector. Outputs:
`vectors` float32 (texts, 384), unit rows, the mean of the last layer over the pooled pieces; `words` float32 (texts,
pieces, 384), unit rows, the last layer itself; and `state_4` and `state_5` float32 (texts, pieces, 384), the inputs of
the last two layers.

The second embeds texts in the context of others, all of which the first has read. It has the last two layers; in them,
a text's pieces also attend to the states of its context, which do not change. Inputs: `own` float32 (texts, pieces,
384), the text's `state_4`; `before` float32 (2, texts, read, 384), `state_4` and `state_5` of the context; `mask` and
`pooled` as above; `read` int32 (texts, read), 1 for a piece of the context and 0 for padding. Outputs: `vectors` and
`words`.

Between attention steps, the pieces of all texts are the rows of one matrix. In int8 every product of these rows and
weights is an integer product: 8-bit rows, each with its own scale computed at run time, and 8-bit weights, with one
scale per output. No scale spans two pieces, so a text's vector does not depend on the other texts of the batch.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from minilm_graphs.nodes import FUSED, File, Nodes

Precision = Literal["fp32", "int8"]

ALONE = 4
"""The first layers, in which a text is always read alone."""

DIM = 384
MAX_PIECES = 256
_LAYERS = 6
_HEADS = 12
_LAYER_NORM_EPSILON = 1e-12

# The relative size of a channel is estimated from the gains of this many layer norms: a channel that one of them makes
# large stays large in the following layers, through the residual connections. This needs no sample texts.
_SCALE_NORMS = 3

# Unsigned levels of a row: symmetric ones have zero at 128 and 127 levels on each side. GELU is never below -0.17, so
# its outputs have zero at level 16, which leaves nearly all levels for positive values.
_SIGNED_ZERO = 128
_SIGNED_LEVELS = 127
_GELU_ZERO = 16
_GELU_LEVELS = 255 - _GELU_ZERO
_GELU_LEAST = 0.17

_Matrix = NDArray[np.float32]
_Weights = Mapping[str, _Matrix]


def build(weights: _Weights, precision: Precision) -> bytes:
    """The serialised graph for texts alone. `weights`: by the names of the published file."""
    return _Alone(weights, precision).serialised()


def build_in_context(weights: _Weights, precision: Precision, alone: File) -> bytes:
    """The serialised graph for texts in context. `weights`: by the names of the published file. `alone`: the file of
    the graph for texts alone, which contains the matrices.
    """
    return _InContext(weights, precision, alone).serialised()


@dataclass(frozen=True, slots=True)
class _Rows:
    """Rows to multiply, as names of graph values: in int8 `levels` uint8 (rows, inputs), `scales` float32 (rows, 1) and
    `zero`, the level that represents 0; in fp32 the rows themselves, float32 (rows, inputs), alone.
    """

    levels: str
    scales: str = ""
    zero: str = ""


class _Graph(ABC):
    """A graph under construction. Each method adds operators and returns the name of their result."""

    def __init__(self, weights: _Weights, precision: Precision, texts: str, elsewhere: File | None = None) -> None:
        """`texts`: an input of shape (texts, pieces). `elsewhere`: the file with the matrices, if it is another one."""
        self._weights = weights
        self._precision: Precision = precision
        self._nodes = Nodes(elsewhere)
        self._gains: list[_Matrix] = []
        self._add = self._nodes.add
        self._constant = self._nodes.constant
        self._last_axis = self._nodes.integers(-1)
        self._as_rows = self._nodes.integers(-1, DIM)
        self._as_texts = self._add("Concat", self._add("Shape", texts), self._nodes.integers(DIM), axis=0)
        if precision == "int8":
            self._one = self._nodes.number(1)
            rows = self._add("Reshape", self._add("Size", texts), self._nodes.integers(1))
            self._signed_zero, self._signed_zeros = self._zeros(_SIGNED_ZERO, rows)
            self._gelu_zero, self._gelu_zeros = self._zeros(_GELU_ZERO, rows)

    # -- the model --------------------------------------------------------------------------------

    def _attention_mask(self, attended: str) -> str:
        """The attention mask: bool (texts, 1, pieces, attended), true where a piece attends to another. `attended`: 1
        for a piece, 0 for padding, int32 (texts, attended).
        """
        kept = self._add("Greater", attended, self._constant(np.array(0, np.int32)))
        each = self._add(
            "Concat", self._nodes.integers(1, 1), self._add("Shape", "mask", start=1), self._one_axis(), axis=0
        )
        return self._add("Expand", self._add("Unsqueeze", kept, self._nodes.integers(1, 2)), each)

    def _layer(self, layer: str, hidden: str) -> str:
        attended = self._add("Reshape", self._attended(f"{layer}attention.", hidden), self._as_rows)
        # Attention weights sum to 1, so the values' bias passes through attention unchanged and is added after it.
        projection = self._weights[f"{layer}attention.output.dense.weight"]
        passed = product_in_eight_sums(projection, self._weights[f"{layer}attention.self.value.bias"])
        bias = self._weights[f"{layer}attention.output.dense.bias"] + passed
        hidden = self._residual(
            f"{layer}attention.output.", self._product(self._symmetric(attended), projection), bias, hidden
        )

        smoothed, (matrix,) = self._smoothed(hidden, [self._weights[f"{layer}intermediate.dense.weight"]])
        inner = self._product(smoothed, matrix)
        inner = self._add(
            "BiasGelu", inner, self._constant(self._weights[f"{layer}intermediate.dense.bias"]), domain=FUSED
        )
        outer = self._product(self._after_gelu(inner), self._weights[f"{layer}output.dense.weight"])
        return self._residual(f"{layer}output.", outer, self._weights[f"{layer}output.dense.bias"], hidden)

    @abstractmethod
    def _attended(self, part: str, hidden: str) -> str:
        """The result of attention, (texts, pieces, 384), before its projection."""

    def _attention_matrices(self, part: str) -> list[_Matrix]:
        """The matrices of queries, keys and values."""
        return [self._weights[f"{part}self.{name}.weight"] for name in ("query", "key", "value")]

    def _attention(self, part: str, queries: str, keys: str, values: str, mask: str) -> str:
        """Attention of `queries` (rows, 384) to `keys` and `values` (texts, attended, 384)."""
        # The keys' bias is left out: it adds the same number to all scores of one query, which softmax cancels.
        queries = self._add("Add", queries, self._constant(self._weights[f"{part}self.query.bias"]))
        queries = self._add("Reshape", queries, self._as_texts)
        return self._add("Attention", queries, keys, values, mask, q_num_heads=_HEADS, kv_num_heads=_HEADS)

    def _residual(self, part: str, values: str, bias: _Matrix, skipped: str) -> str:
        # Sum instead of Add: onnxruntime would fuse Add and the normalisation into SkipLayerNormalization, which takes
        # five times as long on the CPU.
        return self._normalised(part, self._add("Sum", values, skipped, self._constant(bias)))

    def _normalised(self, part: str, rows: str) -> str:
        gain, bias = (self._weights[f"{part}LayerNorm.{name}"] for name in ("weight", "bias"))
        self._gains.append(gain)
        return self._add(
            "LayerNormalization", rows, self._constant(gain), self._constant(bias), epsilon=_LAYER_NORM_EPSILON
        )

    def _outputs(self, hidden: str) -> None:
        """Add the outputs: the sum over pooled pieces, which points in the direction of the mean, and every piece; both
        are scaled to unit length.
        """
        weights = self._add("Cast", "pooled", to=self._nodes.types.FLOAT)
        total = self._add("MatMul", self._add("Unsqueeze", weights, self._one_axis()), hidden)
        for values, name in ((self._add("Squeeze", total, self._one_axis()), "vectors"), (hidden, "words")):
            self._add("Div", values, self._add("ReduceL2", values, self._last_axis), name=name)

    def _one_axis(self) -> str:
        return self._nodes.integers(1)

    # -- products of rows and weights -------------------------------------------------------------

    def _smoothed(self, rows: str, matrices: Sequence[_Matrix], zeros: str = "") -> tuple[_Rows, list[_Matrix]]:
        """The last normalised rows after smoothing, and `matrices` to multiply them with. The last matrix sets the
        smoothing factors. `zeros`: as of `_symmetric`.
        """
        if self._precision == "fp32":
            return _Rows(rows), list(matrices)
        sizes = np.abs(np.prod(self._gains[-_SCALE_NORMS:], axis=0))
        factors = smoothing_factors(sizes, matrices[-1])
        smoothed = self._symmetric(self._add("Mul", rows, self._constant(factors)), zeros)
        return smoothed, [matrix / factors for matrix in matrices]

    def _product(self, rows: _Rows, matrix: _Matrix) -> str:
        """`rows` times the transpose of `matrix` (outputs, inputs)."""
        if self._precision == "fp32":
            return self._add("MatMul", rows.levels, self._constant(matrix.T))
        levels, scales = quantised_by_row(matrix)
        # 0 is the default, but each product needs its own zero point: for precise kernels onnxruntime converts weights
        # to unsigned, and 1.23 then appends the new zero point after the inputs given; no version converts one twice.
        zero_weight = self._constant(np.array(0, np.int8))
        # The operator takes one scale for all rows; each row's own scale is applied afterwards.
        unscaled = self._add(
            "MatMulIntegerToFloat",
            rows.levels,
            self._constant(levels.T),
            self._one,
            self._constant(scales),
            rows.zero,
            zero_weight,
            domain=FUSED,
        )
        return self._add("Mul", unscaled, rows.scales)

    def _symmetric(self, rows: str, zeros: str = "") -> _Rows:
        """Quantise `rows` symmetrically. `zeros`: their zero levels; "": one for each piece of a text."""
        if self._precision == "fp32":
            return _Rows(rows)
        sides = [
            self._add(
                "Mul",
                self._add(furthest, rows, self._last_axis, keepdims=0),
                self._nodes.number(sign / _SIGNED_LEVELS),
            )
            for furthest, sign in (("ReduceMax", 1), ("ReduceMin", -1))
        ]
        # At least the smallest float, so that a row of zeros can be divided.
        scales = self._add("Max", *sides, self._nodes.number(float(np.finfo(np.float32).tiny)))
        return self._rows(rows, scales, self._signed_zero, zeros or self._signed_zeros)

    def _after_gelu(self, rows: str) -> _Rows:
        """Quantise `rows`, which are outputs of GELU."""
        if self._precision == "fp32":
            return _Rows(rows)
        most = self._add("ReduceMax", rows, self._last_axis, keepdims=0)
        by_most = self._add("Mul", most, self._nodes.number(1 / _GELU_LEVELS))
        scales = self._add("Max", by_most, self._nodes.number(_GELU_LEAST / _GELU_ZERO))
        return self._rows(rows, scales, self._gelu_zero, self._gelu_zeros)

    def _rows(self, rows: str, scales: str, zero: str, zeros: str) -> _Rows:
        # From the fused domain, because not every onnxruntime has ONNX's own operator of this opset.
        levels = self._add("QuantizeLinear", rows, scales, zeros, domain=FUSED, axis=0)
        return _Rows(levels, self._add("Unsqueeze", scales, self._last_axis), zero)

    def _zeros(self, level: int, rows: str) -> tuple[str, str]:
        """A level as a scalar, and repeated for each row."""
        one = self._constant(np.array(level, np.uint8))
        return one, self._add("Expand", one, rows)


class _Alone(_Graph):
    """The graph for texts alone."""

    def __init__(self, weights: _Weights, precision: Precision) -> None:
        super().__init__(weights, precision, "ids")
        self._mask = self._attention_mask("mask")

    def serialised(self) -> bytes:
        hidden = self._embeddings()
        types = self._nodes.types
        states = [f"state_{layer}" for layer in range(ALONE, _LAYERS)]
        for layer in range(_LAYERS):
            if layer >= ALONE:
                self._add("Reshape", hidden, self._as_texts, name=f"state_{layer}")
            hidden = self._layer(f"encoder.layer.{layer}.", hidden)
        self._outputs(self._add("Reshape", hidden, self._as_texts))
        return self._nodes.serialised(
            "all-MiniLM-L6-v2",
            [
                ("ids", types.INT64, ["texts", "pieces"]),
                ("mask", types.INT32, ["texts", "pieces"]),
                ("pooled", types.INT32, ["texts", "pieces"]),
            ],
            [
                ("vectors", types.FLOAT, ["texts", DIM]),
                *((name, types.FLOAT, ["texts", "pieces", DIM]) for name in ("words", *states)),
            ],
        )

    def _embeddings(self) -> str:
        # All pieces belong to segment 0, so that segment's vector is added to the positions once, here.
        positions = (
            self._weights["embeddings.position_embeddings.weight"][:MAX_PIECES]
            + self._weights["embeddings.token_type_embeddings.weight"][0]
        )
        start = self._nodes.integers(0)
        used = self._add("Slice", self._constant(positions), start, self._add("Shape", "ids", start=1), start)
        placed = self._add("Reshape", self._add("Add", self._word_vectors(), used), self._as_rows)
        return self._normalised("embeddings.", placed)

    def _word_vectors(self) -> str:
        table = self._weights["embeddings.word_embeddings.weight"]
        if self._precision == "fp32":
            return self._add("Gather", self._constant(table), "ids")
        levels, scales = quantised_by_row(table)
        rows = self._add("Gather", self._constant(levels), "ids")
        exact = self._add("Cast", rows, to=self._nodes.types.FLOAT)
        return self._add("Mul", exact, self._add("Gather", self._constant(scales[:, None]), "ids"))

    def _attended(self, part: str, hidden: str) -> str:
        smoothed, matrices = self._smoothed(hidden, self._attention_matrices(part))
        queries, keys, values = (self._product(smoothed, matrix) for matrix in matrices)
        keys, values = (self._add("Reshape", rows, self._as_texts) for rows in (keys, values))
        return self._attention(part, queries, keys, values, self._mask)


class _InContext(_Graph):
    """The graph for texts in context."""

    def __init__(self, weights: _Weights, precision: Precision, alone: File) -> None:
        super().__init__(weights, precision, "mask", alone)
        self._mask = self._attention_mask(self._add("Concat", "read", "mask", axis=1))
        self._context = ""  # the context's states that the next layer reads, as rows
        self._contexts = self._add("Concat", self._add("Shape", "read"), self._nodes.integers(DIM), axis=0)
        own, read = (
            self._add("Reshape", self._add("Size", name), self._nodes.integers(1)) for name in ("mask", "read")
        )
        self._start, self._own, self._end = self._nodes.integers(0), own, self._add("Add", own, read)
        if precision == "int8":
            _, self._zeros_of_both = self._zeros(_SIGNED_ZERO, self._end)
        # The gains of the layers in which texts are read alone, on which smoothing depends.
        norms = ["embeddings"]
        norms += [f"encoder.layer.{layer}.{part}output" for layer in range(ALONE) for part in ("attention.", "")]
        self._gains += [weights[f"{norm}.LayerNorm.weight"] for norm in norms]

    def serialised(self) -> bytes:
        hidden = self._add("Reshape", "own", self._as_rows)
        for layer in range(ALONE, _LAYERS):
            states = self._add("Gather", "before", self._constant(np.array(layer - ALONE, np.int64)), axis=0)
            self._context = self._add("Reshape", states, self._as_rows)
            hidden = self._layer(f"encoder.layer.{layer}.", hidden)
        self._outputs(self._add("Reshape", hidden, self._as_texts))
        types = self._nodes.types
        return self._nodes.serialised(
            "all-MiniLM-L6-v2 in context",
            [
                ("own", types.FLOAT, ["texts", "pieces", DIM]),
                ("before", types.FLOAT, [_LAYERS - ALONE, "texts", "read", DIM]),
                ("mask", types.INT32, ["texts", "pieces"]),
                ("read", types.INT32, ["texts", "read"]),
                ("pooled", types.INT32, ["texts", "pieces"]),
            ],
            [("vectors", types.FLOAT, ["texts", DIM]), ("words", types.FLOAT, ["texts", "pieces", DIM])],
        )

    def _attended(self, part: str, hidden: str) -> str:
        both = self._add("Concat", hidden, self._context, axis=0)
        zeros = self._zeros_of_both if self._precision == "int8" else ""
        smoothed, matrices = self._smoothed(both, self._attention_matrices(part), zeros)
        queries = self._product(self._first(smoothed), matrices[0])
        keys, values = (self._own_after_context(self._product(smoothed, matrix)) for matrix in matrices[1:])
        return self._attention(part, queries, keys, values, self._mask)

    def _own_after_context(self, rows: str) -> str:
        """The rows of both as (texts, read + pieces, 384)."""
        own = self._add("Reshape", self._slice(rows, self._start, self._own), self._as_texts)
        read = self._add("Reshape", self._slice(rows, self._own, self._end), self._contexts)
        return self._add("Concat", read, own, axis=1)

    def _first(self, rows: _Rows) -> _Rows:
        """The texts' own rows."""
        levels, scales = (name and self._slice(name, self._start, self._own) for name in (rows.levels, rows.scales))
        return _Rows(levels, scales, rows.zero)

    def _slice(self, rows: str, start: str, end: str) -> str:
        return self._add("Slice", rows, start, end, self._start)


_LEVELS = 127  # of quantised weights, on each side of zero


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


_SUMS = 8


def product_in_eight_sums(matrix: NDArray[np.float32], vector: NDArray[np.float32]) -> NDArray[np.float32]:
    """The product of `matrix` (outputs, inputs) and `vector` (inputs,), to the same last bit on every machine.

    The order of numpy's own product depends on the processor. This is its order on x86-64 with AVX2: eight partial sums
    by fused multiplication and addition, then the sums of their halves, then of neighbours. The number of inputs is a
    multiple of eight.
    """
    sums = np.zeros((len(matrix), _SUMS), np.float32)
    exact = matrix.astype(np.float64) * vector  # 24 bits by 24 bits fit the 53 of a float64
    for start in range(0, matrix.shape[1], _SUMS):
        sums = (sums + exact[:, start : start + _SUMS]).astype(np.float32)
    halves = sums[:, : _SUMS // 2] + sums[:, _SUMS // 2 :]
    pairs = halves[:, 0::2] + halves[:, 1::2]
    return (pairs[:, 0] + pairs[:, 1]).astype(np.float32, copy=False)


def bit_sums() -> bytes:
    """The serialised graph of a matrix product: `bits` uint8 (rows, dim) by `levels` int8 (dim, columns) gives `sums`
    int32 (rows, columns).
    """
    nodes = Nodes()
    nodes.add("MatMulInteger", "bits", "levels", name="sums")
    bits, levels = ("bits", nodes.types.UINT8, ("rows", "dim")), ("levels", nodes.types.INT8, ("dim", "columns"))
    return nodes.serialised("bit_sums", [bits, levels], [("sums", nodes.types.INT32, ("rows", "columns"))])
