"""Scores by forests, and their mean with those of networks."""

import numpy as np
import pytest
import torch

from robustpu.priors import Sample, crossfit, out_of_fold
from robustpu.priors import crossfit as room
from robustpu.priors.crossfit import by_trees, with_trees
from robustpu.priors.dedpul import dedpul
from robustpu.priors.estimates import votes


def rings(prior, n_positive=150, n_unlabeled=500, seed=0, noise=8):
    """Positives inside of a ring of negatives, and columns of noise."""
    rng = np.random.default_rng(seed)
    n, above = n_positive + n_unlabeled, n_positive + round(prior * n_unlabeled)
    x = rng.normal(size=(n, 2 + noise))
    length = np.linalg.norm(x[:, :2], axis=1)
    radius = np.where(np.arange(n) < above, rng.uniform(0, 1, n), rng.uniform(1.5, 3, n))
    x[:, :2] *= (radius / length)[:, None]
    return Sample(torch.tensor(x, dtype=torch.float32), np.arange(n) < n_positive, "mlp", seed)


def test_no_row_is_scored_by_a_forest_that_saw_it():
    """Rows of noise: a forest that had seen them would know which are labelled."""
    rng = np.random.default_rng(0)
    x = torch.tensor(rng.normal(size=(300, 5)), dtype=torch.float32)
    is_positive = np.arange(300) < 100
    score = by_trees(Sample(x, is_positive, "mlp", 0))
    above = np.mean(score[is_positive][:, None] > score[~is_positive])
    assert above == pytest.approx(0.5, abs=0.1)


def test_an_estimate_is_better_with_them(monkeypatch):
    """Thirty columns of noise are many for networks."""
    samples = [rings(0.3, seed=seed, noise=30) for seed in range(3)]
    both = out_of_fold(samples)
    monkeypatch.setattr(crossfit, "with_trees", lambda sample, networks, tick: networks)
    errors = [
        np.mean([abs(prior_of(*pair) - 0.3) for pair in zip(samples, scores, strict=True)])
        for scores in (both, out_of_fold(samples))
    ]
    assert errors[0] < 0.1
    assert errors[0] < 0.7 * errors[1]


def prior_of(sample, score):
    """By DEDPUL: where scores tell little, the cautious estimate does not follow them."""
    return dedpul(score[sample.is_positive], score[~sample.is_positive])


def test_both_have_the_same_deviation():
    sample = rings(0.3)
    networks = np.random.default_rng(0).normal(0, 7, 650)
    found = 2 * with_trees(sample, networks) - networks
    assert found.std() == pytest.approx(7, rel=0.05)
    assert np.corrcoef(found, by_trees(sample))[0, 1] == pytest.approx(1)


def test_scores_without_spread_add_nothing():
    x = torch.zeros((40, 2))
    networks = np.arange(40.0)
    found = with_trees(Sample(x, np.arange(40) < 10, "mlp", 0), networks)
    np.testing.assert_allclose(np.diff(found), 0.5)


@pytest.mark.parametrize("shape", [(40, 257), (40, 1, 4, 4)])
def test_pictures_and_wide_tables_have_none(shape):
    networks = np.arange(40.0)
    sample = Sample(torch.zeros(shape), np.arange(40) < 10, "mlp", 0)
    assert with_trees(sample, networks) is networks


def test_of_many_rows_a_forest_sees_some_of_each(monkeypatch):
    monkeypatch.setattr(room, "MOST", 20)
    seen = []

    class Spy(room.RandomForestClassifier):
        def fit(self, X, y):
            seen.append((len(y), int(y.sum())))
            return super().fit(X, y)

    monkeypatch.setattr(room, "RandomForestClassifier", Spy)
    by_trees(rings(0.3))
    assert seen == [(40, 20)] * 15


@pytest.mark.parametrize("copies", ["positives", "unlabelled rows", "all"])
def test_copies_of_rows_do_not_give_the_label_away(copies):
    sample = rings(0.3)
    rows, y = np.arange(650), sample.is_positive
    chosen = {"positives": y, "unlabelled rows": ~y, "all": rows >= 0}[copies]
    some = np.flatnonzero(chosen)[::5]
    index = np.concatenate([np.repeat(some, 5), np.flatnonzero(~chosen)])
    many = Sample(sample.x[index], y[index], "mlp", 0)
    score = out_of_fold([many])[0]
    parts = score[many.is_positive], score[~many.is_positive]
    # Labelled rows that a forest recognises would stand out, and leave no room for others.
    assert np.median(votes(*parts)) > 0.15


def test_one_row_many_times():
    x = torch.ones((60, 2))
    x[20:, 0] = torch.linspace(2, 3, 40)
    score = by_trees(Sample(x, np.arange(60) < 20, "mlp", 0))
    np.testing.assert_allclose(score[:20], score[0])
    assert np.isfinite(score).all()


def test_progress_counts_the_turns_of_forests():
    told = []
    out_of_fold([rings(0.3)], lambda done, total: told.append((done, total)))
    assert told[-1] == (23, 23)
    assert [done for done, _ in told] == list(range(1, 24))
