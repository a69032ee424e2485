"""Shifts of log-odds, and boundaries: formulas, and that nothing needs all rows at once."""

from itertools import pairwise

import numpy as np
import pytest
from scipy.special import expit

from robustpu.calibration import (
    among_unlabeled,
    boundary,
    log_odds,
    matching_shift,
    prior_shift,
)


class TestBoundary:
    @pytest.mark.parametrize("share", [0.01, 0.3, 0.5, 0.77, 0.99])
    @pytest.mark.parametrize("digits", [1, 5])
    def test_no_other_gap_is_nearer_to_the_share(self, share, digits):
        rng = np.random.default_rng(0)
        score, weight = rng.normal(size=60).round(digits), rng.uniform(0, 2, 60)
        values = sorted(set(score.tolist()))
        gaps = [(low + high) / 2 for low, high in pairwise(values)]
        errors = [abs(weight[score > gap].sum() / weight.sum() - share) for gap in gaps]
        assert boundary(score, share, weight) == pytest.approx(gaps[int(np.argmin(errors))])

    def test_of_equal_scores(self):
        assert boundary(np.full(4, 2.5), 0.3, np.ones(4)) == 2.5


class TestMatchingShift:
    @pytest.mark.parametrize("share", [0.001, 0.3, 0.9])
    def test_the_mean_probability_is_the_share(self, share):
        rng = np.random.default_rng(0)
        odds, weight = rng.normal(0, 8, 100), rng.uniform(0, 3, 100)
        shift = matching_shift(odds, share, weight)
        mean = (weight * expit(odds + shift)).sum() / weight.sum()
        assert mean == pytest.approx(share, rel=1e-6)

    def test_one_row(self):
        assert matching_shift(np.array([5.0]), 0.5, np.ones(1)) == pytest.approx(-5)

    def test_of_certain_rows(self):
        odds = log_odds(np.array([0.0, 0.0, 1.0, 1.0]))
        shift = matching_shift(odds, 0.25, np.ones(4))
        np.testing.assert_allclose(expit(odds + shift), [0, 0, 0.5, 0.5], atol=1e-9)


def test_log_odds():
    probability = np.array([1e-300, 0.2, 0.5, 1 - 1e-9, 1.0])
    odds = log_odds(probability)
    assert np.isfinite(odds).all()
    np.testing.assert_allclose(odds[1:3], [np.log(0.25), 0])
    assert np.all(np.diff(odds) > 0)


class TestShift:
    def test_among_unlabeled_is_bayes(self):
        # 100 positives of which 60 are labelled, and 100 negatives, all at one x.
        odds = among_unlabeled(np.log(100 / 100), 40 / 140, 100 / 200)
        assert np.exp(odds) == pytest.approx(40 / 100)

    @pytest.mark.parametrize(("prior", "population"), [(0.3, 0.3), (0.2, 0.5)])
    def test_the_mean_among_the_unlabelled_is_the_prior(self, prior, population):
        odds = np.random.default_rng(0).normal(0, 2, 200)
        weight = np.random.default_rng(1).uniform(0, 2, 200)
        shift = prior_shift(odds, prior, population, weight)
        gap = np.log(prior / (1 - prior)) - np.log(population / (1 - population))
        mean = np.average(1 / (1 + np.exp(-(odds + shift + gap))), weights=weight)
        assert mean == pytest.approx(prior)

    def test_a_histogram_does(self):
        odds = np.random.default_rng(0).normal(0, 2, 20_000)
        counts, edges = np.histogram(odds, 400)
        middle = (edges[1:] + edges[:-1]) / 2
        found = prior_shift(middle, 0.3, 0.3, counts.astype(float))
        assert found == pytest.approx(prior_shift(odds, 0.3, 0.3, np.ones(20_000)), abs=1e-3)
