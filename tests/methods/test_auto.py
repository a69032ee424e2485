"""The default ensemble."""

import numpy as np
import pytest
from gaussians import problem

from robustpu import (
    BaggingPUClassifier,
    ElkanNotoClassifier,
    P3MixCClassifier,
    PNClassifier,
    PUClassifier,
    PUExtraTreesClassifier,
    RobustPUClassifier,
    datasets,
    make_pu,
)
from robustpu.methods import composition
from robustpu.modules import mlp
from robustpu.training import TrainingData

NETWORKS = [f"robust-pu-{place}" for place in (1, 2, 3, 4)]


@pytest.fixture(scope="module")
def pu():
    table = datasets.load("breast_cancer")
    return make_pu(
        table.data, table.target, n_positive=80, n_unlabeled=200, prior=0.3, n_test=100,
        random_state=0,
    )  # fmt: skip


@pytest.fixture(scope="module")
def images(pu):
    scaled = (pu.X - pu.X.mean(0)) / pu.X.std(0)
    return scaled[:, :28].reshape(-1, 1, 4, 7)


@pytest.fixture(autouse=True)
def short(monkeypatch):
    """Networks of the ensemble train for a moment."""
    robust_pu, p3mix = composition.robust_pu, composition.p3mix

    def short_robust_pu(*args, **given):
        short = {"epochs": 3, "pretrain__epochs": 10, "curriculum__max_rounds": 2}
        return robust_pu(*args, **given).set_params(**short)

    def short_p3mix(*args, **given):
        return [(name, each.set_params(epochs=10)) for name, each in p3mix(*args, **given)]

    monkeypatch.setattr(composition, "robust_pu", short_robust_pu)
    monkeypatch.setattr(composition, "p3mix", short_p3mix)


def quick(**changes):
    given = {"n_members": 4, "prior": 0.3, "random_state": 0, "validation_fraction": 0.25}
    return PUClassifier(**{**given, **changes})


def narrow(shape):
    return mlp(shape, hidden=(8,))


def composed(X, **changes):
    """Names and estimators of the ensemble, and their weights, without a fit."""
    is_positive = np.arange(len(X)) < 80
    named, weights = quick(**changes).compose(TrainingData(X, is_positive, np.ones(len(X))))
    return dict(named), np.array(weights)


class TestComposition:
    def test_of_a_table(self, pu):
        named, weights = composed(pu.X, n_members=None)
        assert list(named) == [*NETWORKS, "extra-trees", "bagged-trees"]
        assert [named[name].n_members for name in NETWORKS] == [10] * 4
        assert weights == pytest.approx([1 / 12] * 4 + [1 / 3] * 2)
        kinds = [type(estimator) for estimator in named.values()]
        assert kinds == [RobustPUClassifier] * 4 + [PUExtraTreesClassifier, BaggingPUClassifier]

    def test_of_images(self, images):
        named, weights = composed(images, n_members=None, module=narrow, mirror=True)
        assert list(named) == [*NETWORKS, "p3mix-c"]
        assert weights == pytest.approx([1 / 20] * 4 + [4 / 5])
        assert isinstance(named["p3mix-c"], P3MixCClassifier)
        assert named["p3mix-c"].n_members == 10
        assert {(each.module, each.mirror) for each in named.values()} == {(narrow, True)}

    @pytest.mark.parametrize(("count", "members"), [(4, 4), (7, 7), (12, 10)])
    def test_as_many_networks_of_p3mix_up_to_ten(self, images, count, members):
        named, _ = composed(images, n_members=count)
        assert named["p3mix-c"].n_members == members

    @pytest.mark.parametrize("count", [1, 3])
    def test_a_few_networks_of_images_are_alone(self, images, count):
        named, weights = composed(images, n_members=count)
        assert list(named) == NETWORKS[:count]
        assert weights == pytest.approx([1 / count] * count)

    @pytest.mark.parametrize("count", [1, 2, 5, 6, 41])
    def test_weights_of_networks_are_by_their_number(self, pu, count):
        named, weights = composed(pu.X, n_members=count)
        sizes = [named[name].n_members for name in NETWORKS[: min(4, count)]]
        assert sum(sizes) == count
        assert max(sizes) - min(sizes) <= 1
        assert weights[: len(sizes)] == pytest.approx(np.array(sizes) / (3 * count))
        assert weights.sum() == pytest.approx(1)

    @pytest.mark.parametrize(("threshold", "compared"), [("prior", "prior"), ("top:3", 0.5)])
    def test_rounds_are_compared_as_predictions_are_made(self, pu, threshold, compared):
        named, _ = composed(pu.X, threshold=threshold)
        assert {named[name].threshold for name in NETWORKS} == {compared}

    def test_adapts_to_the_number_of_rows(self, pu, monkeypatch):
        monkeypatch.setattr(composition, "MANY", 40)
        named, _ = composed(pu.X, n_members=None)
        assert [named[name].n_members for name in NETWORKS] == [3] * 4
        assert named["extra-trees"].max_samples == 40
        assert named["bagged-trees"].max_samples == 0.5

    def test_an_ensemble_of_choice(self, pu):
        named, weights = composed(pu.X, estimators=[("a", ElkanNotoClassifier())], weights=[2])
        assert list(named) == ["a"]
        assert weights.tolist() == [2]


class TestFit:
    def test_is_the_weighted_mean(self, pu):
        model = quick().fit(pu.X, pu.y)
        assert list(model.named_estimators_) == [*NETWORKS, "extra-trees", "bagged-trees"]
        assert model.weights_.sum() == pytest.approx(1)
        assert {each.prior_ for each in model.estimators_} == {0.3}
        # Learners of scikit-learn get standardised rows.
        scaled = (pu.X_test - pu.X.mean(0)) / pu.X.std(0)
        rows = [pu.X_test] * 5 + [scaled]
        each = [one.predict_proba(X) for one, X in zip(model.estimators_, rows, strict=True)]
        mean = np.tensordot(model.weights_, each, axes=1)
        np.testing.assert_allclose(model.predict_proba(pu.X_test), mean, atol=1e-9)
        assert model.score(pu.X_test, pu.y_test) > 0.85
        # Four networks hold out a quarter each, so all rows have out-of-fold scores.
        assert np.isfinite(model.out_of_fold_).all()
        assert model.evaluate()["auc"].value > 0.8
        far = np.vstack([pu.X_test[:3] * 1e300, pu.X_test[:3] * -1e38])
        assert np.isfinite(model.predict_proba(far)).all()

    def test_of_images(self, pu, images):
        model = quick(module=narrow, threshold="prior").fit(images, pu.y)
        mixed = model.named_estimators_["p3mix-c"]
        unseen = mixed.out_of_fold_[pu.y == 0]
        assert unseen[np.isfinite(unseen)].mean() == pytest.approx(0.3)
        assert np.isfinite(model.out_of_fold_).all()

    def test_weights_of_rows_reach_every_estimator(self, pu):
        """And rows with zero sample weight do not keep others from being evaluated."""
        weight = np.where(pu.y == 1, np.arange(len(pu.y)) % 4, np.linspace(0.1, 2, len(pu.y)))
        model, plain = quick().fit(pu.X, pu.y, weight), quick().fit(pu.X, pu.y)
        for one, other in zip(model.estimators_, plain.estimators_, strict=True):
            assert (one.probability_ != other.probability_).any()
        assert np.isfinite(model.estimators_[-1].out_of_fold_).all()
        assert model.evaluate()["auc"].value > 0.8

    def test_a_small_share_of_labels_is_calibrated(self):
        pu = problem(n_positive=10, n_unlabeled=300)
        model = quick(prior=0.5).fit(pu.X, pu.y)
        assert quick().calibrate == "auto"
        unlabeled = model.out_of_fold_[pu.y == 0]
        assert unlabeled[np.isfinite(unlabeled)].mean() >= 0.45


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"n_members": 0}, "n_members must be a whole number"),
        ({"module": "mpl"}, "did you mean 'mlp'"),
        ({"mirror": 1}, "mirror must be True or False"),
        ({"mirror": True}, "mirror=True is for images"),
        ({"calibrate": "yes"}, "calibrate must be True, False or 'auto'"),
        ({"weights": [1, 2]}, "weights are those of estimators=; give both, or neither"),
        ({"device": "no"}, "device must be 'auto' or one that torch has"),
    ],
)
def test_what_is_refused(pu, given, message):
    with pytest.raises(ValueError, match=message):
        quick(**given).fit(pu.X, pu.y)


def test_at_most_14_parameters():
    assert len(PUClassifier().get_params()) <= 14


def test_settings_of_the_default_do_not_go_with_estimators():
    model = PUClassifier([("pn", PNClassifier())], n_members=3)
    with pytest.raises(ValueError, match="n_members= is for the default ensemble"):
        model.fit(np.eye(4), [0, 1, 0, 1])
