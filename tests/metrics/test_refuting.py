"""The largest prior that held-out scores allow."""

import numpy as np
import pytest

from robustpu import metrics
from robustpu.metrics import largest_prior


def scores(gap, n_positive=300, hidden=600, negative=2400):
    random = np.random.default_rng(0)
    positive = random.normal(gap, 1, n_positive)
    return positive, random.normal(np.repeat([gap, 0.0], [hidden, negative]), 1)


def test_it_is_above_the_truth_and_near_it_where_classes_part():
    # 600 of the 3,000 unlabelled rows.
    assert 0.2 < largest_prior(*scores(3.0), 0.9) < 0.24
    assert largest_prior(*scores(0.5), 0.9) > 0.4


def test_the_surer_the_larger():
    found = [largest_prior(*scores(3.0), level) for level in (0.5, 0.9, 0.99)]
    assert found == sorted(found)


@pytest.mark.parametrize("sizes", [(0, 5), (5, 0)])
def test_without_rows_all_is_allowed(sizes):
    assert largest_prior(np.zeros(sizes[0]), np.zeros(sizes[1])) == 1


def test_a_row_of_weight_two_is_two_rows_but_for_what_it_tells():
    positive, unlabeled = scores(3.0)
    twice = np.where(unlabeled > 1.5, 2.0, 1.0)
    weighed = largest_prior(positive, unlabeled, weight_unlabeled=twice)
    repeated = largest_prior(positive, np.repeat(unlabeled, twice.astype(int)))
    assert repeated < weighed < 1.05 * repeated


def test_an_evaluation_by_too_high_a_prior_says_so():
    positive, unlabeled = scores(3.0)
    y = np.repeat([1, 0], [len(positive), len(unlabeled)])
    score = np.concatenate([positive, unlabeled])
    assert "allow at most" not in str(metrics.evaluate(y, score, prior=0.2, threshold=1.5))
    told = str(metrics.evaluate(y, score, prior=0.3, threshold=1.5))
    assert f"allow at most {largest_prior(positive, unlabeled):.1%} positives" in told
    assert "the prior says 30.0%" in told
