"""Weights from log-odds: formulas, sides, and that nothing needs all rows at once."""

import numpy as np
import pytest

from robustpu import hardness, weighting
from robustpu.methods.reweigh import Rule, among_unlabeled, factors, prior_shift, weigh


def rule(**changes):
    given = {
        "hardness": hardness.logistic,
        "weighting": weighting.welsch,
        "temperature": (2.0, 0.5),
        "threshold": (0.7, 1.3),
    }
    return Rule(**given | changes)


def rows(n=40, seed=0):
    rng = np.random.default_rng(seed)
    return rng.normal(0, 2, n), rng.random(n) < 0.4


class TestWeigh:
    def test_formulas_of_both_sides(self):
        odds, positive = rows()
        found = weigh(odds, positive, rule())
        for place in range(len(odds)):
            margin = odds[place] if positive[place] else -odds[place]
            tau, threshold = (2.0, 0.7) if positive[place] else (0.5, 1.3)
            expected = np.log1p(np.exp(-margin / tau))
            assert found[0][place] == pytest.approx(expected)
            assert found[1][place] == pytest.approx(np.exp(-expected / threshold**2))

    def test_welsch_at_one_is_the_probability(self):
        odds, positive = rows()
        plain = rule(temperature=(1.0, 1.0), threshold=(1.0, 1.0))
        probability = 1 / (1 + np.exp(-odds))
        expected = np.where(positive, probability, 1 - probability)
        np.testing.assert_allclose(weigh(odds, positive, plain)[1], expected)

    @pytest.mark.parametrize("name", weighting.WEIGHTING)
    def test_block_by_block_is_the_same(self, name):
        given, low = rows(), 0.5 if name != "l1l2" else 2.0
        own = rule(weighting=weighting.WEIGHTING[name], threshold=(low, low))
        whole = weigh(*given, own)
        blocks = [weigh(*(part[at : at + 7] for part in given), own) for at in range(0, 40, 7)]
        for place in (0, 1):
            np.testing.assert_array_equal(
                np.concatenate([own[place] for own in blocks]), whole[place]
            )

    def test_no_rows(self):
        empty = np.zeros(0), np.zeros(0, dtype=bool)
        assert [len(own) for own in weigh(*empty, rule())] == [0, 0]

    def test_leaves_what_it_was_given(self):
        given = rows()
        copies = [own.copy() for own in given]
        weigh(*given, rule())
        for own, copy in zip(given, copies, strict=True):
            np.testing.assert_array_equal(own, copy)


class TestShift:
    def test_among_unlabeled_is_bayes(self):
        # 100 positives of which 60 are labelled, and 100 negatives, all at one x.
        odds = among_unlabeled(np.log(100 / 100), 40 / 140, 100 / 200)
        assert np.exp(odds) == pytest.approx(40 / 100)

    @pytest.mark.parametrize(("prior", "population"), [(0.3, 0.3), (0.2, 0.5)])
    def test_the_mean_among_the_unlabelled_is_the_prior(self, prior, population):
        odds, _ = rows(200)
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


def test_factors():
    for masses, share in [((1.0, 3.0), 0.5), ((2.0, 0.5), 0.1)]:
        positive, negative = (a * b for a, b in zip(masses, factors(*masses, share), strict=True))
        assert positive + negative == pytest.approx(sum(masses))
        assert positive / (positive + negative) == pytest.approx(share)
