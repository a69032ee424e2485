import warnings
from dataclasses import replace

import numpy as np
import pytest

from robustpu import PUClassifier, datasets, make_pu
from robustpu.metrics import evaluate
from robustpu.priors.estimation import PriorEstimate, PriorWarning
from robustpu.results import Prior
from robustpu.workflow.config import parse_prior
from robustpu.workflow.prior import bounded, find_prior, prior_of
from robustpu.workflow.scar import check_labels


@pytest.fixture(scope="module")
def pu():
    table = datasets.load("breast_cancer")
    return make_pu(
        table.data, table.target, n_positive=60, n_unlabeled=200, prior=0.3, random_state=0
    )


def test_an_estimate_is_that_of_estimate_prior(pu, monkeypatch):
    calls = []

    def estimate(X, y, *, neg_label, checked, scenario, random_state, progress, propensity):
        assert not checked.any()
        calls.append((X is pu.X, y is pu.y, scenario, random_state))
        warnings.warn("the classes overlap", PriorWarning, stacklevel=2)
        return PriorEstimate(0.3, 0.2, 0.4, 0.9, 0.3, "auto", {"dedpul": 0.28}, np.zeros(260))

    monkeypatch.setattr("robustpu.workflow.prior.estimate_prior", estimate)
    found = find_prior(pu.X, pu.y, "auto", "single-set", 3)
    estimates = {"dedpul": 0.28}
    assert found == Prior("estimated", 0.3, 0.2, 0.4, 0.9, estimates)
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
    held = bounded(found, 0.07)
    assert (held.value, held.interval) == (found.value, (0.02, 0.08))
    (warning,) = held.warnings
    assert "at most 7.0%" in warning
    assert "You gave up to 8.0%, of which the upper part cannot hold if" in warning
    (warning,) = bounded(found, 0.01).warnings
    assert "You gave 2.0% to 8.0%. Both cannot hold if" in warning
    assert bounded(found, 0.08) == found


def test_a_range_may_begin_at_nothing(pu):
    found = find_prior(pu.X, pu.y, "0:0.3", "case-control", 0)
    assert (found.value, found.interval) == (0.15, (0, 0.3))
    assert not check_labels(pu.y, np.linspace(0, 1, len(pu.y)), found, "case-control").is_refuted


def test_a_count_is_of_unlabelled_rows(pu):
    assert find_prior(pu.X, pu.y, "count:50", "case-control", 0).value == 50 / 200
    with pytest.raises(ValueError, match="as many positives as there are unlabelled rows, 200"):
        find_prior(pu.X, pu.y, "count:200", "case-control", 0)


@pytest.mark.parametrize(
    "asked", ["0", "1", "1.5", "-0.1", "count:0", "count:x", "much", "", "a:1", "0.3:0.2", "0:0"]
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
    assert (held.value, held.low, held.high) == (0.2, 0.2, 0.2)
    assert held.warnings == ()
    held = bounded(found, 0.27)
    assert (held.value, held.low, held.high) == (0.27, 0.25, 0.27)
    assert bounded(found, 0.4) == replace(found, high=0.4)
    assert bounded(found, 0.9) == found


def test_a_prior_that_was_given_is_kept_where_rows_do_not_refute_it():
    given = Prior("given", 0.3)
    assert bounded(given, 0.4) == given


@pytest.mark.parametrize("source", ["given", "count"])
def test_a_prior_that_was_given_and_is_refuted_stays_with_a_warning(source):
    given = Prior(source, 0.3)
    held = bounded(given, 0.2)
    assert replace(held, warnings=()) == given
    (warning,) = held.warnings
    for words in ("at most 20.0%", "You gave 30.0%. Both cannot hold", "use what you gave"):
        assert words in warning


def far_apart(distance):
    """Rows of two classes, and 1 for half of the positives."""
    random = np.random.default_rng(0)
    X = random.normal(size=(400, 3)) + distance * (np.arange(400) < 200)[:, None]
    return X, (np.arange(400) < 100).astype(int)


def test_the_prior_that_a_model_estimated():
    model = PUClassifier(members=["logistic", "hinges"], random_state=0).fit(*far_apart(6.0))
    found, interval = prior_of(model), model.prior_interval()
    assert (found.source, found.is_known, found.warnings) == ("estimated", True, ())
    assert found.value == model.prior_ == pytest.approx(1 / 3, abs=0.05)
    assert found.interval == (min(interval.low, found.value), max(interval.high, found.value))


def test_the_prior_that_a_model_could_not_estimate():
    model = PUClassifier(members=["logistic"], threshold="prior", random_state=0)
    with pytest.warns(PriorWarning, match="do not tell the share of positives"):
        model.fit(*far_apart(0.7))
    found = prior_of(model)
    assert not found.is_known
    assert found.value == model.prior_
    assert found.low < found.value < found.high
