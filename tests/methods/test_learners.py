"""Learners that Robust-PU is put around: those of other libraries, and those that go on."""

import functools

import lightgbm
import numpy as np
import pandas as pd
import pytest
import xgboost
from sklearn.base import BaseEstimator
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression, SGDClassifier
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from robustpu import RobustPUMetaClassifier


def table(n=300):
    """Rows with gaps and categories, which of them are labelled, and the truth."""
    rng = np.random.default_rng(0)
    truth = np.arange(n) % 2 == 0
    X = rng.normal(np.where(truth, 1.0, -1.0)[:, None], 1.0, (n, 3))
    frame = pd.DataFrame(X, columns=list("abc"))
    frame["kind"] = pd.Categorical(np.where(frame["c"] > 0, "up", "down"))
    frame.iloc[::5, 1] = np.nan
    frame.iloc[::7, 3] = np.nan
    return frame, (truth & (np.arange(n) % 3 == 0)).astype(int), truth


def meta(learner, **changes):
    given = {"prior": 0.4, "n_members": 1, "patience": None, "random_state": 0}
    return RobustPUMetaClassifier(learner, **given | changes)


class Cats(BaseEstimator):
    """In the manner of CatBoost: weights by name alone, categories by theirs, few parameters."""

    def __init__(self, iterations=10):
        self.iterations = iterations

    def fit(self, X, y=None, *, cat_features=None, sample_weight=None):
        weight = np.ones(len(y)) if sample_weight is None else sample_weight
        self.classes_ = np.unique(y)
        self.share_ = {
            kind: np.average(y[rows], weights=weight[rows])
            for kind in ("up", "down")
            if (rows := (X["kind"] == kind).to_numpy()).any()
        }
        return self

    def predict_proba(self, X):
        share = X["kind"].astype(object).map(self.share_).fillna(0.5).to_numpy(dtype=float)
        share = 0.9 * share + 0.1 / (1 + np.exp(-X["a"].to_numpy()))
        return np.column_stack([1 - share, share])


FEW = {"n_estimators": 8, "random_state": 0, "n_jobs": 1}
OTHERS = {
    "lightgbm": lightgbm.LGBMClassifier(min_child_samples=5, verbose=-1, **FEW),
    "xgboost": xgboost.XGBClassifier(max_depth=3, enable_categorical=True, **FEW),
    "like catboost": Cats(),
}


@pytest.fixture(params=OTHERS)
def watched(request, monkeypatch):
    """A learner, and all rows that it is given."""
    learner, seen = OTHERS[request.param], []
    for name in ("fit", "predict_proba"):
        plain = getattr(type(learner), name)

        # The signature says that weights are taken.
        @functools.wraps(plain)
        def note(self, X, *args, _plain=plain, **kwargs):
            seen.append(X)
            return _plain(self, X, *args, **kwargs)

        monkeypatch.setattr(type(learner), name, note)
    return learner, seen


def test_gaps_and_categories_reach_the_learner_as_they_came(watched):
    (learner, seen), (frame, y, truth) = watched, table()
    model = meta(learner).fit(frame, y)
    assert len(seen) > 9
    for rows in seen:
        pd.testing.assert_frame_equal(rows, frame.loc[rows.index])
    assert np.mean(model.predict(frame) == truth) > 0.75


class TestWarmStarts:
    def rows(self):
        frame, y, truth = table()
        return frame[["a", "c"]].to_numpy(), y, truth

    @pytest.mark.parametrize("solver", ["lbfgs", "newton-cg"])
    def test_a_linear_learner_comes_to_the_same_in_fewer_steps(self, solver):
        X, y, _ = self.rows()
        # Without rows held out the last round is kept.
        warm, cold = (
            meta(
                LogisticRegression(tol=1e-9, solver=solver, warm_start=is_warm),
                validation_fraction=0.0,
            ).fit(X, y)
            for is_warm in (True, False)
        )
        np.testing.assert_allclose(warm.probability_, cold.probability_, atol=1e-5)
        steps = [np.array([one.n_iter_[0] for one in each.estimators_]) for each in (warm, cold)]
        assert np.all(steps[0] < steps[1])

    def test_it_goes_on_from_the_same_fold(self, monkeypatch):
        X, y, _ = self.rows()
        starts, ends = [], []
        plain = SGDClassifier.fit

        def note(self, X, y, coef_init=None, intercept_init=None, sample_weight=None):
            starts.append(getattr(self, "coef_", np.zeros(0)).copy())
            plain(self, X, y, sample_weight=sample_weight)
            ends.append(self.coef_.copy())
            return self

        monkeypatch.setattr(SGDClassifier, "fit", note)
        meta(SGDClassifier(loss="log_loss", warm_start=True), n_members=2).fit(X, y)
        assert [start.size for start in starts[:6]] == [0] * 6
        # Three folds of two members, round after round.
        np.testing.assert_array_equal(starts[6:], ends[:-6])

    @pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
    @pytest.mark.parametrize(
        "learner",
        [
            RandomForestClassifier(5, random_state=0),
            HistGradientBoostingClassifier(max_iter=5, max_bins=8),
            MLPClassifier((4,), max_iter=5),
        ],
    )
    def test_others_start_afresh(self, learner):
        X, y, _ = self.rows()
        plain, warm = (
            meta(learner.set_params(warm_start=is_warm)).fit(X, y).probability_
            for is_warm in (False, True)
        )
        np.testing.assert_array_equal(plain, warm)

    def test_so_do_pipelines(self):
        X, y, _ = self.rows()
        plain, warm = (
            meta(make_pipeline(StandardScaler(), LogisticRegression(warm_start=is_warm))).fit(X, y)
            for is_warm in (False, True)
        )
        np.testing.assert_array_equal(plain.probability_, warm.probability_)

    def test_no_learner_of_another_kind_is_gone_on_from(self):
        X, y, _ = self.rows()
        given = {"pretrain": "elkan-noto", "validation_fraction": 0.0}
        model = meta(LogisticRegression(warm_start=True), **given).fit(X, y)
        assert {type(learner) for learner in model.estimators_} == {LogisticRegression}
