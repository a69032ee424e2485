"""Labelled rows weighed by known propensities: as good as labels completely at random."""

import warnings

import numpy as np
import pytest
from sklearn.metrics import roc_auc_score

import robustpu
from robustpu import (
    ElkanNotoClassifier,
    NNPUClassifier,
    PriorWarning,
    PUClassifier,
    estimate_prior,
    fit_together,
    labeling,
)
from robustpu.propensity import check, count_hidden, inverse_weight
from robustpu.training import Job

X = np.random.default_rng(0).normal(size=(60, 2))
Y = np.arange(60) < 20


def given(value=0.5, other=np.nan, rows=60):
    return np.where(np.arange(rows) < 20, value, other)


def changed(place, value):
    made = given()
    made[place] = value
    return made


@pytest.mark.parametrize(
    ("propensity", "message"),
    [
        (changed(3, 0.0), r"above 0 and at most 1 .* It is 0.0 in row 3, and wrong in 1 of 20"),
        (changed(4, 1.5), "It is 1.5 in row 4"),
        (changed(5, -0.1), "It is -0.1 in row 5"),
        (changed(6, np.nan), "It is nan in row 6"),
        (changed(7, np.inf), "It is inf in row 7"),
        (given(rows=40), r"one number for each of the 60 rows.*its shape is \(40,\)"),
        (0.5, r"its shape is \(\)"),
        (given(other=0.2), "40 unlabelled ones have a number, such as row 20: put NaN there"),
        (np.full(60, "often"), "propensity must be numbers"),
    ],
)
def test_bad_propensities_are_refused_in_a_sentence(propensity, message):
    model = ElkanNotoClassifier(prior=0.3)
    with pytest.raises(ValueError, match=message):
        model.fit(X, Y, propensity=propensity)
    assert not hasattr(model, "probability_")


def test_a_row_counts_at_most_twenty_times_as_much_as_another():
    found = inverse_weight(np.ones(60), check(changed(0, 1e-6), Y), Y)
    assert found[Y].max() / found[Y].min() == pytest.approx(20)
    assert found[Y].sum() == pytest.approx(20)
    assert (found[~Y] == 1).all()


def test_equal_propensities_change_nothing():
    plain = ElkanNotoClassifier(prior=0.3, random_state=0).fit(X, Y)
    same = ElkanNotoClassifier(prior=0.3, random_state=0).fit(X, Y, propensity=given(0.2))
    assert same.probability_ == pytest.approx(plain.probability_)


@pytest.mark.filterwarnings("ignore::robustpu.ChanceWarning", "ignore::robustpu.CollapseWarning")
def test_they_are_sample_weights_of_labelled_rows_in_every_way_to_fit():
    propensity = np.where(Y, np.linspace(0.2, 0.8, 60), np.nan)
    shared = {"prior": 0.3, "random_state": 0}
    for kind in (ElkanNotoClassifier, lambda **kw: NNPUClassifier(epochs=2, **kw)):
        weight = np.where(Y, 1 / propensity, 1.0)
        weight[Y] *= 20 / weight[Y].sum()
        weighed = kind(**shared).fit(X, Y, weight)
        found = kind(**shared).fit(X, Y, propensity=propensity)
        assert found.predict_proba(X) == pytest.approx(weighed.predict_proba(X), abs=1e-6)
        jobs = [Job(kind(**shared), X, Y, propensity=propensity), Job(kind(**shared), X, Y)]
        first, second = fit_together(jobs)
        assert first.predict_proba(X) == pytest.approx(found.predict_proba(X), abs=1e-6)
        assert second.predict_proba(X) != pytest.approx(found.predict_proba(X), abs=1e-6)


def test_they_are_in_a_folder(tmp_path):
    model = PUClassifier(members=["logistic"], scenario="single-set", random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.fit(X, Y, propensity=given(0.8)).save(tmp_path / "m")
    loaded = robustpu.load(tmp_path / "m")
    assert np.array_equal(loaded.propensity_, model.propensity_, equal_nan=True)
    assert loaded.prior_interval() == model.prior_interval()


class TestCounted:
    def test_share_and_error_are_those_of_labels_that_are_drawn_with_them(self):
        rng = np.random.default_rng(0)
        chance = rng.uniform(0.2, 0.9, 500)
        found, truth = [], []
        for _ in range(300):
            labelled = rng.random(500) < chance
            is_positive = np.r_[labelled, np.zeros(1000, bool)]
            propensity = np.where(is_positive, np.r_[chance, np.zeros(1000)], np.nan)
            found.append(count_hidden(np.ones(1500), propensity, is_positive))
            truth.append((500 - labelled.sum()) / (1500 - labelled.sum()))
        off = np.array([each.share for each in found]) - truth
        assert abs(off.mean()) < 0.002
        assert np.std(off) == pytest.approx(np.mean([each.error for each in found]), rel=0.15)

    def test_more_positives_than_rows_are_refused_unless_a_prior_is_given(self):
        model = PUClassifier(members=["logistic"], scenario="single-set", random_state=0)
        with pytest.raises(ValueError, match=r"says that 950% .* only ratios are known"):
            model.fit(X, Y, propensity=given(0.05))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model.set_params(prior=0.2).fit(X, Y, propensity=given(0.05))
        assert model.prior_ == 0.2

    @pytest.mark.parametrize("method", ["tedn", "capu"])
    def test_methods_that_take_none_are_refused(self, method):
        with pytest.raises(ValueError, match=r"takes? no propensities"):
            NNPUClassifier(prior=method).fit(X, Y, propensity=given())
        with pytest.raises(ValueError, match="takes no propensities"):
            estimate_prior(X, Y, method=method, propensity=given())


def problem(scenario, seed):
    """Two classes, and labels of a third column's choice: rows, labels, propensities, truth."""
    rng = np.random.default_rng(seed)
    truth = rng.random(2500) < 0.3
    rows = rng.normal(size=(2500, 4)) + np.outer(truth, [3, 1.5, 0, 0])
    if scenario == "case-control":
        # Labelled rows come from elsewhere.
        rows = np.r_[rng.normal(np.tile([3, 1.5, 0, 0], (2500, 1))), rows]
        truth = np.r_[np.ones(2500, bool), truth]
    chance = labeling.LABELINGS["attributes"](rows[:, 2:], np.ones(len(rows)), rng)
    chance = 0.7 * (chance / chance.max()) ** 4
    candidates = np.arange(2500) if scenario == "case-control" else np.flatnonzero(truth)
    y = np.zeros(len(rows), bool)
    y[candidates] = rng.random(len(candidates)) < chance[candidates]
    kept = y | (np.arange(len(rows)) >= (2500 if scenario == "case-control" else 0))
    at_random = np.zeros(len(rows), bool)
    at_random[rng.choice(candidates, y.sum(), replace=False)] = True
    kept_at_random = at_random | (kept & ~y) if scenario == "case-control" else kept
    return rows, truth, (y, kept), (at_random, kept_at_random), chance


@pytest.mark.parametrize("scenario", ["case-control", "single-set"])
def test_error_auc_prior_and_evaluation_are_those_of_labels_at_random(scenario):
    rows, truth, biased, fair, chance = problem(scenario, 2)
    found = {}
    for name, (y, kept) in {"fair": fair, "biased": biased, "weighed": biased}.items():
        part, label, answer = rows[kept], y[kept], truth[kept]
        propensity = np.where(label, chance[kept], np.nan) if name == "weighed" else None
        model = PUClassifier(members=["logistic"], scenario=scenario, random_state=0)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", PriorWarning)
            model.fit(part, label, propensity=propensity)
        unlabeled = part[~label], answer[~label]
        score = model.predict_proba(unlabeled[0])[:, 1]
        recall = (score >= model.threshold_)[unlabeled[1]].mean()
        lift = answer[model.suspects(200)[0]].mean() / unlabeled[1].mean()
        promised = model.evaluate(k=200)
        found[name] = {
            "auc": roc_auc_score(unlabeled[1], score),
            "prior": abs(model.prior_ - unlabeled[1].mean()),
            "recall": abs(promised["recall"].value - recall),
            "lift": abs(promised["lift_at_k"].value - lift),
        }
    fair, biased, weighed = found["fair"], found["biased"], found["weighed"]
    assert fair["auc"] - 0.005 < weighed["auc"] > biased["auc"] + 0.005
    assert weighed["prior"] < 0.03 < biased["prior"]
    assert weighed["recall"] < 0.04 < biased["recall"]
    assert weighed["lift"] < 0.4 < biased["lift"]
