"""Differences between two rankings of the same rows."""

import numpy as np
import pytest

from robustpu.metrics import auc, auc_difference


def rankings(random, n_positive=120, n_unlabeled=600, hidden=90, gain=0.3):
    """Labels, and two rankings of correlated rows of which the first is better."""
    n = n_positive + n_unlabeled
    y = np.arange(n) < n_positive
    truth = np.arange(n) < n_positive + hidden
    common = random.normal(size=n)
    first = common + (1 + gain) * truth + random.normal(0, 0.5, n)
    return y, first, common + truth + random.normal(0, 0.5, n)


def test_the_value_is_the_difference_of_both_areas():
    y, first, second = rankings(np.random.default_rng(0))
    found = auc_difference(y, first.round(1), second.round(1))
    # With a share of nearly nothing the corrected area is the plain one.
    areas = [auc(y, score.round(1), prior=1e-9) for score in (first, second)]
    assert found.value == pytest.approx(areas[0] - areas[1], abs=1e-6)
    other = auc_difference(y, second.round(1), first.round(1))
    assert (other.value, other.low, other.high) == pytest.approx(
        (-found.value, -found.high, -found.low)
    )


def test_its_sign_needs_no_share_of_positives():
    y, first, second = rankings(np.random.default_rng(1))
    difference = auc_difference(y, first, second).value
    corrected = auc(y, first, prior=0.15) - auc(y, second, prior=0.15)
    assert difference == pytest.approx(corrected * 0.85)


def test_intervals_hold_the_truth_as_often_as_they_say():
    random = np.random.default_rng(2)
    found = [auc_difference(*rankings(random)) for _ in range(200)]
    truth = auc_difference(*rankings(random, 20_000, 100_000, 15_000)).value
    held = np.mean([each.low <= truth <= each.high for each in found])
    assert 0.84 <= held <= 0.96
    # Paired: far narrower than as if the rankings were of different rows.
    widths = np.array([each.high - each.low for each in found])
    assert widths.mean() < 0.1


def test_equal_rankings_do_not_differ():
    y = np.arange(50) < 10
    score = np.random.default_rng(3).normal(size=50)
    found = auc_difference(y, score, score)
    assert (found.value, found.low, found.high) == (0, 0, 0)
