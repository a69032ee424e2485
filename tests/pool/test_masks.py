"""Masks of small trees find the leaves that scikit-learn's trees find."""

import numpy as np
import pytest
from sklearn.tree import DecisionTreeClassifier

from robustpu.pool.masks import AT_ONCE, LeafMasks
from robustpu.pool.trees import packed


def forest(leaves):
    """Trees of up to so many leaves, the first of a single one."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 4)).astype(np.float32)
    X[:, 3] = rng.integers(0, 3, 200)
    y = X[:, 0] + X[:, 1] * X[:, 3] + rng.normal(size=200) > 0
    limits = [{"max_depth": 1, "min_samples_leaf": 150}]
    limits += [{"max_leaf_nodes": 2 + place % (leaves - 1)} for place in range(20)]
    models = [DecisionTreeClassifier(**limit, random_state=0).fit(X, y) for limit in limits]
    return packed(model.tree_ for model in models), X


@pytest.mark.parametrize("n", [0, 1, 30, AT_ONCE + 3])
def test_leaves_are_those_of_the_trees(n):
    trees, X = forest(8)
    rows = np.resize(X, (n, 4))
    wanted = sum(tree.predict(rows)[:, 0] for tree in trees.compiled)
    np.testing.assert_array_equal(trees.masks.total(rows), wanted)
    np.testing.assert_array_equal(trees.total(rows), wanted)


def test_larger_trees_have_none():
    trees, X = forest(40)
    assert trees.masks is None
    wanted = sum(tree.predict(X)[:, 0] for tree in trees.compiled)
    np.testing.assert_array_equal(trees.total(X), wanted)


@pytest.mark.parametrize("threshold", [0.1, 0.5, -0.1, 1e300, -1e300])
def test_thresholds_between_numbers_of_single_precision(threshold):
    with np.errstate(over="ignore"):
        near = np.float32(threshold)
    rows = np.clip([near, np.nextafter(near, np.float32(9)), np.nextafter(near, np.float32(-9))],
                   -3e38, 3e38).astype(np.float32)[:, None]  # fmt: skip
    tree = [0, 3], [0, -1, -1], [threshold, 0, 0], [1, -1, -1], [2, -1, -1], [0, 7.0, 9.0]
    wanted = np.where(rows[:, 0].astype(np.float64) <= threshold, 7.0, 9.0)
    np.testing.assert_array_equal(LeafMasks.of(*tree).total(rows), wanted)
