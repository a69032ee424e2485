"""Layers of torch and trees as ONNX operators."""

from collections.abc import Callable, Sequence
from typing import Any, Final

import numpy as np
import torch
from numpy.typing import NDArray
from onnx import numpy_helper
from torch import nn

from robustpu.methods.trees import Forest
from robustpu.modules.resnet import Bottleneck
from robustpu.persist.graph import Graph
from robustpu.pool.trees import Trees


def layer(graph: Graph, module: nn.Module, x: str) -> str:
    """Add a layer, or a module made of layers, in evaluation mode, and name its output.

    Parameters
    ----------
    graph
        Where to.
    module
        The layer.
    x
        Name of its input.
    """
    if type(module) not in LAYERS and isinstance(module, nn.Sequential):
        return _sequential(graph, module, x)
    if type(module) not in LAYERS:
        known = ", ".join(sorted(kind.__name__ for kind in LAYERS))
        raise ValueError(
            f"to_onnx does not know the layer {type(module).__name__}; it knows {known} and chains "
            "of these. Export model.to_torch(member) by torch.onnx.export instead, one network at "
            "a time."
        )
    return LAYERS[type(module)](graph, module, x)


def _sequential(graph: Graph, module: Any, x: str) -> str:
    for part in module:
        x = layer(graph, part, x)
    return x


def _weights(graph: Graph, *tensors: torch.Tensor | None) -> list[str]:
    return [graph.array(tensor.detach().numpy()) for tensor in tensors if tensor is not None]


def _linear(graph: Graph, module: Any, x: str) -> str:
    return graph.add("Gemm", x, *_weights(graph, module.weight, module.bias), transB=1)


def _convolution(graph: Graph, module: Any, x: str) -> str:
    if isinstance(module.padding, str) or module.padding_mode != "zeros":
        raise ValueError("to_onnx knows convolutions that are padded by a number of zeros only.")
    return graph.add(
        "Conv",
        x,
        *_weights(graph, module.weight, module.bias),
        kernel_shape=list(module.kernel_size),
        strides=list(module.stride),
        pads=[*module.padding, *module.padding],
        dilations=list(module.dilation),
        group=module.groups,
    )


def _batch_norm(graph: Graph, module: Any, x: str) -> str:
    if not module.affine or not module.track_running_stats:
        raise ValueError("to_onnx knows batch norms with weights and running statistics only.")
    numbers = _weights(graph, module.weight, module.bias, module.running_mean, module.running_var)
    return graph.add("BatchNormalization", x, *numbers, epsilon=module.eps)


def _pool(graph: Graph, module: Any, x: str) -> str:
    if module.ceil_mode or getattr(module, "dilation", 1) != 1:
        raise ValueError("to_onnx knows pooling without ceil_mode and dilation only.")
    sizes = {
        "kernel_shape": _both(module.kernel_size),
        "strides": _both(module.stride),
        "pads": _both(module.padding) * 2,
    }
    if isinstance(module, nn.MaxPool2d):
        return graph.add("MaxPool", x, **sizes)
    if module.divisor_override is not None:
        raise ValueError("to_onnx knows pooling without divisor_override only.")
    return graph.add("AveragePool", x, count_include_pad=int(module.count_include_pad), **sizes)


def _both(size: int | tuple[int, int]) -> list[int]:
    return [size, size] if isinstance(size, int) else list(size)


def _mean_pool(graph: Graph, module: Any, x: str) -> str:
    if module.output_size not in (1, (1, 1)):
        raise ValueError("to_onnx knows adaptive pooling to a single number only.")
    return graph.add("GlobalAveragePool", x)


def _flatten(graph: Graph, module: Any, x: str) -> str:
    if (module.start_dim, module.end_dim) != (1, -1):
        raise ValueError("to_onnx knows a Flatten of whole rows only.")
    return graph.add("Flatten", x, axis=1)


def _relu(graph: Graph, module: Any, x: str) -> str:
    return graph.add("Relu", x)


def _same(graph: Graph, module: Any, x: str) -> str:
    return x


def _bottleneck(graph: Graph, module: Any, x: str) -> str:
    inner = x
    for part in (module.narrow, module.middle):
        inner = graph.add("Relu", layer(graph, part, inner))
    inner = layer(graph, module.widen, inner)
    return graph.add("Relu", graph.add("Add", layer(graph, module.shortcut, x), inner))


LAYERS: Final[dict[type[nn.Module], Callable[[Graph, Any, str], str]]] = {
    nn.AdaptiveAvgPool2d: _mean_pool,
    nn.AvgPool2d: _pool,
    nn.BatchNorm2d: _batch_norm,
    Bottleneck: _bottleneck,
    nn.Conv2d: _convolution,
    nn.Dropout: _same,
    nn.Flatten: _flatten,
    nn.Identity: _same,
    nn.Linear: _linear,
    nn.MaxPool2d: _pool,
    nn.ReLU: _relu,
}


def trees(graph: Graph, forest: Forest, x: str) -> str:
    """Add a forest, and name its answers, (rows,), the mean of the leaves that a row falls into.

    Parameters
    ----------
    graph
        Where to.
    forest
        The trees.
    x
        Name of the rows, (rows, d), in double precision.
    """
    size = np.diff(np.append(forest.start, len(forest.feature)))
    begin = np.repeat(forest.start, size)
    left = forest.left - begin
    feature, threshold, value = forest.feature, forest.threshold, forest.value
    never = np.zeros(len(feature), dtype=np.intp)
    return _ensemble(graph, x, size, feature, threshold, left, left + 1, never, value)


def learner_trees(graph: Graph, learners: Sequence[Any], x: str) -> str:
    """Add trees of scikit-learn's for the targets 0 and 1, and name their mean share of 1, (rows,).

    Parameters
    ----------
    graph
        Where to.
    learners
        Fitted decision trees.
    x
        Name of the rows, (rows, d), in double precision.
    """
    each = [learner.tree_ for learner in learners]

    def joined(name: str) -> NDArray[Any]:
        return np.concatenate([getattr(tree, name) for tree in each])

    share = joined("value")[:, 0]
    return _ensemble(
        graph,
        # scikit-learn holds rows in single precision, and thresholds in double.
        graph.cast(graph.cast(x, "float32"), "float64"),
        np.array([tree.node_count for tree in each]),
        joined("feature"),
        joined("threshold"),
        joined("children_left"),
        joined("children_right"),
        joined("missing_go_to_left"),
        share[:, 1] / share.sum(1),
    )


def packed_trees(graph: Graph, packed: Trees, x: str) -> str:
    """Add the trees of a ranker, and name the mean of their leaves, (rows,).

    Parameters
    ----------
    graph
        Where to.
    packed
        The trees.
    x
        Name of the rows, (rows, d), in double precision.
    """
    return _ensemble(
        graph,
        graph.cast(graph.cast(x, "float32"), "float64"),
        np.diff(packed.start),
        packed.feature,
        packed.threshold,
        packed.left,
        packed.right,
        np.zeros(len(packed.feature), dtype=np.intp),
        packed.value,
    )


def _ensemble(
    graph: Graph,
    x: str,
    size: NDArray[np.intp],
    feature: NDArray[np.intp],
    threshold: NDArray[np.float64],
    left: NDArray[np.intp],
    right: NDArray[np.intp],
    missing_left: NDArray[Any],
    value: NDArray[np.float64],
) -> str:
    """Add trees of these sizes, one after the other, and name the mean of their leaves, (rows,).

    Features are below 0 in leaves; children are counted from the root of their tree;
    ``missing_left`` tells where missing values go left.
    """
    tree = np.repeat(np.arange(len(size)), size)
    node = np.arange(len(tree)) - np.repeat(np.cumsum(size) - size, size)
    inside = feature >= 0
    leaves = np.flatnonzero(~inside)
    answer = graph.add(
        "TreeEnsembleRegressor",
        x,
        domain="ai.onnx.ml",
        aggregate_function="AVERAGE",
        n_targets=1,
        nodes_treeids=tree.tolist(),
        nodes_nodeids=node.tolist(),
        nodes_featureids=np.where(inside, feature, 0).tolist(),
        nodes_modes=np.where(inside, "BRANCH_LEQ", "LEAF").tolist(),
        nodes_values_as_tensor=numpy_helper.from_array(threshold, "thresholds"),
        nodes_truenodeids=np.where(inside, left, 0).tolist(),
        nodes_falsenodeids=np.where(inside, right, 0).tolist(),
        nodes_missing_value_tracks_true=np.where(inside, missing_left, 0).tolist(),
        target_treeids=tree[leaves].tolist(),
        target_nodeids=node[leaves].tolist(),
        target_ids=np.zeros(len(leaves), dtype=int).tolist(),
        target_weights_as_tensor=numpy_helper.from_array(value[leaves], "values"),
    )
    return graph.add("Squeeze", graph.cast(answer, "float64"), graph.constant([1], np.int64))
