"""Builder for the operators and constants of an ONNX graph."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import onnx

if TYPE_CHECKING:
    from numpy.typing import NDArray

FUSED = "com.microsoft"

# The lowest opset with the operator Attention.
_OPSET = 23
_IR_VERSION = 10


# Matrices are larger, and all other constants smaller.
_LARGE = 65_536


@dataclass(frozen=True, slots=True)
class File:
    """The name and the content of a file."""

    name: str
    content: bytes


class Nodes:
    """A graph under construction. Each method that adds a value returns its name."""

    def __init__(self, elsewhere: File | None = None) -> None:
        """`elsewhere`: a file in the same folder, which contains all large constants; they are not stored again."""
        self.types = onnx.TensorProto
        self._elsewhere = elsewhere
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
        tensor = onnx.numpy_helper.from_array(values, name)
        if self._elsewhere is not None and values.nbytes >= _LARGE:
            self._refer(tensor, self._elsewhere)
        self._constants.append(tensor)
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

    def _refer(self, tensor: onnx.TensorProto, file: File) -> None:
        """Replace the data of a tensor by its place in a file. Raises ValueError if the file does not contain it."""
        length, offset = len(tensor.raw_data), file.content.index(tensor.raw_data)
        tensor.ClearField("raw_data")
        tensor.data_location = self.types.EXTERNAL
        for key, value in (("location", file.name), ("offset", offset), ("length", length)):
            tensor.external_data.add(key=key, value=str(value))

    def _fresh(self) -> str:
        self._names += 1
        return f"value_{self._names}"
