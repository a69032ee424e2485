"""Many trees as flat arrays: small ones are scored by masks, others by scikit-learn."""

from collections.abc import Iterable
from dataclasses import dataclass, fields
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.tree._tree import Tree

from robustpu.pool.masks import LEAVES, LeafMasks

Floats = NDArray[np.float64]
Index = NDArray[np.intp]

# Numbers of the rows that are scored at a time: they stay in the cache from tree to tree.
NUMBERS = 1 << 19


@dataclass(frozen=True, eq=False)
class Trees:
    """Trees as arrays over the nodes of all of them, one tree after the other.

    ``start`` (trees + 1,) is where each begins, and the number of all nodes. A node has a
    ``feature``, -1 in a leaf, a ``threshold``, its children ``left`` (of rows with at most the
    threshold) and ``right``, counted from the root of its tree, and a ``value``, which counts in
    leaves. Rows have ``n_features`` columns.
    """

    n_features: int
    start: Index
    feature: Index
    threshold: Floats
    left: Index
    right: Index
    value: Floats

    @cached_property
    def compiled(self) -> list[Tree]:
        """The trees as scikit-learn's, which score rows fast."""
        return [self._tree(*bounds) for bounds in zip(self.start[:-1], self.start[1:], strict=True)]

    def _tree(self, begin: int, end: int) -> Tree:
        tree = Tree(self.n_features, np.array([1], dtype=np.intp), 1)
        nodes = np.zeros(end - begin, dtype=tree.__getstate__()["nodes"].dtype)
        columns: dict[str, Any] = {"left_child": self.left, "right_child": self.right}
        columns |= {"feature": self.feature, "threshold": self.threshold}
        for name, column in columns.items():
            nodes[name] = column[begin:end]
        values = np.ascontiguousarray(self.value[begin:end].reshape(-1, 1, 1))
        tree.__setstate__(
            {"max_depth": 0, "node_count": end - begin, "nodes": nodes, "values": values}
        )
        return tree

    @cached_property
    def masks(self) -> LeafMasks | None:
        """The trees as masks, if all are small."""
        if np.diff(self.start).max() >= 2 * LEAVES:
            return None
        names = ("start", "feature", "threshold", "left", "right", "value")
        return LeafMasks.of(*(getattr(self, name).tolist() for name in names))

    def total(self, X: NDArray[np.float32]) -> Floats:
        """Sum of the values of the leaves that each row comes to, (n,)."""
        if self.masks is not None:
            return self.masks.total(X)
        total = np.zeros(len(X))
        step = max(1, NUMBERS // X.shape[1])
        for start in range(0, len(X), step):
            part = X[start : start + step]
            for tree in self.compiled:
                total[start : start + step] += tree.predict(part)[:, 0]
        return total

    def __getstate__(self) -> dict[str, Any]:
        return {field.name: getattr(self, field.name) for field in fields(self)}


def packed(trees: Iterable[Any]) -> Trees:
    """Put trees of scikit-learn, or dictionaries of their arrays, one after the other.

    Of a classifier's tree, the value of a node is the share of its second class.
    """
    parts = [tree if isinstance(tree, dict) else _arrays(tree) for tree in trees]
    sizes = [len(part["feature"]) for part in parts]
    joined = {
        name: np.concatenate([part[name] for part in parts])
        for name in ("feature", "threshold", "left", "right", "value")
    }
    start = np.concatenate([[0], np.cumsum(sizes)]).astype(np.intp)
    return Trees(n_features=parts[0]["n_features"], start=start, **joined)


def _arrays(tree: Tree) -> dict[str, Any]:
    is_leaf = tree.children_left < 0
    value = tree.value[:, 0]
    return {
        "n_features": tree.n_features,
        "feature": np.where(is_leaf, -1, tree.feature),
        "threshold": np.where(is_leaf, 0.0, tree.threshold),
        "left": tree.children_left,
        "right": tree.children_right,
        "value": value[:, 1] if value.shape[1] == 2 else value[:, 0],
    }


def packed_boosting(model: Any) -> list[dict[str, Any]]:
    """Arrays of the trees of a histogram boosting; the first has the baseline in its leaves."""
    parts = []
    for round_of_trees in model._predictors:
        nodes = round_of_trees[0].nodes
        is_leaf = nodes["is_leaf"].astype(bool)
        left, right = (
            np.where(is_leaf, -1, nodes[side].astype(np.intp)) for side in ("left", "right")
        )
        parts.append(
            {
                "n_features": model.n_features_in_,
                "feature": np.where(is_leaf, -1, nodes["feature_idx"].astype(np.intp)),
                "threshold": np.where(is_leaf, 0.0, nodes["num_threshold"]),
                "left": left,
                "right": right,
                "value": nodes["value"].astype(np.float64),
            }
        )
    parts[0]["value"] = parts[0]["value"] + float(np.ravel(model._baseline_prediction)[0])
    return parts
