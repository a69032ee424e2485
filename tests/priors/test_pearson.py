"""The Pearson-divergence estimate of the class prior."""

import math

import numpy as np
import pytest

from robustpu.priors.pearson import RIDGES, _errors, matched_share, pearson, ratio_weights

RNG = np.random.default_rng(0)


def tables(prior, n_positive, n_unlabeled, seed, columns=3, gap=1.5):
    rng = np.random.default_rng(seed)
    hidden = round(prior * n_unlabeled)
    unlabeled = rng.normal(gap, 1, (n_unlabeled, columns))
    unlabeled[hidden:] -= 2 * gap
    return rng.normal(gap, 1, (n_positive, columns)), rng.permutation(unlabeled)


class TestPieces:
    def test_weights(self):
        rng = np.random.default_rng(0)
        phi, h = rng.random((20, 4)), rng.random(4)
        H = phi.T @ phi / 20
        found = ratio_weights(h, H, np.array([0.01, 1.0]))
        for ridge, weight in zip((0.01, 1.0), found, strict=True):
            np.testing.assert_allclose(weight, np.linalg.solve(H + ridge * np.eye(4), h))

    def test_share_by_hand(self):
        """phi marks three places: P has half in each of two, U a third of the rest in the last."""
        h, H = np.array([0.5, 0.5]), np.diag([0.3, 0.3])
        # p_P / p_U is 5 / 3 in both; sum over places of p_P^2 / p_U = 5 / 3.
        assert matched_share(h, H, 0.0) == pytest.approx(0.6)
        a = 0.5 / 0.4
        expected = 1 / (2 * a - 0.6 * a**2)
        assert matched_share(h, H, 0.1) == pytest.approx(expected)

    def test_share_is_clipped(self):
        assert matched_share(np.array([0.1]), np.array([[1.0]]), 0.0) == 1.0
        assert matched_share(np.array([0.0]), np.array([[1.0]]), 0.0) == 1.0

    def test_errors_are_those_of_held_out_rows(self):
        rng = np.random.default_rng(0)
        phi_positive, phi_unlabeled = rng.random((7, 3)), rng.random((9, 3))
        fold_positive, fold_unlabeled = np.arange(7) % 2, np.arange(9) % 2
        found = _errors(phi_positive, phi_unlabeled, fold_positive, fold_unlabeled, 2)
        for place, ridge in enumerate(RIDGES):
            expected = 0.0
            for held_out in (0, 1):
                learn = phi_unlabeled[fold_unlabeled != held_out]
                H = learn.T @ learn / len(learn) + ridge * np.eye(3)
                a = np.linalg.solve(H, phi_positive[fold_positive != held_out].mean(0))
                expected += ((phi_unlabeled[fold_unlabeled == held_out] @ a) ** 2).mean() / 2
                expected -= (phi_positive[fold_positive == held_out] @ a).mean()
            assert found[place] == pytest.approx(expected)


class TestPearson:
    @pytest.mark.parametrize("prior", [0.25, 0.5, 0.75])
    def test_two_places(self, prior):
        unlabeled = np.repeat([1.0, 0.0], [round(prior * 100), round((1 - prior) * 100)])
        assert pearson(np.ones(100), unlabeled) == pytest.approx(prior, abs=0.01)

    @pytest.mark.parametrize(("columns", "gap"), [(1, 2.0), (3, 1.5), (20, 0.7)])
    @pytest.mark.parametrize("prior", [0.1, 0.4, 0.7])
    def test_gaussians(self, prior, columns, gap):
        found = pearson(*tables(prior, 400, 600, 1, columns, gap))
        assert found == pytest.approx(prior, abs=0.07)

    def test_overlap_raises_it(self):
        assert pearson(*tables(0.3, 400, 600, 0, 1, 0.7)) > 0.35

    def test_scale_of_columns_is_of_no_importance(self):
        positive, unlabeled = tables(0.4, 60, 90, 0)
        scale, shift = np.array([1e-6, 1.0, 1e6]), np.array([0.0, -7.0, 1e6])
        moved = pearson(positive * scale + shift, unlabeled * scale + shift)
        assert moved == pytest.approx(pearson(positive, unlabeled), abs=1e-6)

    def test_random_state_decides_which_rows(self):
        positive, unlabeled = tables(0.4, 300, 300, 0, gap=0.8)
        few = [pearson(positive, unlabeled, max_rows=50, random_state=s) for s in (0, 0, 1)]
        assert few[0] == few[1] != few[2]

    def test_one_distribution(self):
        assert pearson(RNG.normal(size=(300, 2)), RNG.normal(size=(300, 2))) > 0.8

    def test_nothing_of_p_in_u(self):
        assert pearson(RNG.normal(9, 1, (300, 2)), RNG.normal(0, 1, (300, 2))) < 0.02


@pytest.mark.parametrize(
    ("positive", "unlabeled"),
    [
        ([2.0], RNG.normal(size=50)),
        ([2.0], [1.0]),
        (RNG.normal(size=50), [2.0]),
        (np.zeros((9, 2)), np.zeros((12, 2))),
        (np.ones(9), np.zeros(12)),
        (RNG.integers(1, 3, 50), RNG.integers(0, 3, 90)),
        (np.c_[RNG.normal(size=50), np.ones(50)], np.c_[RNG.normal(size=70), np.ones(70)]),
        (np.append(RNG.normal(size=50), 1e12), RNG.normal(size=50)),
    ],
    ids=["one P", "one each", "one U", "equal", "apart", "ties", "constant", "outlier"],
)
def test_is_a_share_whatever_comes(positive, unlabeled):
    found = pearson(positive, unlabeled)
    assert isinstance(found, float)
    assert 0 <= found <= 1


def test_rows_that_say_nothing_give_one():
    assert pearson(np.zeros(50), np.zeros(70)) == pytest.approx(1.0)


class TestErrors:
    @pytest.mark.parametrize(("positive", "unlabeled"), [([], [1.0]), ([1.0], [math.nan])])
    def test_empty_or_nan(self, positive, unlabeled):
        with pytest.raises(ValueError, match=r"must (have at least one row|be finite)"):
            pearson(positive, unlabeled)

    def test_other_columns(self):
        with pytest.raises(ValueError, match="the same columns; they have 2 and 1"):
            pearson(np.zeros((3, 2)), np.zeros(4))

    def test_max_rows(self):
        with pytest.raises(ValueError, match="max_rows must be a whole number at least 2"):
            pearson([1.0], [1.0], max_rows=0)
