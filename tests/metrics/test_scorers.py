"""Scorers in scikit-learn's hands."""

import pickle

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC

import robustpu
from robustpu import metrics
from robustpu.metrics import PUKFold, one_standard_error, scorer


def rows(seed=0, n_positive=150, n_unlabeled=450, prior=0.4):
    rng = np.random.default_rng(seed)
    truth = np.r_[np.ones(n_positive, bool), rng.random(n_unlabeled) < prior]
    y = (np.arange(len(truth)) < n_positive).astype(int)
    return rng.normal(1.5 * truth[:, None], 1, (len(truth), 2)), y, truth


class Made(ClassifierMixin, BaseEstimator):
    """Says that the first column is the probability, and what an estimator of ours would know."""

    def __init__(self, prior=0.4, scenario="case-control", pos_label=None):
        self.prior, self.scenario, self.pos_label = prior, scenario, pos_label

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        self.prior_, self.threshold_ = self.prior, 0.7
        return self

    def predict_proba(self, X):
        place = list(self.classes_).index(self.pos_label) if self.pos_label is not None else 1
        columns = [1 - X[:, 0], X[:, 0]]
        return np.column_stack(columns if place else columns[::-1])


@pytest.mark.parametrize("name", sorted(metrics.METRICS))
@pytest.mark.parametrize("scenario", ["case-control", "single-set"])
def test_the_fitted_estimator_says_prior_scenario_and_threshold(name, scenario):
    rng = np.random.default_rng(0)
    X, y = rng.random((200, 1)), np.arange(200) < 60
    model = Made(prior=0.3, scenario=scenario).fit(X, y)
    estimate = metrics.evaluate(y, X[:, 0], prior=0.3, scenario=scenario, threshold=0.7)[name]
    sign = -1 if name == "zero_one_risk" else 1
    assert scorer(name)(model, X, y) == pytest.approx(sign * estimate.value)


def test_what_is_given_goes_before_what_the_estimator_says():
    rng = np.random.default_rng(0)
    X, y = rng.random((200, 1)), np.arange(200) < 60
    model = Made().fit(X, y)
    setting = {"prior": 0.2, "scenario": "single-set", "threshold": 0.4}
    expected = metrics.accuracy(y, X[:, 0], **setting)
    assert scorer("accuracy", **setting)(model, X, y) == pytest.approx(expected)
    expected = metrics.precision_at_k(y, X[:, 0], prior=0.4, k=15)
    assert scorer("precision_at_k", k=15)(model, X, y) == pytest.approx(expected)


def test_the_positive_label_of_the_estimator():
    rng = np.random.default_rng(0)
    X, y = rng.random((200, 1)), np.arange(200) < 60
    words = np.where(y, "fraud", "unknown")
    expected = scorer("auc")(Made().fit(X, y), X, y)
    assert scorer("auc")(Made(pos_label="fraud").fit(X, words), X, words) == expected


def test_sample_weights():
    rng = np.random.default_rng(0)
    X, y = rng.random((200, 1)), np.arange(200) < 60
    weight = rng.random(200)
    model = Made().fit(X, y)
    expected = metrics.accuracy(y, X[:, 0], prior=0.4, threshold=0.7, sample_weight=weight)
    assert scorer("accuracy")(model, X, y, sample_weight=weight) == pytest.approx(expected)


def test_any_classifier_if_the_prior_is_given():
    X, y, truth = rows()
    for model in (LogisticRegression(), LinearSVC()):
        model.fit(X, truth)
        answer = model.predict(X)
        expected = metrics.accuracy(y, answer, prior=0.4)
        assert scorer("accuracy", prior=0.4)(model, X, y) == pytest.approx(expected)


def test_decision_values_of_the_other_class_are_turned_round():
    X, y, truth = rows()
    words, answers = np.where(y, "a", "b"), np.where(truth, "a", "b")
    model = LinearSVC().fit(X, answers)
    found = scorer("recall", prior=0.4, pos_label="a")(model, X, words)
    assert found == pytest.approx(np.mean(model.predict(X[y == 1]) == "a"))


def test_linear_metrics_are_not_cut_and_ratios_are():
    X = np.r_[np.ones(20), np.zeros(80)][:, None]
    y = np.arange(100) < 20
    model = Made(prior=0.4).fit(X, y)
    assert scorer("accuracy")(model, X, y) == pytest.approx(1.4)
    assert scorer("zero_one_risk")(model, X, y) == pytest.approx(0.4)
    assert scorer("precision")(model, X, y) == 1
    assert scorer("lee_liu")(model, X, y) == pytest.approx(1 / 0.4)


def test_cross_validation_and_pipelines():
    X, y, _ = rows()
    pipeline = make_pipeline(StandardScaler(), robustpu.ElkanNotoClassifier(prior=0.4))
    cv = PUKFold(3, random_state=0)
    found = cross_val_score(pipeline, X, y, scoring=scorer("auc"), cv=cv)
    # Two normal clouds 1.5 * sqrt(2) apart: the AUC is Phi(1.5).
    assert found.mean() == pytest.approx(0.933, abs=0.06)
    inner = GridSearchCV(pipeline, {"elkannotoclassifier__threshold": [0.3, 0.5]}, cv=cv)
    inner.set_params(scoring=scorer("accuracy")).fit(X, y)
    # Through the search and the pipeline: the threshold and the prior of the model inside.
    score = inner.predict_proba(X)[:, 1]
    threshold = inner.best_estimator_[-1].threshold_
    expected = metrics.evaluate(y, score, prior=0.4, threshold=threshold)["accuracy"].raw
    assert scorer("accuracy")(inner, X, y) == pytest.approx(expected)


def test_grid_search_with_several_metrics():
    X, y, _ = rows()
    scoring = {name: scorer(name, prior=0.4) for name in ("accuracy", "zero_one_risk", "auc")}
    search = GridSearchCV(
        LogisticRegression(),
        {"class_weight": [None, {0: 1, 1: 2}]},
        scoring=scoring,
        refit="accuracy",
        cv=PUKFold(3, random_state=0),
    ).fit(X, y)
    found = search.cv_results_
    # The risk is one less the accuracy, and negated: both order the candidates alike.
    assert found["mean_test_accuracy"] - found["mean_test_zero_one_risk"] == pytest.approx(1)
    assert search.best_index_ == np.argmax(found["mean_test_accuracy"])
    assert found["mean_test_accuracy"][1] > found["mean_test_accuracy"][0]


def test_it_can_be_pickled():
    X, y, truth = rows()
    model = LogisticRegression().fit(X, truth)
    made = scorer("f1", prior=0.4)
    assert pickle.loads(pickle.dumps(made))(model, X, y) == made(model, X, y)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: scorer("accurcy"), "unknown metric 'accurcy': did you mean 'accuracy'"),
        (lambda: scorer("auc", prior=4), "prior must be a number between 0 and 1"),
        (lambda: scorer("auc", scenario="x"), "scenario must be"),
        (lambda: scorer("auc", threshold="x"), "threshold must be a number or None"),
        (lambda: scorer("auc", k=0), "k must be"),
    ],
)
def test_errors_come_at_once(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_errors_of_estimators():
    X, y, _ = rows()
    with pytest.raises(ValueError, match="needs a prior: LogisticRegression has no prior_"):
        scorer("auc")(LogisticRegression().fit(X, y), X, y)

    class Mute(BaseEstimator):
        classes_ = np.array([0, 1])

    with pytest.raises(ValueError, match="neither predict_proba nor decision_function"):
        scorer("auc", prior=0.3)(Mute(), X, y)


class TestOneStandardError:
    def results(self, *splits):
        return {f"split{place}_test_score": np.array(scores) for place, scores in enumerate(splits)}

    def test_the_first_that_cannot_be_told_from_the_best(self):
        # The best is the last: 0.90, 0.80, 0.88, with a mean of 0.86 and an error of 0.0306.
        table = self.results([0.82, 0.84, 0.90], [0.81, 0.82, 0.80], [0.83, 0.83, 0.88])
        assert one_standard_error(table) == 1
        table["split0_test_score"][1] = 0.80
        assert one_standard_error(table) == 2

    def test_what_failed_is_never_taken(self):
        assert one_standard_error(self.results([np.nan, 0.7], [0.9, 0.7])) == 1

    def test_in_a_search(self):
        rng = np.random.default_rng(0)
        X = rng.normal(size=(300, 2))
        y = (X[:, 0] > 0.3) & (rng.random(300) < 0.5)
        search = GridSearchCV(
            LogisticRegression(),
            {"C": [1e-4, 0.1, 1.0, 10.0]},
            scoring=scorer("accuracy", prior=0.25),
            cv=PUKFold(5, random_state=0),
            refit=one_standard_error,
        ).fit(X, y)
        assert search.best_index_ == one_standard_error(search.cv_results_)
        assert search.best_params_["C"] < 10

    def test_several_metrics_are_refused(self):
        with pytest.raises(ValueError, match="with one metric"):
            one_standard_error({"split0_test_auc": [1.0]})
