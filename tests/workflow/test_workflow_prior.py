import warnings
from dataclasses import replace

import numpy as np
import pytest

from robustpu import datasets, make_pu
from robustpu.metrics import evaluate
from robustpu.priors.estimation import PriorEstimate, PriorWarning
from robustpu.results import Prior
from robustpu.workflow.prior import bounded, find_prior, parse_prior


@pytest.fixture(scope="module")
def pu():
    table = datasets.load("breast_cancer")
    return make_pu(
        table.data, table.target, n_positive=60, n_unlabeled=200, prior=0.3, random_state=0
    )


def test_an_estimate_is_that_of_estimate_prior(pu, monkeypatch):
    calls = []

    def estimate(X, y, *, scenario, random_state, progress):
        calls.append((X is pu.X, y is pu.y, scenario, random_state))
        warnings.warn("the classes overlap", PriorWarning, stacklevel=2)
        return PriorEstimate(0.3, 0.2, 0.4, 0.9, 0.3, "auto", {"dedpul": 0.28}, np.zeros(260))

    monkeypatch.setattr("robustpu.workflow.prior.estimate_prior", estimate)
    found = find_prior(pu.X, pu.y, "auto", "single-set", 3)
    estimates = {"dedpul": 0.28}
    assert found == Prior("estimated", 0.3, 0.2, 0.4, 0.9, estimates, ("The classes overlap",))
    assert found.interval == (0.2, 0.4)
    assert calls == [(True, True, "single-set", 3)]


@pytest.mark.parametrize(
    ("asked", "source", "value"), [("0.25", "given", 0.25), (0.25, "given", 0.25)]
)
def test_a_number_is_taken_as_it_is(pu, asked, source, value):
    found = find_prior(pu.X, pu.y, asked, "case-control", 0)
    assert (found.source, found.value, found.interval) == (source, value, None)


def test_two_ends_are_an_interval_around_their_middle(pu):
    found = find_prior(pu.X, pu.y, "0.02:0.08", "case-control", 0)
    assert (found.source, found.value, found.interval) == (
        "range",
        pytest.approx(0.04),
        (0.02, 0.08),
    )
    held = bounded(found, 0.03)
    assert (held.value, held.interval) == (0.03, (0.02, 0.03))
    assert "The middle of your range is 4.0%" in held.warnings[0]


def test_a_count_is_of_unlabelled_rows(pu):
    assert find_prior(pu.X, pu.y, "count:50", "case-control", 0).value == 50 / 200
    with pytest.raises(ValueError, match="as many positives as there are unlabelled rows, 200"):
        find_prior(pu.X, pu.y, "count:200", "case-control", 0)


@pytest.mark.parametrize(
    "asked", ["0", "1", "1.5", "-0.1", "count:0", "count:x", "much", "", "a:1", "0.3:0.2", "0:0.2"]
)
def test_anything_else_is_refused(asked):
    with pytest.raises(ValueError, match=r"count:500; it is"):
        parse_prior(asked)


def test_one_positive_is_too_few_to_estimate():
    y = np.array([1] + [0] * 20)
    with pytest.raises(ValueError, match="single labelled positive"):
        find_prior(np.zeros((21, 1), np.float32), y, "auto", "case-control", 0)


def test_intervals_that_touch_the_ends_can_be_evaluated():
    prior = Prior("estimated", 0.01, 0.0, 1.0)
    y, score = np.array([1] * 5 + [0] * 20), np.linspace(0, 1, 25)
    assert evaluate(y, score, prior=prior.value, prior_interval=prior.interval)["auc"].low >= 0


def test_an_estimate_is_held_to_what_scores_allow():
    found = Prior("estimated", 0.3, 0.25, 0.5)
    held = bounded(found, 0.2)
    assert (held.value, held.low, held.high) == (0.2, 0.0, 0.2)
    assert "The results use 0.0% to 20.0%" in held.warnings[-1]
    held = bounded(found, 0.27)
    assert (held.value, held.low, held.high) == (0.27, 0.0, 0.27)
    assert bounded(found, 0.4) == replace(found, high=0.4)
    assert bounded(found, 0.9) == found


def test_a_prior_that_was_given_is_kept_where_rows_do_not_refute_it():
    given = Prior("given", 0.3)
    assert bounded(given, 0.4) == given


@pytest.mark.parametrize("source", ["given", "count"])
def test_a_prior_that_was_given_and_is_refuted_is_no_certainty(source):
    held = bounded(Prior(source, 0.3), 0.2)
    assert (held.source, held.value, held.low, held.high) == (source, 0.2, 0.0, 0.2)
    for words in ("at most 20.0%", "You gave 30.0%", "use 0.0% to 20.0%"):
        assert words in held.warnings[0]
