"""Metadata routing, set_output and diagrams of scikit-learn, with our classifiers in its hands."""

import numpy as np
import pandas as pd
import pytest
from sklearn import config_context
from sklearn.base import clone
from sklearn.compose import make_column_transformer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from robustpu import (
    BaggingPUClassifier,
    ElkanNotoClassifier,
    NNPUClassifier,
    PUClassifier,
    PUVotingClassifier,
    RobustPUMetaClassifier,
)
from robustpu.methods.robust_pu_meta import default_curriculum
from robustpu.metrics import scorer
from robustpu.tables import Vectorizer

GIVEN = {"prior": 0.4, "random_state": 0}
ONE_ROUND = default_curriculum().set_params(max_rounds=1)


def pipeline():
    return make_pipeline(StandardScaler(), LogisticRegression())


def table():
    """Two clouds: 60 labelled rows, 80 positives and 120 negatives unlabelled; and weights."""
    random = np.random.default_rng(0)
    kind = random.permutation(np.repeat([0, 1, 2], [60, 80, 120]))
    X = random.normal(2.0 * (kind < 2)[:, None], 1, (260, 2))
    return X, (kind == 0).astype(int), random.uniform(0.5, 2, 260)


WITH_PIPELINES = {
    "meta": RobustPUMetaClassifier(pipeline(), n_members=1, curriculum=ONE_ROUND, **GIVEN),
    "default": ElkanNotoClassifier(**GIVEN),
    "nested": BaggingPUClassifier(make_pipeline(pipeline()), n_estimators=5, **GIVEN),
    "pool": PUClassifier(members=["laplacian", ("mine", pipeline())], **GIVEN),
    "voting": PUVotingClassifier([("weighted", ElkanNotoClassifier(pipeline()))], **GIVEN),
}


@pytest.mark.parametrize("name", WITH_PIPELINES)
def test_weights_reach_a_pipeline_with_and_without_routing(name):
    X, y, weight = table()
    plain = clone(WITH_PIPELINES[name]).fit(X, y, weight)
    with config_context(enable_metadata_routing=True):
        routed = clone(WITH_PIPELINES[name]).fit(X, y, weight)
    np.testing.assert_array_equal(routed.probability_, plain.probability_)
    assert np.abs(plain.probability_ - clone(plain).fit(X, y).probability_).max() > 1e-4


class Noting(LogisticRegression):
    """Notes which weights it was fitted with."""

    def fit(self, X, y, sample_weight=None):
        self.noted_ = sample_weight
        return super().fit(X, y, sample_weight)


def test_a_search_is_a_learner_if_its_estimator_requests_weights():
    X, y, weight = table()
    with config_context(enable_metadata_routing=True):
        learner = (
            Noting().set_fit_request(sample_weight=True).set_score_request(sample_weight=False)
        )
        search = GridSearchCV(learner, {"C": [0.1, 1.0]}, cv=2)
        model = ElkanNotoClassifier(search, **GIVEN).fit(X, y, weight)
        assert np.ptp(model.estimator_.best_estimator_.noted_) > 1
    with pytest.raises(ValueError, match="GridSearchCV takes no sample_weight"):
        ElkanNotoClassifier(search, **GIVEN).fit(X, y, weight)


def search_of(classifier, **requests):
    steps = make_pipeline(StandardScaler().set_fit_request(sample_weight=False), classifier)
    steps[-1].set_fit_request(**requests)
    name = steps.steps[-1][0]
    auc = scorer("auc", prior=0.4).set_score_request(sample_weight="sample_weight" in requests)
    return GridSearchCV(
        steps, {f"{name}__threshold": [0.4, 0.5]}, scoring=auc, cv=2, error_score="raise"
    )


class TestRouting:
    @pytest.fixture(autouse=True)
    def _routing(self):
        with config_context(enable_metadata_routing=True):
            yield

    @pytest.mark.parametrize(
        "classifier",
        [
            ElkanNotoClassifier(**GIVEN),
            PUClassifier(members=["logistic"], **GIVEN),
            NNPUClassifier(epochs=20, lr=1e-2, **GIVEN),
            PUVotingClassifier([("weighted", ElkanNotoClassifier())], **GIVEN),
        ],
    )
    def test_sample_weights_reach_classifier_and_scorer(self, classifier):
        X, y, weight = table()
        search = search_of(clone(classifier), sample_weight=True)
        search.fit(X, y, sample_weight=weight)
        assert np.ptp(search.best_estimator_[-1].sample_weight_) > 0.5
        plain = search_of(clone(classifier), sample_weight=True).fit(X, y)
        assert search.best_score_ != plain.best_score_

    def test_a_scorer_that_requests_nothing_gets_nothing(self):
        X, y, weight = table()
        search = search_of(ElkanNotoClassifier(**GIVEN), sample_weight=True)
        search.scoring = scorer("auc", prior=0.4)
        with pytest.raises(ValueError, match="not explicitly set as requested"):
            search.fit(X, y, sample_weight=weight)

    def test_propensities_are_split_with_the_rows(self):
        X, y, _ = table()
        propensity = np.where(y == 1, np.where(np.arange(260) % 2, 0.25, 0.5), np.nan)
        search = search_of(ElkanNotoClassifier(**GIVEN), propensity=True)
        fitted = search.fit(X, y, propensity=propensity).best_estimator_[-1]
        np.testing.assert_array_equal(fitted.propensity_, propensity)

    def test_checked_rows_are_split_with_the_rows(self):
        X, y, _ = table()
        checked = (np.arange(260) % 5 == 0) & (y == 0)
        y[checked] = np.where(X[checked].sum(1) > 2, 1, -1)
        model = ElkanNotoClassifier(pos_label=1, neg_label=-1, **GIVEN)
        fitted = search_of(model, checked=True).fit(X, y, checked=checked).best_estimator_[-1]
        assert np.isfinite(fitted.outcome_).sum() == checked.sum()

    def test_an_eval_set_comes_whole(self):
        X, y, _ = table()
        steps = search_of(NNPUClassifier(epochs=20, lr=1e-2, **GIVEN), eval_set=True)
        rows = StandardScaler().fit_transform(X), (X.sum(1) > 2).astype(int)
        assert steps.fit(X, y, eval_set=rows).best_estimator_[-1].selection_ == "oracle"


class TestOutput:
    """Scalers and encoders of ours and of others give frames, if somebody has asked for them."""

    @pytest.fixture
    def frame(self):
        X, y, _ = table()
        return pd.DataFrame({"a": X[:, 0], "b": X[:, 1], "c": np.where(X[:, 0] > 1, "x", "y")}), y

    @pytest.mark.parametrize("output", ["pandas", "polars"])
    @pytest.mark.parametrize("name", WITH_PIPELINES)
    def test_global_output_changes_no_probability(self, name, output):
        X, y, weight = table()
        plain = clone(WITH_PIPELINES[name]).fit(X, y, weight).predict_proba(X)
        with config_context(transform_output=output):
            found = clone(WITH_PIPELINES[name]).fit(X, y, weight).predict_proba(X)
        np.testing.assert_allclose(found, plain, rtol=1e-9)

    def test_a_frame_with_text(self, frame):
        table, y = frame
        model = PUClassifier(members=["logistic", "laplacian"], **GIVEN)
        plain = model.fit(table, y).predict_proba(table)
        with config_context(transform_output="pandas"):
            found = model.fit(table, y).predict_proba(table)
        np.testing.assert_allclose(found, plain, rtol=1e-9)

    def test_a_learner_that_hands_frames_on(self, frame):
        table, y = frame
        encode = make_column_transformer(
            (OneHotEncoder(sparse_output=False), ["c"]), remainder="passthrough"
        )
        plain = make_pipeline(encode, LogisticRegression())
        framed = make_pipeline(clone(encode).set_output(transform="pandas"), LogisticRegression())
        found = [
            RobustPUMetaClassifier(learner, n_members=1, curriculum=ONE_ROUND, **GIVEN)
            .fit(table, y)
            .predict_proba(table)
            for learner in (plain, framed)
        ]
        np.testing.assert_allclose(*found, rtol=1e-9)

    def test_the_vectorizer_in_front_of_a_classifier(self, frame):
        table, y = frame
        steps = make_pipeline(Vectorizer(), ElkanNotoClassifier(**GIVEN))
        steps.set_output(transform="pandas").fit(table, y)
        names = steps[:-1].get_feature_names_out().tolist()
        assert steps[-1].feature_names_in_.tolist() == names
        assert {"a", "b"} < set(names)


class TestDiagram:
    def test_a_pool_shows_members_and_after_fit_their_weights(self):
        X, y, _ = table()
        model = PUClassifier(members=["logistic", ("mine", pipeline())], **GIVEN)
        text = model._repr_html_()
        assert "mine" in text
        assert "mine, weight" not in text
        text = model.fit(X, y)._repr_html_()
        for name, weight in zip(model.member_names_, model.weights_, strict=True):
            assert f"{name}, weight {weight:.2g}" in text
        # The steps of members are shown as well.
        assert text.count("StandardScaler") >= 2

    def test_the_default_pool_shows_what_it_will_fit(self):
        text = PUClassifier()._repr_html_()
        assert all(name in text for name, _ in PUClassifier().pool())

    def test_a_vote_shows_its_classifiers(self):
        X, y, _ = table()
        named = [("one", ElkanNotoClassifier()), ("two", BaggingPUClassifier(n_estimators=2))]
        model = PUVotingClassifier(named, weights=[3, 1], **GIVEN)
        assert "BaggingPUClassifier" in model._repr_html_()
        text = model.fit(X, y)._repr_html_()
        assert "one, weight 0.75" in text
        assert "two, weight 0.25" in text

    @pytest.mark.parametrize("model", [PUVotingClassifier(), PUClassifier(members=["nobody"])])
    def test_what_cannot_be_fitted_is_shown_nevertheless(self, model):
        assert type(model).__name__ in model._repr_html_()
