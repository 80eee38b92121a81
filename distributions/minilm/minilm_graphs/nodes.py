"""Builder for the operators and constants of an ONNX graph."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import onnx

if TYPE_CHECKING:
    from numpy.typing import NDArray

FUSED = "com.microsoft"

# The lowest opset with the operator Attention.
_OPSET = 23
_IR_VERSION = 10


class Nodes:
    """A graph under construction. Each method that adds a value returns its name."""

    def __init__(self) -> None:
        self.types = onnx.TensorProto
        self._nodes: list[onnx.NodeProto] = []
        self._constants: list[onnx.TensorProto] = []
        self._names = 0

    def add(self, operator: str, *inputs: str, domain: str = "", name: str = "", **attributes: Any) -> str:
        """Add an operator with one output, named `name` if given. An input "" stands for an omitted optional input."""
        name = name or self._fresh()
        self._nodes.append(onnx.helper.make_node(operator, inputs, [name], domain=domain, **attributes))
        return name

    def constant(self, values: NDArray[Any]) -> str:
        """Add a constant."""
        name = self._fresh()
        self._constants.append(onnx.numpy_helper.from_array(values, name))
        return name

    def integers(self, *values: int) -> str:
        """Add an int64 constant of one dimension."""
        return self.constant(np.array(values, np.int64))

    def number(self, value: float) -> str:
        """Add a float32 scalar."""
        return self.constant(np.array(value, np.float32))

    def serialised(
        self,
        name: str,
        inputs: Sequence[tuple[str, int, Sequence[str | int]]],
        outputs: Sequence[tuple[str, int, Sequence[str | int]]],
    ) -> bytes:
        """The serialised graph. Inputs and outputs are (name, type, shape)."""
        helper = onnx.helper
        graph = helper.make_graph(
            self._nodes,
            name,
            [helper.make_tensor_value_info(*each) for each in inputs],
            [helper.make_tensor_value_info(*each) for each in outputs],
            self._constants,
        )
        opsets = [helper.make_opsetid("", _OPSET), helper.make_opsetid(FUSED, 1)]
        return helper.make_model(graph, opset_imports=opsets, ir_version=_IR_VERSION).SerializeToString()

    def _fresh(self) -> str:
        self._names += 1
        return f"value_{self._names}"
