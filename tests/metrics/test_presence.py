"""Boyce index and TSS: known values, chance, and the truth of simulated absences."""

import numpy as np
import pytest

from robustpu import metrics


def survey(gap, prior=0.2, seed=0, n_positive=400, n_unlabeled=4000):
    rng = np.random.default_rng(seed)
    truth = np.r_[np.ones(n_positive, bool), rng.random(n_unlabeled) < prior]
    score = 1 / (1 + np.exp(-rng.normal(gap * truth)))
    return np.arange(len(truth)) < n_positive, score, truth


def test_a_score_that_tells_has_an_index_near_1_and_its_reverse_near_minus_1():
    y, score, _ = survey(1.5)
    assert metrics.boyce_index(y, score) > 0.95
    assert metrics.boyce_index(y, 1 - score) == pytest.approx(-metrics.boyce_index(y, score))


def test_it_is_about_0_by_chance():
    found = [metrics.boyce_index(*survey(0, seed=seed)[:2]) for seed in range(30)]
    assert abs(np.mean(found)) < 0.25


def test_windows_by_hand():
    """Two windows: 1 of 4 sightings and 3 of 4 background points, then 3 and 1."""
    score = np.array([0.1, 0.7, 0.8, 1.0, 0.0, 0.2, 0.3, 0.9])
    y = np.arange(8) < 4
    assert metrics.boyce_index(y, score, width=0.5, windows=2) == pytest.approx(1)
    assert metrics.boyce_index(y, -score, width=0.5, windows=2) == pytest.approx(-1)
    assert metrics.boyce_index(y, np.ones(8)) == 0


def test_labels_may_have_any_name():
    y, score, _ = survey(1)
    seen = np.where(y, "seen", "background")
    assert metrics.boyce_index(seen, score, pos_label="seen") == metrics.boyce_index(y, score)


@pytest.mark.parametrize(
    ("score", "message"),
    [(np.r_[np.zeros(9), np.nan], "NaN"), (np.r_[np.zeros(9), np.inf], "infinite numbers"),
     (np.zeros(5), "score has 5 rows but y has 10")],
)  # fmt: skip
def test_scores_that_are_none_are_refused(score, message):
    with pytest.raises(ValueError, match=message):
        metrics.boyce_index(np.arange(10) < 3, score)


def test_the_skill_is_that_of_true_absences():
    found, true = [], []
    for seed in range(20):
        y, score, truth = survey(1.5, seed=seed)
        found.append(metrics.tss(y, score, prior=0.2, threshold=0.7))
        above, new = score >= 0.7, ~y
        true.append(above[new & truth].mean() - above[new & ~truth].mean())
    assert np.mean(found) == pytest.approx(np.mean(true), abs=0.02)
    assert np.mean(true) > 0.3
