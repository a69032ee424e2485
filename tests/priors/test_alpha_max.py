"""The AlphaMax estimate of the class prior."""

import math

import numpy as np
import pytest
from scipy.optimize import minimize

from robustpu.priors.alpha_max import alpha_max, likelihood_fall

RNG = np.random.default_rng(0)


def scores(prior, n_positive, n_unlabeled, seed, gap=3.0):
    rng = np.random.default_rng(seed)
    hidden = round(prior * n_unlabeled)
    negative = rng.normal(0, 1, n_unlabeled - hidden)
    unlabeled = np.concatenate([rng.normal(gap, 1, hidden), negative])
    return rng.normal(gap, 1, n_positive), rng.permutation(unlabeled)


def literal_fall(positive, unlabeled, share):
    """2 (L(0) - L(a)) with L(a) by a general solver."""
    bins = len(positive)

    def loss(z):
        return -(positive @ np.log(z[:bins]) + unlabeled @ np.log(z[bins:]))

    h, g = positive / positive.sum(), unlabeled / unlabeled.sum()
    # The pooled distribution, as both, is always allowed.
    pooled = (positive + unlabeled) / (positive + unlabeled).sum()
    constraints = [
        {"type": "eq", "fun": lambda z: z[:bins].sum() - 1},
        {"type": "eq", "fun": lambda z: z[bins:].sum() - 1},
        {"type": "ineq", "fun": lambda z: z[bins:] - share * z[:bins]},
    ]
    best = minimize(
        loss,
        np.tile(pooled, 2),
        method="SLSQP",
        bounds=[(1e-9, 1)] * (2 * bins),
        constraints=constraints,
        options={"ftol": 1e-12, "maxiter": 500},
    )
    return 2 * (best.fun - loss(np.append(h, g)))


class TestLikelihoodFall:
    @pytest.mark.parametrize("seed", range(4))
    @pytest.mark.parametrize("share", [0.2, 0.5, 0.9])
    def test_is_the_best_of_a_general_solver(self, seed, share):
        rng = np.random.default_rng(seed)
        positive, unlabeled = rng.integers(1, 30, (2, 5)).astype(float)
        fall, _ = likelihood_fall(positive, unlabeled, np.array([share]))
        assert fall[0] == pytest.approx(literal_fall(positive, unlabeled, share), abs=1e-4)

    def test_by_hand(self):
        """All of P, 8 rows, and 2 of 8 rows of U are in the second bin: h = 1 there, g = a."""
        share = np.array([0.0, 0.1, 0.25, 0.3, 0.6])
        fall, held = likelihood_fall(np.array([0.0, 8.0]), np.array([6.0, 2.0]), share)
        expected = [2 * (2 * math.log(0.25 / a) + 6 * math.log(0.75 / (1 - a))) for a in share[3:]]
        np.testing.assert_allclose(fall[:3], 0, atol=1e-9)
        np.testing.assert_allclose(fall[3:], expected, rtol=1e-6)
        np.testing.assert_array_equal(held[[0, 1, 3, 4]], [0, 0, 1, 1])

    def test_never_rises_again(self):
        positive, unlabeled = np.array([0.0, 3.0, 9.0, 20.0]), np.array([40.0, 9.0, 3.0, 5.0])
        fall, _ = likelihood_fall(positive, unlabeled, np.linspace(0, 1, 101))
        assert fall[0] == pytest.approx(0, abs=1e-9)
        assert (np.diff(fall) > -1e-9).all()
        # At a = 1 both are drawn from one distribution.
        both = positive + unlabeled
        whole = sum(
            2
            * (part[part > 0] @ np.log(part[part > 0] / part.sum() / (both / both.sum())[part > 0]))
            for part in (positive, unlabeled)
        )
        assert fall[-1] == pytest.approx(whole)


class TestAlphaMax:
    def test_by_hand(self):
        """As above: one bin is held back, and the answer is the last share with a fall below 1."""

        def fall(a):
            return 2 * (2 * math.log(0.25 / a) + 6 * math.log(0.75 / (1 - a)))

        found = alpha_max(np.ones(8), np.array([0.0] * 6 + [1.0] * 2))
        assert found > 0.25
        assert fall(found) <= 1 < fall(found + 0.005)

    @pytest.mark.parametrize("prior", [0.1, 0.4, 0.7])
    def test_gaussians(self, prior):
        """Single answers are noisy: within 0.12; their mean is within 0.04."""
        found = [alpha_max(*scores(prior, 1000, 2000, seed)) for seed in range(8)]
        np.testing.assert_allclose(found, prior, atol=0.12)
        assert np.mean(found) == pytest.approx(prior, abs=0.04)

    @pytest.mark.parametrize("prior", [0.1, 0.4, 0.7])
    def test_few_rows(self, prior):
        found = [alpha_max(*scores(prior, 50, 500, seed)) for seed in range(20)]
        assert np.mean(found) == pytest.approx(prior, abs=0.08)

    def test_depends_on_the_order_of_the_scores_alone(self):
        positive, unlabeled = scores(0.4, 100, 200, 3)
        expected = alpha_max(positive, unlabeled)
        assert alpha_max(np.exp(positive), np.exp(unlabeled)) == expected
        assert alpha_max(positive[::-1], np.sort(unlabeled)) == expected

    def test_one_distribution(self):
        assert alpha_max(RNG.normal(size=500), RNG.normal(size=500)) > 0.8

    def test_nothing_of_p_in_u(self):
        assert alpha_max(RNG.normal(9, 1, 500), RNG.normal(0, 1, 500)) < 0.02


@pytest.mark.parametrize(
    ("positive", "unlabeled"),
    [
        ([2.0], RNG.normal(size=50)),
        ([2.0], [2.0]),
        (RNG.normal(size=50), [2.0]),
        (np.zeros(9), np.zeros(12)),
        (np.ones(9), np.zeros(12)),
        (np.zeros(9), np.ones(12)),
        (RNG.integers(1, 3, 50), RNG.integers(0, 3, 90)),
        (np.append(RNG.normal(size=50), 1e12), RNG.normal(size=50)),
    ],
    ids=["one P", "one each", "one U", "equal", "apart", "reversed", "ties", "outlier"],
)
def test_is_a_share_whatever_comes(positive, unlabeled):
    found = alpha_max(positive, unlabeled)
    assert isinstance(found, float)
    assert 0 <= found <= 1


def test_scores_that_say_nothing_give_one():
    assert alpha_max(np.zeros(50), np.zeros(70)) == 1.0


class TestErrors:
    def test_a_table(self):
        with pytest.raises(ValueError, match="unlabeled must be scores"):
            alpha_max(np.zeros(3), np.zeros((5, 2)))

    @pytest.mark.parametrize(("positive", "unlabeled"), [([], [1.0]), ([1.0], [math.nan])])
    def test_empty_or_nan(self, positive, unlabeled):
        with pytest.raises(ValueError, match=r"must (have at least one row|be finite)"):
            alpha_max(positive, unlabeled)

    @pytest.mark.parametrize("bins", [1, 2.5, None])
    def test_bins(self, bins):
        with pytest.raises(ValueError, match="bins must be a whole number at least 2"):
            alpha_max([1.0], [1.0], bins=bins)
