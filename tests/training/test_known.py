"""Known negatives and checked rows: what a fit makes of them."""

import numpy as np
import pytest
from scipy.stats import rankdata
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV

import robustpu
from robustpu import (
    BaggingPUClassifier,
    ElkanNotoClassifier,
    NNPUClassifier,
    PUClassifier,
    PUExtraTreesClassifier,
    PUVotingClassifier,
    SpyClassifier,
    metrics,
)
from robustpu.labels import Known
from robustpu.training import TrainingData
from robustpu.training.known import before_checks, share_to_train, to_train

NEAR = pytest.mark.filterwarnings(
    "ignore::robustpu.PriorWarning", "ignore::robustpu.CollapseWarning"
)


def problem(n=400, share=0.25, seed=0):
    """Rows, labels 1 and 0, and the truth: 40 % of the positives are labelled."""
    rng = np.random.default_rng(seed)
    truth = rng.random(n) < share
    X = rng.normal(size=(n, 3))
    X[:, 0] += 2.0 * truth
    return X, (truth & (rng.random(n) < 0.4)).astype(int), truth


def checked(y, truth, rows, negative=-1):
    """Labels after a check of some rows, and which were checked."""
    y, mask = y.copy(), np.zeros(len(y), dtype=bool)
    y[rows], mask[rows] = np.where(truth[rows], 1, negative), True
    return y, mask


METHODS = {
    "pool": PUClassifier(members=["logistic", "hinges", "extra-trees"], prior=0.17),
    "nnpu": NNPUClassifier(epochs=8, prior=0.17),
    "puet": PUExtraTreesClassifier(n_estimators=20, prior=0.17),
    "elkan-noto": ElkanNotoClassifier(prior=0.17),
    "bagging": BaggingPUClassifier(LogisticRegression(), n_estimators=40, prior=0.17),
    "spy": SpyClassifier(n_draws=2, prior=0.17),
    "voting": PUVotingClassifier([("a", NNPUClassifier(epochs=3))], prior=0.17),
}


class TestWeights:
    def test_a_negative_weighs_a_tenth_of_a_positive(self):
        data = TrainingData(None, np.arange(1000) < 10, np.ones(1000))
        found = to_train(data, Known(None, np.arange(1000) >= 990))
        assert found.weight[-10:].tolist() == [9.9] * 10
        assert (found.weight[:-10] == 1).all()
        assert found.is_positive is data.is_positive

    def test_it_never_weighs_less_than_an_unlabelled_row(self):
        data = TrainingData(None, np.arange(100) < 50, np.ones(100))
        assert (to_train(data, Known(None, np.arange(100) > 80)).weight == 1).all()

    def test_nothing_is_changed_where_nothing_is_known(self):
        data = TrainingData(None, np.arange(9) < 5, np.ones(9))
        for known in (Known(None), Known(None, np.zeros(9, bool), np.zeros(9, bool))):
            assert to_train(data, known) is data
            assert before_checks(data, known) is data
            assert share_to_train(0.3, data, data) == 0.3

    def test_the_share_to_train_counts_what_was_found(self):
        """A quarter of 80 rows is 20; 5 of these were found, and 15 are left among 65."""
        mask = np.arange(100) < 20
        known = Known(None, np.arange(100) >= 90, (np.arange(100) >= 90) | (np.arange(100) < 5))
        data = TrainingData(None, mask, np.ones(100))
        before, training = before_checks(data, known), to_train(data, known)
        assert before.is_positive.sum() == 15
        assert share_to_train(0.25, before, training) * 80 == pytest.approx(85 * 0.25 - 5)

    def test_a_share_is_left_if_all_were_found(self):
        data = TrainingData(None, np.arange(20) < 10, np.ones(20))
        known = Known(None, np.zeros(20, bool), np.arange(20) < 5)
        found = share_to_train(0.01, before_checks(data, known), data)
        assert 0 < found < 0.1


@pytest.mark.parametrize("method", METHODS)
class TestEveryMethod:
    @NEAR
    def test_negatives_are_ranked_lower(self, method):
        X, y, truth = problem(1500, 0.06)
        model = clone(METHODS[method]).set_params(random_state=0)
        # A column that says nothing else.
        rows = np.flatnonzero(~truth & (y == 0) & (X[:, 1] > 1.2))
        plain = rankdata(clone(model).fit(X, y).decision_function(X))[rows].mean()
        labels, _ = checked(y, truth, rows)
        model.set_params(neg_label=-1).fit(X, labels)
        assert rankdata(model.decision_function(X))[rows].mean() < plain
        assert model.classes_.tolist() == [-1, 1]
        assert set(model.predict(X)) <= {-1, 1}
        assert not model.is_unlabeled_[rows].any()
        assert not set(rows) & set(model.suspects(300)[0])

    @NEAR
    def test_the_given_prior_is_that_of_the_rows_before_a_check(self, method):
        X, y, truth = problem()
        labels, mask = checked(y, truth, np.flatnonzero(y == 0)[:40])
        model = clone(METHODS[method]).set_params(neg_label=-1, random_state=0)
        model.fit(X, labels, checked=mask)
        assert model.prior_ == 0.17
        assert model.is_positive_.tolist() == (y == 1).tolist()
        np.testing.assert_array_equal(np.isfinite(model.outcome_), mask)
        np.testing.assert_array_equal(model.outcome_[mask], truth[mask])


class TestFit:
    @NEAR
    def test_labels_of_any_kind(self):
        X, y, truth = problem()
        labels, mask = checked(y, truth, np.flatnonzero(y == 0)[:40])
        reference = ElkanNotoClassifier(neg_label=-1, prior=0.2, random_state=0)
        reference.fit(X, labels, checked=mask)
        for positive, unlabeled, negative in (("yes", "", "no"), (2, 1, 3), ("b", "c", "a")):
            names = np.where(labels == 1, positive, np.where(labels == 0, unlabeled, negative))
            model = clone(reference).set_params(pos_label=positive, neg_label=negative)
            model.fit(X, names, checked=mask)
            assert set(model.predict(X)) == {positive, negative}
            np.testing.assert_array_equal(model.predict(X) == positive, reference.predict(X) == 1)

    @NEAR
    def test_a_fold_without_negatives_is_fitted(self):
        X, y, _ = problem()
        plain = ElkanNotoClassifier(prior=0.2, random_state=0).fit(X, y)
        model = clone(plain).set_params(neg_label=-1).fit(X, y)
        assert model.classes_.tolist() == [-1, 1]
        assert model.outcome_ is None
        np.testing.assert_array_equal(model.predict_proba(X), plain.predict_proba(X))

    @NEAR
    def test_random_checks_pin_the_share_of_positives(self):
        X, y, truth = problem(1500, 0.3, seed=1)
        X = X[:, 1:] + 0.3 * truth[:, None]
        rows = np.random.default_rng(0).choice(np.flatnonzero(y == 0), 150, replace=False)
        labels, mask = checked(y, truth, rows)
        model = PUClassifier(members=["logistic"], random_state=0)
        before = clone(model).fit(X, y).prior_interval()
        after = model.set_params(neg_label=-1).fit(X, labels, checked=mask).prior_interval()
        true = truth[y == 0].mean()
        assert after.high - after.low < before.high - before.low
        assert 0 == before.low < after.low < true < after.high
        assert model.prior_ == pytest.approx(true, rel=0.3)

    @NEAR
    def test_negatives_from_elsewhere_leave_share_and_evaluation_alone(self):
        X, y, truth = problem(800)
        rows = np.flatnonzero(~truth & (y == 0))[:200]
        labels, mask = checked(y, truth, rows)
        model = PUClassifier(members=["logistic"], random_state=0, neg_label=-1).fit(X, labels)
        found = model.evaluate()
        assert found.sample.n_checked == 0
        assert len(found.sample.unlabeled) == (labels == 0).sum()
        assert clone(model).fit(X, labels, checked=mask).evaluate().sample.n_checked == 200

    @NEAR
    def test_held_out_checks_tell_the_precision(self):
        X, y, truth = problem(2000, 0.05, seed=3)
        first = PUClassifier(members=["logistic"], random_state=0).fit(X, y)
        assert "precision" not in first.evaluate()
        labels, mask = checked(y, truth, first.to_check(40))
        second = clone(first).set_params(neg_label=-1).fit(X, labels, checked=mask)
        found = second.evaluate(k=50)
        true = truth[second.suspects(50)[0]].mean()
        assert found["precision_at_k"].low <= true <= found["precision_at_k"].high
        assert found["precision_at_k"].high - found["precision_at_k"].low < 0.4
        assert "40 checked rows" in str(found)

    @NEAR
    def test_searches_take_three_labels(self):
        X, y, truth = problem()
        labels, mask = checked(y, truth, np.flatnonzero(y == 0)[:40])
        search = GridSearchCV(
            ElkanNotoClassifier(neg_label=-1, prior=0.17, random_state=0),
            {"validation_fraction": [0.0, 0.2]},
            scoring=metrics.scorer("auc", prior=0.17),
            cv=metrics.PUKFold(3, random_state=0, neg_label=-1),
            error_score="raise",
        )
        search.fit(X, labels, checked=mask)
        assert 0.7 < search.best_score_ < 1
        assert set(search.predict(X)) == {-1, 1}
        search.set_params(cv=3).fit(X, labels)

    @NEAR
    def test_saved_and_loaded(self, tmp_path):
        X, y, truth = problem()
        labels, mask = checked(y, truth, np.flatnonzero(y == 0)[:40])
        model = PUClassifier(members=["logistic"], prior=0.17, neg_label=-1, random_state=0)
        model.fit(X, labels, checked=mask).save(tmp_path / "model")
        again = robustpu.load(tmp_path / "model")
        np.testing.assert_array_equal(again.predict(X), model.predict(X))
        np.testing.assert_array_equal(again.outcome_, model.outcome_)
        assert str(again.evaluate()) == str(model.evaluate())
        np.testing.assert_array_equal(again.to_check(9), model.to_check(9))


class TestToCheck:
    def test_what_is_proposed(self):
        X, y, _ = problem()
        model = ElkanNotoClassifier(prior=0.17, random_state=0).fit(X, y)
        assert model.to_check(9).tolist() == model.suspects(9)[0].tolist()
        near = np.abs(model.probability_[model.to_check(9, "informative")] - 0.5)
        assert near.max() < 0.2
        drawn = [model.to_check(9, "random", seed).tolist() for seed in (0, 0, 1)]
        assert drawn[0] == drawn[1] != drawn[2]
        assert (y[drawn[0]] == 0).all()

    def test_bad_wishes(self):
        X, y, _ = problem()
        model = ElkanNotoClassifier(prior=0.17, random_state=0).fit(X, y)
        with pytest.raises(ValueError, match=r"by is 'top'.*random, suspect"):
            model.to_check(by="top")
        with pytest.raises(ValueError, match="n must be"):
            model.to_check(0)


class TestRefusals:
    @pytest.mark.parametrize(
        ("labels", "text"),
        [
            ([1, 0, -1, 2], "two labels beside neg_label=-1.*it has 3: 0, 1, 2"),
            ([1, 1, -1, -1], "two labels beside neg_label=-1.*not known; it has 1: 1"),
            ([0, 0, -1, -1], "it has 1: 0"),
            ([-1, -1, -1, -1], "it has 0: none"),
            ([1, 0, -1, np.nan], "contains NaN"),
        ],
    )
    def test_labels(self, labels, text):
        with pytest.raises(ValueError, match=text):
            ElkanNotoClassifier(neg_label=-1).fit(np.arange(4.0)[:, None], labels)

    def test_one_label_for_both(self):
        with pytest.raises(ValueError, match="both 1: positives and negatives need different"):
            ElkanNotoClassifier(pos_label=1, neg_label=1).fit(np.eye(4), [1, 0, 1, 0])

    def test_a_third_label_needs_a_name(self):
        with pytest.raises(ValueError, match=r"Known negatives.*neg_label="):
            ElkanNotoClassifier().fit(np.eye(4), [1, 0, -1, 0])

    @pytest.mark.parametrize(
        ("mask", "text"),
        [
            ([1, 0, 0, 0, 0, 0], "every labelled positive"),
            ([0, 0, 1, 0, 0, 0], "1 rows that are still unlabelled"),
            ([0, 1], "for each of the 6 rows"),
            ([0, 1, 2, 0, 0, 0], "True or False"),
        ],
    )
    def test_checked(self, mask, text):
        with pytest.raises(ValueError, match=text):
            ElkanNotoClassifier(neg_label=-1).fit(np.eye(6), [1, -1, 0, 0, 0, 0], checked=mask)

    def test_a_prior_below_what_was_found(self):
        X, y, truth = problem()
        labels, mask = checked(y, truth, np.flatnonzero((y == 0) & truth)[:30])
        with pytest.raises(ValueError, match=r"prior=0\.01 of .* 30 of the checked ones"):
            ElkanNotoClassifier(prior=0.01, neg_label=-1).fit(X, labels, checked=mask)

    @NEAR
    def test_all_checked_rows_may_be_negative(self):
        X, y, truth = problem()
        labels, mask = checked(y, truth, np.flatnonzero((y == 0) & ~truth)[:60])
        model = PUClassifier(members=["logistic"], neg_label=-1, random_state=0)
        assert model.fit(X, labels, checked=mask).prior_ < 0.1

    @NEAR
    def test_negatives_may_equal_positives_in_all_columns(self):
        X, y, _ = problem()
        rows = np.flatnonzero(y == 0)[:20]
        X[rows] = X[np.flatnonzero(y == 1)[:20]]
        labels, mask = checked(y, np.zeros(len(y), bool), rows)
        model = PUClassifier(members=["logistic"], neg_label=-1, random_state=0)
        model.fit(X, labels, checked=mask)
        assert np.isfinite(model.predict_proba(X)).all()


class TestPropensities:
    """They belong to the rows that were labelled: a check labels whatever it looks at."""

    def fit(self, scenario="case-control", prior=0.17, **given):
        X, y, truth = problem()
        rows = np.flatnonzero(y == 0)[::8]
        labels, mask = checked(y, truth, rows)
        model = ElkanNotoClassifier(
            prior=prior, neg_label=-1, scenario=scenario, random_state=0, validation_fraction=0.2
        )
        found = {name: make(X, y) for name, make in given.items()}
        return model.fit(X, labels, checked=mask, **found), y == 1, mask

    @NEAR
    def test_equal_ones_change_nothing(self):
        plain = self.fit()[0]
        same = self.fit(propensity=lambda X, y: np.where(y == 1, 0.2, np.nan))[0]
        assert same.probability_ == pytest.approx(plain.probability_)
        assert np.array_equal(same.outcome_, plain.outcome_, equal_nan=True)

    @NEAR
    def test_checked_rows_keep_their_weight(self):
        model, labelled, mask = self.fit(
            propensity=lambda X, y: np.where(y == 1, chance(X), np.nan)
        )
        assert np.array_equal(model.is_positive_, labelled)
        assert np.array_equal(np.isnan(model.propensity_), ~labelled)
        assert (model.sample_weight_[mask] == 1).all()
        assert np.ptp(model.sample_weight_[labelled] * model.propensity_[labelled]) < 1e-12
        found = model.evaluate()
        assert found.sample.n_checked == np.isfinite(model.out_of_fold_[mask]).sum()
        assert len(found.sample.propensity) == len(found.sample.positive)

    @NEAR
    @pytest.mark.parametrize("kind", [ElkanNotoClassifier, PUExtraTreesClassifier, NNPUClassifier])
    def test_a_counted_share_is_that_before_the_check(self, kind):
        X, y, truth = problem()
        labels, mask = checked(y, truth, np.flatnonzero(y == 0)[::8])
        given = {"scenario": "single-set", "random_state": 0}
        given |= {"epochs": 2} if kind is NNPUClassifier else {}
        propensity = np.where(y == 1, 0.4, np.nan)
        before = kind(**given).fit(X, y, propensity=propensity)
        after = kind(**given, neg_label=-1).fit(X, labels, propensity=propensity, checked=mask)
        assert after.prior_ == pytest.approx(before.prior_)
        assert after.prior_error_ == pytest.approx(before.prior_error_)

    def test_of_a_checked_row_is_refused(self):
        with pytest.raises(ValueError, match="is for labelled rows alone"):
            self.fit(propensity=lambda X, y: np.full(len(y), 0.5))

    def test_precision_goes_by_the_ranks_of_unlabelled_positives(self):
        rng = np.random.default_rng(0)
        truth = np.arange(4000) < 1000
        score = rng.normal(truth * 1.5)
        likely = chance(score[:, None])
        labelled = truth & (rng.random(4000) < likely)
        rest = np.flatnonzero(~labelled)
        rest = rest[np.argsort(-score[rest])]
        labels, mask = checked(labelled.astype(int), truth, rest[:40])
        given = {"prior": 0.1, "scenario": "single-set", "neg_label": -1, "checked": mask, "k": 500}
        propensity = np.where(labelled, likely, np.nan)
        right = truth[rest[40:540]].mean()
        fair = metrics.evaluate(labels, score, **given, propensity=propensity)["precision_at_k"]
        biased = metrics.evaluate(labels, score, **given)["precision_at_k"]
        assert fair.low <= right <= fair.high
        assert not biased.low <= right <= biased.high


def chance(X):
    """Rows that look positive are likelier to be labelled."""
    return 0.05 + 0.6 / (1 + np.exp(-3 * (X[:, 0] - 2)))
