"""Elkan and Noto's estimate of the class prior."""

import math

import numpy as np
import pytest
from scipy.special import logit
from scipy.stats import norm

from robustpu.priors.elkan_noto import elkan_noto
from robustpu.priors.inputs import check_rows

RNG = np.random.default_rng(0)


def exact_logits(prior, n_positive, n_unlabeled, seed, gap=3.0):
    """Logits of the perfect balanced classifier: log p_P(x) - log p_U(x)."""
    rng = np.random.default_rng(seed)
    hidden = round(prior * n_unlabeled)
    x = rng.normal(gap, 1, n_positive + n_unlabeled)
    x[n_positive + hidden :] -= 2 * gap
    above, below = norm.pdf(x, gap), norm.pdf(x, -gap)
    score = np.log(above / (prior * above + (1 - prior) * below))
    return score[:n_positive], score[n_positive:]


class TestElkanNoto:
    def test_by_hand(self):
        positive, unlabeled = logit([0.7, 0.9]), logit([0.2, 0.4, 0.95])
        assert elkan_noto(positive, unlabeled) == pytest.approx(0.2 / 0.8)
        # The part of g that falls to P is 0.8 / (0.8 + 1.55 / 3).
        ratio = elkan_noto(positive, unlabeled, share="ratio")
        assert ratio == pytest.approx((1.55 / 3) / 0.8)
        assert elkan_noto(positive, unlabeled, share="max") == pytest.approx(0.05 / 0.95)

    def test_own_share(self):
        assert elkan_noto([0.0], [0.0], share=lambda p, u: 0.625) == pytest.approx(0.6)

    @pytest.mark.parametrize("share", ["mean", "ratio", "max"])
    @pytest.mark.parametrize("prior", [0.1, 0.4, 0.7])
    def test_calibrated_scores_of_classes_apart(self, prior, share):
        """The "ratio" counts what g is on negatives too; the others are right to within 0.02."""
        found = [elkan_noto(*exact_logits(prior, 1000, 2000, seed), share=share) for seed in (0, 1)]
        np.testing.assert_allclose(found, prior, atol=0.05 if share == "ratio" else 0.02)

    def test_overlap_raises_it(self):
        assert elkan_noto(*exact_logits(0.3, 1000, 2000, 0, gap=0.7)) > 0.4

    def test_order_of_rows_is_of_no_importance(self):
        positive, unlabeled = exact_logits(0.4, 100, 200, 3)
        assert elkan_noto(positive[::-1], unlabeled[::-1]) == elkan_noto(positive, unlabeled)


@pytest.mark.parametrize("share", ["mean", "ratio", "max"])
@pytest.mark.parametrize(
    ("positive", "unlabeled"),
    [
        ([2.0], RNG.normal(size=50)),
        (RNG.normal(size=50), [2.0]),
        (np.zeros(9), np.zeros(12)),
        (np.full(9, -800.0), np.full(8, -900.0)),
        (np.full(9, 800.0), np.full(8, 900.0)),
        (RNG.normal(3, 1, 99), RNG.normal(3, 1, 99)),
        (RNG.normal(3, 1, 99), RNG.normal(-3, 1, 99)),
        (RNG.integers(1, 3, 50), RNG.integers(0, 3, 90)),
    ],
    ids=["one P", "one U", "equal", "low", "high", "all positive", "all negative", "ties"],
)
def test_is_a_share_whatever_comes(positive, unlabeled, share):
    found = elkan_noto(positive, unlabeled, share=share)
    assert isinstance(found, float)
    assert 0 <= found <= 1


class TestErrors:
    def test_a_table(self):
        message = r"positive must be scores, shape \(rows,\); its shape is \(5, 2\).* out of fold"
        with pytest.raises(ValueError, match=message):
            elkan_noto(np.zeros((5, 2)), np.zeros(3))

    @pytest.mark.parametrize("bad", [math.nan, math.inf])
    def test_not_finite(self, bad):
        message = "unlabeled must be finite; 1 of its 3 values are NaN or infinite. Impute"
        with pytest.raises(ValueError, match=message):
            elkan_noto([1.0], [1.0, bad, 0.0])

    def test_empty(self):
        with pytest.raises(ValueError, match="positive must have at least one row"):
            elkan_noto([], [1.0])
        with pytest.raises(ValueError, match=r"its shape is \(3, 0\)"):
            check_rows("unlabeled", np.empty((3, 0)))

    def test_unknown_share(self):
        with pytest.raises(ValueError, match="unknown share 'means': did you mean 'mean'"):
            elkan_noto([1.0], [1.0], share="means")
