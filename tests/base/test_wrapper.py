"""What the methods around a learner, and PU extra-trees, do with weights, priors and bad rows."""

import warnings

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.tree import DecisionTreeClassifier

from robustpu import (
    ElkanNotoClassifier,
    RobustPUMetaClassifier,
    SpyClassifier,
    all_methods,
    estimate_prior,
)
from robustpu.base.arrays import refuse_huge
from robustpu.base.folds import hold_out
from robustpu.base.learners import balanced_logits
from robustpu.methods.bagging import BaggingPUClassifier
from robustpu.methods.pebl import PEBLClassifier
from robustpu.methods.puet import PUExtraTreesClassifier
from robustpu.methods.robust_pu_meta import default_curriculum
from robustpu.training import TrainingData

WRAPPERS = {
    "spy": SpyClassifier(n_draws=2, prior=0.4, random_state=0),
    "pebl": PEBLClassifier(n_draws=2, prior=0.4, random_state=0),
    "elkan-noto": ElkanNotoClassifier(prior=0.4, random_state=0),
    "scaled": ElkanNotoClassifier(prior=0.4, correction="scaled", random_state=0),
    "bagging": BaggingPUClassifier(n_estimators=10, prior=0.4, random_state=0),
    "meta": RobustPUMetaClassifier(
        LogisticRegression(),
        n_members=2,
        curriculum=default_curriculum().set_params(max_rounds=1),
        prior=0.4,
        random_state=0,
    ),
}
ALL = WRAPPERS | {"puet": PUExtraTreesClassifier(n_estimators=10, prior=0.4, random_state=0)}


def table(n_positive=40, n_unlabeled=80):
    """Two overlapping Gaussians, 0.4 of the unlabelled rows positive."""
    rng = np.random.default_rng(0)
    truth = np.arange(n_positive + n_unlabeled) < n_positive + 0.4 * n_unlabeled
    X = rng.normal(np.where(truth, 1.0, -1.0)[:, None], 1.0, (len(truth), 3))
    return X, (np.arange(len(truth)) < n_positive).astype(int), truth.astype(int)


def fresh(name, **changes):
    model = ALL[name]
    return type(model)(**model.get_params(deep=False) | changes)


@pytest.fixture(params=ALL)
def name(request):
    return request.param


class TestWeights:
    @pytest.mark.parametrize("constant", [1.0, 1 / 120, 1e-300, 1e300])
    def test_equal_weights_are_none(self, name, constant):
        X, y, _ = table()
        if name == "puet":
            # Its own weights are exact, and so are ties of its splits, up to powers of 2.
            constant = 2.0 ** np.round(np.log2(constant))
        plain = fresh(name).fit(X, y)
        model = fresh(name).fit(X, y, np.full(len(y), constant))
        np.testing.assert_allclose(model.probability_, plain.probability_, rtol=1e-9)

    def test_only_ratios_count(self, name):
        X, y, _ = table()
        weight = np.random.default_rng(1).uniform(0.5, 2, len(y))
        # A power of 2 leaves no rounding for trees to make something of.
        one, other = (fresh(name).fit(X, y, values) for values in (weight, 2.0**-9 * weight))
        np.testing.assert_allclose(one.probability_, other.probability_, rtol=1e-9)
        assert np.abs(one.probability_ - fresh(name).fit(X, y).probability_).max() > 1e-3

    @pytest.mark.parametrize("name", WRAPPERS)
    def test_are_scaled_and_of_both_sides(self, name):
        model, mask = fresh(name), np.array([True, True, False])
        assert model.check_weight([0.0, 1.0, 3.0], mask).tolist() == [0, 0.5, 1.5]
        assert model.check_weight(None, mask).tolist() == [1, 1, 1]
        for place, side in ((0, "unlabelled rows"), (2, "labelled positives")):
            with pytest.raises(ValueError, match=f"zero for all {side}"):
                model.check_weight(np.eye(3)[place], mask)

    @pytest.mark.parametrize("scenario", ["single-set", "case-control"])
    def test_a_weight_of_2_is_a_row_twice_to_the_share_of_positives(self, name, scenario):
        X, y, _ = table()
        weight = np.where(np.arange(len(y)) % 3 == 0, 2, 1)
        given = {"scenario": scenario}
        if name == "meta":
            given["estimator"] = LogisticRegression()
        weighted = fresh(name, **given).fit(X, y, weight)
        twice = fresh(name, **given).fit(np.repeat(X, weight, axis=0), np.repeat(y, weight))
        assert weighted.population_prior_ == pytest.approx(twice.population_prior_, abs=1e-12)
        assert (weighted.population_prior_ > 0.4) == (scenario == "single-set")

    @pytest.mark.parametrize("method", ["elkan-noto", "best-bin"])
    def test_weights_of_a_side_do_not_move_an_estimated_prior(self, method):
        # Labelled rows of four times the weight have four times the odds of a label; the
        # balance of both sides takes it out again.
        X, y, _ = table(200, 400)
        priors = [
            fresh("scaled", prior=method).fit(X, y, np.where(y == 1, factor, 1.0)).prior_
            for factor in (1, 4)
        ]
        assert priors[1] == pytest.approx(priors[0], abs=0.06)

    def test_masses(self):
        mask = np.array([True, False, False])
        assert TrainingData(None, mask, np.array([0.5, 1, 2])).masses() == (0.5, 3)


class TestHeldOut:
    @pytest.mark.parametrize("name", [name for name in ALL if name != "meta"])
    def test_rows_are_scored_by_weight(self, name):
        X, y, _ = table()
        weight = np.random.default_rng(1).uniform(0.1, 5, len(y))
        rows = hold_out(y == 1, 0.3, np.random.RandomState(0))[1]
        model = fresh(name, validation_fraction=0.3).fit(X, y, weight)
        answer, positive, row_weight = model.probability_[rows] >= 0.5, y[rows] == 1, weight[rows]
        recall = np.average(answer[positive], weights=row_weight[positive])
        rate = np.average(answer[~positive], weights=row_weight[~positive])
        assert model.member_scores_[0] == pytest.approx(1 + 2 * 0.4 * recall - 0.4 - rate)
        # Or the weights would not tell.
        assert 0 < rate != np.mean(answer[~positive])

    def test_rounding_costs_no_row(self):
        """0.29 times 100 is 28.999999999999996."""
        kept, rows = hold_out(np.arange(300) < 100, 0.29, np.random.RandomState(0))
        assert ((rows < 100).sum(), (rows >= 100).sum(), len(kept)) == (29, 58, 213)


class TestEvalSet:
    @pytest.mark.parametrize(
        ("rows", "labels", "match"),
        [
            (slice(9), np.full(9, 7), "eval_set must hold true labels"),
            (slice(9), np.zeros(8, int), "9 rows but 8 labels"),
            ((slice(9), slice(2)), np.zeros(9, int), "X has 2 features"),
        ],
    )
    def test_is_checked_before_anything_is_learnt(self, name, rows, labels, match, monkeypatch):
        X, y, _ = table()
        model = fresh(name).fit(X, y)
        monkeypatch.setattr(type(model), "fit_data", lambda *_: pytest.fail("too late"))
        with pytest.raises(ValueError, match=match):
            model.fit(X, y, eval_set=(X[rows], labels))
        with pytest.raises(NotFittedError):
            model.predict(X)

    def test_rows_that_the_learner_refuses_leave_no_model(self):
        X, y, truth = table()
        rows = X.copy()
        rows[3, 1] = np.nan
        for name in ("spy", "scaled", "puet"):
            model = fresh(name)
            with pytest.raises(ValueError, match="NaN"):
                model.fit(X, y, eval_set=(rows, truth))
            with pytest.raises(NotFittedError):
                model.predict(X)

    def test_scores_the_model(self, name):
        X, y, truth = table()
        model = fresh(name).fit(X, y, eval_set=(X[::2], truth[::2]))
        assert model.selection_ == "oracle"
        if name != "meta":
            expected = model.score(X[::2], truth[::2])
            assert model.member_scores_[0] == pytest.approx(expected, abs=0.1)


class TestHugeNumbers:
    @pytest.mark.parametrize("factor", [1e39, 1e155, 1e300])
    def test_are_refused_with_a_reason_alone(self, name, factor):
        X, y, _ = table()
        prior = "auto" if name == "puet" else 0.4
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            with pytest.raises(ValueError, match=r"numbers beyond 3.4e\+38.*: scale the columns"):
                fresh(name, prior=prior).fit(factor * X, y)

    def test_are_refused_in_predictions_too(self):
        X, y, truth = table()
        for name in WRAPPERS:
            model = fresh(name).fit(X, y)
            with pytest.raises(ValueError, match="numbers beyond"):
                model.predict(1e200 * X)
            with pytest.raises(ValueError, match="numbers beyond"):
                model.fit(X, y, eval_set=(1e200 * X, truth))

    @pytest.mark.parametrize(
        "rows",
        [
            pd.DataFrame({"a": ["x", "y"], "b": [1.0, -1e39]}),
            pd.DataFrame({"b": pd.array([None, 1e39], dtype="Float64")}),
            sparse.lil_matrix(np.array([[0.0, 1e39]])),
            [[1e39], [2.0]],
        ],
    )
    def test_wherever_they_are(self, rows):
        with pytest.raises(ValueError, match=r"such as -?1e\+39"):
            refuse_huge(rows)

    @pytest.mark.parametrize(
        "rows",
        [
            np.array([[np.inf, np.nan, -np.inf, 1e38]]),
            np.array([["a", "b"]]),
            ["a text", "another"],
            [["a"], ["b", "c"]],
            np.array([[1, 2]]),
            pd.DataFrame({"a": pd.Categorical(["x", "y"]), "b": [np.nan, 1.0]}),
        ],
    )
    def test_all_else_passes(self, rows):
        refuse_huge(rows)


class TestPriors:
    @pytest.mark.parametrize("prior", ["tedn", "capu"])
    def test_those_that_train_networks_are_refused_with_a_reason(self, name, prior):
        X, y, _ = table()
        with pytest.raises(ValueError, match=f"needs networks of its own.*method='{prior}'"):
            fresh(name, prior=prior).fit(X, y)

    def test_the_advice_can_be_taken(self):
        X, y, truth = table(80, 240)
        X[truth == 1] += 2
        found = float(estimate_prior(X, y, method="tedn", random_state=0))
        assert fresh("spy", prior=found).fit(X, y).prior_ == found

    @pytest.mark.parametrize("bag_size", [None, 30, 100, 400])
    def test_bags_have_a_balance_of_their_own(self, bag_size):
        # Far apart, so that the odds of a label of a positive are 1 / prior, and Elkan-Noto holds.
        rng = np.random.default_rng(0)
        y = np.repeat([1, 0], [200, 1000])
        truth = np.arange(1200) < 500
        X = rng.normal(np.where(truth, 4.0, -4.0)[:, None], 1.0, (1200, 2))
        learner = DecisionTreeClassifier(max_depth=1)
        given = {"estimator": learner, "bag_size": bag_size, "n_estimators": 20}
        model = BaggingPUClassifier(prior="elkan-noto", random_state=0, **given).fit(X, y)
        assert model.prior_ == pytest.approx(0.3, abs=0.03)


class TestText:
    def frame(self):
        X, y, _ = table()
        frame = pd.DataFrame(X, columns=["a", "b", "c"])
        frame["city"] = pd.Series(np.where(X[:, 0] > 0, "Ulm", "Bonn"))
        frame["job"] = pd.Series(np.where(X[:, 1] > 0, "cook", "smith"), dtype=object)
        frame["kind"] = pd.Categorical(np.where(X[:, 2] > 0, "up", "down"))
        return frame, y

    @pytest.mark.parametrize("name", ["meta", "elkan-noto", "bagging"])
    @pytest.mark.parametrize("prior", [0.4, "elkan-noto"])
    def test_a_learner_that_cannot_take_it(self, name, prior):
        frame, y = self.frame()
        learner = HistGradientBoostingClassifier(max_iter=2)
        match = "takes no text, and X has columns of it: 'city', 'job'. Make categories of them"
        with pytest.raises(ValueError, match=f"^HistGradientBoostingClassifier {match}"):
            fresh(name, estimator=learner, prior=prior).fit(frame, y)

    def test_the_advice_can_be_taken(self):
        frame, y = self.frame()
        model = fresh("meta", estimator=HistGradientBoostingClassifier(max_iter=2))
        model.fit(frame.astype({"city": "category", "job": "category"}), y)
        assert model.estimators_[0].is_categorical_.tolist() == [False] * 3 + [True] * 3

    def test_other_errors_stay_as_they_are(self):
        frame, y = self.frame()

        class Reader(LogisticRegression):
            def fit(self, X, y, sample_weight=None):
                raise ValueError("no such city")

        with pytest.raises(ValueError, match=r"^no such city$"):
            fresh("meta", estimator=Reader()).fit(frame, y)
        with pytest.raises(ValueError, match=r"^could not convert string to float"):
            fresh("meta").fit(frame.to_numpy(), y)


class Odd(LogisticRegression):
    """A learner that predicts NaN where the first column is high."""

    def predict_proba(self, X):
        scores = super().predict_proba(X)
        scores[np.asarray(X)[:, 0] > 1] = np.nan
        return scores


class OneColumn(LogisticRegression):
    def predict_proba(self, X):
        return super().predict_proba(X)[:, 1:]


@pytest.mark.parametrize("name", ["robust-pu-meta", "elkan-noto", "bagging"])
@pytest.mark.parametrize(
    ("learner", "match"),
    [
        (Odd(), "Odd predicts nan for row [0-9]+ of [0-9]+, which is no probability"),
        (OneColumn(), r"must return two columns, one a class; it returns an array of shape \("),
    ],
)
def test_scores_that_are_no_probabilities_are_refused(name, learner, match):
    X = np.random.default_rng(0).normal(size=(90, 2))
    model = all_methods()[name](prior=0.3, estimator=learner, random_state=0)
    with pytest.raises(ValueError, match=match):
        model.fit(X, np.arange(90) % 3 == 0)


def test_balanced_logits_of_a_given_share():
    assert balanced_logits(np.array([0.5, 0.2]), 0.2) == pytest.approx([np.log(4), 0])


def test_numbers_whose_squares_are_0_are_refused():
    X = np.random.default_rng(0).normal(size=(40, 2)) * 1e-200
    with pytest.raises(ValueError, match=r"X holds no number beyond .*e-200: scale the columns"):
        PEBLClassifier(prior=0.3).fit(X, np.arange(40) < 15)
