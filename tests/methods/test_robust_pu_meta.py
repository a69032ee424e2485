"""Robust-PU around any learner: rounds, weights, rows of all kinds, predictions."""

import warnings
from typing import ClassVar

import numpy as np
import pandas as pd
import pytest
from recorder import Recorder
from sklearn.base import clone
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils.estimator_checks import parametrize_with_checks

import robustpu
from robustpu import (
    BaggingPUClassifier,
    Curriculum,
    ElkanNotoClassifier,
    NNPUClassifier,
    Pacing,
    PUExtraTreesClassifier,
    RobustPUMetaClassifier,
    make_pu,
)
from robustpu.calibration import log_odds, matched, matching_shift, posterior
from robustpu.methods.robust_pu_meta import default_curriculum

LINEAR = LogisticRegression(C=10.0)
BOOSTING = HistGradientBoostingClassifier(max_iter=10, max_leaf_nodes=6, max_bins=16)


def problem(prior=0.5, seed=0, scenario="case-control", n_positive=120, n_test=1000):
    """Two Gaussians whose best accuracy is 0.95."""
    rng = np.random.default_rng(seed)
    truth = np.arange(4000) % 2
    X = rng.normal(np.where(truth == 1, 0.82, -0.82)[:, None], 1.0, (4000, 4))
    sizes = {"n_positive": n_positive, "n_unlabeled": 300, "n_test": n_test}
    return make_pu(X, truth, prior=prior, scenario=scenario, random_state=seed, **sizes)


ROUNDS = set(Curriculum().get_params(deep=False))


def meta(**changes):
    """Two members; what belongs to the curriculum goes there."""
    rounds = {name: changes.pop(name) for name in ROUNDS & set(changes)}
    given = {"estimator": LINEAR, "prior": 0.5, "n_members": 2, "n_folds": 3, "random_state": 0}
    if rounds:
        given["curriculum"] = default_curriculum().set_params(**rounds)
    return RobustPUMetaClassifier(**given | changes)


class Notebook(Recorder):
    """Keeps all its fits, in order, and the rows that each was asked to score."""

    fits: ClassVar = []

    def fit(self, X, y, sample_weight=None):
        super().fit(X, y, sample_weight)
        self.fits.append(self)
        self.scored_ = set()
        return self

    def predict_proba(self, X):
        self.scored_.update(X[:, 0].astype(int))
        return super().predict_proba(X)


@pytest.fixture
def notebook():
    Notebook.fits.clear()
    return Notebook()


NUMBERS = np.arange(60)[:, None].astype(float)
LABELS = np.array([1, 0, 0] * 20)


def numbered(notebook, **changes):
    """Fit to rows whose only column is their number; the fits of each round."""
    given = {"prior": 0.3, "threshold": "prior", "max_rounds": 2, "patience": None} | changes
    model = meta(estimator=notebook, **given).fit(NUMBERS, LABELS)
    fits = notebook.fits
    return model, [fits[at : at + 6] for at in range(0, len(fits), 6)]


def out_of_fold(fits):
    """Scores of the rows that the three learners of a member kept, NaN for the others."""
    kept = np.unique(np.concatenate([learner.rows_ for learner in fits]))
    score = np.full(60, np.nan)
    for learner in fits:
        other = np.setdiff1d(kept, learner.rows_)
        score[other] = learner.predict_proba(NUMBERS[other])[:, 1]
    return score


@pytest.mark.filterwarnings("ignore::robustpu.ChanceWarning")
class TestRounds:
    def test_round_zero_tells_labelled_from_unlabelled_rows(self, notebook):
        _, (first, *_) = numbered(notebook)
        for learner in first:
            np.testing.assert_array_equal(learner.target_, LABELS[learner.rows_])
            assert learner.weight_ is None

    @pytest.mark.parametrize("scenario", ["case-control", "single-set"])
    def test_weights_by_hand(self, notebook, scenario):
        pacing = {"pacing_positive": Pacing("const", lambda0=0.8)}
        pacing["pacing_unlabeled"] = Pacing("linear", lambda0=1.2, beta=1.6, t_grow=1)
        given = {"scenario": scenario, "temperature_positive": 2.0}
        _, rounds = numbered(notebook, **given, **pacing)
        population = 0.3 if scenario == "case-control" else (20 + 0.3 * 40) / 60
        gap = np.log(population / (1 - population)) - np.log(0.3 / 0.7)
        for t, threshold in ((0, 1.2), (1, 1.6)):
            # The first member has the first three learners of each round.
            score = out_of_fold(rounds[t][:3])
            known, labelled = np.isfinite(score), LABELS == 1
            unlabeled = known & ~labelled
            if t == 0:
                c = matched(score[unlabeled], np.ones(unlabeled.sum()), 0.3, 1.0)
                odds = log_odds(posterior(score, c))
            else:
                raw = log_odds(score) - gap
                odds = raw + matching_shift(raw[unlabeled], 0.3)
            as_positive = np.exp(-np.log1p(np.exp(-(odds + gap) / 2)) / 0.8**2)
            as_negative = np.exp(-np.log1p(np.exp(odds)) / threshold**2)
            expected = np.where(labelled, as_positive, as_negative)
            # Up to one factor for positives and one for negatives.
            for learner in rounds[t + 1][:3]:
                np.testing.assert_array_equal(learner.target_, LABELS[learner.rows_])
                for side in (learner.target_ == 1, learner.target_ == 0):
                    ratio = learner.weight_[side] / expected[learner.rows_[side]]
                    np.testing.assert_allclose(ratio, ratio[0], rtol=1e-6)
            weight = np.concatenate([learner.weight_ for learner in rounds[t + 1][:3]])
            target = np.concatenate([learner.target_ for learner in rounds[t + 1][:3]])
            # Each row is in two of the three folds.
            share = weight[target == 1].sum() / weight.sum()
            assert share == pytest.approx(population, abs=1e-9)

    def test_a_learner_never_scores_rows_that_it_trained_on(self, notebook):
        model, _ = numbered(notebook, n_members=5, max_rounds=1)
        assert np.isfinite(model.out_of_fold_).all()
        assert len(notebook.fits) == 30
        for learner in notebook.fits:
            assert learner.scored_
            assert not learner.scored_ & set(learner.rows_)

    def test_a_row_that_is_held_out_is_in_no_learner_of_its_member(self, notebook):
        numbered(notebook, n_members=5, max_rounds=1)
        first = [set(learner.rows_) for learner in [*notebook.fits[:3], *notebook.fits[15:18]]]
        assert len(set(range(60)) - set.union(*first)) == 12

    def test_history(self, notebook):
        pacing = Pacing("linear", lambda0=0.5, beta=0.9, t_grow=1)
        model, _ = numbered(notebook, pacing_unlabeled=pacing)
        assert [(entry["member"], entry["round"]) for entry in model.history_] == [
            (m, t) for t in range(3) for m in range(2)
        ]
        assert [entry.get("threshold_unlabeled") for entry in model.history_[::2]] == [
            None,
            0.5,
            0.9,
        ]
        last = model.history_[-1]
        for side, count in (("positive", 16), ("unlabeled", 32)):
            assert 0 < last[f"mass_{side}"] < last[f"effective_{side}"] <= count
        assert 0 < last["positive_rate"] < 1
        scores = np.array([entry["score"] for entry in model.history_]).reshape(3, 2).mean(1)
        assert model.best_round_.tolist() == [scores.argmax()] * 2
        assert model.member_scores_.mean() == pytest.approx(scores.max())

    def test_patience(self, notebook):
        model, rounds = numbered(notebook, max_rounds=9, patience=1)
        scores = np.array([entry["score"] for entry in model.history_]).reshape(-1, 2).mean(1)
        assert np.all(np.diff(scores)[:-1] > 0)
        assert np.diff(scores)[-1] <= 0
        assert len(rounds) == len(scores) < 10

    def test_nothing_to_learn_from(self, notebook):
        with pytest.warns(UserWarning, match="round 1 would leave positives or negatives without"):
            model, _ = numbered(
                notebook,
                weighting="hard",
                pacing_positive=Pacing("const", lambda0=1e-6),
            )
        assert model.best_round_.tolist() == [0, 0]

    def test_weights_of_the_chosen_round(self):
        pu = problem()
        model = meta().fit(pu.X, pu.y)
        hidden = (pu.y == 0) & (pu.y_true == 1)
        negative = (pu.y == 0) & (pu.y_true == 0)
        assert model.hardness_.min() >= 0
        assert model.weight_[negative].mean() > 0.7
        assert model.weight_[hidden].mean() < 0.3
        threshold = np.where(pu.y == 1, 2.0, 0.7)
        np.testing.assert_allclose(model.weight_, np.exp(-model.hardness_ / threshold**2))

    def test_few_positives_among_many_rows(self, notebook):
        y = np.arange(3000) < 4
        X = np.arange(3000.0)[:, None]
        meta(estimator=notebook, prior=0.5, threshold="prior", max_rounds=1).fit(X, y.astype(int))
        for learner in notebook.fits[6:]:
            # However heavy the positives are, unlabelled rows count as before.
            assert (learner.target_ == 0).sum() > 1000
            assert (
                learner.weight_[learner.target_ == 1].min()
                > 50 * learner.weight_[learner.target_ == 0].max()
            )

    def test_many_rows_have_fewer_members(self):
        rng = np.random.default_rng(0)
        y = (np.arange(25_000) % 3 == 0).astype(int)
        X = rng.normal(y[:, None], 1.0, (25_000, 2))
        given = {"estimator": GaussianNB(), "n_members": None, "n_folds": None, "max_rounds": 1}
        many, few = (meta(**given).fit(X[:n], y[:n]) for n in (25_000, 300))
        assert len(many.estimators_) == 4 * 2
        assert len(few.estimators_) == 10 * 3


class TestPredictions:
    @pytest.mark.parametrize("scenario", ["case-control", "single-set"])
    @pytest.mark.parametrize("prior", [0.2, 0.6])
    def test_learns(self, prior, scenario):
        pu = problem(prior, scenario=scenario)
        model = meta(prior=pu.prior, scenario=scenario).fit(pu.X, pu.y)
        assert model.population_prior_ == pytest.approx(pu.population_prior)
        assert model.score(pu.X_test, pu.y_test) > 0.92
        mean = model.predict_proba(pu.X_test)[:, 1].mean()
        assert mean == pytest.approx(pu.population_prior, abs=0.05)
        assert model.selection_ == "pu"

    @pytest.mark.parametrize(
        "learner",
        [
            BOOSTING,
            DecisionTreeClassifier(min_samples_leaf=5),
            RandomForestClassifier(10),
            make_pipeline(StandardScaler(), LogisticRegression()),
            make_pipeline(StandardScaler(), LinearSVC()),
        ],
    )
    def test_beats_taking_unlabelled_rows_as_negatives(self, learner):
        pu = problem(0.6)
        naive = clone(learner).fit(pu.X, pu.y)
        model = meta(estimator=learner, prior=0.6).fit(pu.X, pu.y)
        assert model.score(pu.X_test, pu.y_test) > naive.score(pu.X_test, pu.y_test) + 0.05
        assert model.score(pu.X_test, pu.y_test) > 0.85

    def test_the_default_learner(self):
        pu = problem()
        model = RobustPUMetaClassifier(prior=0.5, n_members=1, random_state=0).fit(pu.X, pu.y)
        assert isinstance(model.estimators_[0], HistGradientBoostingClassifier)
        assert model.score(pu.X_test, pu.y_test) > 0.9

    def test_the_mean_on_unlabelled_rows_is_the_prior(self):
        pu = problem(0.3)
        model = meta(prior=0.3, n_members=5).fit(pu.X, pu.y)
        assert model.probability_[pu.y == 0].mean() == pytest.approx(0.3, abs=1e-3)
        np.testing.assert_array_equal(model.out_of_fold_, model.probability_)

    def test_suspects_and_evaluation(self):
        pu = problem()
        model = meta(estimator=DecisionTreeClassifier(), n_members=5).fit(pu.X, pu.y)
        rows, probability = model.suspects(50)
        assert np.all(pu.y[rows] == 0)
        # A full tree knows the rows that it was fitted to, but not these.
        assert pu.y_true[rows].mean() > 0.9
        assert np.all(np.diff(probability) <= 0)
        accuracy = model.evaluate()["accuracy"].value
        assert accuracy == pytest.approx(model.score(pu.X_test, pu.y_test), abs=0.1)

    def test_prior_estimated(self):
        pu = problem(0.4)
        model = meta(prior="auto").fit(pu.X, pu.y)
        assert model.prior_ == pytest.approx(0.4, abs=0.12)
        assert model.score(pu.X_test, pu.y_test) > 0.9

    def test_threshold(self):
        pu = problem(0.3)
        model = meta(prior=0.3, threshold="prior").fit(pu.X, pu.y)
        share = (model.probability_[pu.y == 0] >= model.threshold_).mean()
        assert share == pytest.approx(0.3, abs=0.01)
        model = meta(prior=0.3, threshold="recall:0.8").fit(pu.X, pu.y)
        recall = model.predict(pu.X_test[pu.y_test == 1]).mean()
        assert recall == pytest.approx(0.8, abs=0.1)

    def test_labels_of_the_user(self):
        pu = problem()
        names = np.array(["open", "case"])
        model = meta(pos_label="case").fit(pu.X, names[pu.y])
        assert np.mean(model.predict(pu.X_test) == names[pu.y_test]) > 0.92

    def test_an_eval_set_chooses_the_round(self):
        pu = problem()
        model = meta().fit(pu.X, pu.y, eval_set=(pu.X_test, pu.y_test))
        assert model.selection_ == "oracle"
        assert np.isnan(model.out_of_fold_).all()
        means = np.array([entry["score"] for entry in model.history_]).reshape(-1, 2).mean(1)
        assert means.argmax() == model.best_round_[0]
        # By predictions, but for a thousandth.
        assert means.max() == pytest.approx(model.score(pu.X_test, pu.y_test), abs=0.02)
        with pytest.raises(ValueError, match="no labelled and unlabelled rows were held out"):
            model.evaluate()

    def test_without_held_out_rows_the_last_round_is_kept(self):
        pu = problem()
        model = meta(validation_fraction=0.0, max_rounds=2).fit(pu.X, pu.y)
        assert model.selection_ == "none"
        assert model.best_round_.tolist() == [2, 2]
        assert np.isnan(model.member_scores_).all()
        assert model.score(pu.X_test, pu.y_test) > 0.92

    def test_a_collapse_warns(self):
        rng = np.random.default_rng(0)
        X, y = rng.normal(0, 1, (300, 3)), np.arange(300) % 3 == 0
        with pytest.warns(robustpu.CollapseWarning, match="all-negative") as found:
            meta(prior=0.2, estimator=LogisticRegression(C=1e-6)).fit(X, y.astype(int))
        assert found[0].filename == __file__

    def test_importances_and_explanations(self):
        pu = problem()
        model = meta(estimator=DecisionTreeClassifier(max_depth=3)).fit(pu.X, pu.y)
        assert model.feature_importances_.shape == (4,)
        assert model.feature_importances_.sum() == pytest.approx(1)
        assert not hasattr(meta().fit(pu.X, pu.y), "feature_importances_")
        model = meta(estimator=BOOSTING).fit(pu.X, pu.y)
        found = model.explain(pu.X_test[:9])
        total = found.contribution.sum(1) + found.base
        mean = np.mean([each.decision_function(pu.X_test[:9]) for each in model.estimators_], 0)
        np.testing.assert_allclose(total, mean, atol=1e-9)


class TestPretraining:
    @pytest.mark.parametrize(
        "pretrain",
        [
            "elkan-noto",
            "bagging",
            ElkanNotoClassifier(correction="scaled"),
            ElkanNotoClassifier(estimator=GaussianNB()),
            PUExtraTreesClassifier(n_estimators=10),
            NNPUClassifier(epochs=5, lr=1e-2),
        ],
    )
    @pytest.mark.parametrize("scenario", ["case-control", "single-set"])
    def test_by_others(self, pretrain, scenario):
        pu = problem(0.4, scenario=scenario)
        given = {"pretrain": pretrain, "scenario": scenario, "n_members": 1, "max_rounds": 1}
        # The prior is handed on: that of the classifier may be open.
        model = meta(prior=pu.prior, **given).fit(pu.X, pu.y)
        assert model.score(pu.X_test, pu.y_test) > 0.9

    @pytest.mark.parametrize("pretrain", ["bagging", BaggingPUClassifier(n_estimators=10)])
    def test_takes_the_learner_and_may_win(self, pretrain):
        class Poor(LogisticRegression):
            """Of no use as soon as rows are weighted."""

            def fit(self, X, y, sample_weight=None):
                super().fit(X, y)
                if sample_weight is not None:
                    self.coef_ *= -1
                return self

        pu = problem()
        model = meta(estimator=Poor(), pretrain=pretrain).fit(pu.X, pu.y)
        assert model.best_round_.tolist() == [0, 0]
        first = model.estimators_[0]
        assert isinstance(first, BaggingPUClassifier)
        assert [type(learner) for learner in first.estimators_] == [Poor] * 10
        assert model.score(pu.X_test, pu.y_test) > 0.92
        assert model.label_frequency_ is None


class TestRows:
    def test_missing_values_and_categories(self):
        pu = problem()
        frame = pd.DataFrame(pu.X, columns=list("abcd"))
        frame.iloc[::5, 1] = np.nan
        frame["kind"] = pd.Categorical(np.where(frame["c"] > 0, "up", "down"))
        test = pd.DataFrame(pu.X_test, columns=list("abcd"))
        test["kind"] = pd.Categorical(np.where(test["c"] > 0, "up", "down"))
        model = meta(estimator=BOOSTING).fit(frame, pu.y)
        assert model.feature_names_in_.tolist() == [*"abcd", "kind"]
        assert model.estimators_[0].is_categorical_.tolist() == [False] * 4 + [True]
        assert model.score(test, pu.y_test) > 0.88
        assert model.explain(test[:3]).names.tolist() == [*"abcd", "kind"]

    def test_frames_reach_the_learner_as_frames(self):
        seen = []

        class Curious(GaussianNB):
            def fit(self, X, y, sample_weight=None):
                seen.append(X)
                return super().fit(X.to_numpy(), y, sample_weight)

            def predict_proba(self, X):
                seen.append(X)
                return super().predict_proba(X.to_numpy())

        pu = problem()
        frame = pd.DataFrame(pu.X.astype(np.float32), columns=list("abcd"))
        meta(estimator=Curious()).fit(frame, pu.y).predict(frame)
        assert all(isinstance(rows, pd.DataFrame) for rows in seen)
        assert all((rows.dtypes == np.float32).all() for rows in seen)

    def test_text(self):
        rng = np.random.default_rng(0)
        truth = np.arange(300) % 2
        words = np.array([["dull", "grey", "rain"], ["bright", "blue", "sun"]])
        texts = [" ".join(rng.choice(words[kind], 4)) + " day" for kind in truth]
        y = truth * (rng.random(300) < 0.5)
        learner = make_pipeline(CountVectorizer(), LogisticRegression())
        model = meta(estimator=learner, prior=1 / 3, scenario="single-set").fit(texts, y)
        assert np.mean(model.predict(texts) == truth) > 0.97
        found = model.explain(texts)
        place = found.names.tolist().index("sun")
        assert found.contribution[:, place].max() > 0

    def test_a_learner_without_weights(self):
        pu = problem()
        with pytest.raises(ValueError, match="KNeighborsClassifier takes no sample_weight"):
            meta(estimator=KNeighborsClassifier()).fit(pu.X, pu.y)

    def test_sample_weights(self):
        pu = problem()
        rng = np.random.default_rng(0)
        junk = rng.normal(3, 1, (300, 4)) * [1, -1, 1, -1]
        X, y = np.concatenate([pu.X, junk]), np.concatenate([pu.y, np.zeros(300, int)])
        weight = np.repeat([1.0, 1e-9], [420, 300])
        model = meta().fit(X, y, weight)
        assert model.score(pu.X_test, pu.y_test) > 0.92
        unlabeled = (y == 0) & (weight == 1)
        assert model.probability_[unlabeled].mean() == pytest.approx(0.5, abs=0.03)

    @pytest.mark.parametrize(("label", "name"), [(1, "labelled positives"), (0, "unlabelled rows")])
    def test_a_class_without_weight(self, label, name):
        pu = problem()
        with pytest.raises(ValueError, match=f"zero for all {name}"):
            meta().fit(pu.X, pu.y, (pu.y != label).astype(float))


class TestWork:
    def test_repeats_itself_whatever_the_threads(self):
        pu = problem()
        one, two, other = (
            meta(estimator=DecisionTreeClassifier(max_features=2), **more).fit(pu.X, pu.y)
            for more in ({}, {"n_jobs": 2}, {"random_state": 1})
        )
        np.testing.assert_array_equal(one.probability_, two.probability_)
        np.testing.assert_array_equal(one.predict_proba(pu.X_test), two.predict_proba(pu.X_test))
        assert one.history_ == two.history_
        assert not np.array_equal(one.probability_, other.probability_)

    def test_the_learner_stays_as_it_is(self):
        pu = problem()
        learner, pretrain = LogisticRegression(), ElkanNotoClassifier()
        meta(estimator=learner, pretrain=pretrain, max_rounds=1).fit(pu.X, pu.y)
        assert not hasattr(learner, "coef_")
        assert pretrain.get_params() == ElkanNotoClassifier().get_params()

    def test_saving(self, tmp_path):
        pu = problem()
        for more in ({}, {"max_rounds": 1, "pretrain": "learner"}):
            model = meta(**more).fit(pu.X, pu.y)
            model.save(tmp_path / "model", overwrite=True)
            loaded = RobustPUMetaClassifier.load(tmp_path / "model")
            expected = model.predict_proba(pu.X_test)
            np.testing.assert_array_equal(loaded.predict_proba(pu.X_test), expected)
            assert loaded.history_ == model.history_

    def test_boosting_cannot_be_saved(self, tmp_path):
        pu = problem()
        model = meta(estimator=BOOSTING, n_members=1, max_rounds=1).fit(pu.X, pu.y)
        with pytest.raises((ValueError, TypeError), match="HistGradientBoostingClassifier"):
            model.save(tmp_path / "model")
        assert not (tmp_path / "model").exists()

    @pytest.mark.parametrize(
        ("changes", "match"),
        [
            ({"pretrain": "elkan_noto"}, "did you mean 'elkan-noto'"),
            ({"pretrain": LogisticRegression()}, "pretrain must be 'learner', a method"),
            ({"curriculum": "paper"}, "curriculum must be a robustpu.Curriculum or None"),
            ({"weighting": "logarithmic"}, r"threshold must lie in \(0, 1\)"),
            ({"max_rounds": 0}, "max_rounds must be a whole number at least 1"),
            ({"patience": 0}, "patience must be"),
            ({"n_members": 0}, "n_members must be"),
            ({"n_folds": 1}, "n_folds must be a whole number at least 2 or None"),
            ({"n_jobs": 0}, "n_jobs must not be 0"),
            ({"prior": 1.0}, "prior must be"),
            ({"scenario": "both"}, "scenario must be"),
        ],
    )
    def test_what_is_refused(self, changes, match):
        with pytest.raises(ValueError, match=match):
            meta(**changes).fit(np.ones((6, 1)), [0, 0, 0, 1, 1, 1])


def expected_failures(estimator):
    """A row of weight two is in one fold, a row that is given twice may be in two."""
    reason = "repeated rows change the folds, weighted ones do not"
    return {
        f"check_sample_weight_equivalence_on_{kind}_data": reason for kind in ("dense", "sparse")
    }


@pytest.mark.filterwarnings("ignore::robustpu.ChanceWarning")
@pytest.mark.filterwarnings("ignore::robustpu.CollapseWarning")
@parametrize_with_checks(
    [
        meta(
            estimator=HistGradientBoostingClassifier(max_iter=2, max_bins=8),
            n_folds=None,
            max_rounds=1,
        )
    ],
    expected_failed_checks=expected_failures,
)
def test_sklearn_check(estimator, check):
    check(estimator)


def test_rounds_end_before_a_fold_would_learn_one_class():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 2))
    y = (np.arange(80) < 5).astype(int)
    X[y == 1] += 1
    low = Pacing("linear", lambda0=0.4, beta=0.4, t_grow=1)
    given = {"prior": 0.2, "estimator": LogisticRegression(), "pacing_positive": low}
    given |= {"n_members": None, "n_folds": None}
    told = 0
    for seed in range(8):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            meta(**given, random_state=seed).fit(X, y)
        told += any("without any weight" in str(warning.message) for warning in caught)
    assert told


def with_zero_weights(pu):
    """The rows of a problem with as many others of weight 0 among them: X, y, weight."""
    counts = np.arange(2 * len(pu.y)) % 2 == 0
    X, y = np.full((len(counts), 4), 9.0), np.arange(len(counts)) // 2 % 2
    X[counts], y[counts] = pu.X, pu.y
    return X, y, counts.astype(float)


@pytest.mark.filterwarnings("ignore::robustpu.ChanceWarning")
class TestRowsWithZeroWeight:
    @pytest.mark.parametrize(
        "more", [{}, {"prior": "dedpul"}, {"validation_fraction": 0.0}, {"pretrain": "bagging"}]
    )
    def test_count_as_none(self, more):
        pu = problem()
        X, y, weight = with_zero_weights(pu)
        plain = meta(**more).fit(pu.X, pu.y, np.ones(len(pu.y)))
        model = meta(**more).fit(X, y, weight)
        assert model.prior_ == plain.prior_
        np.testing.assert_equal(model.history_, plain.history_)
        for name in ("probability_", "out_of_fold_", "weight_", "hardness_"):
            found, expected = getattr(model, name)[weight > 0], getattr(plain, name)
            np.testing.assert_allclose(found, expected, rtol=1e-6, atol=1e-12)
        # They are scored, but nothing is evaluated on them.
        np.testing.assert_allclose(
            model.probability_[weight == 0], model.predict_proba(X[weight == 0])[:, 1]
        )
        assert np.isnan(model.out_of_fold_[weight == 0]).all()

    def test_an_eval_set_with_them(self):
        pu = problem()
        X, y, weight = with_zero_weights(pu)
        model = meta().fit(X, y, weight, eval_set=(pu.X_test, pu.y_test))
        with pytest.raises(ValueError, match="no labelled and unlabelled rows were held out"):
            model.evaluate()

    @pytest.mark.parametrize("label", [0, 1])
    def test_few_others(self, label):
        # If rows with zero weight were in folds, three others might all be in one.
        pu = problem()
        few = np.flatnonzero(pu.y == label)[:3]
        weight = (pu.y != label).astype(float)
        weight[few] = 1
        soft = Pacing("const", lambda0=3.0)
        model = meta(n_members=5, pacing_unlabeled=soft).fit(pu.X, pu.y, weight)
        assert np.isfinite(model.member_scores_).all()

    @pytest.mark.parametrize("prior", [0.5, "auto"])
    def test_one_other_is_too_few(self, prior, notebook):
        weight = (LABELS == 0).astype(float)
        weight[0] = 1
        match = (
            r"at least 2 labelled .* there are 1 and 40\. Rows with zero sample weight do not count"
        )
        with pytest.raises(ValueError, match=match):
            meta(estimator=notebook, prior=prior).fit(NUMBERS, LABELS, weight)
        assert not notebook.fits
