"""The DEDPUL estimate of the class prior."""

import math
from importlib import import_module

import numpy as np
import pytest
from scipy.stats import gaussian_kde, norm

from robustpu.priors.dedpul import _raw_ratio, dedpul, fixed_share

# The package may give this name to the function.
room = import_module("robustpu.priors.dedpul")

RNG = np.random.default_rng(0)


def scores(prior, n_positive, n_unlabeled, seed, gap=3.0):
    rng = np.random.default_rng(seed)
    hidden = round(prior * n_unlabeled)
    negative = rng.normal(0, 1, n_unlabeled - hidden)
    unlabeled = np.concatenate([rng.normal(gap, 1, hidden), negative])
    return rng.normal(gap, 1, n_positive), rng.permutation(unlabeled)


class TestParts:
    @pytest.mark.parametrize("seed", range(3))
    def test_ratio_is_that_of_two_kernel_densities(self, seed):
        positive, unlabeled = scores(0.4, 200, 300, seed, gap=1.0)
        width = 0.1 * positive.std()
        # SciPy's widths are in units of the deviation with n - 1.
        above = gaussian_kde(positive, width / positive.std(ddof=1))(unlabeled)
        below = gaussian_kde(unlabeled, width / unlabeled.std(ddof=1))(unlabeled)
        expected = np.minimum(50, above / below)
        np.testing.assert_allclose(_raw_ratio(positive, unlabeled), expected, atol=0.25)
        assert np.abs(_raw_ratio(positive, unlabeled) - expected).mean() < 0.02

    def test_ratio_of_ties_is_that_of_their_shares(self):
        positive, unlabeled = np.repeat([1.0, 2.0], [10, 30]), np.repeat([0, 1, 2.0], [20, 10, 10])
        expected = np.repeat([0, 1, 3], [20, 10, 10])
        np.testing.assert_allclose(_raw_ratio(positive, unlabeled), expected, atol=1e-6)

    def test_share_by_hand(self):
        # a = (3/4) min(1, 2 a) + ...: rows of ratio 2 are sure from a = 1/2 on; 1/4 has ratio 0.
        assert fixed_share(np.array([2.0, 2.0, 2.0, 0.0])) == pytest.approx(0.75, abs=1e-4)

    @pytest.mark.parametrize("seed", range(4))
    def test_share_is_the_largest_that_stays(self, seed):
        ratio = np.random.default_rng(seed).exponential(1.2, 50) ** 2
        grid = np.linspace(0, 1, 20001)[1:]
        stays = grid <= np.minimum(1, grid[:, None] * ratio).mean(1)
        assert fixed_share(ratio) == pytest.approx(grid[stays].max(), abs=2e-3)


class TestDedpul:
    @pytest.mark.parametrize("prior", [0.1, 0.4, 0.7])
    def test_gaussians(self, prior):
        found = [dedpul(*scores(prior, 1000, 2000, seed)) for seed in range(4)]
        np.testing.assert_allclose(found, prior, atol=0.05)

    @pytest.mark.parametrize("prior", [0.1, 0.4, 0.7])
    def test_few_rows(self, prior):
        """Peaks of a rough density ratio lower it: by up to 0.1 if most of U is positive."""
        found = [dedpul(*scores(prior, 50, 500, seed)) for seed in range(20)]
        assert np.mean(found) == pytest.approx(prior, abs=0.1)
        assert np.mean(found) < prior + 0.02

    @pytest.mark.parametrize("prior", [0.3, 0.6, 0.8])
    def test_very_few_rows_are_no_gross_error(self, prior):
        found = [dedpul(*scores(prior, 30, 90, seed)) for seed in range(20)]
        assert np.mean(np.abs(np.array(found) - prior)) < 0.2
        assert min(found) > 0.2 * prior

    def test_ties(self):
        positive, unlabeled = np.repeat([1, 2], [50, 50]), np.repeat([0, 1, 2], [90, 60, 60])
        assert dedpul(positive, unlabeled) == pytest.approx(120 / 210, abs=1e-3)

    def test_ratio_that_lost_some_of_its_mean(self, monkeypatch):
        """70 % of the rows have ratio 1/0.7, but for some that were smoothed away."""
        ratio = np.repeat([0.0, 1.0, 1 / 0.7], [300, 20, 680])
        assert fixed_share(ratio) < 0.01
        monkeypatch.setattr(room, "_smooth_ratio", lambda *_: ratio)
        assert dedpul([1.0], [1.0]) == pytest.approx(0.7, abs=0.01)

    def test_one_distribution(self):
        assert dedpul(RNG.normal(size=500), RNG.normal(size=500)) > 0.8

    def test_nothing_of_p_in_u(self):
        assert dedpul(RNG.normal(9, 0.1, 500), RNG.normal(0, 1, 500)) == 0

    def test_scale_and_order_of_rows_are_of_no_importance(self):
        positive, unlabeled = scores(0.4, 100, 200, 3)
        expected = dedpul(positive, unlabeled)
        assert dedpul(positive[::-1], np.sort(unlabeled)) == pytest.approx(expected, abs=1e-9)
        assert dedpul(5 * positive + 3, 5 * unlabeled + 3) == pytest.approx(expected, abs=1e-3)

    def test_scores_by_the_true_ratio(self):
        """Logits of the perfect scorer bend the axis; the answer stays."""
        x = scores(0.4, 1000, 2000, 0)
        logits = [np.log(norm.pdf(v, 3) / (0.4 * norm.pdf(v, 3) + 0.6 * norm.pdf(v))) for v in x]
        assert dedpul(*logits) == pytest.approx(0.4, abs=0.05)


@pytest.mark.parametrize(
    ("positive", "unlabeled"),
    [
        ([2.0], RNG.normal(size=50)),
        ([2.0], [2.0]),
        ([2.0], [1.0]),
        (RNG.normal(size=50), [2.0]),
        (np.zeros(9), np.zeros(12)),
        (np.ones(9), np.zeros(12)),
        (np.zeros(9), np.ones(12)),
        (RNG.integers(1, 3, 50), RNG.integers(0, 3, 90)),
        (np.append(RNG.normal(size=50), 1e12), RNG.normal(size=50)),
    ],
    ids=["one P", "one", "one each", "one U", "equal", "apart", "reversed", "ties", "outlier"],
)
def test_is_a_share_whatever_comes(positive, unlabeled):
    found = dedpul(positive, unlabeled)
    assert isinstance(found, float)
    assert 0 <= found <= 1


def test_scores_that_say_nothing_give_one():
    assert dedpul(np.zeros(50), np.zeros(70)) == 1.0


class TestErrors:
    def test_a_table(self):
        with pytest.raises(ValueError, match="unlabeled must be scores"):
            dedpul(np.zeros(3), np.zeros((5, 2)))

    @pytest.mark.parametrize(("positive", "unlabeled"), [([], [1.0]), ([1.0], [math.nan])])
    def test_empty_or_nan(self, positive, unlabeled):
        with pytest.raises(ValueError, match=r"must (have at least one row|be finite)"):
            dedpul(positive, unlabeled)
