"""PEBL: positive features, strong negatives, and the loop with its guard."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.dummy import DummyClassifier
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC
from sklearn.utils.estimator_checks import parametrize_with_checks

from robustpu import CollapseWarning, datasets, make_pu
from robustpu.base.folds import hold_out
from robustpu.methods.pebl import PEBLClassifier, features, positive_features
from robustpu.training import TrainingData


class Midpoint(ClassifierMixin, BaseEstimator):
    """Cuts the last column half-way between its means in P and N, and remembers its rows."""

    def fit(self, X, y, sample_weight=None):
        self.X_, self.y_, self.weight_, self.classes_ = X, y, sample_weight, np.array([0, 1])
        means = [
            np.average(X[y == side, -1], weights=self._weight_of(y == side)) for side in (0, 1)
        ]
        self.middle_, self.sign_ = np.mean(means), np.sign(means[1] - means[0])
        return self

    def _weight_of(self, side):
        return None if self.weight_ is None else self.weight_[side]

    def decision_function(self, X):
        return self.sign_ * (X[:, -1] - self.middle_)


class Remembers(LogisticRegression):
    """Remembers its rows."""

    def fit(self, X, y):
        self.X_, self.y_ = X, y
        return super().fit(X, y)


class Scripted(PEBLClassifier):
    """Watching rows say what is written here."""

    def _evaluate(self, predicted, data, rows):
        recall = [0.99, 0.95, 0.93][len(self.history_)]
        return recall, 1.0 + len(self.history_)


class Drifts(Midpoint):
    """Reverses its decisions as soon as it has seen many negatives."""

    def __init__(self, most=140):
        self.most = most

    def decision_function(self, X):
        sign = -1 if (self.y_ == 0).sum() > self.most else 1
        return sign * super().decision_function(X)


def problem(prior=0.5, seed=0, scenario="case-control"):
    """Two Gaussians whose best accuracy is 0.95."""
    rng = np.random.default_rng(seed)
    truth = np.arange(4000) % 2
    X = rng.normal(np.where(truth == 1, 0.82, -0.82)[:, None], 1.0, (4000, 4))
    sizes = {"n_positive": 150, "n_unlabeled": 400, "n_test": 1000}
    return make_pu(X, truth, prior=prior, scenario=scenario, random_state=seed, **sizes)


def pebl(**changes):
    return PEBLClassifier(**{"prior": 0.5, "n_draws": 1, "random_state": 0} | changes)


class TestFeatures:
    @pytest.mark.parametrize(
        ("column", "n_bins", "expected"),
        [
            # Two values: the larger is there or it is not.
            ([0, 1, 1, 0], 4, [0, 1, 1, 0]),
            ([-1.0, 7.5, -1.0, 7.5], 4, [0, 1, 0, 1]),
            ([True, False, True, True], 4, [1, 0, 1, 1]),
            ([3, 3, 3, 3], 4, [0, 0, 0, 0]),
            # More: bins of equal size, quantiles in the bin below.
            ([1, 2, 3, 4], 2, [1, 1, 2, 2]),
            ([4, 3, 2, 1], 4, [4, 3, 2, 1]),
            ([1, 2, 3, 4, 5], 2, [1, 1, 1, 2, 2]),
            ([1, 2, 3, np.inf], 2, [1, 1, 2, 2]),
            # Quantiles that are equal are one.
            ([0, 0, 0, 0, 0, 0, 1, 2], 4, [1, 1, 1, 1, 1, 1, 2, 2]),
            # More bins than rows: one for each value.
            ([5, 6, 9], 10, [1, 2, 3]),
            # What is missing is a feature.
            ([np.nan, 0, 1, 0], 4, [2, 0, 1, 0]),
            ([1, 2, 3, 4, np.nan], 2, [1, 1, 2, 2, 3]),
            ([np.nan, np.nan, np.nan], 2, [1, 1, 1]),
            # No numbers: one for each value.
            (["b", "a", "c", "b"], 2, [2, 1, 3, 2]),
            (["no", "yes"], 2, [1, 2]),
        ],
    )
    def test_by_hand(self, column, n_bins, expected):
        assert features(np.array(column), n_bins).tolist() == expected
        assert features(np.array(column, dtype=object), n_bins).tolist() == expected

    def test_bins_know_ranks_only(self):
        column = np.random.default_rng(0).normal(size=200)
        one = features(column, 7)
        assert np.bincount(one)[1:].min() >= 200 // 7
        np.testing.assert_array_equal(features(np.exp(column), 7), one)

    def test_positive_ones_are_more_frequent_in_p(self):
        rng = np.random.default_rng(0)
        X = np.column_stack([rng.integers(0, 2, (60, 3)), rng.integers(0, 4, (60, 2))])
        mask = np.arange(60) < 20
        expected = np.zeros(60)
        for column in X.T:
            for value in sorted(set(column)) if max(column) > 1 else [1]:
                has = column == value
                if has[mask].sum() / 20 > has[~mask].sum() / 40:
                    expected += has
        np.testing.assert_array_equal(positive_features(X, mask, np.ones(len(X)), 1000), expected)
        assert len(set(expected)) > 3

    def test_equal_frequencies_are_not_positive(self):
        # 3 of 10 and 6 of 20; summed in tenths the first is the larger by rounding.
        X, mask = np.repeat([1, 0, 1, 0], [3, 7, 6, 14])[:, None], np.arange(30) < 10
        assert not positive_features(X, mask, np.ones(len(X)), 2).any()

    def test_weights_say_the_same_as_rows_given_twice(self):
        rng = np.random.default_rng(0)
        X, mask = rng.integers(0, 2, (40, 8)), rng.uniform(size=40) < 0.4
        weight = rng.integers(1, 4, 40)
        twice = np.repeat(np.arange(40), weight)
        expected = positive_features(X[twice], mask[twice], np.ones(len(twice)), 2)
        found = positive_features(X, mask, weight.astype(float), 2)
        np.testing.assert_array_equal(found[twice], expected)
        assert not np.array_equal(found, positive_features(X, mask, np.ones(len(X)), 2))

    def test_frames_sparse_rows_images_and_lists(self):
        rng = np.random.default_rng(0)
        X, mask = rng.integers(0, 3, (50, 4)), rng.uniform(size=50) < 0.5
        expected = positive_features(X, mask, np.ones(len(X)), 3)
        frame = pd.DataFrame(X).astype({1: "category", 2: float})
        for rows in (frame, sparse.csr_matrix(X), X.reshape(50, 2, 2), X.tolist()):
            np.testing.assert_array_equal(positive_features(rows, mask, np.ones(50), 3), expected)

    def test_texts_have_no_columns(self):
        with pytest.raises(ValueError, match=r"shape is \(3,\).*Turn texts into columns"):
            positive_features(["a", "b", "a"], np.array([True, False, False]), np.ones(3), 2)


def words(n=300, seed=0):
    """Binary columns: of 8 words positives have each with 0.6, negatives with 0.1."""
    rng = np.random.default_rng(seed)
    truth = rng.uniform(size=n) < 0.5
    X = (rng.uniform(size=(n, 8)) < np.where(truth, 0.6, 0.1)[:, None]).astype(float)
    return X, (truth & (rng.uniform(size=n) < 0.5)).astype(int)


class TestStrongNegatives:
    def test_have_no_positive_feature(self):
        X, y = words()
        model = pebl(guard_fraction=0, max_iter=1, estimator=LogisticRegression()).fit(X, y)
        none = (y == 0) & (X.sum(1) == 0)
        assert model.n_reliable_.tolist() == [none.sum()]
        assert model.history_[0]["n_negative"] == none.sum()
        assert none.sum() > 40

    def test_if_they_are_few_those_with_the_fewest_positive_features_are_taken(self):
        X, y = words()
        # One more word, that all but two rows have: a little more frequent in P.
        without = np.flatnonzero((y == 0) & (X.sum(1) == 0))[:2]
        X = np.column_stack([X, ~np.isin(np.arange(300), without)])
        model = pebl(guard_fraction=0, max_iter=1, estimator=Remembers()).fit(X, y)
        count = X[y == 0].sum(1)
        assert (count == 0).sum() == 2 < 0.2 * 0.5 * len(count)
        # A fifth of the expected negatives, and rows that tie with the last of it.
        most = np.sort(count)[int(np.ceil(0.2 * 0.5 * len(count))) - 1]
        learner = model.estimators_[0]
        assert sorted(learner.X_[learner.y_ == 0].sum(1)) == sorted(count[count <= most])


def replayed(X, y, prior, guard_fraction, tolerance=0.05):
    """The loop in plain NumPy, for the learner Midpoint: notes of it and the picked rows."""
    is_positive = y == 1
    kept, guard = hold_out(is_positive, guard_fraction, np.random.RandomState(0))
    x, positive = X[kept, -1], is_positive[kept]
    count = positive_features(X[kept], positive, np.ones(len(kept)), 10)
    order = np.sort(count[~positive])
    least = int(np.ceil(0.2 * (1 - prior) * len(order)))
    strong = count == 0 if order[least - 1] == 0 else count <= order[least - 1]
    negative, notes, best = strong & ~positive, [], None
    while True:
        middle = (x[positive].mean() + x[negative].mean()) / 2
        u = np.sort(x[~positive])
        # As many unlabelled rows above the edge as there should be positives.
        n = round(prior * len(u))
        edge = (u[-n] + u[-n - 1]) / 2
        predicted = X[guard, -1] >= edge
        recall = predicted[is_positive[guard]].mean()
        rate = predicted[~is_positive[guard]].mean()
        notes.append((negative.sum(), recall, 1 + 2 * prior * recall - prior - rate, middle))
        if recall < max(note[1] for note in notes) - tolerance:
            break
        if best is None or notes[-1][2] >= best[0]:
            picked = np.zeros(len(y), dtype=bool)
            picked[kept], picked[guard] = negative, ~predicted & ~is_positive[guard]
            best = notes[-1][2], picked
        moving = ~positive & ~negative & (x < edge)
        if not moving.any():
            break
        negative |= moving
    return notes, best[1]


class TestLoop:
    @pytest.mark.parametrize("prior", [0.3, 0.6])
    def test_replay(self, prior):
        pu = problem(prior)
        notes, picked = replayed(pu.X, pu.y, prior, 0.2)
        model = pebl(prior=prior, estimator=Midpoint()).fit(pu.X, pu.y)
        found = [(entry["n_negative"], entry["recall"], entry["score"]) for entry in model.history_]
        np.testing.assert_allclose(found, [note[:3] for note in notes])
        assert [entry["iteration"] for entry in model.history_] == list(range(1, len(notes) + 1))
        assert len(notes) > 1
        learner = model.estimators_[0]
        np.testing.assert_array_equal(learner.X_[learner.y_ == 0], pu.X[picked])
        np.testing.assert_array_equal(learner.X_[learner.y_ == 1], pu.X[pu.y == 1])

    def test_ends_when_no_row_moves(self):
        pu = problem(0.4)
        model = pebl(prior=0.4, guard_fraction=0, max_iter=100).fit(pu.X, pu.y)
        counts = [entry["n_negative"] for entry in model.history_]
        assert 2 < len(counts) < 100
        assert np.all(np.diff(counts) > 0)
        # Nobody watches, so the last one is kept.
        assert model.n_reliable_.tolist() == counts[-1:]
        # What is predicted negative, the share of negatives, has moved.
        assert counts[-1] >= 0.6 * 400
        assert len(pebl(prior=0.4, guard_fraction=0, max_iter=2).fit(pu.X, pu.y).history_) == 2

    @pytest.mark.parametrize(("tolerance", "length"), [(0.05, 2), (0.5, 2), (1.0, 3)])
    def test_drift_is_stopped_and_undone(self, tolerance, length):
        pu = problem(0.5)
        learner = Drifts()
        model = pebl(estimator=learner, tolerance=tolerance, threshold="prior").fit(pu.X, pu.y)
        first, second = model.history_[:2]
        assert first["n_negative"] <= learner.most < second["n_negative"]
        assert second["recall"] < 0.3 < 0.8 < first["recall"]
        assert model.n_iter_.tolist() == [len(model.history_)] == [length]
        # The first is kept, and the guard's rows that it predicted negative are added.
        assert first["n_negative"] < model.n_reliable_[0] < second["n_negative"]
        assert model.score(pu.X_test, pu.y_test) > 0.75

    def test_slow_drift_is_stopped_too(self):
        pu = problem(0.4)
        given = {"prior": 0.4, "n_draws": 1, "random_state": 0}
        model = Scripted(**given).fit(pu.X, pu.y)
        assert [entry["recall"] for entry in model.history_] == [0.99, 0.95, 0.93]
        # The last has the best score but is beyond the tolerance: the second is kept.
        two, three = (
            Scripted(max_iter=n, tolerance=1, **given).fit(pu.X, pu.y).n_reliable_ for n in (2, 3)
        )
        assert model.n_reliable_ == two < three

    def test_weights_of_watching_rows(self):
        pu = problem()
        model = pebl(prior=0.25).fit(pu.X, pu.y)
        predicted = np.array([True, False, True, False, False])
        mask = np.array([False, True, True, False, False, False])
        data = TrainingData(np.zeros((6, 1)), mask, np.array([9.0, 3, 1, 2, 1, 1]))
        recall, score = model._evaluate(predicted, data, np.arange(1, 6))
        assert recall == pytest.approx(3 / 4)
        assert score == pytest.approx(1 + 2 * 0.25 * 3 / 4 - 0.25 - 2 / 4)
        equal = replace(data, weight=np.ones(6))
        assert model._evaluate(predicted, equal, np.arange(1, 6))[0] == pytest.approx(1 / 2)

    def test_the_best_iteration_is_kept(self):
        pu = problem(0.3)
        model = pebl(prior=0.3, guard_fraction=0.3, n_draws=3).fit(pu.X, pu.y)
        assert {entry["draw"] for entry in model.history_} == {0, 1, 2}
        for draw, count in enumerate(model.n_reliable_):
            entries = [entry for entry in model.history_ if entry["draw"] == draw]
            assert [entry["iteration"] for entry in entries] == list(
                range(1, model.n_iter_[draw] + 1)
            )
            best = max(entries, key=lambda note: (note["score"], note["iteration"]))
            # With those of the guard, which has 120 of 400 unlabelled rows.
            assert best["n_negative"] < count <= best["n_negative"] + 120


class TestLearns:
    @pytest.mark.parametrize("scenario", ["case-control", "single-set"])
    @pytest.mark.parametrize("prior", [0.2, 0.5, 0.7])
    def test_two_gaussians(self, prior, scenario):
        pu = problem(prior, scenario=scenario)
        model = pebl(prior=pu.prior, scenario=scenario, n_draws=3).fit(pu.X, pu.y)
        assert model.population_prior_ == pytest.approx(pu.population_prior)
        assert model.score(pu.X_test, pu.y_test) > 0.9

    def test_single_set_asks_for_more_positives(self):
        pu = problem(0.3, scenario="single-set")
        given = {"prior": pu.prior, "estimator": LogisticRegression()}
        more = pebl(scenario="single-set", **given).fit(pu.X, pu.y)
        less = pebl(scenario="case-control", **given).fit(pu.X, pu.y)
        assert more.probability_.mean() > less.probability_.mean()

    @pytest.mark.parametrize("prior", [0.4, 0.6])
    def test_beats_taking_unlabelled_rows_as_negatives(self, prior):
        table = datasets.load("spambase")
        sizes = {"n_positive": 400, "n_unlabeled": 800, "n_test": 1000}
        pu = make_pu(table.data, table.target, prior=prior, random_state=0, **sizes)
        naive = make_pipeline(StandardScaler(), LinearSVC(dual=False)).fit(pu.X, pu.y)
        score = pebl(prior=prior, n_draws=5).fit(pu.X, pu.y).score(pu.X_test, pu.y_test)
        assert score > 0.85
        assert score > naive.score(pu.X_test, pu.y_test) + 0.05

    @pytest.mark.parametrize(
        "estimator",
        [KNeighborsClassifier(20), RandomForestClassifier(30, min_samples_leaf=3)],
        ids=["without weights", "forest"],
    )
    def test_with_any_learner(self, estimator):
        pu = problem(0.4)
        model = pebl(prior=0.4, estimator=estimator, n_draws=2).fit(pu.X, pu.y)
        assert model.score(pu.X_test, pu.y_test) > 0.88

    def test_the_default_is_a_linear_machine(self):
        pu = problem()
        model = pebl().fit(pu.X, pu.y)
        named = pebl(estimator=make_pipeline(StandardScaler(), LinearSVC(dual=False)))
        assert isinstance(model.estimators_[0][-1], LinearSVC)
        np.testing.assert_array_equal(model.probability_, named.fit(pu.X, pu.y).probability_)

    def test_the_prior_may_be_unknown(self):
        pu = problem(0.4)
        model = pebl(prior="auto").fit(pu.X, pu.y)
        assert model.prior_ == pytest.approx(0.4, abs=0.1)
        assert model.score(pu.X_test, pu.y_test) > 0.88

    def test_suspects_are_hidden_positives(self):
        pu = problem(0.3)
        rows, probability = pebl(prior=0.3).fit(pu.X, pu.y).suspects(60)
        assert not pu.y[rows].any()
        assert pu.y_true[rows].mean() > 0.9
        assert np.all(np.diff(probability) <= 0)

    def test_missing_values_categories_and_frames(self):
        pu = problem()
        frame = pd.DataFrame(pu.X, columns=list("abcd"))
        frame.loc[::7, "a"] = np.nan
        frame["b"] = pd.cut(frame["b"], [-9, -1, 0, 1, 9], labels=["w", "x", "y", "z"])
        learner = HistGradientBoostingClassifier(max_iter=20, categorical_features="from_dtype")
        y = np.where(pu.y == 1, "case", "unknown")
        model = pebl(estimator=learner, pos_label="case").fit(frame, y)
        hidden = (pu.y == 0) & (pu.y_true == 1)
        answer = model.probability_ >= 0.5
        assert answer[hidden].mean() > 0.8
        assert answer[pu.y_true == 0].mean() < 0.2

    def test_sparse_rows(self):
        X, y = words()
        given = {"estimator": LogisticRegression()}
        rows = pebl(**given).fit(sparse.csr_matrix(X), y)
        np.testing.assert_allclose(rows.probability_, pebl(**given).fit(X, y).probability_)


class TestContract:
    def test_the_seed_decides(self):
        pu = problem()
        one, same, other = (
            pebl(random_state=seed).fit(pu.X, pu.y).probability_ for seed in (1, 1, 2)
        )
        np.testing.assert_array_equal(one, same)
        assert np.abs(one - other).max() > 0.001

    def test_few_rows(self):
        X = np.array([[0.0], [0.1], [0.2], [0.9], [1.0]])
        model = pebl(estimator=LogisticRegression()).fit(X, [0, 0, 0, 0, 1])
        assert [entry["recall"] for entry in model.history_] == [1.0] * len(model.history_)
        assert model.predict([[0.0], [1.0]]).tolist() == [0, 1]

    def test_weights_matter_and_need_a_learner_that_takes_them(self):
        pu = problem()
        weight = np.random.default_rng(0).uniform(0.1, 3, len(pu.y))
        plain, weighted = (pebl().fit(pu.X, pu.y, given) for given in (None, weight))
        assert np.abs(plain.probability_ - weighted.probability_).max() > 0.001
        assert weighted.score(pu.X_test, pu.y_test) > 0.88
        with pytest.raises(ValueError, match="KNeighborsClassifier takes no sample_weight"):
            pebl(estimator=KNeighborsClassifier()).fit(pu.X, pu.y, weight)

    def test_a_learner_that_knows_nothing_raises_the_alarm(self):
        pu = problem(0.3)
        with pytest.warns(CollapseWarning, match="all-negative"):
            pebl(prior=0.3, estimator=DummyClassifier()).fit(pu.X, pu.y)

    @pytest.mark.parametrize(
        ("changes", "match"),
        [
            ({"n_bins": 1}, "n_bins must be a whole number at least 2"),
            ({"n_bins": 4.0}, "n_bins must be"),
            ({"guard_fraction": 1.0}, "guard_fraction must be a number at least 0 and below 1"),
            ({"guard_fraction": None}, "guard_fraction must be"),
            ({"tolerance": 1.1}, "tolerance must be a number at least 0 and at most 1"),
            ({"tolerance": -0.1}, "tolerance must be"),
            ({"max_iter": 0}, "max_iter must be a whole number at least 1"),
        ],
    )
    def test_what_is_refused(self, changes, match):
        with pytest.raises(ValueError, match=match):
            pebl(**changes).fit(np.ones((4, 1)), [0, 0, 1, 1])


def expected_failures(estimator):
    reason = "repeated rows change which rows watch, weighted ones do not"
    return {
        f"check_sample_weight_equivalence_on_{kind}_data": reason for kind in ("dense", "sparse")
    }


# The checks train on noise, and give string labels without pos_label.
@pytest.mark.filterwarnings("ignore::robustpu.CollapseWarning")
@parametrize_with_checks(
    [PEBLClassifier(n_draws=1, random_state=0)], expected_failed_checks=expected_failures
)
def test_sklearn_check(estimator, check):
    check(estimator)
