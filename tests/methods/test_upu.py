"""uPU: the unbiased risk."""

import numpy as np
import pytest
import torch
from gaussians import problem

from robustpu import UPUClassifier


def upu(**changes):
    given = {"prior": 0.5, "epochs": 20, "lr": 3e-3, "batch_size": 64, "random_state": 0}
    given |= {"surrogate": "logistic", "weight_decay": 0.0}
    return UPUClassifier(**{**given, **changes})


@pytest.mark.parametrize("prior", [0.2, 0.5, 0.7])
@pytest.mark.parametrize("surrogate", ["logistic", "sigmoid"])
def test_learns(prior, surrogate):
    pu = problem(prior)
    model = upu(prior=prior, surrogate=surrogate).fit(pu.X, pu.y)
    assert model.score(pu.X_test, pu.y_test) > 0.88


def test_overfits_without_selection():
    """The risk is unbounded below: a long training drives the logits apart without end."""
    pu = problem()
    # A few rows, a wide network and many steps, and the last epoch kept.
    rows = np.r_[np.flatnonzero(pu.y == 1)[:30], np.flatnonzero(pu.y == 0)[:60]]
    given = {"validation_fraction": 0, "lr": 1e-2, "threshold": "prior"}
    short = upu(epochs=5, **given).fit(pu.X[rows], pu.y[rows])
    long = upu(epochs=200, **given).fit(pu.X[rows], pu.y[rows])
    spread = [np.abs(model.decision_function(pu.X[rows])).max() for model in (short, long)]
    assert spread[1] > 5 * spread[0]
    assert np.isfinite(long.predict_proba(pu.X_test)).all()


def test_the_scenario_counts():
    pu = problem()
    single = upu(scenario="single-set", threshold="prior").fit(pu.X, pu.y)
    control = upu(threshold="prior").fit(pu.X, pu.y)
    assert single.population_prior_ == pytest.approx((150 + 200) / 550)
    assert single.probability_.mean() > control.probability_.mean()


def test_a_surrogate_of_the_user():
    pu = problem()
    named = upu(surrogate="sigmoid").fit(pu.X, pu.y)
    given = upu(surrogate=lambda margin: torch.sigmoid(-margin)).fit(pu.X, pu.y)
    np.testing.assert_allclose(given.probability_, named.probability_, atol=1e-4)


def test_an_unknown_surrogate():
    with pytest.raises(ValueError, match="unknown surrogate 'hinge'"):
        upu(surrogate="hinge").fit(np.ones((4, 1)), [0, 0, 1, 1])
