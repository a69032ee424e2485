"""PN: unlabelled rows taken as negatives."""

import numpy as np
import pytest
from gaussians import problem
from sklearn.linear_model import LogisticRegression

from robustpu import CollapseWarning, PNClassifier


def pn(**changes):
    given = {"prior": 0.5, "epochs": 20, "lr": 3e-3, "batch_size": 64, "random_state": 0}
    given |= {"weight_decay": 0.0}
    return PNClassifier(**{**given, **changes})


def test_learns_if_few_positives_are_hidden():
    pu = problem(prior=0.1, n_positive=300)
    model = pn(prior=0.1).fit(pu.X, pu.y)
    assert model.score(pu.X_test, pu.y_test) > 0.9


def test_beats_chance_with_the_threshold_of_the_prior():
    pu = problem()
    assert pn(threshold="prior").fit(pu.X, pu.y).score(pu.X_test, pu.y_test) > 0.88


def test_misses_hidden_positives():
    pu = problem()
    with pytest.warns(CollapseWarning, match=r"only .* but the ranking is sound"):
        model = pn().fit(pu.X, pu.y)
    assert model.predict(pu.X_test[pu.y_test == 1]).mean() < 0.4


def test_linear_is_logistic_regression():
    """With enough steps the network finds what a solver finds."""
    pu = problem(n_positive=400, n_unlabeled=400, n=6000)
    model = pn(
        module="linear", epochs=60, lr=1e-2, batch_size=1000, validation_fraction=0, threshold=0.4
    ).fit(pu.X, pu.y)
    model.set_params(epochs=300).fit(pu.X, pu.y)
    solver = LogisticRegression(C=1e6).fit(pu.X, pu.y)
    np.testing.assert_allclose(
        model.predict_proba(pu.X_test), solver.predict_proba(pu.X_test), atol=0.01
    )


def test_the_prior_is_not_used_in_training():
    pu = problem()
    given = pn(validation_fraction=0, threshold="prior")
    one = given.fit(pu.X, pu.y).probability_
    np.testing.assert_array_equal(one, given.set_params(prior=0.2).fit(pu.X, pu.y).probability_)


def test_history():
    pu = problem(n_positive=300, prior=0.1)
    model = pn(prior=0.1, n_members=2).fit(pu.X, pu.y)
    assert [set(entry) for entry in model.history_] == [{"member", "epoch", "score"}] * 40
