"""The best-bin estimate of the class prior."""

import math

import numpy as np
import pytest

from robustpu.priors import best_bin


def literal(positive, unlabeled, delta=0.1, gamma=0.01):
    """argmin over t of q_U/q_P + (1 + gamma)/q_P (two widths), row by row."""
    n_positive, n_unlabeled = len(positive), len(unlabeled)
    width = math.sqrt(math.log(4 / delta) / (2 * n_unlabeled))
    width += math.sqrt(math.log(4 / delta) / (2 * n_positive))
    lowest, answer = math.inf, 0.0
    for threshold in sorted(set(unlabeled)):
        above_positive = sum(score >= threshold for score in positive)
        above_unlabeled = sum(score >= threshold for score in unlabeled)
        if above_positive < 2 or above_unlabeled < 2:
            continue
        q_positive, q_unlabeled = above_positive / n_positive, above_unlabeled / n_unlabeled
        bound = q_unlabeled / q_positive + (1 + gamma) / q_positive * width
        if bound < lowest:
            lowest, answer = bound, q_unlabeled / q_positive
    return min(1.0, answer)


def scores(prior, n_positive, n_unlabeled, seed, decimals=None):
    rng = np.random.default_rng(seed)
    hidden = round(prior * n_unlabeled)
    positive = rng.normal(2, 1, n_positive)
    unlabeled = np.concatenate([rng.normal(2, 1, hidden), rng.normal(0, 1, n_unlabeled - hidden)])
    if decimals is not None:
        positive, unlabeled = positive.round(decimals), unlabeled.round(decimals)
    return positive, rng.permutation(unlabeled)


class TestBestBin:
    @pytest.mark.parametrize("seed", range(4))
    @pytest.mark.parametrize("prior", [0.1, 0.5, 0.9])
    @pytest.mark.parametrize("decimals", [None, 1, 0], ids=["distinct", "some ties", "ties"])
    def test_is_the_formula(self, seed, prior, decimals):
        positive, unlabeled = scores(prior, 60, 150, seed, decimals)
        assert best_bin(positive, unlabeled) == pytest.approx(literal(positive, unlabeled))

    @pytest.mark.parametrize(("delta", "gamma"), [(0.01, 0.0), (0.5, 1.0)])
    def test_is_the_formula_at_other_confidence(self, delta, gamma):
        positive, unlabeled = scores(0.3, 80, 100, 7)
        expected = literal(positive, unlabeled, delta, gamma)
        assert best_bin(positive, unlabeled, delta=delta, gamma=gamma) == pytest.approx(expected)

    def test_by_hand(self):
        # At t = 3: all positives and 2 of 8 unlabelled rows are above; lower t only adds rows of U.
        unlabeled = np.array([3.0, 3.5, 0.0, 0.1, 0.2, 0.3, 0.4, 0.5])
        assert best_bin(np.array([3.0, 4.0, 5.0, 6.0]), unlabeled) == pytest.approx(2 / 8)

    def test_scores_that_say_nothing_give_one(self):
        assert best_bin(np.zeros(50), np.zeros(70)) == 1.0

    def test_never_above_one(self):
        rng = np.random.default_rng(0)
        assert best_bin(rng.normal(0, 1, 30), rng.normal(1, 1, 30)) == 1.0

    @pytest.mark.parametrize(
        ("positive", "unlabeled"), [([5.0], [1.0, 2.0]), ([1.0, 2.0], [5.0]), ([1, 2], [5, 6])]
    )
    def test_no_bin_with_two_of_each_gives_zero(self, positive, unlabeled):
        assert best_bin(np.array(positive), np.array(unlabeled)) == 0.0

    def test_depends_on_the_order_of_the_scores_alone(self):
        positive, unlabeled = scores(0.4, 100, 200, 3)
        expected = best_bin(positive, unlabeled)
        assert best_bin(np.exp(positive), np.exp(unlabeled)) == pytest.approx(expected)
        assert best_bin(positive[::-1], np.sort(unlabeled)) == pytest.approx(expected)
