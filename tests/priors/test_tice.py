"""The tree-induced estimate of the class prior."""

import math

import numpy as np
import pytest

from robustpu.priors.tice import _parts, _promise, _quarter, _ranks, lower_bound, tice

RNG = np.random.default_rng(0)


def tables(prior, n_positive, n_unlabeled, seed, columns=3, gap=1.5):
    rng = np.random.default_rng(seed)
    hidden = round(prior * n_unlabeled)
    unlabeled = rng.normal(gap, 1, (n_unlabeled, columns))
    unlabeled[hidden:] -= 2 * gap
    return rng.normal(gap, 1, (n_positive, columns)), rng.permutation(unlabeled)


class TestPieces:
    @pytest.mark.parametrize("c", [0.1, 0.5])
    def test_lower_bound_is_the_formula(self, c):
        rng = np.random.default_rng(0)
        rows = np.append(800, rng.integers(1, 300, 40))
        labels = (rows * rng.random(41)).astype(int)
        delta = max(0.025, 1 / (1 + 0.004 * 800))
        expected = labels[0] / rows[0]
        for label, row in zip(labels, rows, strict=True):
            if row >= 10:
                width = math.sqrt(c * (1 - c) * (1 - delta) / (delta * row))
                expected = max(expected, label / row - width)
        assert lower_bound(labels, rows, c) == pytest.approx(expected)

    def test_ranks(self):
        x = np.array([[5.0, 1.0], [7.0, 0.0], [5.0, 0.0], [-2.0, 0.0]])
        expected = [[0.5, 0.875], [0.875, 0.375], [0.5, 0.375], [0.125, 0.375]]
        np.testing.assert_allclose(_ranks(x), expected)

    def test_quarters(self):
        assert _quarter(np.array([0.0, 0.3, 0.5, 1.0]), np.array([0.0, 1.0])).tolist() == [
            0,
            1,
            2,
            3,
        ]
        assert _quarter(np.array([0.3, 0.49]), np.array([0.25, 0.5])).tolist() == [0, 3]

    def test_promise(self):
        quarter = np.array([[0, 1], [0, 1], [3, 1], [3, 1], [3, 1]])
        is_labelled = np.array([True, False, True, True, False])
        found = _promise(quarter, is_labelled)
        np.testing.assert_allclose(found[0], [1 / 7, 0, 0, 2 / 8])
        assert (found[1] == -1).all()

    def test_parts_are_boxes_of_rows_that_the_tree_did_not_see(self):
        """The bounds are honest only if the tree never saw these rows."""
        rng = np.random.default_rng(0)
        x, is_labelled = rng.random((400, 2)), rng.random(400) < 0.3
        grows = np.arange(400) % 2 == 0
        labels, rows = _parts(x, is_labelled, grows, 50)
        assert len(rows) > 5
        assert rows[0] == 200
        assert labels[0] == is_labelled[~grows].sum()
        assert (labels <= rows).all()
        changed = is_labelled.copy()
        changed[~grows] = ~changed[~grows]
        other, same = _parts(x, changed, grows, 50)
        np.testing.assert_array_equal(same, rows)
        np.testing.assert_array_equal(other, rows - labels)

    def test_one_split(self):
        labels, rows = _parts(
            np.linspace(0, 1, 400)[:, None], np.arange(400) >= 350, np.arange(400) % 2 == 0, 1
        )
        assert rows.tolist() == [200, 50, 50, 50, 50]
        assert labels.tolist() == [25, 0, 0, 0, 25]


class TestTice:
    @pytest.mark.parametrize("prior", [0.25, 0.5])
    def test_two_places(self, prior):
        """The part at P's place has a share c of labels; by the bound c is lower, by hand."""
        n = 2000
        unlabeled = np.repeat([1.0, 0.0], [round(prior * n), round((1 - prior) * n)])
        frequency, rows = 1 / (1 + prior), 0.8 * n * (1 + prior)
        delta = 1 / (1 + 0.004 * 1.6 * n)
        c = 0.5
        for _ in range(2):
            c = frequency - math.sqrt(c * (1 - c) * (1 - delta) / (delta * rows))
        assert tice(np.ones(n), unlabeled) == pytest.approx((1 - c) / c, abs=0.01)

    @pytest.mark.parametrize(("columns", "gap"), [(1, 2.0), (3, 1.5), (20, 0.7)])
    @pytest.mark.parametrize("prior", [0.1, 0.4, 0.7])
    def test_gaussians(self, prior, columns, gap):
        """A bound of the label frequency from below: the prior is too high, by up to 0.2."""
        found = [tice(*tables(prior, 1000, 2000, seed, columns, gap)) for seed in range(3)]
        assert -0.05 < np.mean(found) - prior < 0.2

    def test_depends_on_the_order_within_columns_alone(self):
        positive, unlabeled = tables(0.4, 100, 200, 3)
        assert tice(np.exp(positive), np.exp(unlabeled)) == tice(positive, unlabeled)

    def test_random_state_decides_the_folds(self):
        positive, unlabeled = tables(0.4, 100, 200, 3)
        found = [tice(positive, unlabeled, random_state=seed) for seed in (0, 0, 1)]
        assert found[0] == found[1] != found[2]

    def test_one_distribution(self):
        assert tice(RNG.normal(size=(500, 2)), RNG.normal(size=(500, 2))) > 0.8

    def test_nothing_of_p_in_u(self):
        assert tice(RNG.normal(9, 1, (500, 2)), RNG.normal(0, 1, (500, 2))) < 0.05


@pytest.mark.parametrize(
    ("positive", "unlabeled"),
    [
        ([2.0], RNG.normal(size=50)),
        ([2.0, 2.1], RNG.normal(size=50)),
        ([2.0], [1.0]),
        (RNG.normal(size=50), [2.0]),
        (np.zeros((9, 2)), np.zeros((12, 2))),
        (np.ones(9), np.zeros(12)),
        (RNG.integers(1, 3, 50), RNG.integers(0, 3, 90)),
        (np.c_[RNG.normal(size=50), np.ones(50)], np.c_[RNG.normal(size=70), np.ones(70)]),
        (np.append(RNG.normal(size=50), 1e12), RNG.normal(size=50)),
    ],
    ids=["one P", "two P", "one each", "one U", "equal", "apart", "ties", "constant", "outlier"],
)
def test_is_a_share_whatever_comes(positive, unlabeled):
    found = tice(positive, unlabeled)
    assert isinstance(found, float)
    assert 0 <= found <= 1


def test_rows_that_say_nothing_give_one():
    assert tice(np.zeros(50), np.zeros(70)) == pytest.approx(1.0, abs=0.02)


class TestErrors:
    @pytest.mark.parametrize(("positive", "unlabeled"), [([], [1.0]), ([1.0], [math.nan])])
    def test_empty_or_nan(self, positive, unlabeled):
        with pytest.raises(ValueError, match=r"must (have at least one row|be finite)"):
            tice(positive, unlabeled)

    def test_other_columns(self):
        with pytest.raises(ValueError, match="the same columns; they have 2 and 1"):
            tice(np.zeros((3, 2)), np.zeros(4))

    def test_max_splits(self):
        with pytest.raises(ValueError, match="max_splits must be a whole number at least 1"):
            tice([1.0], [1.0], max_splits=0)
