"""PU bagging: bags, out-of-bag scores and the way from scores to probabilities."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score
from sklearn.neighbors import KNeighborsClassifier
from sklearn.svm import LinearSVC
from sklearn.utils.estimator_checks import parametrize_with_checks

from robustpu import datasets, make_pu
from robustpu.calibration import matched, posterior
from robustpu.methods.bagging import BaggingPUClassifier, each_score, formula
from robustpu.training import TrainingData


class Recorder(ClassifierMixin, BaseEstimator):
    """Remembers the rows it was given, and scores any row by its seed and the row's number."""

    def __init__(self, random_state=None):
        self.random_state = random_state

    def fit(self, X, y):
        self.rows_, self.target_, self.classes_ = X[:, 0].astype(int), y, np.array([0, 1])
        return self

    def predict_proba(self, X):
        score = 0.1 + 0.6 * np.modf(np.sin(X[:, 0] * 12.9 + self.random_state % 1000) ** 2)[0]
        return np.column_stack([1 - score, score])


def numbered(n_positive=6, n_unlabeled=10):
    """Rows whose only column is their number, positives and unlabelled rows mixed."""
    y = np.random.default_rng(0).permutation(np.repeat([1, 0], [n_positive, n_unlabeled]))
    return np.arange(len(y))[:, None], y


def problem(prior=0.5, seed=0, scenario="case-control", n_positive=150):
    """Two Gaussians whose best accuracy is 0.95."""
    rng = np.random.default_rng(seed)
    truth = np.arange(4000) % 2
    X = rng.normal(np.where(truth == 1, 0.82, -0.82)[:, None], 1.0, (4000, 4))
    sizes = {"n_positive": n_positive, "n_unlabeled": 400, "n_test": 1000}
    return make_pu(X, truth, prior=prior, scenario=scenario, random_state=seed, **sizes)


def bagging(**changes):
    return BaggingPUClassifier(**{"prior": 0.5, "n_estimators": 30, "random_state": 0} | changes)


def recorded(**changes):
    X, y = numbered()
    given = {"n_estimators": 40, "correction": "formula", "threshold": "prior"}
    return X, y, bagging(estimator=Recorder(), **given, **changes).fit(X, y)


class TestBags:
    @pytest.mark.parametrize(("bag_size", "size"), [(None, 6), (1, 1), (4, 4), (25, 25)])
    @pytest.mark.filterwarnings("ignore:.*in every bag")
    def test_all_positives_against_a_subsample(self, bag_size, size):
        _, y, model = recorded(bag_size=bag_size)
        assert len(model.estimators_) == 40
        for learner in model.estimators_:
            assert learner.target_.tolist() == [1] * 6 + [0] * size
            assert sorted(learner.rows_[:6]) == np.flatnonzero(y == 1).tolist()
            assert np.all(y[learner.rows_[6:]] == 0)

    @pytest.mark.filterwarnings("ignore::robustpu.ChanceWarning")
    @pytest.mark.parametrize(("max_samples", "count"), [(0.5, 3), (0.99, 5), (2, 2), (0.01, 1)])
    def test_some_positives_against_as_many(self, max_samples, count):
        X, y, model = recorded(max_samples=max_samples)
        seen = [set(learner.rows_[:count].tolist()) for learner in model.estimators_]
        for learner, rows in zip(model.estimators_, seen, strict=True):
            assert learner.target_.tolist() == [1] * count + [0] * count
            assert len(rows) == count
        assert set().union(*seen) == set(np.flatnonzero(y == 1).tolist())
        # Every row has learners that have not seen it, and is scored by those.
        row = int(np.flatnonzero(y == 1)[0])
        other = [learner for learner, rows in zip(model.estimators_, seen, strict=True)
                 if row not in rows]  # fmt: skip
        score = np.mean([learner.predict_proba(X[[row]])[0, 1] for learner in other])
        found = posterior(np.array([score]), model.label_frequency_)
        assert model.probability_[row] == pytest.approx(found[0])
        np.testing.assert_array_equal(model.out_of_fold_, model.probability_)

    def test_rows_with_zero_weight_are_not_drawn(self):
        X, y = numbered()
        weight = np.where(np.arange(16) % 2, 1.0, 0.0)
        model = bagging(estimator=Recorder(), max_samples=0.5, threshold="prior")
        model.fit(X, y, weight)
        assert all((learner.rows_ % 2).all() for learner in model.estimators_)

    def test_what_a_learner_of_some_positives_sees(self):
        """As if rows with zero weight were not there, and all is all, however it is said."""
        y, weight = np.repeat([True, False], [60, 120]), np.ones(180)
        full = TrainingData(np.zeros((180, 1)), y, weight)
        some = replace(full, weight=np.where(np.arange(180) < 30, 0.0, 1.0))
        for model in (bagging(max_samples=0.5), bagging(max_samples=0.5, bag_size=20)):
            assert model._ratio(some) == model._ratio(full.take(np.arange(30, 180)))
        shares = [bagging(max_samples=most, bag_size=20).labelled_share(full)
                  for most in (None, 1.0, 60, 1000)]  # fmt: skip
        assert len(set(shares)) == 1

    @pytest.mark.parametrize("given", [0, 0.0, 1.5, -1, "all"])
    def test_how_many_positives_is_checked(self, given):
        with pytest.raises(ValueError, match="max_samples must be"):
            bagging(max_samples=given).fit(*numbered())

    def test_with_replacement_and_each_row_alike(self):
        bags = [learner.rows_[6:] for learner in recorded()[2].estimators_]
        assert min(len(set(bag)) for bag in bags) < 6
        assert len({tuple(bag) for bag in bags}) == 40
        counts = np.bincount(np.concatenate(bags), minlength=16)[recorded()[1] == 0]
        # 240 draws of 10 rows: 24 each, with a standard deviation of 4.6.
        assert counts.min() > 8
        assert counts.max() < 40

    def test_no_more_unlabelled_rows_than_there_are(self):
        X, y = numbered(12, 5)
        model = bagging(estimator=Recorder(), n_estimators=60).fit(X, y)
        assert all(len(learner.rows_) == 17 for learner in model.estimators_)

    def test_learners_differ_in_their_seed(self):
        assert len({learner.random_state for learner in recorded()[2].estimators_}) == 40


class TestScores:
    @pytest.mark.parametrize("scenario", ["case-control", "single-set"])
    def test_out_of_bag_mean_and_formula(self, scenario):
        X, y, model = recorded(prior=0.3, bag_size=4, scenario=scenario)
        score = np.array([learner.predict_proba(X)[:, 1] for learner in model.estimators_])
        outside = np.array([~np.isin(X[:, 0], learner.rows_[6:]) for learner in model.estimators_])
        assert 0.5 < outside[:, y == 0].mean() < 0.8
        assert outside[:, y == 1].all()
        mean = np.array([row[out].mean() for row, out in zip(score.T, outside.T, strict=True)])
        np.testing.assert_allclose(model.probability_, expected(mean, scenario), rtol=1e-12)
        new = np.array([[50.0], [51.0]])
        every = [learner.predict_proba(new)[:, 1] for learner in model.estimators_]
        positive = model.predict_proba(new)[:, 1]
        np.testing.assert_allclose(positive, expected(np.mean(every, 0), scenario), rtol=1e-12)

    def test_rows_in_every_bag_are_reported(self):
        X, y = numbered()
        with pytest.warns(UserWarning, match=r"^\d+ unlabelled rows are in every bag.*bag_size"):
            model = bagging(estimator=Recorder(), n_estimators=2, bag_size=20).fit(X, y)
        assert np.isfinite(model.probability_).all()

    def test_an_unstable_learner_is_honest_about_rows_it_has_seen(self):
        pu = problem()
        model = bagging().fit(pu.X, pu.y)
        unlabeled = pu.y == 0
        seen = model.predict_proba(pu.X)[unlabeled, 1]
        # Rows that a tree took as negatives look more negative than new rows do.
        assert seen.mean() < model.probability_[unlabeled].mean() - 0.05
        rows, probability = model.suspects(100)
        assert np.all(pu.y[rows] == 0)
        assert pu.y_true[rows].mean() > 0.95
        assert np.all(np.diff(probability) <= 0)


def expected(score, scenario):
    """P(positive | x) from densities p_P / p_U, with |P| = 6, K = 4, |U| = 10 and prior 0.3."""
    ratio = score / (1 - score) * 4 / 6
    assert (0.3 * ratio).max() < 0.99
    if scenario == "case-control":
        return 0.3 * ratio
    # The sample as a whole has the density (6 p_P + 10 p_U) / 16 and 6 + 0.3 * 10 positives.
    return 9 * ratio / (6 * ratio + 10)


class TestCorrections:
    def test_formula(self):
        assert formula(np.zeros(2), np.ones(2), 0.4, 0.5) == pytest.approx(1 / 1.2)

    @pytest.mark.parametrize("prior", [0.01, 0.3, 0.9])
    def test_matched_has_the_prior_as_its_mean(self, prior):
        rng = np.random.default_rng(0)
        score, weight = rng.uniform(0, 1, 200), rng.uniform(0, 3, 200)
        ratio = (1 / matched(score, weight, prior, 1.0) - 1) * score / (1 - score)
        # The cap takes off at most 0.005.
        assert np.average(np.minimum(ratio, 1), weights=weight) == pytest.approx(prior, abs=5e-3)

    def test_matched_is_the_formula_if_scores_are_probabilities(self):
        rng = np.random.default_rng(0)
        x = np.concatenate([rng.normal(1, 1, 40_000), rng.normal(-1, 1, 60_000)])
        ratio = 1 / (0.4 + 0.6 * np.exp(-2 * x))
        score = ratio / (ratio + 0.5)
        assert matched(score, np.ones(len(x)), 0.4, 0.5) == pytest.approx(1 / 1.2, abs=0.01)

    def test_matched_without_enough_scores_above_zero(self):
        frequency = matched(np.array([0.0, 0.0, 0.0, 0.01]), np.ones(4), 0.5, 1.0)
        assert 0 < frequency < 1e-9

    def test_mean_over_unlabelled_rows(self):
        pu = problem(0.3)
        model = bagging(prior=0.3).fit(pu.X, pu.y)
        assert model.probability_[pu.y == 0].mean() == pytest.approx(0.3, abs=1e-6)
        other = bagging(prior=0.3, correction="formula").fit(pu.X, pu.y)
        assert other.label_frequency_ == pytest.approx(1 / 1.3)
        assert abs(other.probability_[pu.y == 0].mean() - 0.3) > 1e-3

    def test_a_function_of_the_user(self):
        pu = problem()
        model = bagging(correction=lambda *given: given[3] / 2).fit(pu.X, pu.y)
        assert model.label_frequency_ == 0.5


class TestAnswers:
    @pytest.mark.parametrize("scenario", ["case-control", "single-set"])
    @pytest.mark.parametrize("prior", [0.2, 0.6])
    def test_learns(self, prior, scenario):
        pu = problem(prior, scenario=scenario)
        model = bagging(prior=pu.prior, scenario=scenario).fit(pu.X, pu.y)
        assert model.population_prior_ == pytest.approx(pu.population_prior)
        assert model.score(pu.X_test, pu.y_test) > 0.9
        mean = model.predict_proba(pu.X_test)[:, 1].mean()
        assert mean == pytest.approx(pu.population_prior, abs=0.05)

    @pytest.mark.parametrize("prior", [0.4, 0.6])
    def test_beats_taking_unlabelled_rows_as_negatives(self, prior):
        table = datasets.load("spambase")
        sizes = {"n_positive": 400, "n_unlabeled": 800, "n_test": 1000}
        pu = make_pu(table.data, table.target, prior=prior, random_state=1, **sizes)
        naive = RandomForestClassifier(min_samples_leaf=5, random_state=0).fit(pu.X, pu.y)
        model = bagging(prior=prior).fit(pu.X, pu.y)
        gap = model.score(pu.X_test, pu.y_test) - naive.score(pu.X_test, pu.y_test)
        assert gap > 0.05

    def test_ranks_better_than_one_tree(self):
        pu = problem()
        one, many = (bagging(n_estimators=n, bag_size=150, threshold="prior") for n in (1, 30))
        with pytest.warns(UserWarning, match="in every bag"):
            one.fit(pu.X, pu.y)
        many.fit(pu.X, pu.y)
        areas = [
            roc_auc_score(pu.y_test, model.predict_proba(pu.X_test)[:, 1]) for model in (one, many)
        ]
        assert areas[1] > areas[0] + 0.03

    def test_threshold_at_the_prior(self):
        pu = problem(0.3)
        model = bagging(prior=0.3, threshold="prior").fit(pu.X, pu.y)
        share = (model.probability_[pu.y == 0] >= model.threshold_).mean()
        assert share == pytest.approx(0.3, abs=0.01)

    def test_prior_by_bagged_scores(self):
        pu = problem(0.3)
        model = bagging(prior="auto").fit(pu.X, pu.y)
        assert model.prior_ == pytest.approx(0.3, abs=0.08)

    def test_true_labels_are_scored_and_choose_nothing(self):
        pu = problem()
        plain = bagging().fit(pu.X, pu.y)
        scored = bagging().fit(pu.X, pu.y, eval_set=(pu.X_test, pu.y_test))
        assert scored.selection_ == "oracle"
        assert scored.member_scores_[0] == pytest.approx(plain.score(pu.X_test, pu.y_test))
        np.testing.assert_array_equal(scored.probability_, plain.probability_)

    @pytest.mark.filterwarnings("ignore::robustpu.ChanceWarning")
    def test_held_out_rows_are_in_no_bag(self):
        X, y = numbered(20, 40)
        model = bagging(estimator=Recorder(), validation_fraction=0.5).fit(X, y)
        seen = np.unique(np.concatenate([learner.rows_ for learner in model.estimators_]))
        assert len(seen) == 30
        assert model.selection_ == "pu"

    # The wrapper forgets the names of columns as yet.
    def test_labels_and_tables_of_any_kind(self):
        pu = problem()
        plain = bagging().fit(pu.X, pu.y)
        table = pd.DataFrame(pu.X, columns=list("abcd"))
        named = bagging(pos_label="fraud").fit(table, np.where(pu.y == 1, "fraud", "open"))
        np.testing.assert_array_equal(named.probability_, plain.probability_)
        assert named.predict(table[:3]).tolist() == [
            "fraud" if answer else "open" for answer in plain.predict(pu.X[:3])
        ]

    def test_missing_values_reach_the_default_tree(self):
        pu = problem()
        X = np.where(np.random.default_rng(0).random(pu.X.shape) < 0.1, np.nan, pu.X)
        assert bagging().fit(X, pu.y).score(pu.X_test, pu.y_test) > 0.85


class TestLearners:
    @pytest.mark.parametrize("learner", [KNeighborsClassifier(15), LinearSVC()])
    def test_without_sample_weights_or_probabilities(self, learner):
        pu = problem()
        assert bagging(estimator=learner).fit(pu.X, pu.y).score(pu.X_test, pu.y_test) > 0.9

    def test_is_left_as_it_was(self):
        pu, learner = problem(), LogisticRegression()
        model = bagging(estimator=learner).fit(pu.X, pu.y)
        assert not hasattr(learner, "coef_")
        assert all(isinstance(learner, LogisticRegression) for learner in model.estimators_)

    def test_weights_need_a_learner_that_takes_them(self):
        pu = problem()
        with pytest.raises(ValueError, match="takes no sample_weight"):
            bagging(estimator=KNeighborsClassifier()).fit(pu.X, pu.y, 1 + pu.y)


class TestWeights:
    def test_equal_ones_change_nothing(self):
        pu = problem()
        plain, equal = bagging().fit(pu.X, pu.y), bagging().fit(pu.X, pu.y, np.full(550, 2.0))
        np.testing.assert_allclose(plain.probability_, equal.probability_, rtol=1e-9)

    def test_the_formula_weighs_bags_against_positives(self):
        pu = problem(0.4)
        weight = np.where(pu.y == 1, 10.0, 2.0)
        given = {"prior": 0.4, "correction": "formula", "estimator": LogisticRegression()}
        model = bagging(bag_size=300, **given).fit(pu.X, pu.y, weight)
        # 300 rows of weight 2 against 150 of weight 10.
        assert model.label_frequency_ == pytest.approx(1 / (1 + 0.4 * 600 / 1500))
        plain = bagging(bag_size=300, **given).fit(pu.X, pu.y)
        # Heavier positives are the same positives: only the learner's error may change.
        means = [each.probability_[pu.y == 0].mean() for each in (model, plain)]
        assert means[0] == pytest.approx(means[1], abs=0.03)

    def test_rows_of_weight_zero_do_not_count(self):
        pu = problem()
        rng = np.random.default_rng(0)
        junk = rng.normal(50, 1, (400, 4))
        X, y = np.concatenate([pu.X, junk]), np.concatenate([pu.y, np.zeros(400, int)])
        weight = np.repeat([1.0, 0.0], [550, 400])
        model = bagging(correction="formula").fit(X, y, weight)
        plain = bagging(correction="formula").fit(pu.X, pu.y)
        np.testing.assert_allclose(model.probability_[:550], plain.probability_, rtol=1e-9)

    @pytest.mark.parametrize(("label", "name"), [(1, "labelled positives"), (0, "unlabelled rows")])
    def test_a_class_without_weight(self, label, name):
        pu = problem()
        with pytest.raises(ValueError, match=f"zero for all {name}"):
            bagging().fit(pu.X, pu.y, (pu.y != label).astype(float))


class TestWork:
    @pytest.mark.parametrize("prior", [0.5, "auto"])
    def test_does_not_depend_on_threads(self, prior):
        pu = problem()
        one, three = (bagging(n_jobs=n, prior=prior).fit(pu.X, pu.y) for n in (None, 3))
        np.testing.assert_array_equal(one.probability_, three.probability_)
        np.testing.assert_array_equal(one.predict_proba(pu.X_test), three.predict_proba(pu.X_test))

    def test_repeats_itself(self):
        pu = problem()
        one, same = (bagging().fit(pu.X, pu.y).probability_ for _ in range(2))
        np.testing.assert_array_equal(one, same)
        assert not np.array_equal(one, bagging(random_state=1).fit(pu.X, pu.y).probability_)

    def test_holds_the_scores_of_few_learners_at_once(self):
        calls = []

        class Counting(Recorder):
            def predict_proba(self, X):
                calls.append(self.random_state)
                return super().predict_proba(X)

        learners, X = [Counting(place) for place in range(40)], np.arange(5)[:, None]
        flow = each_score(learners, X, None)
        np.testing.assert_array_equal(next(flow), learners[0].predict_proba(X)[:, 1])
        assert calls == [*range(8), 0]
        rest = list(flow)
        np.testing.assert_array_equal(rest[-1], learners[-1].predict_proba(X)[:, 1])
        assert len(rest) == 39

    @pytest.mark.parametrize(
        ("changes", "match"),
        [
            ({"n_estimators": 0}, "n_estimators must be a whole number at least 1; it is 0"),
            ({"n_estimators": 2.0}, "n_estimators must be"),
            ({"bag_size": 0}, "bag_size must be a whole number at least 1 or None"),
            ({"bag_size": 0.5}, "bag_size must be"),
            ({"correction": "matchd"}, "did you mean 'matched'"),
            ({"n_jobs": 0}, "n_jobs must not be 0"),
            ({"n_jobs": "all"}, "n_jobs must be a whole number"),
            ({"prior": 1.0}, "prior must be"),
        ],
    )
    def test_what_is_refused(self, changes, match):
        with pytest.raises(ValueError, match=match):
            bagging(**changes).fit(np.ones((4, 1)), [0, 0, 1, 1])


def expected_failures(estimator):
    """A row of weight two is drawn as often as one of weight one; a row given twice is not."""
    reason = "repeated rows change the bags, weighted ones do not"
    return {
        f"check_sample_weight_equivalence_on_{kind}_data": reason for kind in ("dense", "sparse")
    }


@pytest.mark.filterwarnings("ignore::robustpu.CollapseWarning")
@parametrize_with_checks(
    [bagging(n_estimators=5, bag_size=2)], expected_failed_checks=expected_failures
)
def test_sklearn_check(estimator, check):
    check(estimator)
