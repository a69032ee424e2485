"""What stands beside the networks of Robust-PU."""

import numpy as np
import pytest
from sklearn.base import clone

from robustpu import (
    ElkanNotoClassifier,
    NNPUClassifier,
    P3MixCClassifier,
    PUExtraTreesClassifier,
    RobustPUClassifier,
    datasets,
    fit_together,
    make_pu,
)
from robustpu.modules import mlp

QUICK = {
    "n_members": 4,
    "max_rounds": 2,
    "epochs": 3,
    "pretrain": NNPUClassifier(epochs=10),
    "prior": 0.3,
    "random_state": 0,
    "validation_fraction": 0.25,
}


@pytest.fixture(scope="module")
def pu():
    table = datasets.load("breast_cancer")
    return make_pu(
        table.data, table.target, n_positive=80, n_unlabeled=200, prior=0.3, n_test=100,
        random_state=0,
    )  # fmt: skip


@pytest.mark.parametrize("share", [0.25, 2 / 3])
def test_answers_are_those_of_networks_and_trees_by_their_shares(pu, share):
    def mixed(ours, theirs):
        return (1 - share) * ours + share * theirs

    both = RobustPUClassifier(**QUICK, beside_share=share).fit(pu.X, pu.y)
    alone = RobustPUClassifier(**QUICK, beside=None).fit(pu.X, pu.y)
    trees = both.beside_
    assert isinstance(trees, PUExtraTreesClassifier)
    assert (trees.prior_, trees.scenario) == (0.3, "case-control")
    assert alone.beside_ is None
    mean = mixed(alone.predict_proba(pu.X_test), trees.predict_proba(pu.X_test))
    np.testing.assert_allclose(both.predict_proba(pu.X_test), mean, atol=1e-9)
    np.testing.assert_allclose(
        both.probability_, mixed(alone.probability_, trees.probability_), atol=1e-9
    )
    unseen = mixed(alone.out_of_fold_, trees.out_of_fold_)
    np.testing.assert_allclose(both.out_of_fold_, unseen, atol=1e-9)
    assert np.isfinite(both.out_of_fold_).any()


def test_together_as_apart(pu):
    seeds = (0, 1)
    models = [RobustPUClassifier(**{**QUICK, "random_state": seed}) for seed in seeds]
    together = fit_together((clone(model), pu.X, pu.y) for model in models)
    for model, own in zip(models, together, strict=True):
        model.fit(pu.X, pu.y)
        assert model.beside_.random_state == own.beside_.random_state
        np.testing.assert_allclose(own.probability_, model.probability_, atol=1e-5)


def test_another_classifier_which_stays_as_it_is(pu):
    given = ElkanNotoClassifier(correction="scaled")
    model = RobustPUClassifier(**QUICK, beside=given, scenario="single-set").fit(pu.X, pu.y)
    assert model.beside_.correction == "scaled"
    assert model.beside_.scenario == "single-set"
    assert not hasattr(given, "classes_")
    assert given.prior == "auto"
    assert clone(model).beside is not given


@pytest.fixture(scope="module")
def images(pu):
    return pu.X[:, :28].reshape(-1, 1, 4, 7)


def test_images_have_networks_that_mix_rows(pu, images):
    """As many as those of Robust-PU, of the same module, up to ten."""
    given = {**QUICK, "n_members": 12, "max_rounds": 1, "module": narrow, "threshold": "prior"}
    both = RobustPUClassifier(**given).fit(images, pu.y)
    alone = RobustPUClassifier(**given, beside=None).fit(images, pu.y)
    beside = both.beside_
    assert isinstance(beside, P3MixCClassifier)
    assert (beside.n_members, beside.module, beside.prior_) == (10, narrow, 0.3)
    unseen = beside.out_of_fold_[pu.y == 0]
    assert unseen[np.isfinite(unseen)].mean() == pytest.approx(0.3)
    mean = alone.predict_proba(images) / 3 + 2 * beside.predict_proba(images) / 3
    both.calibration_ = 0.0
    np.testing.assert_allclose(both.predict_proba(images), mean, atol=1e-6)
    assert np.isfinite(both.out_of_fold_).mean() > 0.5


def narrow(shape):
    return mlp(shape, hidden=(8,))


def test_a_few_networks_of_images_have_none(pu, images):
    given = {**QUICK, "n_members": 3, "threshold": "prior"}
    assert RobustPUClassifier(**given).fit(images, pu.y).beside_ is None


def test_the_paper_has_none():
    assert RobustPUClassifier.from_preset("paper").beside is None
    assert RobustPUClassifier().beside == "auto"


def test_weights_reach_it(pu):
    weight = np.where(pu.y == 1, 1.0, np.linspace(0.1, 2, len(pu.y)))
    model = RobustPUClassifier(**QUICK).fit(pu.X, pu.y, weight)
    plain = RobustPUClassifier(**QUICK).fit(pu.X, pu.y)
    assert (model.beside_.probability_ != plain.beside_.probability_).any()


@pytest.mark.parametrize("beside", ["trees", 3, np.ones(2)])
def test_what_is_refused(pu, beside):
    with pytest.raises(ValueError, match="beside must be 'auto', None, or a classifier of this"):
        RobustPUClassifier(**QUICK, beside=beside).fit(pu.X, pu.y)
