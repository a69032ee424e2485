"""Room in intervals for the difference between fits."""

from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest
from scipy.stats import norm
from scipy.stats import t as student

from robustpu import metrics
from robustpu.metrics import folds
from robustpu.metrics.folds import fits_apart, spread
from robustpu.metrics.ranking import lift_at_k, prior_of_lift


def evaluated(shifts, random, n_labelled=200, n=1000):
    """Rows of five folds, and the scores of a fit without each: the noise of a row is its own."""
    truth = np.r_[np.ones(n_labelled, bool), random.random(n) < 0.2]
    y, fold = np.arange(len(truth)) < n_labelled, random.permutation(len(truth)) % 5
    scores = random.normal(size=len(truth)) + truth * shifts[:, None]
    found = metrics.evaluate(y, scores[fold, np.arange(len(y))], prior=0.2, threshold=0.7)
    return found, y, scores, fold


def between_fits(found, *fits):
    return folds.between_fits(found, fits_apart(found.sample, *fits))


def test_the_spread_is_the_deviation_by_differences():
    """By hand: of all pairs of 1, 2, 3 the differences are 1, 1, 2, and the variance is 1."""
    assert spread([1, 1, 2]) == pytest.approx(1)


def test_fits_that_differ_widen_every_interval_that_they_move():
    given = evaluated(np.array([0.5, 1.0, 1.5, 2.0, 2.5]), np.random.default_rng(0))
    found, wider = given[0], between_fits(*given)
    assert list(wider) == list(found)
    for name in ("recall", "precision", "accuracy", "auc", "average_precision"):
        assert wider[name].value == found[name].value
        assert wider[name].high - wider[name].low > 1.2 * (found[name].high - found[name].low)
    bounds = {"lee_liu": 5, "lift_at_k": 5, "positives_at_k": found.sample.k}
    for name, estimate in wider.items():
        assert 0 <= estimate.low <= estimate.value <= estimate.high <= bounds.get(name, 1) + 1e-9


def test_the_room_of_the_recall_by_its_definition():
    found, y, scores, fold = evaluated(
        np.array([1.0, 1.2, 1.4, 1.6, 1.8]), np.random.default_rng(4), 400
    )
    squares = []
    for pair in combinations(range(5), 2):
        rows = y & ~np.isin(fold, pair)
        recalls = [np.mean(scores[fit, rows] >= 0.7) for fit in pair]
        squares.append((recalls[0] - recalls[1]) ** 2)
    extra = student.ppf(0.95, 4) * (1.2 * np.mean(squares) / 2) ** 0.5
    estimate, wider = found["recall"], between_fits(found, y, scores, fold)["recall"]
    assert wider.low == pytest.approx(
        estimate.value - np.hypot(estimate.value - estimate.low, extra)
    )
    assert wider.high == pytest.approx(
        estimate.value + np.hypot(estimate.high - estimate.value, extra)
    )


def test_fits_that_are_alike_are_left_as_they_are():
    given = evaluated(np.full(5, 1.5), np.random.default_rng(1))
    assert dict(between_fits(*given)) == dict(given[0])


def test_two_folds_leave_no_rows_to_compare_on():
    found, y, scores, fold = evaluated(np.full(5, 1.5), np.random.default_rng(2))
    assert fits_apart(found.sample, y, scores[:2], fold % 2) is None


def test_many_rows_are_thinned_and_labelled_ones_kept(monkeypatch):
    given = evaluated(np.array([0.5, 1.0, 1.5, 2.0, 2.5]), np.random.default_rng(5), 400, 4000)
    whole = between_fits(*given)
    monkeypatch.setattr(folds, "COMPARED", 1000)
    fewer = between_fits(*given)
    assert fewer["recall"] == whole["recall"]
    assert fewer["auc"].low == pytest.approx(whole["auc"].low, abs=0.02)


def test_the_interval_holds_what_another_fit_would_have():
    random = np.random.default_rng(3)
    is_covered = []
    for _ in range(60):
        shifts = random.normal(1.5, 0.4, 6)
        given = evaluated(shifts[:5], random, 200, 500)
        true = norm.cdf(shifts[5] / 2**0.5)
        both = given[0]["auc"], between_fits(*given)["auc"]
        is_covered.append([estimate.low <= true <= estimate.high for estimate in both])
    without, with_room = np.mean(is_covered, 0)
    assert without < 0.7
    assert with_room > 0.8


def test_room_cuts_off_no_lift_of_an_unknown_share():
    found, *rest = evaluated(np.array([0.5, 1.0, 1.5, 2.0, 2.5]), np.random.default_rng(4))
    sample = replace(found.sample, prior=0.9, k=10)
    lift = lift_at_k(replace(sample, prior=prior_of_lift(sample)))
    unknown = replace(found, sample=sample, estimates={"lift_at_k": lift}, is_prior_known=False)
    got = between_fits(unknown, *rest)["lift_at_k"]
    assert got.low <= lift.low < lift.value < lift.high <= got.high
