"""The penalised-L1 estimate of the class prior."""

import math

import numpy as np
import pytest

from robustpu.priors.penalized_l1 import SHARES, _means, least_penalty, penalized_l1

RNG = np.random.default_rng(0)


def tables(prior, n_positive, n_unlabeled, seed, columns=2, gap=2.0):
    rng = np.random.default_rng(seed)
    hidden = round(prior * n_unlabeled)
    unlabeled = rng.normal(gap, 1, (n_unlabeled, columns))
    unlabeled[hidden:] -= 2 * gap
    return rng.normal(gap, 1, (n_positive, columns)), rng.permutation(unlabeled)


class TestPieces:
    @pytest.mark.parametrize("seed", range(4))
    def test_least_penalty_is_the_formula(self, seed):
        rng = np.random.default_rng(seed)
        mean_positive, mean_unlabeled = rng.random(6), 0.5 * rng.random(6)
        ridge = 0.3
        penalty = {}
        for share in SHARES:
            beta = share * mean_positive - mean_unlabeled
            alpha = np.maximum(0, beta) / ridge
            penalty[share] = alpha @ beta - share + 1
        excess = SHARES[:, None] * mean_positive - mean_unlabeled
        assert least_penalty(excess, ridge) == min(penalty, key=penalty.get)

    def test_hard_constraint_in_the_limit(self):
        """Nothing may be in excess: the least ratio of the means."""
        excess = SHARES[:, None] * np.array([0.8, 0.5]) - np.array([0.4, 0.4])
        assert least_penalty(excess, 1e-9) == pytest.approx(0.5)

    def test_means_leave_out(self):
        phi = np.array([[0.0, 0.2], [0.4, 0.6], [0.8, 1.0]])
        mean, error = _means(phi, np.array([1, 0]))
        np.testing.assert_allclose(mean, [0.6, 0.6])
        expected = [np.std([0.4, 0.8]) / math.sqrt(2), np.std(phi[:, 1]) / math.sqrt(3)]
        np.testing.assert_allclose(error, expected)


class TestPenalizedL1:
    @pytest.mark.parametrize("prior", [0.25, 0.5, 0.75])
    def test_two_places(self, prior):
        """At P's place m_P = 1 and m_U = prior: a is too high by ridge / 2 of |m_P|^2, 1/80."""
        unlabeled = np.repeat([1.0, 0.0], [round(prior * 100), round((1 - prior) * 100)])
        found = penalized_l1(np.ones(100), unlabeled)
        assert found == pytest.approx(prior + 1 / 80, abs=0.01)

    @pytest.mark.parametrize(("columns", "gap"), [(1, 2.0), (2, 2.0), (5, 1.2)])
    @pytest.mark.parametrize("prior", [0.1, 0.4, 0.7])
    def test_gaussians(self, prior, columns, gap):
        found = [penalized_l1(*tables(prior, 500, 1000, s, columns, gap)) for s in range(4)]
        np.testing.assert_allclose(found, prior, atol=0.15)
        assert np.mean(found) == pytest.approx(prior, abs=0.1)

    def test_scale_of_columns_is_of_no_importance(self):
        positive, unlabeled = tables(0.4, 60, 90, 0)
        scale, shift = np.array([1e-6, 1e6]), np.array([0.0, 1e6])
        moved = penalized_l1(positive * scale + shift, unlabeled * scale + shift)
        assert moved == pytest.approx(penalized_l1(positive, unlabeled))

    def test_order_of_rows_matters_no_more_than_the_seed(self):
        """Centres are drawn, not the first rows."""
        positive, unlabeled = tables(0.4, 500, 1000, 0)
        order = np.argsort(unlabeled[:, 0])
        found = [penalized_l1(positive, unlabeled[rows]) for rows in (order, order[::-1])]
        np.testing.assert_allclose(found, penalized_l1(positive, unlabeled), atol=0.1)

    def test_random_state_decides_which_rows(self):
        positive, unlabeled = tables(0.4, 300, 300, 0, gap=0.8)
        few = [penalized_l1(positive, unlabeled, max_rows=50, random_state=s) for s in (0, 0, 1, 2)]
        assert few[0] == few[1]
        assert len(set(few)) > 1

    def test_one_distribution(self):
        assert penalized_l1(RNG.normal(size=500), RNG.normal(size=500)) > 0.75

    def test_nothing_of_p_in_u(self):
        assert penalized_l1(RNG.normal(9, 1, (300, 2)), RNG.normal(0, 1, (300, 2))) < 0.03


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
    found = penalized_l1(positive, unlabeled)
    assert isinstance(found, float)
    assert 0 <= found <= 1


def test_rows_that_say_nothing_give_one():
    assert penalized_l1(np.zeros(50), np.zeros(70)) == 1.0


class TestErrors:
    @pytest.mark.parametrize(("positive", "unlabeled"), [([], [1.0]), ([1.0], [math.nan])])
    def test_empty_or_nan(self, positive, unlabeled):
        with pytest.raises(ValueError, match=r"must (have at least one row|be finite)"):
            penalized_l1(positive, unlabeled)

    def test_other_columns(self):
        with pytest.raises(ValueError, match="the same columns; they have 2 and 1"):
            penalized_l1(np.zeros((3, 2)), np.zeros(4))

    def test_max_rows(self):
        with pytest.raises(ValueError, match="max_rows must be a whole number at least 2"):
            penalized_l1([1.0], [1.0], max_rows=0)
