"""A method of a researcher's: a class with a parameter and ``train``; all else is inherited."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.metrics import roc_auc_score

from robustpu import (
    NNPUClassifier,
    PNClassifier,
    PUClassifier,
    PUVotingClassifier,
    fit_together,
)
from robustpu.base.classifier import BasePUClassifier
from robustpu.base.neural import NeuralPUClassifier
from robustpu.fleet import cross_entropy
from robustpu.methods import composition
from robustpu.methods.minimize import minimize
from robustpu.training import fit as training
from robustpu.training import fleets as fleet_training
from robustpu.validation import parameters as declared
from robustpu.validation.parameters import number, param, parameters


@parameters
class SoftenedClassifier(NeuralPUClassifier):
    """P against U by cross-entropy of softened logits, z / softness."""

    softness: float = param(1.0, number(above=0), fleet=True)

    @classmethod
    def train(cls, fleet, settings):
        softness = settings[0].softness

        def risk(logit, batch):
            return cross_entropy(logit / softness, batch)

        return minimize(fleet, settings, risk)


def table(seed=0, n=120):
    """A third of the rows are labelled, and half of the others are positive."""
    rng = np.random.default_rng(seed)
    place = rng.permutation(n)
    X = rng.normal(np.where(place < 2 * n // 3, 1.2, -1.2)[:, None], 1.0, (n, 3))
    return X, (place < n // 3).astype(int)


def quick(cls=SoftenedClassifier, **changes):
    given = {"prior": 0.5, "epochs": 5, "lr": 1e-2, "threshold": "prior", "random_state": 0}
    return cls(**given | changes)


@pytest.fixture
def sizes(monkeypatch):
    """Numbers of members of the fleets that are trained."""
    seen = []

    class Recorded(fleet_training.Fleet):
        def __init__(self, pool, members, *rest):
            seen.append(len(members))
            super().__init__(pool, members, *rest)

    monkeypatch.setattr(fleet_training, "Fleet", Recorded)
    return seen


def test_it_is_a_method_like_any_other():
    X, y = table()
    model = quick(n_members=2).fit(X, y)
    assert roc_auc_score(y, model.predict_proba(X)[:, 1]) > 0.6
    assert len(model.best_epoch_) == 2
    assert len(model.history_) == 10
    with pytest.raises(ValueError, match="softness must be a number above 0; it is 0"):
        quick(softness=0).fit(X, y)


def test_without_softness_it_is_pn():
    X, y = table()
    one, other = (quick(cls).fit(X, y).probability_ for cls in (SoftenedClassifier, PNClassifier))
    np.testing.assert_allclose(one, other, atol=1e-5)


def test_together_with_others_it_is_as_alone(sizes):
    X, y = table()
    models = [
        quick(),
        quick(softness=3.0),
        quick(lr=3e-3, softness=3.0),
        quick(n_members=3, random_state=1),
        quick(NNPUClassifier),
    ]
    jobs = [(clone(model), *table(seed)) for seed in (0, 1) for model in models]
    together = fit_together(jobs)
    # A fleet a softness, and one of nnPU: rows and rates may differ in one, softness may not.
    assert sorted(sizes) == [2, 4, 8]
    for model, (given, X, y) in zip(together, jobs, strict=True):
        alone = clone(given).fit(X, y)
        np.testing.assert_allclose(model.probability_, alone.probability_, rtol=0, atol=1e-5)
        np.testing.assert_array_equal(model.best_epoch_, alone.best_epoch_)


@pytest.mark.parametrize("kind", ["pool", "networks"])
def test_a_fit_checks_each_parameter_once_and_clones_little(monkeypatch, kind):
    checks, clones, checked = [], [], []
    check_number, check_parameters = declared.check_number, training.check_parameters

    def counted(name, value, **bounds):
        checks.append(name)
        check_number(name, value, **bounds)

    def noted(estimator):
        checked.append(id(estimator))
        check_parameters(estimator)

    copy = clone.__globals__["_clone_parametrized"]

    def cloned(estimator, *, safe=True):
        # Not numbers and texts among the parameters, nor the learners of a bag, a fresh one a tree.
        if type(estimator).__module__.startswith("robustpu"):
            clones.append(type(estimator).__name__)
        return copy(estimator, safe=safe)

    monkeypatch.setattr(declared, "check_number", counted)
    monkeypatch.setattr(training, "check_parameters", noted)
    monkeypatch.setitem(clone.__globals__, "_clone_parametrized", cloned)
    X, y = table(n=60)
    if kind == "pool":
        model = PUClassifier(prior=0.4, random_state=0).fit(X, y)
        parts = [one for one in model.members_ if isinstance(one, BasePUClassifier)]
        assert len(parts) == 1
    else:
        networks = composition.networks(8, len(X), threshold="prior")
        model = PUVotingClassifier(networks, prior=0.5, threshold="prior", random_state=0)
        model.fit(X, y)
        parts = model.estimators_
    assert len(checks) < (20 if kind == "pool" else 400)
    assert len(clones) < 60
    # The ensemble and each of its classifiers, however many networks these have.
    assert sorted(checked) == sorted(map(id, [model, *parts]))
