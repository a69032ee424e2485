"""Averages of classifiers."""

import numpy as np
import pytest
from gaussians import table
from sklearn.base import clone
from sklearn.neighbors import KNeighborsClassifier

from robustpu import (
    BaggingPUClassifier,
    ElkanNotoClassifier,
    NNPUClassifier,
    PNClassifier,
    PUExtraTreesClassifier,
    PUVotingClassifier,
    RobustPUMetaClassifier,
    fit_together,
    priors,
)
from robustpu.methods import voting
from robustpu.modules.rows import is_mapped
from robustpu.training import fleets

X, Y = table()
NET = NNPUClassifier(surrogate="logistic", epochs=5, lr=1e-2, validation_fraction=0.25)
TREES = PUExtraTreesClassifier(n_estimators=10)
LINEAR = ElkanNotoClassifier()
ALL = [("net", NET), ("trees", TREES), ("linear", LINEAR)]


def vote(*estimators, **changes):
    named = [(f"e{place}", estimator) for place, estimator in enumerate(estimators)]
    return PUVotingClassifier(named or ALL, **{"prior": 0.5, "random_state": 0, **changes})


@pytest.fixture(scope="module")
def model():
    return vote(weights=[3, 2, 1]).fit(X, Y)


class TestMean:
    def test_weights(self, model):
        np.testing.assert_allclose(model.weights_, [1 / 2, 1 / 3, 1 / 6])
        np.testing.assert_allclose(vote().fit(X, Y).weights_, [1 / 3] * 3)

    def test_estimators_by_name(self, model):
        assert list(model.named_estimators_) == ["net", "trees", "linear"]
        assert list(model.named_estimators_.values()) == model.estimators_
        assert isinstance(model.named_estimators_.trees, PUExtraTreesClassifier)

    def test_predictions_are_weighted_means(self, model):
        # Learners of scikit-learn get standardised rows.
        given = X, X, (X - X.mean(0)) / X.std(0)
        pairs = zip(model.estimators_, given, strict=True)
        each = [estimator.predict_proba(rows) for estimator, rows in pairs]
        mean = np.tensordot(model.weights_, each, axes=1)
        np.testing.assert_allclose(model.predict_proba(X), mean, atol=1e-9)

    def test_scores_of_training_rows_are_weighted_means(self):
        model = vote(NET, TREES, weights=[3, 1]).fit(X, Y)
        for name in ("probability_", "out_of_fold_"):
            ours, theirs = (getattr(estimator, name) for estimator in model.estimators_)
            np.testing.assert_allclose(getattr(model, name), 0.75 * ours + 0.25 * theirs)
        assert 0 < np.isfinite(model.out_of_fold_).sum() < len(Y)

    @pytest.mark.parametrize("n_members", [1, 3])
    def test_one_estimator_is_as_it_is_alone(self, n_members):
        net = clone(NET).set_params(n_members=n_members)
        alone = clone(net).set_params(prior=0.5, random_state=0).fit(X, Y)
        model = vote(net).fit(X, Y)
        np.testing.assert_array_equal(model.probability_, alone.probability_)
        np.testing.assert_array_equal(model.out_of_fold_, alone.out_of_fold_)
        assert model.selection_ == alone.selection_ == "pu"

    def test_a_weight_of_zero_is_as_nobody(self):
        # Its out-of-fold scores are unknown, and would make all unknown.
        model = vote(NET, LINEAR, weights=[1, 0]).fit(X, Y)
        alone = vote(NET).fit(X, Y)
        np.testing.assert_array_equal(model.out_of_fold_, alone.out_of_fold_)
        np.testing.assert_array_equal(model.predict_proba(X), alone.predict_proba(X))
        assert model.evaluate()["auc"].value > 0.5

    def test_ensembles_of_ensembles(self):
        inner = vote(NET, TREES)
        model = vote(inner, LINEAR).fit(X, Y)
        mean = (model.estimators_[0].probability_ + model.estimators_[1].probability_) / 2
        np.testing.assert_allclose(model.probability_, mean)
        seed = model.estimators_[0].random_state
        alone = clone(inner).set_params(random_state=seed).fit(X, Y)
        np.testing.assert_array_equal(model.estimators_[0].probability_, alone.probability_)


class TestOutOfFold:
    def test_first_networks_hold_out_all_rows_between_them(self):
        others = [clone(NET).set_params(lr=lr) for lr in (1e-2, 2e-2, 3e-2, 4e-2)]
        model = vote(*others, validation_fraction=0.25).fit(X, Y)
        known = [np.isfinite(each.out_of_fold_) for each in model.estimators_]
        assert np.sum(known, axis=0).tolist() == [1] * len(Y)
        assert np.isfinite(model.out_of_fold_).all()
        # Of each row it is the score of the one that holds it out.
        each = np.array([each.out_of_fold_ for each in model.estimators_])
        np.testing.assert_allclose(model.out_of_fold_, np.nansum(each, axis=0))

    def test_networks_have_seeds_of_their_own(self):
        model = vote(NET, NET, validation_fraction=0.25).fit(X, Y)
        one, two = (each.probability_ for each in model.estimators_)
        assert np.abs(one - two).max() > 1e-3

    def test_networks_that_hold_out_a_row_speak_for_the_others(self):
        model = vote(NET, PNClassifier(epochs=1)).fit(X, Y)
        any_of_them = np.any([np.isfinite(each.out_of_fold_) for each in model.estimators_], axis=0)
        np.testing.assert_array_equal(np.isfinite(model.out_of_fold_), any_of_them)
        assert "auc" in str(model.evaluate())

    def test_other_classifiers_have_to_know_a_row_too(self):
        model = vote(NET, TREES).fit(X, Y)
        both = np.all([np.isfinite(each.out_of_fold_) for each in model.estimators_], axis=0)
        np.testing.assert_array_equal(np.isfinite(model.out_of_fold_), both)


class TestFit:
    def test_prior_scenario_and_seed_are_those_of_the_ensemble(self):
        given = ElkanNotoClassifier(correction="scaled", scenario="case-control")
        model = vote(NET, given, scenario="single-set", prior=0.3).fit(X, Y)
        for estimator in model.estimators_:
            assert (estimator.prior_, estimator.scenario) == (0.3, "single-set")
            assert estimator.population_prior_ == model.population_prior_
        assert len({estimator.random_state for estimator in model.estimators_}) == 1
        # What was given stays as it is.
        assert model.estimators_[1].correction == "scaled"
        assert given.prior == "auto"
        assert not hasattr(given, "classes_")

    def test_another_prior_of_a_part_is_refused(self):
        with pytest.raises(ValueError, match=r"has prior=0\.1, but .* is 0\.3"):
            vote(NET, ElkanNotoClassifier(prior=0.1), prior=0.3).fit(X, Y)

    @pytest.mark.parametrize("estimators", [(NET, TREES, LINEAR), (TREES, LINEAR)])
    def test_the_prior_is_estimated_once(self, monkeypatch, estimators):
        estimated = []

        def estimate(samples):
            estimated.extend(samples)
            return [0.4] * len(samples)

        monkeypatch.setattr(priors, "estimate", estimate)
        model = vote(*estimators, prior="auto").fit(X, Y)
        assert len(estimated) == 1
        assert {each.prior_ for each in (model, *model.estimators_)} == {0.4}

    def test_networks_share_one_fleet(self, monkeypatch):
        sizes = []

        class Counted(fleets.Fleet):
            def __init__(self, pool, members, *rest):
                sizes.append(len(members))
                super().__init__(pool, members, *rest)

        monkeypatch.setattr(fleets, "Fleet", Counted)
        two = clone(NET).set_params(lr=1e-3, n_members=2)
        fit_together([(vote(NET, two, TREES), X, Y), (vote(TREES, NET), X, Y)])
        assert sizes == [4]

    def test_each_classifier_has_as_many_networks_as_it_asks_for(self):
        sizes = [1, 3, 2]
        model = vote(*(clone(NET).set_params(n_members=size) for size in sizes)).fit(X, Y)
        assert [len(each.member_scores_) for each in model.estimators_] == sizes

    def test_progress(self):
        told = []
        slow = PNClassifier(epochs=3, n_members=2)
        fit_together([(vote(NET, TREES, slow), X, Y)], lambda *now: told.append(now))
        assert {total for _, total in told} == {5 + TREES.n_steps() + 2 * 3}
        done = [done for done, _ in told]
        assert done == sorted(done)
        assert (done[0], done[-1]) == (0, told[0][1])

    def test_one_bar(self, capsys):
        vote(NET, TREES, verbose=1).fit(X, Y)
        assert "PUVotingClassifier" in capsys.readouterr().err
        vote(clone(NET).set_params(verbose=1), TREES).fit(X, Y)
        assert capsys.readouterr().err == ""

    def test_together_as_apart(self):
        models = [vote(random_state=seed) for seed in (0, 1)]
        together = fit_together((clone(model), X, Y) for model in models)
        for model, other in zip(models, together, strict=True):
            model.fit(X, Y)
            np.testing.assert_allclose(other.probability_, model.probability_, atol=1e-5)

    def test_labels_of_the_user_and_learners_without_weights(self):
        net = clone(NET).set_params(pos_label="yes")
        neighbours = BaggingPUClassifier(KNeighborsClassifier(), n_estimators=8)
        model = vote(net, neighbours, pos_label="yes").fit(X, np.where(Y == 1, "yes", "zero"))
        plain = vote(NET, neighbours).fit(X, Y)
        np.testing.assert_array_equal(model.probability_, plain.probability_)
        np.testing.assert_array_equal(model.predict(X) == "yes", plain.predict(X) == 1)
        assert net.pos_label == "yes"

    def test_weights_of_rows_reach_every_estimator(self, model):
        weight = np.where(Y == 1, 1.0, np.linspace(0.1, 2, len(Y)))
        weighted = vote(weights=[3, 2, 1]).fit(X, Y, weight)
        for one, other in zip(weighted.estimators_, model.estimators_, strict=True):
            assert (one.probability_ != other.probability_).any()

    def test_an_eval_set_selects_epochs(self):
        truth = (X.sum(1) > 0).astype(int)
        model = vote(NET, TREES).fit(X, Y, eval_set=(X, truth))
        assert {each.selection_ for each in (model, *model.estimators_)} == {"oracle"}

    def test_images_take_networks(self):
        images = np.random.default_rng(0).normal(size=(len(Y), 1, 3, 4))
        model = vote(NET, PNClassifier(epochs=1), threshold="prior").fit(images, Y)
        assert np.isfinite(model.predict_proba(images)).all()

    def test_alarms_of_parts_are_not_those_of_the_whole(self):
        # Filters of warnings make an alarm an error.
        positive = clone(TREES).set_params(threshold=1e-6)
        assert vote(positive, NET).fit(X, Y).threshold_ == 0.5

    def test_a_fit_that_fails_leaves_nothing(self, model):
        changed = clone(model).fit(X, Y)
        with pytest.raises(ValueError, match="NaN"):
            changed.fit(X * np.nan, Y)
        assert not hasattr(changed, "estimators_")


class TestFarRows:
    def test_are_scored(self, model):
        far = np.vstack([X[:3] * 1e300, X[:3] * -1e38])
        assert np.isfinite(model.predict_proba(far)).all()

    @pytest.mark.parametrize("factor", [1e200, 1e-200])
    def test_numbers_that_single_precision_cannot_hold(self, model, factor):
        scaled = vote(weights=[3, 2, 1]).fit(X * factor, Y)
        found = scaled.predict_proba(X * factor)
        np.testing.assert_allclose(found, model.predict_proba(X), atol=1e-3)


class TestMappedFiles:
    @pytest.fixture
    def mapped(self, tmp_path):
        np.save(tmp_path / "rows.npy", X)
        found = np.load(tmp_path / "rows.npy", mmap_mode="r")
        assert is_mapped(found)
        return found

    def test_as_rows_in_memory(self, mapped, model):
        other = vote(weights=[3, 2, 1]).fit(mapped, Y)
        np.testing.assert_allclose(other.probability_, model.probability_, atol=1e-6)
        np.testing.assert_allclose(other.predict_proba(mapped), model.predict_proba(X), atol=1e-6)

    @pytest.mark.parametrize("weighted", [False, True])
    def test_what_holds_rows_gets_some_of_a_long_one(self, mapped, monkeypatch, weighted):
        monkeypatch.setattr(voting, "HELD", 0)
        monkeypatch.setattr(voting, "LEAST", 50)
        weight = np.where(np.arange(len(Y)) % 5 == 0, 0.0, 1.0) if weighted else None
        model = vote(weights=[3, 2, 1]).fit(mapped, Y, weight)
        net, trees, linear = model.estimators_
        assert len(net.is_positive_) == len(Y)
        for estimator in (trees, linear):
            assert len(estimator.is_positive_) == 50
            assert estimator.is_positive_.sum() == 25
            # Their sums over P and over U are in the proportion of all rows.
            kept = estimator.sample_weight_
            share = kept[estimator.is_positive_].sum() / kept.sum()
            counts = np.ones(len(Y)) if weight is None else weight
            assert share == pytest.approx(counts[Y == 1].sum() / counts.sum())
        assert model.probability_.shape == Y.shape
        np.testing.assert_allclose(model.predict_proba(mapped), model.predict_proba(X), atol=1e-6)
        # ElkanNoto holds out none, so rows that it did not get are those with scores out of fold.
        assert np.isfinite(model.out_of_fold_).sum() <= len(Y) - 50
        assert np.isfinite(model.out_of_fold_).any()


@pytest.mark.parametrize(
    ("estimators", "message"),
    [
        ("trees", "estimators must be .* it is 'trees'"),
        (3, "estimators must be .* it is 3"),
        (np.ones(2), "estimators must be"),
        ({"a": NET}, "estimators must be"),
        ([NET], "estimators must be .* it holds NNPUClassifier"),
        ([("a", 3)], "estimators must be .* it holds"),
        ([(1, NET)], "estimators must be .* it holds"),
        ([("a", KNeighborsClassifier())], "estimators must be .* it holds"),
        ([("a", NET), ("a", TREES)], "estimators need different names; they are a, a"),
        ([("a", PUExtraTreesClassifier(n_estimators=0))], "n_estimators must be"),
        ([("a", RobustPUMetaClassifier(pretrain="nnpuu"))], "did you mean 'nnpu'"),
        ([], "estimators is empty"),
        (None, "estimators is empty"),
    ],
)
def test_estimators_that_are_refused(estimators, message):
    with pytest.raises(ValueError, match=message):
        PUVotingClassifier(estimators, verbose=1).fit(X, Y)


@pytest.mark.parametrize(
    "weights", [[1], [1, -1], [0, 0], [1, np.nan], [np.inf, 1], 2, "ab", [X, 1], []]
)
def test_weights_that_are_refused(weights):
    with pytest.raises(ValueError, match="weights must be one number a classifier, 2 in all"):
        vote(NET, TREES, weights=weights).fit(X, Y)


def test_weights_without_estimators():
    with pytest.raises(ValueError, match="weights are those of estimators=; give both"):
        PUVotingClassifier(weights=[1, 2]).fit(X, Y)
