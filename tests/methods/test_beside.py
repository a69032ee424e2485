"""What stands beside the networks of Robust-PU."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.neighbors import KNeighborsClassifier

from robustpu import (
    BaggingPUClassifier,
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

    all_three = RobustPUClassifier(**QUICK, beside_share=share).fit(pu.X, pu.y)
    alone = RobustPUClassifier(**QUICK, beside=None).fit(pu.X, pu.y)
    trees = all_three.beside_
    assert [type(own) for own in trees] == [PUExtraTreesClassifier, BaggingPUClassifier]
    assert {(own.prior_, own.scenario) for own in trees} == {(0.3, "case-control")}
    assert alone.beside_ == []
    # Learners of scikit-learn get standardised rows.
    scaled = (pu.X_test - pu.X.mean(0)) / pu.X.std(0)
    theirs = (trees[0].predict_proba(pu.X_test) + trees[1].predict_proba(scaled)) / 2
    mean = mixed(alone.predict_proba(pu.X_test), theirs)
    np.testing.assert_allclose(all_three.predict_proba(pu.X_test), mean, atol=1e-9)
    for name in ("probability_", "out_of_fold_"):
        theirs = (getattr(trees[0], name) + getattr(trees[1], name)) / 2
        expected = mixed(getattr(alone, name), theirs)
        np.testing.assert_allclose(getattr(all_three, name), expected, atol=1e-9)
    assert np.isfinite(all_three.out_of_fold_).sum() == np.isfinite(alone.out_of_fold_).sum()


@pytest.mark.parametrize("factor", [1e200, 1e-200])
def test_numbers_that_single_precision_cannot_hold(pu, factor):
    plain, scaled = (RobustPUClassifier(**QUICK).fit(own, pu.y) for own in (pu.X, pu.X * factor))
    found = scaled.predict_proba(pu.X_test * factor)
    np.testing.assert_allclose(found, plain.predict_proba(pu.X_test), atol=0.05)


@pytest.mark.parametrize("count", [1, 2, 3, 5, 8])
@pytest.mark.filterwarnings("ignore::robustpu.CollapseWarning")
def test_bagged_trees_of_few_labels_are_split(pu, count):
    labelled = np.flatnonzero(pu.y == 1)[:count]
    rows = np.append(labelled, np.flatnonzero(pu.y == 0))
    given = {**QUICK, "validation_fraction": 0.0}
    _, bags = RobustPUClassifier(**given).fit(pu.X[rows], pu.y[rows]).beside_
    assert np.ptp(bags.probability_) > 0.1


def test_rows_without_weight_do_not_keep_others_from_being_judged(pu):
    weight = np.where((pu.y == 1) & (np.arange(len(pu.y)) % 4 == 0), 0.0, 1.0)
    model = RobustPUClassifier(**QUICK).fit(pu.X, pu.y, weight)
    known = np.isfinite(model.beside_[1].out_of_fold_)
    assert known.all()
    assert model.evaluate()["auc"].value > 0.8


def test_rows_from_afar_are_answered(pu):
    model = RobustPUClassifier(**QUICK).fit(pu.X, pu.y)
    far = np.vstack([pu.X_test[:3] * 1e300, pu.X_test[:3] * -1e38])
    assert np.isfinite(model.predict_proba(far)).all()


def test_no_share_is_as_nobody(pu):
    model = RobustPUClassifier(**QUICK, beside=ElkanNotoClassifier(), beside_share=0.0)
    model.fit(pu.X, pu.y)
    alone = RobustPUClassifier(**QUICK, beside=None).fit(pu.X, pu.y)
    np.testing.assert_array_equal(model.out_of_fold_, alone.out_of_fold_)
    assert model.evaluate()["auc"].value > 0.5


def test_labels_of_the_user_and_learners_without_weights(pu):
    beside = [
        NNPUClassifier(epochs=1, pos_label="yes"),
        BaggingPUClassifier(estimator=KNeighborsClassifier(), n_estimators=8),
    ]
    model = RobustPUClassifier(**QUICK, beside=beside, pos_label="yes")
    model.fit(pu.X, np.where(pu.y == 1, "yes", "zero"))
    assert len(model.beside_) == 2
    assert beside[0].pos_label == "yes"


def test_parameters_of_what_stands_beside_are_checked_first(pu):
    model = RobustPUClassifier(beside=PUExtraTreesClassifier(n_estimators=0), verbose=1)
    with pytest.raises(ValueError, match="n_estimators must be"):
        model.fit(pu.X, pu.y)


def test_shares_of_tables_and_of_images(pu, images):
    given = {**QUICK, "beside": NNPUClassifier(epochs=1), "calibrate": False}
    for X, share in ((pu.X, 2 / 3), (images, 4 / 5)):
        model = RobustPUClassifier(**given, threshold="prior").fit(X, pu.y)
        plain = clone(model).set_params(beside=None).fit(X, pu.y)
        mean = (1 - share) * plain.predict_proba(X) + share * model.beside_[0].predict_proba(X)
        np.testing.assert_allclose(model.predict_proba(X), mean, atol=1e-6)


def test_together_as_apart(pu):
    seeds = (0, 1)
    models = [RobustPUClassifier(**{**QUICK, "random_state": seed}) for seed in seeds]
    together = fit_together((clone(model), pu.X, pu.y) for model in models)
    for model, own in zip(models, together, strict=True):
        model.fit(pu.X, pu.y)
        for theirs, same in zip(model.beside_, own.beside_, strict=True):
            assert theirs.random_state == same.random_state
        np.testing.assert_allclose(own.probability_, model.probability_, atol=1e-5)


@pytest.mark.parametrize("kind", [list, tuple, next])
def test_other_classifiers_which_stay_as_they_are(pu, kind):
    given = ElkanNotoClassifier(correction="scaled")
    beside = kind(iter([given]))
    model = RobustPUClassifier(**QUICK, beside=beside, scenario="single-set").fit(pu.X, pu.y)
    assert model.beside_[0].correction == "scaled"
    assert model.beside_[0].scenario == "single-set"
    assert not hasattr(given, "classes_")
    assert given.prior == "auto"
    assert model.beside is beside


@pytest.fixture(scope="module")
def images(pu):
    return pu.X[:, :28].reshape(-1, 1, 4, 7)


def test_images_have_networks_that_mix_rows(pu, images):
    """As many as those of Robust-PU, of the same module, up to ten."""
    given = {**QUICK, "n_members": 12, "max_rounds": 1, "module": narrow, "threshold": "prior"}
    both = RobustPUClassifier(**given).fit(images, pu.y)
    alone = RobustPUClassifier(**given, beside=None).fit(images, pu.y)
    (beside,) = both.beside_
    assert isinstance(beside, P3MixCClassifier)
    assert (beside.n_members, beside.module, beside.prior_) == (10, narrow, 0.3)
    unseen = beside.out_of_fold_[pu.y == 0]
    assert unseen[np.isfinite(unseen)].mean() == pytest.approx(0.3)
    mean = alone.predict_proba(images) / 5 + 4 * beside.predict_proba(images) / 5
    both.calibration_ = 0.0
    np.testing.assert_allclose(both.predict_proba(images), mean, atol=1e-6)
    assert np.isfinite(both.out_of_fold_).mean() > 0.5


def narrow(shape):
    return mlp(shape, hidden=(8,))


def test_a_few_networks_of_images_have_none(pu, images):
    given = {**QUICK, "n_members": 3, "threshold": "prior"}
    assert RobustPUClassifier(**given).fit(images, pu.y).beside_ == []


def test_the_paper_has_none():
    assert RobustPUClassifier.from_preset("paper").beside is None
    assert RobustPUClassifier().beside == "auto"


def test_weights_reach_it(pu):
    weight = np.where(pu.y == 1, 1.0, np.linspace(0.1, 2, len(pu.y)))
    model = RobustPUClassifier(**QUICK).fit(pu.X, pu.y, weight)
    plain = RobustPUClassifier(**QUICK).fit(pu.X, pu.y)
    for own, other in zip(model.beside_, plain.beside_, strict=True):
        assert (own.probability_ != other.probability_).any()


@pytest.mark.parametrize("beside", ["trees", 3, np.ones(2), [], [3]])
def test_what_is_refused(pu, beside):
    with pytest.raises(ValueError, match="beside must be 'auto', None, or a classifier of this"):
        RobustPUClassifier(**QUICK, beside=beside).fit(pu.X, pu.y)
