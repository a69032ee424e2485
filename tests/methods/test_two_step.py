"""What the two-step methods share: reliable negatives, the second step and its boundary."""

import numpy as np
import pytest
from scipy.special import expit, logit
from sklearn.base import BaseEstimator, ClassifierMixin

from robustpu.methods.two_step import LEAST, TwoStepClassifier, reliable
from robustpu.validation.parameters import parameters


class Told(ClassifierMixin, BaseEstimator):
    """Its probability is the first column, moved by its seed; it remembers what it has seen."""

    def __init__(self, random_state=None):
        self.random_state = random_state

    def fit(self, X, y, sample_weight=None):
        self.rows_, self.target_, self.weight_ = X[:, 1].astype(int), y, sample_weight
        self.classes_ = np.array([0, 1])
        return self

    def predict_proba(self, X):
        score = expit(logit(X[:, 0]) + (self.random_state % 7) / 5)
        return np.column_stack([1 - score, score])


class Decides(Told):
    """The same without probabilities."""

    @property
    def predict_proba(self):
        raise AttributeError

    def decision_function(self, X):
        return logit(X[:, 0]) + (self.random_state % 7) / 5


@parameters
class Lowest(TwoStepClassifier):
    """Picks the unlabelled rows whose first column is below 0.3, and one of the others."""

    def pick_negatives(self, data, random):
        negative = ~data.is_positive & (data.X[:, 0] < 0.3)
        negative[random.choice(np.flatnonzero(~data.is_positive & ~negative))] = True
        return negative


def told(n_positive=12, n_unlabeled=30):
    """Rows of a probability and a number, and their labels."""
    rng = np.random.default_rng(0)
    y = rng.permutation(np.repeat([1, 0], [n_positive, n_unlabeled]))
    return np.column_stack([rng.uniform(0.02, 0.98, len(y)), np.arange(len(y))]), y


def lowest(**changes):
    given = {"prior": 0.4, "estimator": Told(), "n_draws": 3, "random_state": 0}
    return Lowest(**given | changes)


class TestReliable:
    score = np.array([0.5, 0.1, 0.3, 0.3, 0.9])

    @pytest.mark.parametrize(
        ("below", "least", "expected"),
        [
            (0.3, 0.2, [1]),
            (0.31, 0.2, [1, 2, 3]),
            (2.0, 0.2, [0, 1, 2, 3, 4]),
            # Too few: the lowest-scored share, and what ties with the last of it.
            (0.3, 0.3, [1, 2, 3]),
            (0.0, 0.2, [1]),
            (0.0, 0.6, [1, 2, 3]),
            (0.0, 0.61, [0, 1, 2, 3]),
            # Never none, however small the share.
            (0.0, 1e-9, [1]),
        ],
    )
    def test_by_hand(self, below, least, expected):
        assert np.flatnonzero(reliable(self.score, below, least)).tolist() == expected

    def test_the_least_is_a_share_of_the_negatives_that_there_should_be(self):
        X, y = told()
        model = lowest(prior=0.9, threshold="prior").fit(X, y)
        score = np.arange(100.0)
        assert model._reliable(score, 0).sum() == round(100 * LEAST * 0.1)


class TestSecondStep:
    def test_all_of_p_against_the_picked_rows_alone(self):
        X, y = told()
        model = lowest().fit(X, y)
        sure = np.flatnonzero((y == 0) & (X[:, 0] < 0.3))
        assert len(model.estimators_) == 3
        for learner, count in zip(model.estimators_, model.n_reliable_, strict=True):
            assert count == len(sure) + 1
            assert learner.rows_[learner.target_ == 1].tolist() == np.flatnonzero(y == 1).tolist()
            negative = learner.rows_[learner.target_ == 0]
            assert np.isin(sure, negative).all()
            assert len(negative) == count
        assert len({tuple(learner.rows_) for learner in model.estimators_}) > 1

    @pytest.mark.parametrize("scenario", ["case-control", "single-set"])
    def test_mean_of_the_draws_shifted_to_the_prior(self, scenario):
        X, y = told()
        model = lowest(scenario=scenario).fit(X, y)
        mean = np.mean([each.predict_proba(X)[:, 1] for each in model.estimators_], axis=0)
        np.testing.assert_allclose(logit(model.probability_) - logit(mean), model.shift_)
        if scenario == "case-control":
            assert model.probability_[y == 0].mean() == pytest.approx(0.4)
        else:
            assert model.probability_.mean() == pytest.approx((12 + 0.4 * 30) / 42)

    @pytest.mark.parametrize("scenario", ["case-control", "single-set"])
    def test_without_probabilities_the_share_of_predictions_is_matched(self, scenario):
        X, y = told()
        model = lowest(estimator=Decides(), scenario=scenario).fit(X, y)
        positive = model.predict(X) == 1
        if scenario == "case-control":
            assert positive[y == 0].mean() == pytest.approx(0.4)
        else:
            assert positive.sum() == 12 + 0.4 * 30

    def test_weights_reach_the_learner_and_the_shift(self):
        X, y = told()
        weight = np.random.default_rng(1).uniform(0.5, 2, len(y))
        model = lowest().fit(X, y, sample_weight=weight)
        for learner in model.estimators_:
            np.testing.assert_allclose(learner.weight_, (weight / weight.mean())[learner.rows_])
        unlabeled = y == 0
        mean = np.average(model.probability_[unlabeled], weights=weight[unlabeled])
        assert mean == pytest.approx(0.4)

    def test_rows_of_weight_zero_are_not_there(self):
        X, y = told()
        weight = np.ones(len(y))
        weight[[np.flatnonzero(y == 1)[0], *np.flatnonzero(y == 0)[:5]]] = 0
        model = lowest().fit(X, y, sample_weight=weight)
        other = lowest().fit(X[weight > 0], y[weight > 0])
        np.testing.assert_allclose(model.predict_proba(X), other.predict_proba(X))

    @pytest.mark.parametrize(("side", "name"), [(1, "labelled positives"), (0, "unlabelled rows")])
    def test_a_class_with_zero_weight(self, side, name):
        X, y = told()
        with pytest.raises(ValueError, match=f"sample_weight is zero for all {name}"):
            lowest().fit(X, y, sample_weight=(y != side).astype(float))

    @pytest.mark.parametrize("n_draws", [0, 1.5, True, None])
    def test_number_of_draws(self, n_draws):
        with pytest.raises(ValueError, match="n_draws must be a whole number at least 1"):
            lowest(n_draws=n_draws).fit(*told())
