"""PUSB: nnPU with the logistic loss, and a quantile as the threshold."""

import numpy as np
import pytest
from gaussians import problem
from scipy.special import logit

from robustpu import NNPUClassifier, PUSBClassifier, fit_together


def pusb(**changes):
    given = {"prior": 0.5, "epochs": 20, "lr": 3e-3, "weight_decay": 0.0, "random_state": 0}
    return PUSBClassifier(**{**given, **changes})


@pytest.mark.parametrize("prior", [0.2, 0.5, 0.8])
def test_a_share_of_the_unlabelled_rows_as_large_as_the_prior_is_positive(prior):
    pu = problem(prior)
    model = pusb(prior=prior).fit(pu.X, pu.y)
    unlabeled = model.probability_[pu.y == 0]
    # By hand: the 400 prior largest are positive.
    expected = unlabeled >= np.sort(unlabeled)[::-1][round(400 * prior) - 1]
    assert np.array_equal(model.predict(pu.X)[pu.y == 0] == 1, expected)
    assert np.array_equal(unlabeled >= 0.5, expected)
    assert model.threshold_ == 0.5


def test_is_nnpu_but_for_the_threshold():
    pu = problem()
    model = pusb(validation_fraction=0).fit(pu.X, pu.y)
    same = {name: getattr(model, name) for name in ("prior", "epochs", "lr", "weight_decay")}
    plain = NNPUClassifier(surrogate="logistic", validation_fraction=0, random_state=0, **same)
    plain.fit(pu.X, pu.y)
    before = logit(model.probability_) - model.calibration_
    np.testing.assert_allclose(before, logit(plain.probability_))
    plain.set_params(threshold="prior").fit(pu.X, pu.y)
    assert -model.calibration_ == pytest.approx(logit(plain.threshold_))
    assert np.array_equal(model.predict(pu.X_test), plain.predict(pu.X_test))
    sigmoid = pusb(validation_fraction=0, surrogate="sigmoid").fit(pu.X, pu.y)
    assert not np.allclose(model.probability_, sigmoid.probability_, atol=1e-3)


def test_a_number_is_for_the_probabilities_of_nnpu():
    pu = problem()
    model = pusb(threshold=0.6).fit(pu.X, pu.y)
    same = {name: getattr(model, name) for name in ("prior", "epochs", "lr", "weight_decay")}
    plain = NNPUClassifier(surrogate="logistic", threshold=0.6, random_state=0, **same)
    plain.fit(pu.X, pu.y)
    assert (model.calibration_, model.threshold_) == (0, 0.6)
    np.testing.assert_allclose(model.probability_, plain.probability_)


@pytest.mark.filterwarnings("ignore::robustpu.CollapseWarning")
@pytest.mark.parametrize(("prior", "expected"), [(0.3, 0.0), (0.6, 0.7)])
def test_of_equal_rows_all_or_none_are_positive(prior, expected):
    """140 of 200 unlabelled rows are alike; the share that is nearer to the prior counts."""
    X = np.r_[np.ones(60), np.zeros(20), np.arange(200) < 140][:, None]
    y = np.r_[np.ones(80), np.zeros(200)].astype(int)
    for seed in range(3):
        model = pusb(prior=prior, lr=1e-2, random_state=seed).fit(X, y)
        assert model.predict(X)[80:].mean() == pytest.approx(expected)


def test_its_defaults_are_those_of_the_paper_where_they_can_be():
    model = PUSBClassifier()
    assert (model.surrogate, model.threshold, model.weight_decay) == ("logistic", "prior", 5e-3)
    assert (model.beta, model.gamma) == (0, 1)


def test_biased_labels():
    """Positives that look positive are labelled: the level of nnPU is wrong, its order is not."""
    trials = [problem(0.5, seed, labeling="pusb") for seed in range(3)]
    accuracy = [
        [model.score(pu.X_test, pu.y_test) for model, pu in zip(models, trials, strict=True)]
        for models in (
            fit_together((pusb(threshold=threshold), pu.X, pu.y) for pu in trials)
            for threshold in ("prior", 0.5)
        )
    ]
    assert min(accuracy[0]) > 0.9
    assert np.mean(accuracy[0]) > np.mean(accuracy[1]) + 0.01


def test_single_set():
    pu = problem(0.3, scenario="single-set")
    model = pusb(prior=pu.prior, scenario="single-set").fit(pu.X, pu.y)
    assert model.population_prior_ == pytest.approx(pu.population_prior)
    # The share is that of the unlabelled rows, not that of the population.
    assert (model.predict(pu.X)[pu.y == 0] == 1).mean() == pytest.approx(0.3, abs=1e-9)
    assert model.score(pu.X_test, pu.y_test) > 0.88
    other = pusb(prior=pu.prior).fit(pu.X, pu.y)
    assert model.probability_.mean() > other.probability_.mean()


@pytest.mark.parametrize(
    ("changes", "match"),
    [
        ({"threshold": "median"}, "threshold must be a number in .0, 1., 'prior'"),
        ({"threshold": 1.0}, "threshold must be"),
        ({"surrogate": "hinge"}, "unknown surrogate 'hinge'"),
        ({"beta": -0.1}, "beta must be a number at least 0"),
        ({"gamma": 1.1}, "gamma must be"),
        ({"prior": 1.0}, "prior must be a number between 0 and 1"),
    ],
)
def test_what_is_refused(changes, match):
    with pytest.raises(ValueError, match=match):
        pusb(**changes).fit(np.ones((4, 1)), [0, 0, 1, 1])


def test_the_threshold_sets_the_probabilities_already():
    X, y = np.arange(20.0)[:, None], np.arange(20) % 2
    with pytest.raises(ValueError, match="leave one of them out"):
        PUSBClassifier(prior=0.5, calibrate=True).fit(X, y)
    with pytest.raises(ValueError, match="calibrate='auto' would, too"):
        PUSBClassifier(prior=0.5, calibrate="auto").fit(X, y)
