"""The default: a pool of rankers for tables, an ensemble of networks for images."""

import time
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy.special import expit
from sklearn.cluster import KMeans
from sklearn.metrics import roc_auc_score
from sklearn.naive_bayes import GaussianNB
from sklearn.svm import LinearSVC

import robustpu
from robustpu import PriorWarning, PUClassifier, datasets, make_pu
from robustpu.base.classifier import ChanceWarning
from robustpu.methods import composition
from robustpu.methods.members import MEMBERS
from robustpu.modules import mlp


@pytest.fixture(scope="module")
def pu():
    table = datasets.load("breast_cancer")
    return make_pu(
        table.data, table.target, n_positive=80, n_unlabeled=200, prior=0.3, n_test=100,
        random_state=0,
    )  # fmt: skip


def quick(**changes):
    given = {"members": ["logistic", "laplacian"], "prior": 0.3, "random_state": 0}
    return PUClassifier(**{**given, **changes})


@pytest.fixture(scope="module")
def model(pu):
    return quick().fit(pu.X, pu.y)


class TestPool:
    def test_probability_is_the_link_of_the_weighted_scores(self, pu, model):
        score = model.member_scores(pu.X_test) @ model.weights_ / model.score_scale_
        slope, shift = model.link_
        np.testing.assert_allclose(
            model.predict_proba(pu.X_test)[:, 1], expit(slope * score + shift)
        )
        assert model.score(pu.X_test, pu.y_test) > 0.85
        assert model.weights_.sum() == pytest.approx(1)
        assert list(model.named_members_) == ["logistic", "laplacian"]

    def test_out_of_fold_scores_of_members_are_public(self, pu, model):
        assert model.member_out_of_fold_.shape == (280, 2)
        for column, area in zip(model.member_out_of_fold_.T, model.member_auc_, strict=True):
            assert roc_auc_score(pu.y, column) == pytest.approx(area)
        np.testing.assert_array_equal(model.out_of_fold_, model.probability_)
        assert np.isfinite(model.out_of_fold_).all()

    @pytest.mark.parametrize("scenario", ["case-control", "single-set"])
    def test_probabilities_have_the_right_mean(self, pu, scenario):
        fitted = quick(scenario=scenario).fit(pu.X, pu.y)
        if scenario == "case-control":
            assert fitted.probability_[pu.y == 0].mean() == pytest.approx(0.3)
        else:
            assert fitted.probability_.mean() == pytest.approx(fitted.population_prior_)

    def test_the_default_has_all_members_of_its_effort(self, pu):
        fitted = PUClassifier(prior=0.3, random_state=0).fit(pu.X, pu.y)
        assert fitted.member_names_ == [
            name for name, one in MEMBERS.items() if one.effort != "best"
        ]
        assert fitted.score(pu.X_test, pu.y_test) > 0.93

    def test_members_of_your_own(self, pu):
        members = ["logistic", ("bayes", GaussianNB()), ("svm", LinearSVC())]
        fitted = quick(members=members).fit(pu.X, pu.y)
        assert fitted.member_names_ == ["logistic", "bayes", "svm"]
        assert isinstance(fitted.named_members_["bayes"], GaussianNB)

    def test_a_row_costs_what_the_costliest_member_with_weight_does(self, pu, model):
        assert model.row_cost() == 1
        fitted = quick(members=["logistic", "pretrained"]).fit(pu.X, pu.y)
        for share, cost in ((0.1, fitted.members_[1].row_cost()), (0.0, 1)):
            fitted.weights_ = np.array([1 - share, share])
            assert fitted.row_cost() == cost
        assert fitted.members_[1].row_cost() > 1

    def test_the_ranking_does_not_depend_on_the_prior(self, pu):
        low, high = (quick(prior=prior, threshold="prior").fit(pu.X, pu.y) for prior in (0.05, 0.4))
        order = [np.argsort(one.predict_proba(pu.X_test)[:, 1]) for one in (low, high)]
        np.testing.assert_array_equal(*order)

    @pytest.mark.filterwarnings("ignore::robustpu.CollapseWarning")
    def test_one_labelled_row_can_be_fitted_with_a_prior(self, pu):
        y = np.zeros_like(pu.y)
        y[0] = 1
        fitted = quick(prior=0.1).fit(pu.X, y)
        assert np.isnan(fitted.out_of_fold_).all()
        with pytest.raises(ValueError, match="at least 2 labelled positives"):
            quick(prior="auto").fit(pu.X, y)

    def test_rows_with_zero_weight_do_not_count(self, pu):
        weight = np.ones(len(pu.y))
        weight[::5] = 0
        fitted = quick(members=["logistic"]).fit(pu.X, pu.y, weight)
        assert np.isnan(fitted.out_of_fold_[::5]).all()
        assert np.isfinite(fitted.probability_).all()
        rows = weight > 0
        unlabeled = rows & (pu.y == 0)
        assert fitted.probability_[unlabeled].mean() == pytest.approx(0.3)

    def test_a_mapped_table(self, pu, tmp_path):
        np.save(tmp_path / "X.npy", pu.X)
        mapped = np.load(tmp_path / "X.npy", mmap_mode="r")
        fitted = quick().fit(mapped, pu.y)
        assert fitted.score(np.asarray(pu.X_test), pu.y_test) > 0.85


def overlapping(distance, **sizes):
    """Two clouds in the plane, so far apart."""
    rng = np.random.default_rng(0)
    truth = np.arange(6000) % 2
    X = rng.normal(size=(6000, 2)) + distance * np.column_stack([truth, np.zeros(6000)])
    return make_pu(X, truth, random_state=0, **sizes)


class TestPrior:
    def test_estimated_from_the_scores_of_the_pool(self):
        pu = overlapping(distance=6, n_positive=300, n_unlabeled=1000, prior=0.3)
        fitted = quick(prior="auto").fit(pu.X, pu.y)
        assert fitted.prior_ == pytest.approx(0.3, abs=0.04)
        assert fitted.prior_interval().is_known
        assert fitted.evaluate()["precision"].value > 0.9

    def test_where_classes_overlap_nothing_is_promised(self):
        pu = overlapping(distance=1, n_positive=100, n_unlabeled=1500, prior=0.1)
        with pytest.warns(PriorWarning, match="do not tell the share of positives"):
            fitted = quick(prior="auto", threshold="prior").fit(pu.X, pu.y)
        found = fitted.prior_interval()
        assert not found.is_known
        assert found.low < 0.1 < found.high
        evaluation = fitted.evaluate()
        assert set(evaluation) == {"recall", "lift_at_k", "auc_of_labeled"}
        with pytest.raises(KeyError, match="needs the share of positives"):
            evaluation["precision"]
        assert "precision" in fitted.evaluate(prior_interval=(0.05, 0.2))

    def test_methods_that_train_networks_are_refused(self, pu):
        with pytest.raises(ValueError, match="needs networks of its own"):
            quick(prior="tedn").fit(pu.X, pu.y)


@pytest.fixture(scope="module")
def mixed():
    rng = np.random.default_rng(0)
    n = 400
    truth = rng.random(n) < 0.4
    frame = pd.DataFrame(
        {
            "amount": np.where(truth, 50, 5) * rng.lognormal(size=n),
            "city": np.where(truth ^ (rng.random(n) < 0.2), "Bern", "Rome"),
            "day": pd.Timestamp("2024-01-01") + pd.to_timedelta(rng.integers(0, 300, n), "D"),
            "kind": pd.Categorical(np.where(rng.random(n) < 0.5, "a", "b")),
        }
    )
    frame.loc[::7, "amount"] = np.nan
    y = np.zeros(n, dtype=int)
    y[np.flatnonzero(truth)[:60]] = 1
    return frame, y, truth


class TestFrames:
    def test_text_categories_dates_and_gaps(self, mixed):
        frame, y, truth = mixed
        fitted = quick().fit(frame, y)
        score = fitted.predict_proba(frame)[:, 1]
        assert roc_auc_score(truth[y == 0], score[y == 0]) > 0.85
        assert fitted.feature_names_in_.tolist() == list(frame.columns)
        assert fitted.n_features_in_ == 4
        # Columns are found by their names.
        again = fitted.predict_proba(frame[["kind", "day", "city", "amount"]])[:, 1]
        np.testing.assert_array_equal(again, score)

    def test_polars(self, mixed):
        frame, y, _ = mixed
        columns = pl.from_pandas(frame[["amount", "city"]])
        fitted = quick().fit(columns, y)
        assert np.isfinite(fitted.predict_proba(columns)).all()

    def test_arrays_with_gaps(self, pu):
        X = pu.X.copy()
        X[::3, 0] = np.nan
        fitted = quick().fit(X, pu.y)
        assert fitted.score(pu.X_test, pu.y_test) > 0.8
        with pytest.raises(ValueError, match="30 features"):
            fitted.predict(X[:, :5])

    def test_frames_and_arrays_mix(self, pu):
        """Columns without names are matched by their order."""
        X = pu.X[:, :4].copy()
        X[::3, 0] = np.nan
        frame = pd.DataFrame(X, columns=list("abcd"))
        by_frame, by_array = quick().fit(frame, pu.y), quick().fit(X, pu.y)
        expected = by_frame.predict_proba(frame)
        with pytest.warns(UserWarning, match="does not have valid feature names"):
            np.testing.assert_allclose(by_frame.predict_proba(X), expected)
        with pytest.warns(UserWarning, match="has feature names"):
            np.testing.assert_allclose(by_array.predict_proba(frame), by_array.predict_proba(X))

    def test_frames_of_numbers_are_arrays(self, pu):
        frame = pd.DataFrame(pu.X, columns=[f"c{k}" for k in range(pu.X.shape[1])])
        fitted = quick().fit(frame, pu.y)
        assert fitted.vectorizer_ is None
        np.testing.assert_array_equal(fitted.probability_, quick().fit(pu.X, pu.y).probability_)

    def test_saved_and_loaded(self, mixed, tmp_path):
        frame, y, _ = mixed
        fitted = quick(members=["logistic", "laplacian", "forest", "boosting"]).fit(frame, y)
        fitted.save(tmp_path / "model")
        again = robustpu.load(tmp_path / "model")
        np.testing.assert_array_equal(again.predict_proba(frame), fitted.predict_proba(frame))
        np.testing.assert_array_equal(again.member_out_of_fold_, fitted.member_out_of_fold_)

    def test_a_missing_column_is_named(self, mixed):
        frame, y, _ = mixed
        fitted = quick().fit(frame, y)
        with pytest.raises(ValueError, match="city"):
            fitted.predict(frame.drop(columns="city"))


class TestWeights:
    def test_count_in_an_estimated_prior(self):
        """A row of weight 3 is three rows."""
        pu = overlapping(distance=6, n_positive=300, n_unlabeled=1000, prior=0.15)
        weight = np.where((pu.y_true == 1) & (pu.y == 0), 3.0, 1.0)
        fitted = quick(prior="auto").fit(pu.X, pu.y, weight)
        assert fitted.prior_ == pytest.approx(0.45 / 1.3, abs=0.05)


class TestOddTables:
    def test_numbers_far_from_0(self, pu):
        """Seconds since 1970: single precision has seven digits."""
        near, far = (
            PUClassifier(prior=0.3, random_state=0).fit(pu.X + shift, pu.y) for shift in (0, 1.7e9)
        )
        assert far.member_auc_ == pytest.approx(near.member_auc_, abs=0.05)
        found = far.predict_proba(pu.X_test + 1.7e9)[:, 1]
        np.testing.assert_allclose(found, near.predict_proba(pu.X_test)[:, 1], atol=0.2)

    @pytest.mark.filterwarnings("ignore::robustpu.CollapseWarning")
    def test_constant_columns_get_the_prior(self, pu):
        fitted = PUClassifier(prior=0.3, random_state=0, threshold="prior")
        with pytest.warns(ChanceWarning):
            fitted.fit(np.ones((280, 3)), pu.y)
        np.testing.assert_allclose(fitted.probability_, 0.3, atol=1e-6)

    @pytest.mark.parametrize("factor", [1e40, 1e200])
    def test_huge_numbers_are_refused(self, pu, factor):
        with pytest.raises(ValueError, match="numbers beyond"):
            quick().fit(pu.X * factor, pu.y)

    def test_gaps_that_come_later_are_filled(self, pu, model):
        X = pu.X_test.copy()
        X[:, 0] = np.nan
        filled = np.where(np.isnan(X), np.median(pu.X, axis=0), X)
        np.testing.assert_array_equal(model.predict_proba(X), model.predict_proba(filled))

    def test_arrays_of_text_are_refused(self, pu):
        text = np.where(pu.X[:, :2] > 0, "high", "low").astype(object)
        with pytest.raises(ValueError, match="Give a DataFrame"):
            quick().fit(text, pu.y)

    @pytest.mark.parametrize("error", [KeyError("it"), ZeroDivisionError()], ids=repr)
    def test_a_member_that_fails_in_any_way_is_named(self, pu, error):
        class Failing(LinearSVC):
            def fit(self, X, y, sample_weight=None):
                raise error

        with pytest.raises(ValueError, match=f"'mine' of the pool.*{type(error).__name__}"):
            quick(members=["logistic", ("mine", Failing())]).fit(pu.X, pu.y)

    def test_a_member_with_several_scores_a_row_is_refused(self, pu):
        class Wide(LinearSVC):
            def decision_function(self, X):
                return np.zeros((len(X), 3))

        with pytest.raises(ValueError, match=r"scores of shape \(\d+, 3\)"):
            quick(members=["logistic", ("mine", Wide())]).fit(pu.X, pu.y)

    def test_a_member_that_fails_is_named(self, pu):
        with pytest.raises(ValueError, match="the member 'mine' of the pool cannot be fitted"):
            quick(members=["logistic", ("mine", LinearSVC(C=-1))]).fit(pu.X, pu.y)
        with pytest.raises(ValueError, match="'mine' has neither decision_function"):
            quick(members=[("mine", KMeans())]).fit(pu.X, pu.y)


class TestEffort:
    def test_seconds_leave_members_out(self, pu):
        seen = []
        fitted = quick(members=None, effort=1e-6)
        robustpu.fit_together([(fitted, pu.X, pu.y)], lambda done, total: seen.append(done / total))
        assert fitted.member_names_ == ["logistic"]
        assert seen[-1] == 1

    def test_without_time_no_other_member_is_tried(self, pu):
        """Even the first fold of one takes its time."""

        class Untried(LinearSVC):
            def fit(self, X, y, sample_weight=None):
                raise AssertionError("there is no time")

        members = ["logistic", ("mine", Untried())]
        assert quick(members=members, effort=1e-6).fit(pu.X, pu.y).member_names_ == ["logistic"]

    def test_a_limit_is_kept(self):
        rng = np.random.default_rng(0)
        X, y = rng.normal(size=(4000, 30)), np.arange(4000) < 300
        X[:300] += 0.5
        started = time.perf_counter()
        PUClassifier(prior=0.1, effort=2.0, random_state=0, threshold="prior").fit(X, y)
        # Kept within a fifth on quiet cores; other processes may take theirs.
        assert time.perf_counter() - started < 10

    def test_time_is_for_classifiers_too(self, pu):
        members = ["logistic", "extra-trees"]
        fitted = quick(members=members, effort=600.0).fit(pu.X, pu.y)
        assert fitted.member_names_ == members
        assert fitted.named_members_["extra-trees"].prior_ == 0.3
        assert quick(members=members, effort=1e-6).fit(pu.X, pu.y).member_names_ == ["logistic"]

    def test_progress_covers_the_whole_fit(self, pu):
        seen = []
        model = quick()
        robustpu.fit_together([(model, pu.X, pu.y)], lambda done, total: seen.append((done, total)))
        assert {total for _, total in seen} == {12}
        assert [done for done, _ in seen] == sorted(done for done, _ in seen)
        assert seen[-1][0] == 12


class TestImages:
    @pytest.fixture(autouse=True)
    def short(self, monkeypatch):
        """Networks of the ensemble train for a moment."""
        robust_pu, p3mix = composition.robust_pu, composition.p3mix

        def short_robust_pu(*args, **given):
            short = {"epochs": 3, "pretrain__epochs": 10, "curriculum__max_rounds": 2}
            return robust_pu(*args, **given).set_params(**short)

        def short_p3mix(*args, **given):
            return [(name, each.set_params(epochs=10)) for name, each in p3mix(*args, **given)]

        monkeypatch.setattr(composition, "robust_pu", short_robust_pu)
        monkeypatch.setattr(composition, "p3mix", short_p3mix)

    def test_an_ensemble_of_networks(self, pu, tmp_path):
        scaled = (pu.X - pu.X.mean(0)) / pu.X.std(0)
        images = scaled[:, :28].reshape(-1, 1, 4, 7)
        model = PUClassifier(
            n_members=4, module=lambda shape: mlp(shape, hidden=(8,)), threshold="prior", prior=0.3,
            random_state=0, validation_fraction=0.25,
        )  # fmt: skip
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", robustpu.CollapseWarning)
            model.fit(images, pu.y)
        assert model.member_names_[-1] == "p3mix-c"
        assert model.weights_[-1] == pytest.approx(0.8)
        ensemble = model.ensemble_
        np.testing.assert_array_equal(model.probability_, ensemble.probability_)
        np.testing.assert_allclose(model.predict_proba(images), ensemble.predict_proba(images))
        mixed = model.named_members_["p3mix-c"]
        unseen = mixed.out_of_fold_[pu.y == 0]
        assert unseen[np.isfinite(unseen)].mean() == pytest.approx(0.3)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"n_members": 0}, "n_members must be a whole number"),
        ({"module": "mpl"}, "did you mean 'mlp'"),
        ({"mirror": 1}, "mirror must be True or False"),
        ({"mirror": True}, "mirror=True is for images"),
        ({"calibrate": "yes"}, "calibrate must be True, False or 'auto'"),
        ({"effort": "quick"}, "effort must be 'fast', 'default' or 'best'"),
        ({"effort": 0}, "effort must be a number above 0"),
        ({"members": ["forst"]}, "did you mean 'forest'"),
        ({"members": ["extra-trees"]}, "needs a learner that ranks without the prior"),
    ],
)
def test_what_is_refused(pu, given, message):
    with pytest.raises(ValueError, match=message):
        quick(**given).fit(pu.X, pu.y)


def test_at_most_15_parameters():
    assert len(PUClassifier().get_params(deep=False)) <= 15
