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
    assert 0.2 < largest_prior(*scores(3.0), 0.9) < 0.25
    assert largest_prior(*scores(0.5), 0.9) > 0.4


def test_the_surer_the_larger():
    found = [largest_prior(*scores(3.0), level) for level in (0.5, 0.9, 0.99)]
    assert found == sorted(found)


def test_a_prior_that_is_right_is_refuted_in_one_of_twenty_problems():
    """Of classes that do not overlap, the worst case; of others more rarely."""
    rng = np.random.default_rng(0)
    is_refuted = {0.0: [], 2.0: []}
    for _ in range(80):
        hidden = rng.random(400) < 0.3
        positive, unlabeled = rng.random(25), rng.random(400)
        for overlap, found in is_refuted.items():
            rows = unlabeled - np.where(hidden, 0, 1 - overlap * unlabeled**9)
            found.append(largest_prior(positive, rows) < 0.3)
    assert 0.01 <= np.mean(is_refuted[0.0]) <= 0.1
    assert np.mean(is_refuted[2.0]) < np.mean(is_refuted[0.0])


def test_labels_that_prefer_easy_cases_refute_the_prior():
    rng = np.random.default_rng(0)
    truth = rng.random(4000) < 0.2
    score = rng.normal(2.5 * truth)
    for power, is_refuted in ((0, False), (3, True)):
        chance = truth * np.exp(power * (score - score.max()))
        labelled = rng.choice(4000, 200, replace=False, p=chance / chance.sum())
        rest = np.delete(np.arange(4000), labelled)
        assert (largest_prior(score[labelled], score[rest]) < truth[rest].mean()) == is_refuted


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
    assert "The prior of 30.0% and labels that are selected completely at random cannot" in told
