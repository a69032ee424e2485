"""Alarms come last and point at the line of the user; weights and parameters are checked before."""

import warnings

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

from robustpu import (
    ChanceWarning,
    CollapseWarning,
    ElkanNotoClassifier,
    NNPUClassifier,
    PUClassifier,
    PUVotingClassifier,
    SpyClassifier,
)

RANDOM = np.random.default_rng(0)
X = RANDOM.normal(size=(120, 3))
X[:50] += 1.5
Y = (np.arange(120) < 30).astype(int)
COLLAPSED = {"prior": 0.95, "threshold": 0.999, "random_state": 0}


def test_an_alarm_that_is_an_error_leaves_a_whole_model():
    model = ElkanNotoClassifier(**COLLAPSED)
    with pytest.raises(CollapseWarning):
        model.fit(X, Y)
    assert model.selection_ == "none"
    assert model.predict(X).shape == (120,)


def test_parts_of_an_ensemble_raise_none_and_no_filter_is_touched():
    before = list(warnings.filters)
    parts = [("one", ElkanNotoClassifier(threshold=0.999)), ("two", SpyClassifier())]
    PUVotingClassifier(parts, prior=0.3, random_state=0).fit(X, Y)
    assert warnings.filters == before


def test_a_warning_names_this_file():
    with pytest.warns(CollapseWarning) as caught:
        NNPUClassifier(**COLLAPSED, epochs=1, validation_fraction=0).fit(X, Y)
    assert {warning.filename for warning in caught} == {__file__}


@pytest.mark.parametrize("kind", [ElkanNotoClassifier, NNPUClassifier, SpyClassifier])
def test_weights_that_cannot_be_held_together_are_refused(kind):
    weight = np.where(Y > 0, 1e-300, 1e300)
    with pytest.raises(ValueError, match="sample_weight is zero for all labelled positives"):
        kind(prior=0.3).fit(X, Y, sample_weight=weight)


def test_rows_with_zero_weight_are_not_held_out():
    weight = (Y == 0) | (np.arange(120) < 4)
    model = ElkanNotoClassifier(prior=0.3, validation_fraction=0.5, random_state=2)
    model.fit(X, Y, sample_weight=weight.astype(float))
    assert np.isnan(model.out_of_fold_[~weight]).all()


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"estimator": "forest"}, "estimator must be a scikit-learn classifier or None"),
        ({"random_state": -1}, "random_state must be a whole number"),
        ({"random_state": "x"}, "random_state must be a whole number"),
    ],
)
def test_what_is_refused_by_name(given, message):
    with pytest.raises(ValueError, match=message):
        ElkanNotoClassifier(prior=0.3, **given).fit(X, Y)


class TestTooFewPositives:
    """Where hardly any unlabelled row is predicted positive, and a quarter should be."""

    def test_a_ranking_that_is_sound_asks_for_another_threshold(self):
        rng = np.random.default_rng(0)
        hidden = np.arange(1100) < 150
        rows = rng.normal(size=(1100, 2)) + np.outer(hidden, [1.0, 0.0])
        y = np.arange(1100) < 100
        given = {"members": ["logistic"], "prior": 0.05, "random_state": 0}
        with pytest.warns(CollapseWarning) as caught:
            model = PUClassifier(**given).fit(rows, y)
        message = str(caught[0].message)
        assert message.startswith("only 0")
        assert "5.0% are expected to be positive" in message
        assert "collapsed" not in message
        # The advice can be taken, and leaves nothing to warn of.
        assert "threshold='prior'" in message
        model.set_params(threshold="prior").fit(rows, y)
        assert np.mean(model.predict(rows[100:])) == pytest.approx(0.05, abs=0.02)

    def test_who_asks_for_few_positives_is_not_warned(self):
        given = {"prior": 0.25, "threshold": 0.9999, "validation_fraction": 0.5}
        model = ElkanNotoClassifier(LogisticRegression(), **given, random_state=0).fit(X, Y)
        assert not model.predict(X[30:]).any()

    def test_scores_that_rank_nothing_are_chance_and_a_collapse(self):
        noise = np.random.default_rng(1).normal(size=X.shape)
        given = {"prior": 0.25, "threshold": 0.9999, "validation_fraction": 0.5}
        model = ElkanNotoClassifier(LogisticRegression(), **given, random_state=0)
        with pytest.warns((ChanceWarning, CollapseWarning)) as caught:
            model.fit(noise, Y)
        assert [warning.category for warning in caught] == [ChanceWarning, CollapseWarning]
        assert "probably collapsed to all-negative" in str(caught[1].message)


class TestChance:
    """Labels that the columns know nothing of: no share of positives makes a promise of them."""

    def fitted(self, prior):
        rng = np.random.default_rng(3)
        rows, y = rng.normal(size=(500, 4)), np.arange(500) < 80
        given = {"members": ["logistic"], "prior": prior, "threshold": "prior"}
        with pytest.warns(ChanceWarning, match="more than by chance") as caught:
            model = PUClassifier(**given, random_state=0).fit(rows, y)
        return model, [str(warning.message) for warning in caught]

    @pytest.mark.parametrize("prior", [0.3, 0.01])
    def test_it_is_told_whatever_prior_is_given(self, prior):
        model, (message,) = self.fitted(prior)
        found = model.evaluate()
        area = found.auc_of_labeled
        assert not found.beats_chance
        assert area.low < 0.5
        assert f"AUC {area.value:.2f} ({area.low:.2f} to {area.high:.2f}" in message
        assert found.remarks()[0] == message
        assert "chance" not in "".join(found.remarks(alarms=False))

    def test_few_held_out_rows_are_no_ground_for_it(self):
        rng = np.random.default_rng(3)
        given = {"prior": 0.3, "validation_fraction": 0.1, "threshold": "prior"}
        model = ElkanNotoClassifier(LogisticRegression(), **given, random_state=0)
        model.fit(rng.normal(size=X.shape), Y)
        assert not model.evaluate().beats_chance

    def test_a_ranking_that_is_weak_but_real_is_none(self):
        found = PUClassifier(members=["logistic"], prior=0.2, random_state=0).fit(X, Y).evaluate()
        assert found.beats_chance
        assert found.auc_of_labeled.low > 0.5
