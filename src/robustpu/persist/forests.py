"""Trees <-> arrays, checked so that every row comes to a leaf, and reads nothing else.

scikit-learn follows the numbers of children and columns without looking whether they are there; a
tree of a stranger's could read any memory. So all of it is checked before a tree is made.
"""

from dataclasses import fields as fields_of
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray
from sklearn.tree._tree import Tree

from robustpu.methods.trees import Forest
from robustpu.persist.values import TAG, Decoder, Encoder, Json, fields, refuse

# Array of a forest -> kind of its numbers.
FOREST: Final = {
    "start": "i8",
    "feature": "i8",
    "threshold": "f8",
    "left": "i8",
    "value": "f8",
    "risk": "f8",
}
# Array of a tree of scikit-learn's -> kind of its numbers.
NODES: Final = {
    "left_child": "i8",
    "right_child": "i8",
    "feature": "i8",
    "threshold": "f8",
    "impurity": "f8",
    "n_node_samples": "i8",
    "weighted_n_node_samples": "f8",
    "missing_go_to_left": "u1",
}


def encode_forest(encoder: Encoder, forest: Forest, path: str) -> Json:
    """Store the arrays of a forest."""
    assert {field.name for field in fields_of(Forest)} == FOREST.keys()
    for name, kind in FOREST.items():
        encoder.arrays[f"{path}/{name}"] = np.ascontiguousarray(getattr(forest, name), dtype=kind)
    return {TAG: "forest"}


def decode_forest(decoder: Decoder, node: dict[str, Json], path: str) -> Forest:
    """Make a forest."""
    fields(node, path)
    columns = _columns(decoder, path, FOREST)
    start, size = columns["start"], len(columns["feature"])
    if not len(start) or start[0] != 0 or (start[1:] <= start[:-1]).any() or start[-1] >= size:
        refuse(path, "its trees do not begin one after the other.")
    inside = columns["feature"] >= 0
    place = np.arange(size)
    # A leaf's left child is the leaf.
    if (columns["feature"] < -1).any() or (columns["left"][~inside] != place[~inside]).any():
        refuse(path, "it has leaves that are none.")
    left = np.where(inside, columns["left"], -1)
    right = np.where(inside, columns["left"] + 1, -1)
    check_children(left, right, np.append(start, size), path)
    for name, most in (("value", 1.0), ("risk", np.inf)):
        if not ((columns[name] >= 0) & (columns[name] <= most)).all():
            refuse(path, f"{name} holds numbers out of range.")
    whole = {name: columns[name].astype(np.intp) for name in ("start", "feature", "left")}
    return Forest(**{**columns, **whole})


def encode_tree(encoder: Encoder, tree: Tree, path: str) -> Json:
    """Store the arrays of a tree of scikit-learn's."""
    state = tree.__getstate__()
    if set(state["nodes"].dtype.names) != NODES.keys():
        refuse(path, "trees of this version of scikit-learn are not known, and cannot be stored.")
    for name, kind in NODES.items():
        encoder.arrays[f"{path}/{name}"] = np.ascontiguousarray(state["nodes"][name], dtype=kind)
    encoder.arrays[f"{path}/values"] = np.ascontiguousarray(state["values"], dtype="f8")
    return {TAG: "tree", "columns": int(tree.n_features)}


def decode_tree(decoder: Decoder, node: dict[str, Json], path: str) -> Tree:
    """Make a tree of scikit-learn's for two classes."""
    (columns,) = fields(node, path, "columns")
    arrays = _columns(decoder, path, NODES)
    values = decoder.take(f"{path}/values")
    size = len(arrays["feature"])
    if values.dtype != np.float64 or values.shape != (size, 1, 2):
        refuse(path, f"values are of type {values.dtype} and shape {values.shape}.")
    if not ((values >= 0) & np.isfinite(values)).all():
        refuse(path, "values are not finite, or below 0.")
    if type(columns) is not int or not 1 <= columns < 1 << 31:
        refuse(path, f"it has {str(columns)[:60]} columns.")
    inside = arrays["left_child"] >= 0
    depth = check_children(arrays["left_child"], arrays["right_child"], np.array([0, size]), path)
    feature = arrays["feature"][inside]
    if ((feature < 0) | (feature >= columns)).any():
        refuse(path, f"it asks for columns that are not among the {columns}.")
    if arrays["missing_go_to_left"].max() > 1:
        refuse(path, "missing_go_to_left is neither 0 nor 1.")
    tree = Tree(columns, np.array([2], dtype=np.intp), 1)
    dtype = tree.__getstate__()["nodes"].dtype
    if set(dtype.names) != NODES.keys():
        refuse(path, "this version of scikit-learn has other trees; take the one that saved them.")
    nodes = np.zeros(size, dtype=dtype)
    for name, column in arrays.items():
        nodes[name] = column
    state = {"max_depth": depth, "node_count": size, "nodes": nodes, "values": values}
    tree.__setstate__(state)
    return tree


def check_children(
    left: NDArray[np.int64], right: NDArray[np.int64], bounds: NDArray[np.int64], path: str
) -> int:
    """Refuse what is no tree: children come after their parent, in its tree, and have no other.

    Parameters
    ----------
    left, right
        Children of each node, (nodes,); both are -1 in a leaf.
    bounds
        First node of each tree, which is its root, and the number of all nodes.
    path
        For the error.

    Returns
    -------
    depth
        Splits above the deepest leaf.

    Examples
    --------
    >>> check_children(np.array([1, -1, -1]), np.array([2, -1, -1]), np.array([0, 3]), "")
    1
    """
    place = np.arange(len(left))
    inside = left >= 0
    if (left[~inside] != -1).any() or (right[~inside] != -1).any():
        refuse(path, "it has leaves that are none.")
    end = np.repeat(bounds[1:], np.diff(bounds))[inside]
    for child in (left[inside], right[inside]):
        if ((child <= place[inside]) | (child >= end)).any():
            refuse(path, "children lie before their parent, or outside their tree.")
    children = np.sort(np.concatenate([left[inside], right[inside]]))
    if not np.array_equal(children, np.delete(place, bounds[:-1])):
        refuse(path, "a node has several parents, or none.")
    return _depth(left, right, bounds[:-1])


def _depth(left: NDArray[np.int64], right: NDArray[np.int64], roots: NDArray[np.int64]) -> int:
    depth, level = 0, roots
    while True:
        level = level[left[level] >= 0]
        if not len(level):
            return depth
        level, depth = np.concatenate([left[level], right[level]]), depth + 1


def _columns(decoder: Decoder, path: str, kinds: dict[str, str]) -> dict[str, NDArray[Any]]:
    """Take the arrays of the nodes: of these types, as many as there are nodes, finite."""
    columns = {name: decoder.take(f"{path}/{name}") for name in kinds}
    size = columns["feature"].shape
    for name, kind in kinds.items():
        array = columns[name]
        if array.dtype != np.dtype(kind) or array.ndim != 1:
            refuse(path, f"{name} is of type {array.dtype} and shape {array.shape}.")
        if name != "start" and (array.shape != size or not len(array)):
            refuse(path, f"{name} has the shape {array.shape}, expected {size}.")
        # A threshold is infinite where missing values alone go the other way.
        is_sound = ~np.isnan(array) if name == "threshold" else np.isfinite(array)
        if not is_sound.all():
            refuse(path, f"{name} holds numbers that are not finite.")
    return columns
