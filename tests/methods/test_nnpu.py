"""nnPU: the non-negative risk."""

import numpy as np
import pytest
import torch
from gaussians import problem

from robustpu import NNPUClassifier, UPUClassifier
from robustpu.training import Job, fit_together


def nnpu(**changes):
    given = {"prior": 0.5, "epochs": 20, "lr": 3e-3, "batch_size": 64, "random_state": 0}
    given |= {"surrogate": "logistic", "weight_decay": 0.0}
    return NNPUClassifier(**{**given, **changes})


@pytest.mark.parametrize("prior", [0.2, 0.5, 0.7])
@pytest.mark.parametrize("surrogate", ["logistic", "sigmoid"])
def test_learns(prior, surrogate):
    pu = problem(prior)
    model = nnpu(prior=prior, surrogate=surrogate, n_members=5).fit(pu.X, pu.y)
    assert model.score(pu.X_test, pu.y_test) > 0.9


def test_single_set_asks_for_more_positives():
    pu = problem(0.3, scenario="single-set")
    model = nnpu(prior=pu.prior, scenario="single-set").fit(pu.X, pu.y)
    assert model.population_prior_ == pytest.approx(pu.population_prior)
    assert model.score(pu.X_test, pu.y_test) > 0.9
    other = nnpu(prior=pu.prior).fit(pu.X, pu.y)
    assert model.probability_.mean() > other.probability_.mean()


def test_the_prior_of_the_population_counts_weights():
    pu = problem(0.3, scenario="single-set")
    weight = np.where(pu.y == 1, 3.0, 1.0)
    given = {"prior": pu.prior, "scenario": "single-set", "epochs": 2}
    model = nnpu(**given).fit(pu.X, pu.y, sample_weight=weight)
    labelled, unlabeled = 3 * (pu.y == 1).sum(), (pu.y != 1).sum()
    expected = (labelled + pu.prior * unlabeled) / (labelled + unlabeled)
    assert model.population_prior_ == pytest.approx(expected)


def test_a_larger_prior_gives_larger_probabilities():
    pu = problem()
    low, high = (nnpu(prior=p, threshold="prior").fit(pu.X, pu.y) for p in (0.2, 0.8))
    assert low.probability_.mean() < high.probability_.mean() - 0.1


def test_is_upu_while_the_risk_of_negatives_may_fall_at_will():
    pu = problem()
    free = nnpu(beta=1e9).fit(pu.X, pu.y)
    same = {name: getattr(free, name) for name in ("prior", "epochs", "lr", "batch_size")}
    same |= {"surrogate": "logistic", "weight_decay": 0.0, "random_state": 0}
    unbiased = UPUClassifier(**same).fit(pu.X, pu.y)
    np.testing.assert_allclose(free.probability_, unbiased.probability_, atol=1e-6)


def test_ascends_and_does_not_clamp():
    """With gamma = 0 a step whose risk of the negatives is below zero would stand still."""
    pu = problem()
    rows = np.r_[np.flatnonzero(pu.y == 1)[:40], np.flatnonzero(pu.y == 0)[:80]]
    given = {"validation_fraction": 0, "lr": 1e-2, "epochs": 60, "threshold": "prior"}
    still, ascending = (nnpu(gamma=gamma, **given).fit(pu.X[rows], pu.y[rows]) for gamma in (0, 1))
    unlabeled = pu.y[rows] == 0
    # Ascent holds the answers on unlabelled rows back from 0, a clamp does not.
    assert ascending.probability_[unlabeled].mean() > still.probability_[unlabeled].mean() + 0.02


def test_balanced_by_the_share_of_the_population_that_is_given():
    """Only a share that differs from the prior changes the risk, and it asks for more positives."""
    pu = problem(0.1)
    plain, same, even = (
        nnpu(prior=pu.prior, balanced_prior=share).fit(pu.X, pu.y)
        for share in (None, pu.prior, 0.5)
    )
    np.testing.assert_array_equal(same.probability_, plain.probability_)
    assert even.probability_.mean() > plain.probability_.mean() + 0.05
    # The prior itself stays, and with it all that is evaluated.
    assert even.prior_ == even.population_prior_ == pu.prior
    recall = [model.predict(pu.X_test)[pu.y_test == 1].mean() for model in (plain, even)]
    assert recall[1] > recall[0]
    calibrated = nnpu(prior=pu.prior, balanced_prior=0.5, calibrate=True).fit(pu.X, pu.y)
    unlabeled = calibrated.probability_[pu.y != 1]
    assert unlabeled.mean() == pytest.approx(pu.prior, abs=0.03)


def test_members_of_a_fleet_may_be_balanced_differently():
    pu = problem(0.2)
    jobs = [Job(nnpu(prior=0.2, balanced_prior=share), pu.X, pu.y) for share in (None, 0.5)]
    for job, model in zip(jobs, fit_together(jobs), strict=True):
        alone = nnpu(prior=0.2, balanced_prior=model.balanced_prior).fit(pu.X, pu.y)
        np.testing.assert_allclose(model.probability_, alone.probability_, atol=1e-6)
        assert job.estimator.balanced_prior == model.balanced_prior


def test_a_surrogate_of_the_user():
    pu = problem()
    named = nnpu(surrogate="sigmoid").fit(pu.X, pu.y)
    given = nnpu(surrogate=lambda margin: torch.sigmoid(-margin)).fit(pu.X, pu.y)
    np.testing.assert_allclose(given.probability_, named.probability_, atol=1e-4)
    squared = nnpu(surrogate=lambda margin: (1 - margin).square() / 4).fit(pu.X, pu.y)
    assert squared.score(pu.X_test, pu.y_test) > 0.9


def test_the_best_epoch_is_kept():
    pu = problem()
    model = nnpu(validation_fraction=0.3).fit(pu.X, pu.y)
    scores = [entry["score"] for entry in model.history_]
    assert [entry["epoch"] for entry in model.history_] == list(range(1, 21))
    assert model.member_scores_[0] == pytest.approx(max(scores))


@pytest.mark.parametrize(
    ("changes", "match"),
    [
        ({"surrogate": "hinge"}, "unknown surrogate 'hinge'"),
        ({"surrogate": "logistc"}, "did you mean 'logistic'"),
        ({"beta": -0.1}, "beta must be a number at least 0"),
        ({"beta": None}, "beta must be"),
        ({"gamma": 1.1}, "gamma must be a number at least 0 and at most 1"),
        ({"gamma": -0.1}, "gamma must be"),
    ],
)
def test_what_is_refused(changes, match):
    with pytest.raises(ValueError, match=match):
        nnpu(**changes).fit(np.ones((4, 1)), [0, 0, 1, 1])
