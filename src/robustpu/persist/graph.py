"""A graph of ONNX operators, put together node by node."""

from collections.abc import Mapping
from typing import Any, Final

import numpy as np
import onnx
from numpy.typing import NDArray
from onnx import TensorProto, helper, numpy_helper

# Widely supported; the trees are of ai.onnx.ml.
OPSETS: Final = {"": 17, "ai.onnx.ml": 3}
IR_VERSION: Final = 8
TYPES: Final = {"float32": TensorProto.FLOAT, "float64": TensorProto.DOUBLE}
# What one file of protobuf can hold.
LARGEST: Final = (1 << 31) - 1


class Graph:
    """Nodes and constants; every operator answers the name of its one output."""

    def __init__(self) -> None:
        self._nodes: list[Any] = []
        self._constants: list[Any] = []

    def add(self, operator: str, *inputs: str, domain: Any = "", **attributes: Any) -> str:
        """Add an operator, and name its output.

        Parameters
        ----------
        operator, domain
            Of ONNX.
        inputs
            Names of outputs of others, or of constants.
        attributes
            Of the operator.
        """
        name = f"{operator.lower()}_{len(self._nodes)}"
        self._nodes.append(
            helper.make_node(operator, inputs, [name], name, domain=domain, **attributes)
        )
        return name

    def constant(self, value: Any, dtype: Any = np.float64) -> str:
        """Add a constant, and name it."""
        return self.array(np.asarray(value, dtype=dtype))

    def array(self, value: NDArray[Any]) -> str:
        """Add an array as it is, and name it."""
        name = f"constant_{len(self._constants)}"
        self._constants.append(numpy_helper.from_array(np.ascontiguousarray(value), name))
        return name

    def cast(self, name: str, dtype: str) -> str:
        """Change the precision."""
        return self.add("Cast", name, to=TYPES[dtype])

    def model(
        self,
        row_shape: tuple[int, ...],
        dtype: str,
        probability: str,
        notes: Mapping[str, str],
    ) -> Any:
        """Finish: rows ``X`` in, ``probability`` out, as many as there are rows.

        Parameters
        ----------
        row_shape, dtype
            Of a row; the probabilities are of the same type.
        probability
            Name of what is answered, (rows,).
        notes
            What the file says about itself.
        """
        self._nodes.append(
            helper.make_node("Cast", [probability], ["probability"], "answer", to=TYPES[dtype])
        )
        rows = helper.make_tensor_value_info("X", TYPES[dtype], ["rows", *row_shape])
        answer = helper.make_tensor_value_info("probability", TYPES[dtype], ["rows"])
        graph = helper.make_graph(self._nodes, "robustpu", [rows], [answer], self._constants)
        opsets = [helper.make_opsetid(domain, number) for domain, number in OPSETS.items()]
        proto = helper.make_model(graph, opset_imports=opsets, producer_name="robustpu")
        proto.ir_version = IR_VERSION
        helper.set_model_props(proto, dict(notes))
        if proto.ByteSize() > LARGEST:
            raise ValueError(
                f"the networks take {proto.ByteSize()} bytes, and an ONNX file holds {LARGEST} at "
                "most: fit with fewer members."
            )
        onnx.checker.check_model(proto, full_check=True)
        return proto
