"""Importances and contributions: sums, by hand, and through pipelines."""

import sys
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_array
from sklearn.ensemble import (
    ExtraTreesClassifier,
    HistGradientBoostingClassifier,
    RandomForestClassifier,
)
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, OneHotEncoder, StandardScaler
from sklearn.svm import LinearSVC
from sklearn.tree import DecisionTreeClassifier

from robustpu.methods.explain import explanation, importances, path_contributions


def table(n=300, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(0, 1, (n, 4))
    return X, (X[:, 0] + 0.5 * X[:, 2] + rng.normal(0, 0.5, n) > 0).astype(int)


def mixed():
    X, y = table()
    X[::7, 1] = np.nan
    frame = pd.DataFrame(X, columns=["a", "b", "c", "d"])
    frame.insert(2, "kind", pd.Categorical(np.where(np.arange(300) % 3, "up", "down")))
    y = (y + (frame["kind"] == "up")) >= 1
    return frame, y.astype(int)


class TestSums:
    """Contributions and base add up to the score."""

    @pytest.mark.parametrize("learner", [LogisticRegression(), LinearSVC()])
    def test_linear(self, learner):
        X, y = table()
        found = explanation([learner.fit(X, y)], X)
        assert found.unit == "log-odds"
        np.testing.assert_allclose(found.contribution, X * learner.coef_[0])
        total = found.contribution.sum(1) + found.base
        np.testing.assert_allclose(total, learner.decision_function(X))
        sparse = explanation([learner], csr_array(X))
        np.testing.assert_array_equal(sparse.contribution, found.contribution)

    @pytest.mark.parametrize(
        "learner",
        [
            DecisionTreeClassifier(max_depth=4, random_state=0),
            RandomForestClassifier(5, random_state=0),
            ExtraTreesClassifier(5, min_samples_leaf=3, random_state=0),
        ],
    )
    def test_trees(self, learner):
        X, y = table()
        frame = pd.DataFrame(X, columns=list("abcd"))
        learner.fit(frame, y, sample_weight=np.linspace(1, 2, len(y)))
        found = explanation([learner], frame)
        assert found.unit == "probability"
        assert found.names.tolist() == list("abcd")
        total = found.contribution.sum(1) + found.base
        np.testing.assert_allclose(total, learner.predict_proba(frame)[:, 1], atol=1e-12)
        # The column that tells most adds most.
        assert np.abs(found.contribution).mean(0).argmax() == 0

    def test_boosting_with_categories_and_missing_values(self):
        frame, y = mixed()
        learner = HistGradientBoostingClassifier(max_iter=20, random_state=0).fit(frame, y)
        found = explanation([learner], frame)
        assert found.names.tolist() == ["a", "b", "kind", "c", "d"]
        total = found.contribution.sum(1) + found.base
        np.testing.assert_allclose(total, learner.decision_function(frame), atol=1e-9)
        up = (frame["kind"] == "up").to_numpy()
        # The category makes all of its rows positive.
        assert found.contribution[up, 2].min() > 0 > found.contribution[~up, 2].max()
        assert (
            np.abs(found.contribution[:, [1, 4]]).mean() < np.abs(found.contribution[:, 2]).mean()
        )

    def test_mean_of_learners(self):
        X, y = table()
        two = [LogisticRegression(C=c).fit(X, y) for c in (0.01, 1.0)]
        one, other, both = (explanation(learners, X) for learners in (two[:1], two[1:], two))
        np.testing.assert_allclose(both.contribution, (one.contribution + other.contribution) / 2)
        np.testing.assert_allclose(both.base, (one.base + other.base) / 2)


def test_a_tree_by_hand():
    #        0: column 1, 0.4
    #   1: 0.1      2: column 0, 0.6
    #              3: 0.5     4: 0.9
    feature = np.array([1, -2, 0, -2, -2])
    left, right = np.array([1, -1, 3, -1, -1]), np.array([2, -1, 4, -1, -1])
    found = path_contributions(feature, left, right, np.array([0.4, 0.1, 0.6, 0.5, 0.9]), 2)
    np.testing.assert_allclose(found[1], [0.0, -0.3, 0.4])
    np.testing.assert_allclose(found[3], [-0.1, 0.2, 0.4], atol=1e-12)
    np.testing.assert_allclose(found[4], [0.3, 0.2, 0.4])


class TestPipelines:
    def test_columns_are_those_of_the_last_step(self):
        X, y = table()
        frame = pd.DataFrame({"kind": np.where(X[:, 0] > 0, "up", "down")})
        learner = make_pipeline(OneHotEncoder(), LogisticRegression()).fit(frame, y)
        found = explanation([learner], frame)
        assert found.names.tolist() == ["kind_down", "kind_up"]
        total = found.contribution.sum(1) + found.base
        np.testing.assert_allclose(total, learner.decision_function(frame))

    def test_steps_without_names(self):
        X, y = table()
        learner = make_pipeline(FunctionTransformer(np.tanh), LogisticRegression()).fit(X, y)
        found = explanation([learner], X)
        assert found.names.tolist() == ["x0", "x1", "x2", "x3"]
        single = make_pipeline(LogisticRegression()).fit(X, y)
        assert explanation([single], X).contribution.shape == (300, 4)


class TestOthers:
    """Libraries that are not needed here answer by their own functions."""

    answer = np.arange(6.0).reshape(2, 3)

    def test_lightgbm(self):
        learner = SimpleNamespace(booster_=None, predict=lambda X, pred_contrib: self.answer)
        found = explanation([learner], np.zeros((2, 2)))
        assert found.contribution.tolist() == [[0, 1], [3, 4]]
        assert found.base.tolist() == [2, 5]

    def test_xgboost(self, monkeypatch):
        asked = []

        def predict(matrix, pred_contribs):
            asked.append((matrix, pred_contribs))
            return self.answer

        def matrix(X, missing, enable_categorical):
            return X, missing, enable_categorical

        monkeypatch.setitem(sys.modules, "xgboost", SimpleNamespace(DMatrix=matrix))
        booster = SimpleNamespace(predict=predict)
        learner = SimpleNamespace(get_booster=lambda: booster, missing=-999)
        assert explanation([learner], "rows").base.tolist() == [2, 5]
        assert asked == [(("rows", -999, True), True)]

    def test_learners_that_cannot_be_asked(self):
        X, y = table()
        with pytest.raises(AttributeError, match=r"GaussianNB has no contributions.*shap"):
            explanation([GaussianNB().fit(X, y)], X)


class TestImportances:
    def test_mean_of_the_learners_own(self):
        X, y = table()
        trees = [DecisionTreeClassifier(max_depth=3, random_state=k).fit(X, y) for k in (0, 1)]
        trees.append(DecisionTreeClassifier(max_depth=3).fit(X[:, ::-1], y))
        found = importances(trees, 4)
        assert found.sum() == pytest.approx(1)
        expected = np.mean([tree.feature_importances_ for tree in trees], axis=0)
        np.testing.assert_allclose(found, expected)

    def test_without_a_split(self):
        stump = DecisionTreeClassifier().fit([[0], [0]], [0, 1])
        assert importances([stump], 1).tolist() == [0.0]

    def test_scaled_columns(self):
        X, y = table()
        learner = make_pipeline(StandardScaler(), DecisionTreeClassifier(max_depth=2)).fit(X, y)
        assert importances([learner], 4).argmax() == 0

    def test_what_has_none(self):
        X, y = table()
        with pytest.raises(AttributeError, match=r"LogisticRegression has no feature_imp.*permut"):
            importances([LogisticRegression().fit(X, y)], 4)
        frame = pd.DataFrame({"kind": np.where(X[:, 0] > 0, "up", "down")})
        learner = make_pipeline(OneHotEncoder(), DecisionTreeClassifier()).fit(frame, y)
        with pytest.raises(AttributeError, match="makes 2 columns of the 1 that were given"):
            importances([learner], 1)
