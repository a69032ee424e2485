"""Spies: who they are, which threshold they give, and what is learnt from it."""

from typing import ClassVar

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.dummy import DummyClassifier
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC
from sklearn.utils.estimator_checks import parametrize_with_checks

from robustpu import CollapseWarning, datasets, make_pu
from robustpu.methods.spy import SpyClassifier, spy_threshold


class Told(ClassifierMixin, BaseEstimator):
    """Its probability is the first column; all copies note what they have seen."""

    seen: ClassVar[list] = []

    def fit(self, X, y, sample_weight=None):
        self.classes_ = np.array([0, 1])
        Told.seen.append((X[:, 1].astype(int), y, sample_weight))
        return self

    def predict_proba(self, X):
        return np.column_stack([1 - X[:, 0], X[:, 0]])


def told(n_positive=20, n_unlabeled=50):
    """Rows of a probability and a number, and their labels."""
    rng = np.random.default_rng(0)
    y = rng.permutation(np.repeat([1, 0], [n_positive, n_unlabeled]))
    score = np.where(y == 1, rng.uniform(0.3, 0.98, len(y)), rng.uniform(0.02, 0.9, len(y)))
    return np.column_stack([score, np.arange(len(y))]), y


def problem(prior=0.5, seed=0, scenario="case-control"):
    """Two Gaussians whose best accuracy is 0.95."""
    rng = np.random.default_rng(seed)
    truth = np.arange(4000) % 2
    X = rng.normal(np.where(truth == 1, 0.82, -0.82)[:, None], 1.0, (4000, 4))
    sizes = {"n_positive": 150, "n_unlabeled": 400, "n_test": 1000}
    return make_pu(X, truth, prior=prior, scenario=scenario, random_state=seed, **sizes)


def spambase(prior):
    table = datasets.load("spambase")
    sizes = {"n_positive": 400, "n_unlabeled": 800, "n_test": 1000}
    return make_pu(table.data, table.target, prior=prior, random_state=0, **sizes)


def spy(**changes):
    return SpyClassifier(**{"prior": 0.5, "random_state": 0} | changes)


class TestThreshold:
    @pytest.mark.parametrize(
        ("tolerance", "expected"),
        [(0.0, 0.1), (0.19, 0.1), (0.2, 0.4), (0.39, 0.4), (0.4, 0.4), (0.6, 0.8), (0.99, 0.9)],
    )
    def test_by_hand(self, tolerance, expected):
        score = np.array([0.8, 0.4, 0.9, 0.1, 0.4])
        assert spy_threshold(score, tolerance, np.ones(5)) == expected
        # Weights say the same as rows given twice.
        weight = np.array([1.0, 2, 1, 1])
        assert spy_threshold(np.array([0.8, 0.4, 0.9, 0.1]), tolerance, weight) == expected

    @pytest.mark.parametrize("tolerance", [0.05, 0.29, 0.5])
    def test_at_most_the_tolerance_is_below_and_the_next_spy_would_be_too_much(self, tolerance):
        score = np.random.default_rng(0).uniform(size=100)
        threshold = spy_threshold(score, tolerance, np.ones(100))
        assert (score < threshold).sum() == round(100 * tolerance)
        assert threshold in score


class TestFirstStep:
    @pytest.mark.parametrize(("ratio", "count"), [(0.15, 3), (0.5, 10), (1e-6, 1), (0.999, 19)])
    def test_spies_are_positives_given_out_as_unlabelled(self, ratio, count):
        X, y = told()
        Told.seen.clear()
        spy(estimator=Told(), spy_ratio=ratio, n_draws=4).fit(X, y)
        first = Told.seen[::2]
        spies = [tuple(np.flatnonzero((y == 1) & (target == 0))) for _, target, _ in first]
        assert [len(rows) for rows in spies] == [count] * 4
        assert len(set(spies)) > 1
        for rows, target, _ in first:
            assert rows.tolist() == list(range(70))
            assert not target[y == 0].any()

    @pytest.mark.parametrize("tolerance", [0.0, 0.3])
    def test_reliable_negatives_lie_below_the_spies(self, tolerance):
        X, y = told()
        Told.seen.clear()
        model = spy(estimator=Told(), spy_ratio=0.5, tolerance=tolerance, n_draws=2).fit(X, y)
        for draw in range(2):
            spies = np.flatnonzero((y == 1) & (Told.seen[2 * draw][1] == 0))
            rows, target, _ = Told.seen[2 * draw + 1]
            threshold = np.sort(X[spies, 0])[round(10 * tolerance)]
            below = np.flatnonzero((y == 0) & (X[:, 0] < threshold))
            assert rows[target == 0].tolist() == below.tolist()
            assert rows[target == 1].tolist() == np.flatnonzero(y == 1).tolist()
            assert model.n_reliable_[draw] == len(below)

    def test_without_reliable_negatives_the_lowest_scored_are_taken(self):
        X, y = told()
        X[y == 1, 0] = 0.01
        model = spy(estimator=Told(), prior=0.6, n_draws=1).fit(X, y)
        # A fifth of the expected share of negatives, 0.4, of 50 rows.
        assert model.n_reliable_.tolist() == [4]
        rows, target, _ = Told.seen[-1]
        unlabeled = np.flatnonzero(y == 0)
        lowest = unlabeled[np.argsort(X[unlabeled, 0])[:4]]
        assert sorted(rows[target == 0]) == sorted(lowest)

    def test_weights_count_in_both_steps_and_among_spies(self):
        X, y = told()
        weight = np.random.default_rng(3).uniform(0.2, 3, 70)
        Told.seen.clear()
        spy(estimator=Told(), spy_ratio=0.5, tolerance=0.3, n_draws=1).fit(X, y, weight)
        (_, target, first), (rows, second_target, second) = Told.seen
        weight /= weight.mean()
        np.testing.assert_allclose(first, weight)
        np.testing.assert_allclose(second, weight[rows])
        spies = (y == 1) & (target == 0)
        threshold = spy_threshold(X[spies, 0], 0.3, weight[spies])
        assert threshold != spy_threshold(X[spies, 0], 0.3, np.ones(10))
        assert (X[rows[second_target == 0], 0] < threshold).all()
        assert ((y == 0) & (X[:, 0] < threshold)).sum() == (second_target == 0).sum()


class TestLearns:
    @pytest.mark.parametrize("scenario", ["case-control", "single-set"])
    @pytest.mark.parametrize("prior", [0.2, 0.5, 0.7])
    def test_two_gaussians(self, prior, scenario):
        pu = problem(prior, scenario=scenario)
        model = spy(prior=pu.prior, scenario=scenario).fit(pu.X, pu.y)
        assert model.population_prior_ == pytest.approx(pu.population_prior)
        assert model.score(pu.X_test, pu.y_test) > 0.9

    def test_single_set_asks_for_more_positives(self):
        pu = problem(0.3, scenario="single-set")
        more = spy(prior=pu.prior, scenario="single-set").fit(pu.X, pu.y)
        less = spy(prior=pu.prior, scenario="case-control").fit(pu.X, pu.y)
        assert more.shift_ > less.shift_

    @pytest.mark.parametrize(
        "estimator",
        [
            KNeighborsClassifier(20),
            make_pipeline(StandardScaler(), LinearSVC(dual=False)),
            RandomForestClassifier(30, min_samples_leaf=3),
        ],
        ids=["without weights", "without probabilities", "forest"],
    )
    def test_with_any_learner(self, estimator):
        pu = problem(0.4)
        model = spy(prior=0.4, estimator=estimator, n_draws=2).fit(pu.X, pu.y)
        assert model.score(pu.X_test, pu.y_test) > 0.88

    @pytest.mark.parametrize("prior", [0.4, 0.6])
    def test_beats_taking_unlabelled_rows_as_negatives(self, prior):
        pu = spambase(prior)
        naive = make_pipeline(StandardScaler(), LogisticRegression(max_iter=1000)).fit(pu.X, pu.y)
        model = spy(prior=prior).fit(pu.X, pu.y)
        score = model.score(pu.X_test, pu.y_test)
        assert score > 0.85
        assert score > naive.score(pu.X_test, pu.y_test) + 0.05

    def test_the_shift_mends_the_boundary(self):
        """Without it a learner of P against far negatives predicts positive too often."""
        pu = spambase(0.3)
        model = spy(prior=0.3).fit(pu.X, pu.y)
        share, score = model.predict(pu.X_test).mean(), model.score(pu.X_test, pu.y_test)
        assert share == pytest.approx(0.3, abs=0.05)
        model.shift_ = 0.0
        assert model.predict(pu.X_test).mean() > share + 0.05
        assert model.score(pu.X_test, pu.y_test) < score - 0.03

    def test_the_prior_may_be_unknown(self):
        pu = problem(0.4)
        model = spy(prior="auto").fit(pu.X, pu.y)
        assert model.prior_ == pytest.approx(0.4, abs=0.1)
        assert model.score(pu.X_test, pu.y_test) > 0.9

    def test_suspects_are_hidden_positives(self):
        pu = problem(0.3)
        rows, probability = spy(prior=0.3).fit(pu.X, pu.y).suspects(60)
        assert not pu.y[rows].any()
        assert pu.y_true[rows].mean() > 0.9
        assert np.all(np.diff(probability) <= 0)


class TestRows:
    def test_missing_values_and_frames(self):
        pu = problem()
        X = np.where(np.random.default_rng(0).uniform(size=pu.X.shape) < 0.1, np.nan, pu.X)
        learner = HistGradientBoostingClassifier(max_iter=20)
        y = np.where(pu.y == 1, "case", "unknown")
        model = spy(estimator=learner, pos_label="case", n_draws=2).fit(X, y)
        assert ((model.predict(pu.X_test) == "case") == pu.y_test).mean() > 0.88
        frame = pd.DataFrame(X, columns=list("abcd"))
        other = spy(estimator=learner, n_draws=2).fit(frame, pu.y)
        np.testing.assert_array_equal(other.probability_, model.probability_)

    def test_sparse_rows_and_texts(self):
        rng = np.random.default_rng(0)
        words = np.where(rng.uniform(size=(300, 6)) < 0.6, "good fine", "bad poor")
        texts = [" ".join(row) for row in words]
        y = np.array([text.count("good") for text in texts]) > 3
        y &= rng.uniform(size=300) < 0.5
        model = spy(estimator=make_pipeline(CountVectorizer(), LogisticRegression())).fit(texts, y)
        assert model.predict(["good good fine", "bad poor poor"]).tolist() == [True, False]
        X = CountVectorizer().fit_transform(texts)
        other = spy(estimator=LogisticRegression()).fit(sparse.csr_matrix(X), y)
        np.testing.assert_allclose(other.probability_, model.probability_)

    def test_eval_set_and_held_out_rows(self):
        pu = problem()
        given = spy().fit(pu.X, pu.y, eval_set=(pu.X_test, pu.y_test))
        assert given.member_scores_[0] == given.score(pu.X_test, pu.y_test)
        held = spy(validation_fraction=0.2).fit(pu.X, pu.y)
        assert held.selection_ == "pu"
        assert held.member_scores_[0] == pytest.approx(0.95, abs=0.15)


class TestContract:
    def test_the_seed_decides(self):
        pu = problem()
        forest = RandomForestClassifier(5)
        one, same, other = (
            spy(estimator=forest, random_state=seed).fit(pu.X, pu.y).probability_
            for seed in (1, 1, 2)
        )
        np.testing.assert_array_equal(one, same)
        assert np.abs(one - other).max() > 0.01

    def test_a_learner_that_knows_nothing_raises_the_alarm(self):
        pu = problem(0.3)
        with pytest.warns(CollapseWarning, match="all-negative"):
            spy(prior=0.3, estimator=DummyClassifier()).fit(pu.X, pu.y)

    def test_weights_need_a_learner_that_takes_them(self):
        pu = problem()
        with pytest.raises(ValueError, match="KNeighborsClassifier takes no sample_weight"):
            spy(estimator=KNeighborsClassifier()).fit(pu.X, pu.y, 1 + pu.y)

    def test_one_positive_is_too_few(self):
        with pytest.raises(ValueError, match="at least 2 labelled positives"):
            spy().fit(np.arange(6.0)[:, None], [1, 0, 0, 0, 0, 0])

    @pytest.mark.parametrize(
        ("changes", "match"),
        [
            ({"spy_ratio": 0}, "spy_ratio must be a number above 0 and below 1"),
            ({"spy_ratio": 1}, "spy_ratio must be"),
            ({"spy_ratio": 15}, "spy_ratio must be"),
            ({"tolerance": -0.1}, "tolerance must be a number at least 0 and below 1"),
            ({"tolerance": 1.0}, "tolerance must be"),
            ({"tolerance": None}, "tolerance must be"),
        ],
    )
    def test_what_is_refused(self, changes, match):
        with pytest.raises(ValueError, match=match):
            spy(**changes).fit(np.ones((4, 1)), [0, 0, 1, 1])


def expected_failures(estimator):
    reason = "repeated rows change who is a spy, weighted ones do not"
    return {
        f"check_sample_weight_equivalence_on_{kind}_data": reason for kind in ("dense", "sparse")
    }


# The checks train on noise, and give string labels without pos_label.
@pytest.mark.filterwarnings("ignore::robustpu.CollapseWarning")
@parametrize_with_checks(
    [SpyClassifier(n_draws=2, random_state=0)], expected_failed_checks=expected_failures
)
def test_sklearn_check(estimator, check):
    check(estimator)
