"""Elkan-Noto: from the probability of a label to that of a positive."""

import numpy as np
import pandas as pd
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC
from sklearn.utils.estimator_checks import parametrize_with_checks

from robustpu import CollapseWarning, ElkanNotoClassifier, datasets, make_pu
from robustpu.calibration import posterior
from robustpu.scenario import to_population


class Told(ClassifierMixin, BaseEstimator):
    """A learner whose g is the first column, whatever it has seen; it remembers that."""

    def fit(self, X, y, sample_weight=None):
        self.rows_, self.target_, self.weight_ = X[:, 1].astype(int), y, sample_weight
        self.classes_ = np.array([0, 1])
        return self

    def predict_proba(self, X):
        return np.column_stack([1 - X[:, 0], X[:, 0]])


def told(n_positive=8, n_unlabeled=12):
    """Rows of a g and a number, and their labels."""
    rng = np.random.default_rng(0)
    y = rng.permutation(np.repeat([1, 0], [n_positive, n_unlabeled]))
    return np.column_stack([rng.uniform(0.02, 0.6, len(y)), np.arange(len(y))]), y


def problem(prior=0.5, seed=0, scenario="case-control"):
    """Two Gaussians whose best accuracy is 0.95."""
    rng = np.random.default_rng(seed)
    truth = np.arange(4000) % 2
    X = rng.normal(np.where(truth == 1, 0.82, -0.82)[:, None], 1.0, (4000, 4))
    sizes = {"n_positive": 150, "n_unlabeled": 400, "n_test": 1000}
    return make_pu(X, truth, prior=prior, scenario=scenario, random_state=seed, **sizes)


def elkan_noto(**changes):
    return ElkanNotoClassifier(**{"prior": 0.5, "random_state": 0} | changes)


class TestFormulas:
    def test_posterior(self):
        g, c = np.array([0.0, 0.1, 0.25]), 0.4
        np.testing.assert_allclose(posterior(g, c), [0, 0.6 / 0.4 / 9, 0.5])

    def test_posterior_beyond_one_keeps_the_order(self):
        g = np.linspace(0.3, 0.999, 200)
        answer = posterior(g, 0.5)
        ratio = g / (1 - g)
        assert np.all(np.diff(answer) > 0)
        assert answer.max() < 1
        np.testing.assert_allclose(answer, np.minimum(ratio, 1), atol=0.0051)
        np.testing.assert_array_equal(answer[ratio < 0.99], ratio[ratio < 0.99])
        assert posterior(np.ones(1), 0.5) == pytest.approx(1)

    def test_to_population_is_g_over_c(self):
        # 30 labelled rows and 70 unlabelled ones, 20 of them positive: c = 30 / 50.
        g = np.array([0.0, 0.1, 0.3, 0.5])
        among = posterior(g, 0.6)
        np.testing.assert_allclose(to_population(among, 2 / 7, 0.5), g / 0.6)
        np.testing.assert_allclose(to_population(among, 2 / 7, 2 / 7), among)


class TestScaled:
    @pytest.mark.parametrize("scenario", ["case-control", "single-set"])
    def test_formula(self, scenario):
        X, y = told()
        given = {"prior": 0.25, "correction": "scaled", "threshold": "prior"}
        model = elkan_noto(estimator=Told(), scenario=scenario, **given).fit(X, y)
        assert model.label_frequency_ == pytest.approx(8 / (8 + 0.25 * 12))
        g = X[:, 0]
        wanted = {"case-control": 0.25 * 12 / 8 * g / (1 - g), "single-set": g * 11 / 8}[scenario]
        np.testing.assert_allclose(model.probability_, wanted)
        np.testing.assert_allclose(model.predict_proba(X)[:, 1], wanted)

    def test_training_rows_are_scored_out_of_fold(self):
        pu = problem(0.4)
        forest = RandomForestClassifier(30, random_state=0)
        model = elkan_noto(prior=0.4, correction="scaled", estimator=forest).fit(pu.X, pu.y)
        unlabeled = pu.y == 0
        seen = model.predict_proba(pu.X)[unlabeled, 1]
        new = model.predict_proba(pu.X_test)[:, 1]
        found = model.probability_[unlabeled]
        # A forest gives unlabelled rows that it has seen next to no chance of a label.
        assert seen.mean() < new.mean() - 0.1
        assert found.mean() == pytest.approx(new.mean(), abs=0.04)

    def test_suspects_are_ranked(self):
        pu = problem()
        rows, probability = elkan_noto(correction="scaled").fit(pu.X, pu.y).suspects(50)
        assert np.all(np.diff(probability) < 0)
        assert pu.y_true[rows].mean() > 0.95

    @pytest.mark.parametrize("learner", [KNeighborsClassifier(40), LinearSVC()])
    def test_without_sample_weights_or_probabilities(self, learner):
        pu = problem()
        given = {"estimator": learner, "correction": "scaled", "threshold": "prior"}
        model = elkan_noto(**given).fit(pu.X, pu.y)
        assert model.score(pu.X_test, pu.y_test) > 0.9


class TestWeighted:
    @pytest.mark.parametrize("scenario", ["case-control", "single-set"])
    @pytest.mark.parametrize("weighted", [False, True])
    def test_rows_and_weights(self, scenario, weighted):
        X, y = told()
        weight = np.random.default_rng(1).uniform(0.5, 2, 20) if weighted else np.ones(20)
        given = {"prior": 0.25, "estimator": Told(), "threshold": "prior", "scenario": scenario}
        model = elkan_noto(**given).fit(X, y, weight if weighted else None)
        learner = model.estimator_
        positive, unlabeled = np.flatnonzero(y == 1), np.flatnonzero(y == 0)
        np.testing.assert_array_equal(learner.rows_, np.r_[positive, unlabeled, unlabeled])
        np.testing.assert_array_equal(learner.target_, [1] * 20 + [0] * 12)

        odds = X[unlabeled, 0] / (1 - X[unlabeled, 0])
        w = 0.25 * weight[unlabeled].sum() / weight[positive].sum() * odds
        as_positive = np.r_[weight[positive], weight[unlabeled] * w]
        as_negative = weight[unlabeled] * (1 - w)
        # The share of positives is one of weights, too.
        mass = weight[positive].sum() + 0.25 * weight[unlabeled].sum()
        share = 0.25 if scenario == "case-control" else mass / weight.sum()
        np.testing.assert_allclose(
            learner.weight_,
            20
            * np.r_[
                share * as_positive / as_positive.sum(),
                (1 - share) * as_negative / as_negative.sum(),
            ],
        )

    def test_needs_a_learner_that_takes_weights(self):
        pu = problem()
        with pytest.raises(ValueError, match="KNeighborsClassifier takes no sample_weight"):
            elkan_noto(estimator=KNeighborsClassifier()).fit(pu.X, pu.y)


class TestPrior:
    def test_by_the_mean_label_probability_of_positives(self):
        X, y = told()
        X[:, 0] += 0.2
        model = elkan_noto(prior="auto", estimator=Told(), threshold="prior").fit(X, y)
        c = X[y == 1, 0].mean()
        assert model.label_frequency_ == pytest.approx(c)
        assert model.prior_ == pytest.approx(8 * (1 - c) / (c * 12))

    def test_counts_sample_weights(self):
        X, y = told()
        X[:, 0] += 0.3
        weight = np.random.default_rng(1).uniform(0.5, 2, 20)
        model = elkan_noto(prior="auto", estimator=Told(), threshold="prior").fit(X, y, weight)
        c = np.average(X[y == 1, 0], weights=weight[y == 1])
        ratio = weight[y == 1].sum() / weight[y == 0].sum()
        assert model.prior_ == pytest.approx(ratio * (1 - c) / c)

    @pytest.mark.parametrize(("g", "prior"), [(1.0, 1 / 13), (0.0, 12 / 13)])
    def test_stays_between_0_and_1(self, g, prior):
        X, y = told()
        X[:, 0] = g
        given = {"prior": "auto", "estimator": Told(), "correction": "scaled"}
        with pytest.warns(CollapseWarning):
            assert elkan_noto(**given).fit(X, y).prior_ == pytest.approx(prior)

    def test_is_right_for_classes_apart_and_too_large_otherwise(self):
        found = {}
        for distance in (0.7, 2.5):
            rng = np.random.default_rng(0)
            truth = np.arange(4000) % 2
            X = rng.normal(np.where(truth == 1, distance, -distance)[:, None], 1.0, (4000, 2))
            sizes = {"n_positive": 400, "n_unlabeled": 1000, "prior": 0.3}
            pu = make_pu(X, truth, random_state=0, **sizes)
            # Logistic regression could not follow g, which is flat where all rows are positive.
            forest = RandomForestClassifier(20, min_samples_leaf=20, random_state=0)
            found[distance] = elkan_noto(prior="auto", estimator=forest).fit(pu.X, pu.y).prior_
        assert found[2.5] == pytest.approx(0.3, abs=0.03)
        assert found[0.7] > 0.35


class TestAnswers:
    @pytest.mark.parametrize("scenario", ["case-control", "single-set"])
    @pytest.mark.parametrize("correction", ["weighted", "scaled"])
    @pytest.mark.parametrize("prior", [0.2, 0.6])
    def test_learns(self, prior, correction, scenario):
        pu = problem(prior, scenario=scenario)
        given = {"prior": pu.prior, "correction": correction, "scenario": scenario}
        model = elkan_noto(**given).fit(pu.X, pu.y)
        assert model.population_prior_ == pytest.approx(pu.population_prior)
        # g rises no further where all rows are positive; logistic regression cannot follow it.
        assert model.score(pu.X_test, pu.y_test) > {"weighted": 0.9, "scaled": 0.86}[correction]
        mean = model.predict_proba(pu.X_test)[:, 1].mean()
        assert mean == pytest.approx(pu.population_prior, abs=0.1)

    @pytest.mark.parametrize("correction", ["weighted", "scaled"])
    @pytest.mark.parametrize("prior", [0.4, 0.6])
    def test_beats_taking_unlabelled_rows_as_negatives(self, prior, correction):
        table = datasets.load("spambase")
        sizes = {"n_positive": 400, "n_unlabeled": 800, "n_test": 1000}
        pu = make_pu(table.data, table.target, prior=prior, random_state=1, **sizes)
        naive = make_pipeline(StandardScaler(), LogisticRegression(max_iter=1000)).fit(pu.X, pu.y)
        model = elkan_noto(prior=prior, correction=correction).fit(pu.X, pu.y)
        gap = model.score(pu.X_test, pu.y_test) - naive.score(pu.X_test, pu.y_test)
        assert gap > 0.02

    @pytest.mark.parametrize("correction", ["weighted", "scaled"])
    def test_heavier_positives_are_the_same_positives(self, correction):
        pu = problem(0.4)
        plain = elkan_noto(prior=0.4, correction=correction).fit(pu.X, pu.y)
        heavy = clone(plain).fit(pu.X, pu.y, np.where(pu.y == 1, 10.0, 1.0))
        means = [each.predict_proba(pu.X_test)[:, 1].mean() for each in (plain, heavy)]
        assert means[0] == pytest.approx(means[1], abs=0.03)
        assert heavy.label_frequency_ > plain.label_frequency_ + 0.2

    @pytest.mark.parametrize("correction", ["weighted", "scaled"])
    def test_repeats_itself(self, correction):
        pu = problem()
        model = elkan_noto(correction=correction)
        one, same = (clone(model).fit(pu.X, pu.y).probability_ for _ in range(2))
        np.testing.assert_array_equal(one, same)
        other = clone(model).set_params(random_state=1).fit(pu.X, pu.y).probability_
        assert not np.array_equal(one, other)

    # The wrapper forgets the names of columns as yet.
    def test_labels_and_tables_of_any_kind(self):
        pu = problem()
        plain = elkan_noto().fit(pu.X, pu.y)
        table = pd.DataFrame(pu.X, columns=list("abcd"))
        named = elkan_noto(pos_label="fraud").fit(table, np.where(pu.y == 1, "fraud", "open"))
        np.testing.assert_allclose(named.probability_, plain.probability_)
        answers = plain.predict(pu.X[:5])
        assert named.predict(table[:5]).tolist() == np.where(answers, "fraud", "open").tolist()

    def test_true_labels_are_scored_and_choose_nothing(self):
        pu = problem()
        plain = elkan_noto().fit(pu.X, pu.y)
        scored = elkan_noto().fit(pu.X, pu.y, eval_set=(pu.X_test, pu.y_test))
        assert scored.selection_ == "oracle"
        assert scored.member_scores_[0] == pytest.approx(plain.score(pu.X_test, pu.y_test))
        np.testing.assert_array_equal(scored.probability_, plain.probability_)


@pytest.mark.parametrize(
    ("changes", "match"),
    [
        (
            {"correction": "scale"},
            "correction must be 'weighted' or 'scaled'; it is 'scale': did you mean 'scaled'",
        ),
        ({"correction": max}, "correction must be .* it is <built-in function max>."),
        ({"correction": ["scaled"]}, "correction must be"),
        ({"prior": 0.0}, "prior must be"),
    ],
)
def test_what_is_refused(changes, match):
    with pytest.raises(ValueError, match=match):
        elkan_noto(**changes).fit(np.ones((4, 1)), [0, 0, 1, 1])


@pytest.mark.parametrize(("label", "name"), [(1, "labelled positives"), (0, "unlabelled rows")])
def test_a_class_without_weight(label, name):
    pu = problem()
    with pytest.raises(ValueError, match=f"zero for all {name}"):
        elkan_noto().fit(pu.X, pu.y, (pu.y != label).astype(float))


def test_one_positive_is_too_few():
    with pytest.raises(ValueError, match="at least 2 labelled positives"):
        elkan_noto().fit(np.arange(4.0)[:, None], [0, 0, 0, 1])


def expected_failures(estimator):
    """A row of weight two and a row given twice fall into other folds."""
    reason = "repeated rows change the folds, weighted ones do not"
    return {
        f"check_sample_weight_equivalence_on_{kind}_data": reason for kind in ("dense", "sparse")
    }


@pytest.mark.filterwarnings("ignore::robustpu.CollapseWarning")
@parametrize_with_checks(
    [elkan_noto(), elkan_noto(correction="scaled")], expected_failed_checks=expected_failures
)
def test_sklearn_check(estimator, check):
    check(estimator)
