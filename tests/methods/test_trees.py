"""Extra-trees of the positive-unlabelled risk, against plain Python."""

import numpy as np
import pytest
from scipy.stats import kstest

from robustpu.methods import trees
from robustpu.methods.trees import Forest, Limits, Masses, grow, node_risk, share_positive

CASE_CONTROL = Masses(0.4 / 30, 0.0, 1 / 50)
SINGLE_SET = Masses((30 + 0.4 * 50) / 80 / 30, 1 / 80, 1 / 80)


def problem(seed=0, n=80, n_positive=30):
    """Rows with steps, a constant column and ties, and weights that are no whole numbers."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 6))
    X[:, 1] = np.round(X[:, 1])
    X[:, 2] = 7.0
    X[:, 3] = X[:, 3] > 1
    is_positive = rng.permutation(np.arange(n) < n_positive)
    X[is_positive, 0] += 1.0
    return X, is_positive, rng.uniform(0.5, 1.5, n)


def generators(count, seed=0):
    return [np.random.default_rng(seed + place) for place in range(count)]


def assert_equal_forests(one, other):
    for name in ("start", "feature", "threshold", "left", "value", "risk"):
        np.testing.assert_array_equal(getattr(one, name), getattr(other, name), err_msg=name)


# The same once more, slowly.


class Plain:
    """One tree: nodes are dictionaries, every number is found by a loop over rows."""

    def __init__(self, X, is_positive, weight, masses, limits):
        self.X, self.is_positive, self.weight = X, is_positive, weight
        self.masses, self.limits = masses, limits

    def node(self, rows):
        labelled = sum(self.weight[row] for row in rows if self.is_positive[row])
        unlabeled = sum(self.weight[row] for row in rows if not self.is_positive[row])
        w_positive = self.masses.positive * labelled
        w = self.masses.labelled * labelled + self.masses.unlabeled * unlabeled
        w_negative = max(0.0, w - w_positive)
        pure = w_positive == 0 or w_negative < 1e-12
        risk = 0.0 if pure else 4 * w_positive * w_negative / (w_positive + w_negative)
        value = 1.0 if w <= w_positive else w_positive / w
        return {"rows": rows, "risk": risk, "value": value}

    def split(self, node, rank, cut):
        """Try features that vary in their order, and keep the split of least risk."""
        best, tried = np.inf, 0
        for feature in np.argsort(rank):
            values = [self.X[row, feature] for row in node["rows"]]
            low, high = min(values), max(values)
            if low == high or tried == self.limits.max_features:
                continue
            tried += 1
            threshold = low * (1 - cut[feature]) + high * cut[feature]
            sides = [
                [row for row in node["rows"] if (self.X[row, feature] <= threshold) == is_left]
                for is_left in (True, False)
            ]
            children = [self.node(rows) for rows in sides]
            risk = sum(child["risk"] for child in children)
            if min(map(len, sides)) >= self.limits.min_samples_leaf and risk < best - 1e-12:
                best = risk
                node.update(feature=feature, threshold=threshold, children=children)

    def tree(self, generator):
        root = self.node(list(range(len(self.X))))
        level, depth = [root], 0
        while level:
            may = [
                node
                for node in level
                if node["risk"] > 0
                and depth != self.limits.max_depth
                and len(node["rows"]) >= 2 * self.limits.min_samples_leaf
            ]
            draws = generator.random((len(may), 2, self.X.shape[1])) if may else []
            for node, (rank, cut) in zip(may, draws, strict=True):
                self.split(node, rank, cut)
            split = [node["children"] for node in may if "children" in node]
            level = [left for left, _ in split] + [right for _, right in split]
            depth += 1
        return root


def compare(forest, place, plain):
    """Walk down a tree of the forest and a plain one; return how many nodes were compared."""
    assert forest.value[place] == pytest.approx(plain["value"])
    assert forest.risk[place] == pytest.approx(plain["risk"], abs=1e-12)
    if "children" not in plain:
        assert forest.feature[place] == -1
        return 1
    assert forest.feature[place] == plain["feature"]
    assert forest.threshold[place] == pytest.approx(plain["threshold"])
    left = forest.left[place]
    below = [compare(forest, left + side, plain["children"][side]) for side in (0, 1)]
    return 1 + sum(below)


@pytest.mark.parametrize("masses", [CASE_CONTROL, SINGLE_SET])
@pytest.mark.parametrize(
    "limits",
    [
        Limits(1),
        Limits(2),
        Limits(6),
        Limits(2, max_depth=2),
        Limits(2, min_samples_leaf=4),
        Limits(3, max_depth=5, min_samples_leaf=2),
    ],
)
def test_trees_are_those_of_a_plain_version(masses, limits):
    X, is_positive, weight = problem()
    forest = grow(X, is_positive, weight, masses, generators(5), limits)
    plain = Plain(X, is_positive, weight, masses, limits)
    count = sum(
        compare(forest, start, plain.tree(generator))
        for start, generator in zip(forest.start, generators(5), strict=True)
    )
    assert count == len(forest.feature) > 5


@pytest.mark.parametrize(("most", "seen"), [(20, (20, 20)), (40, (30, 40))])
def test_a_tree_of_some_rows_weighs_them_as_if_they_were_all(most, seen):
    X, is_positive, weight = problem()
    forest = grow(X, is_positive, weight, SINGLE_SET, generators(1), Limits(2, max_samples=most))
    (generator,) = generators(1)
    rows = np.concatenate(
        [
            kind
            if len(kind) == size
            else kind[np.sort(generator.choice(len(kind), size, replace=False))]
            for kind, size in zip(
                (np.flatnonzero(is_positive), np.flatnonzero(~is_positive)), seen, strict=True
            )
        ]
    )
    masses = Masses(
        SINGLE_SET.positive * 30 / seen[0],
        SINGLE_SET.labelled * 30 / seen[0],
        SINGLE_SET.unlabeled * 50 / seen[1],
    )
    plain = Plain(X[rows], is_positive[rows], weight[rows], masses, Limits(2))
    assert compare(forest, 0, plain.tree(generator)) == len(forest.feature) > 5


def test_trees_see_rows_of_their_own():
    X, is_positive, weight = problem()
    given = X, is_positive, weight, CASE_CONTROL, generators(200), Limits(1, 1, max_samples=1)
    # With two rows a split is drawn between them, so that thresholds tell which were seen.
    assert len(np.unique(grow(*given).threshold)) > 100


def test_answers_are_those_of_a_plain_walk():
    X, is_positive, weight = problem()
    forest = grow(X, is_positive, weight, CASE_CONTROL, generators(7), Limits(2, max_depth=4))

    def walk(node, row):
        if forest.feature[node] < 0:
            return forest.value[node]
        goes_right = row[forest.feature[node]] > forest.threshold[node]
        return walk(forest.left[node] + int(goes_right), row)

    new = np.random.default_rng(1).normal(size=(20, 6))
    expected = [np.mean([walk(start, row) for start in forest.start]) for row in new]
    np.testing.assert_allclose(forest.answer(new), expected)
    assert len(set(expected)) > 10


@pytest.mark.parametrize("block", [1, 100, 1000])
def test_blocks_change_nothing(block, monkeypatch):
    X, is_positive, weight = problem()
    given = X, is_positive, weight, CASE_CONTROL
    whole = grow(*given, generators(6), Limits(3))
    answers = whole.answer(X)
    monkeypatch.setattr(trees, "BLOCK", block)
    assert_equal_forests(grow(*given, generators(6), Limits(3)), whole)
    np.testing.assert_array_equal(whole.answer(X), answers)


def test_a_tree_does_not_know_its_neighbours():
    X, is_positive, weight = problem()
    given = X, is_positive, weight, CASE_CONTROL
    alone = [grow(*given, [generator], Limits(2)) for generator in generators(4)]
    assert_equal_forests(Forest.join(alone), grow(*given, generators(4), Limits(2)))


# Risks.


@pytest.mark.parametrize(("positive", "total"), [(0.1, 0.4), (0.2, 0.25), (0.3, 0.3), (0.3, 0.1)])
def test_the_risk_is_the_least_quadratic_one(positive, total):
    """W_P (1 - v)^2 + W_N (1 + v)^2, by all answers v."""
    v = np.linspace(-1, 1, 20001)
    negative = max(0, total - positive)
    least = (positive * (1 - v) ** 2 + negative * (1 + v) ** 2).min()
    assert node_risk(np.array(positive), np.array(total)) == pytest.approx(least, abs=1e-7)


def test_risks_and_shares_of_single_nodes():
    positive = np.array([0.1, 0.0, 0.3, 0.3, 0.0, 0.2])
    total = np.array([0.4, 0.4, 0.2, 0.0, 0.0, 0.2])
    np.testing.assert_allclose(node_risk(positive, total), [4 * 0.1 * 0.3 / 0.4, 0, 0, 0, 0, 0])
    np.testing.assert_allclose(share_positive(positive, total)[:4], [0.25, 0, 1, 1])
    assert share_positive(positive, total)[5] == 1


def test_a_node_is_pure_in_spite_of_rounding():
    # 1 of 3 positives at prior 0.3, and 1 of 10 unlabelled rows: 0.1 each.
    assert 0.3 / 3 < 1 / 10
    assert node_risk(np.array(0.3 / 3), np.array(1 / 10)) == 0


# Features and thresholds.


def step(n=40):
    """One column of 50 tells positives from the rest; the others do not vary."""
    is_positive = np.arange(n) < n // 2
    X = np.zeros((n, 50))
    X[:, 31] = is_positive
    return X, is_positive, np.ones(n), Masses(0.5 / (n // 2), 0.0, 1 / (n // 2))


def test_features_that_do_not_vary_are_not_counted():
    forest = grow(*step(), generators(20), Limits(1))
    assert set(forest.feature) == {31, -1}
    assert len(forest.feature) == 3 * 20


def test_a_table_that_does_not_vary_is_one_leaf():
    X, *rest = step()
    forest = grow(np.zeros_like(X), *rest, generators(3), Limits(2))
    np.testing.assert_array_equal(forest.feature, [-1, -1, -1])
    np.testing.assert_allclose(forest.answer(X), 0.5)
    np.testing.assert_array_equal(forest.importances(50), np.zeros(50))


def test_features_and_thresholds_are_uniform():
    rng = np.random.default_rng(0)
    X = rng.uniform(2, 3, (60, 4))
    X[:2] = [[2.0] * 4, [3.0] * 4]
    masses = Masses(0.5 / 30, 0.0, 1 / 30)
    given = X, np.arange(60) % 2 == 0, np.ones(60), masses, generators(2000)
    forest = grow(*given, Limits(1, max_depth=1))
    roots = forest.feature[forest.start]
    assert kstest(forest.threshold[forest.start], "uniform", (2, 1)).pvalue > 0.01
    np.testing.assert_allclose(np.bincount(roots) / 2000, 0.25, atol=0.05)


@pytest.mark.parametrize("edge", [(1.0, np.nextafter(1.0, 2)), (-1.7e308, 1.7e308), (0.0, 5e-324)])
def test_both_sides_have_rows_whatever_the_rounding(edge):
    _, is_positive, weight, masses = step()
    X = np.where(is_positive, *edge)[:, None]
    forest = grow(X, is_positive, weight, masses, generators(50), Limits(1))
    assert len(forest.feature) == 3 * 50
    np.testing.assert_array_equal(forest.answer(X), is_positive)


def test_importances_are_decreases_of_the_risk():
    X, is_positive, weight = problem()
    forest = grow(X, is_positive, weight, CASE_CONTROL, generators(5), Limits(3, max_depth=3))
    expected = np.zeros(6)
    for node in np.flatnonzero(forest.feature >= 0):
        children = forest.risk[[forest.left[node], forest.left[node] + 1]]
        expected[forest.feature[node]] += forest.risk[node] - children.sum()
    root = node_risk(*CASE_CONTROL.of(weight[is_positive].sum(), weight[~is_positive].sum()))
    np.testing.assert_allclose(forest.importances(6), expected / (5 * root))
    assert forest.importances(6)[2] == 0
