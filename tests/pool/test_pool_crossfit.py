"""One cross-fit of all members: nobody scores a row it has seen, or a copy of it."""

import warnings

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.metrics import roc_auc_score
from sklearn.naive_bayes import GaussianNB
from sklearn.tree import DecisionTreeClassifier

from robustpu import ElkanNotoClassifier, PUClassifier
from robustpu.methods.members import MEMBERS, members_of, named_members
from robustpu.pool.crossfit import cross_fit, folds_of, score_rows
from robustpu.training import TrainingData


class Recorder(ClassifierMixin, BaseEstimator):
    """Notes its rows, and scores any by its number."""

    def fit(self, X, y):
        self.rows_, self.classes_ = X[:, 0], np.array([0, 1])
        return self

    def decision_function(self, X):
        # A row that was seen scores far too high.
        return X[:, 0] + 1e6 * np.isin(X[:, 0], self.rows_)


def numbered(n=100, positive=20, weight=None):
    is_positive = np.arange(n) < positive
    weight = np.ones(n) if weight is None else weight
    return TrainingData(np.arange(float(n))[:, None], is_positive, weight)


def splits_of(data):
    return folds_of(data, np.flatnonzero(data.weight), np.random.RandomState(0))


class TestFolds:
    def test_every_row_is_scored_once_and_by_folds_of_both_labels(self):
        data = numbered()
        splits = splits_of(data)
        assert sorted(np.concatenate([other for _, other in splits])) == list(range(100))
        for training, other in splits:
            assert data.is_positive[training].sum() == 16
            assert not set(training) & set(other)

    def test_copies_stay_in_one_fold(self):
        data = numbered()
        copied = TrainingData(np.repeat(data.X[:50], 2, axis=0), data.is_positive, data.weight)
        for training, other in splits_of(copied):
            assert not set(copied.X[training, 0]) & set(copied.X[other, 0])

    def test_labels_that_are_all_copies_of_one_row_are_still_split(self):
        data = numbered()
        same = np.where(data.is_positive[:, None], 0.0, data.X)
        splits = splits_of(TrainingData(same, data.is_positive, data.weight))
        assert all(0 < data.is_positive[training].mean() < 1 for training, _ in splits)

    @pytest.mark.parametrize(("positive", "count"), [(1, 0), (2, 2), (3, 3), (9, 5)])
    def test_few_labels(self, positive, count):
        assert len(splits_of(numbered(positive=positive))) == count

    def test_rows_with_zero_weight_are_left_out(self):
        data = numbered(weight=np.where(np.arange(100) % 2, 1.0, 0.0))
        rows = np.concatenate([np.concatenate(split) for split in splits_of(data)])
        assert (rows % 2 == 1).all()


class TestCrossFit:
    def test_nobody_scores_what_it_has_seen(self):
        data = numbered()
        found = cross_fit("it", Recorder(), data, splits_of(data), np.random.RandomState(0))
        np.testing.assert_array_equal(found.out_of_fold, np.arange(100.0))
        assert found.standardized.mean() == pytest.approx(0)
        assert found.standardized.std() == pytest.approx(1)

    def test_a_member_without_time_is_left_out_after_one_fold(self):
        data, ticks = numbered(), []
        found = cross_fit(
            "it", Recorder(), data, splits_of(data), np.random.RandomState(0),
            seconds_left=0.0, tick=lambda: ticks.append(1),
        )  # fmt: skip
        assert found is None
        assert len(ticks) == 1

    def test_a_required_member_without_time_learns_from_fewer_rows(self):
        sizes = []

        class Counting(Recorder):
            def fit(self, X, y):
                sizes.append((int(y.sum()), int((y == 0).sum())))
                return super().fit(X, y)

        data = numbered(n=3000, positive=100)
        found = cross_fit(
            "it", Counting(), data, splits_of(data), np.random.RandomState(0),
            seconds_left=0.0, is_required=True,
        )  # fmt: skip
        assert sizes == [(80, 2320)] + [(80, 1000)] * 4 + [(100, 1000)]
        assert np.isfinite(found.out_of_fold).all()

    def test_scores_of_probabilities_are_log_odds(self):
        data = numbered()
        learner = GaussianNB().fit(data.X, data.is_positive)
        probability = np.clip(learner.predict_proba(data.X)[:, 1], 1e-6, 1 - 1e-6)
        np.testing.assert_allclose(
            score_rows(learner, data.X), np.log(probability / (1 - probability))
        )

    def test_scores_that_are_not_finite_are_refused(self):
        class Broken(Recorder):
            def decision_function(self, X):
                return np.full(len(X), np.nan)

        data = numbered()
        with pytest.raises(ValueError, match="Broken gives scores that are not finite"):
            score_rows(Broken().fit(data.X, data.is_positive), data.X)


class TestMembers:
    def test_more_effort_has_more_members(self):
        assert set(members_of("fast")) < set(members_of("default")) <= set(members_of("best"))
        assert members_of("best") == list(MEMBERS)

    @pytest.mark.parametrize(
        ("given", "message"),
        [
            ([], "members must hold names"),
            ("forest", "members must hold names"),
            (["forst"], "did you mean 'forest'"),
            ([("a", 3)], "it holds"),
            (["forest", ("forest", DecisionTreeClassifier())], "different names"),
        ],
    )
    def test_what_is_refused(self, given, message):
        with pytest.raises(ValueError, match=message):
            named_members(given)


class TestClassifiers:
    def test_copies_do_not_give_labels_away(self):
        """Noise, every row twice: whoever recognises the copy of a labelled row ranks it first."""
        rng = np.random.default_rng(0)
        X = np.repeat(rng.normal(size=(150, 3)), 2, axis=0)
        y = np.repeat(np.arange(150) < 30, 2)
        model = PUClassifier(
            prior=0.2, members=["logistic", "extra-trees"], threshold="prior", random_state=0
        )
        assert model.fit(X, y).member_auc_.max() < 0.7

    def test_a_table_of_one_category_is_ranked(self):
        """Most rows are copies: a category in one fold could not be learnt from the others."""
        rng = np.random.default_rng(0)
        level = rng.integers(0, 8, 600)
        X, truth = np.eye(8)[level], rng.random(600) < np.linspace(0.05, 0.8, 8)[level]
        y = truth & (rng.random(600) < 0.4)
        given = {"prior": truth[~y].mean(), "scenario": "single-set", "random_state": 0}
        model = PUClassifier(members=["forest", "logistic"], **given).fit(X, y)
        assert roc_auc_score(truth[~y], model.out_of_fold_[~y]) > 0.7

    def test_a_classifier_without_out_of_fold_scores_is_cross_fitted(self):
        rng = np.random.default_rng(0)
        X, y = rng.normal(size=(300, 3)), np.arange(300) < 60
        member = ElkanNotoClassifier(DecisionTreeClassifier(), prior=0.2)
        model = PUClassifier(
            prior=0.2, members=["logistic", ("tree", member)], threshold="prior", random_state=0
        )
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model.fit(X, y)
        assert model.member_auc_[1] < 0.65
