"""Weights of members, and the link from scores to probabilities."""

import numpy as np
import pytest
from scipy.special import expit
from sklearn.metrics import roc_auc_score

from robustpu.pool.link import fit_link, linked
from robustpu.pool.weights import auc, greedy


def ones(y):
    return np.ones(len(y))


class TestAuc:
    def test_as_scikit_learn(self):
        rng = np.random.default_rng(0)
        score, y = rng.integers(0, 9, 80).astype(float), np.arange(80) < 30
        weight = rng.random(80)
        found = auc(score[y], score[~y], weight[y], weight[~y])
        assert found == pytest.approx(roc_auc_score(y, score, sample_weight=weight))


class TestGreedy:
    def test_a_member_that_adds_nothing_gets_what_shrinkage_gives(self):
        rng = np.random.default_rng(0)
        y = np.arange(3000) < 500
        Z = np.column_stack([2 * y + rng.normal(size=3000), rng.normal(size=3000)])
        weights = greedy(Z, y, ones(y), np.random.RandomState(0))
        assert weights.sum() == pytest.approx(1)
        assert weights[1] < 0.1

    def test_members_whose_errors_differ_share_the_weight(self):
        rng = np.random.default_rng(0)
        y = np.arange(3000) < 500
        Z = y[:, None] + rng.normal(size=(3000, 2))
        assert greedy(Z, y, ones(y), np.random.RandomState(0)).min() > 0.3

    def test_few_labels_stay_near_the_plain_average(self):
        rng = np.random.default_rng(0)
        y = np.arange(300) < 5
        Z = np.column_stack([3 * y + rng.normal(size=300), rng.normal(size=(300, 3))])
        weights = greedy(Z, y, ones(y), np.random.RandomState(0))
        assert weights.min() >= 20 / 25 / 4 - 1e-9

    def test_rows_with_zero_weight_do_not_count(self):
        rng = np.random.default_rng(0)
        y = np.tile(np.arange(1000) < 200, 2)
        good = 2 * y + rng.normal(size=2000)
        Z = np.column_stack([np.where(np.arange(2000) < 1000, good, -good), rng.normal(size=2000)])
        weights = greedy(Z, y, np.repeat([1.0, 0.0], 1000), np.random.RandomState(0))
        assert weights[0] > 0.8


class TestLink:
    @pytest.mark.parametrize("scenario", ["case-control", "single-set"])
    @pytest.mark.parametrize("prior", [0.03, 0.3])
    def test_probabilities_are_right(self, scenario, prior):
        """Scores of two normal distributions have a known posterior."""
        rng = np.random.default_rng(0)
        n_labeled, n = 2_000, 40_000
        truth = rng.random(n) < prior
        score = rng.normal(size=n) + 2 * truth
        if scenario == "case-control":
            drawn = 2 + rng.normal(size=n_labeled)
            score, truth = np.append(drawn, score), np.append(np.ones(n_labeled, bool), truth)
            y, share = np.arange(len(score)) < n_labeled, prior
        else:
            y = np.zeros(n, bool)
            y[rng.choice(np.flatnonzero(truth), int(0.4 * truth.sum()), replace=False)] = True
            share = truth[~y].mean()
        population = truth.mean() if scenario == "single-set" else share
        link = fit_link(score, y, ones(y), share, population, scenario)
        rate = population if scenario == "single-set" else share
        expected = expit(2 * score - 2 + np.log(rate / (1 - rate)))
        assert np.abs(linked(score, link) - expected).mean() < 0.02
        rows = slice(None) if scenario == "single-set" else ~y
        assert linked(score, link)[rows].mean() == pytest.approx(rate, rel=1e-6)

    def test_scores_that_say_nothing_get_the_prior(self):
        rng = np.random.default_rng(0)
        score, y = rng.normal(size=2000), np.arange(2000) < 500
        found = linked(score, fit_link(score, y, ones(y), 0.2, 0.2, "case-control"))
        assert found.std() < 0.05

    @pytest.mark.parametrize("scenario", ["case-control", "single-set"])
    def test_checked_rows_decide_where_labels_say_little(self, scenario):
        rng = np.random.default_rng(0)
        truth, y = np.arange(2000) < 400, np.arange(2000) < 15
        score = rng.normal(size=2000) + 2 * truth
        score /= score.std()
        share = truth[~y].mean()
        population = truth.mean() if scenario == "single-set" else share
        outcome = np.where(y | (rng.random(2000) < 0.5), np.nan, truth)
        given = score, y, ones(y), share, population, scenario
        slopes = [
            fit_link(*given, known)[0] for known in (None, outcome, np.where(y, np.nan, truth))
        ]
        assert abs(np.log(slopes[1] / slopes[2])) < 0.1
        reversed_outcome = np.where(y, np.nan, score < np.quantile(score, share))
        assert fit_link(*given, reversed_outcome)[0] < 0.2 * slopes[0]

    def test_weights_are_repeats(self):
        rng = np.random.default_rng(0)
        y = np.arange(300) < 100
        score = y + rng.normal(size=300)
        weight = rng.integers(1, 4, 300)
        link = fit_link(score, y, weight.astype(float), 0.3, 0.3, "case-control")
        again = fit_link(
            np.repeat(score, weight), np.repeat(y, weight), np.ones(weight.sum()), 0.3, 0.3,
            "case-control",
        )  # fmt: skip
        np.testing.assert_allclose(link, again, rtol=1e-4)
