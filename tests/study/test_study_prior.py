from dataclasses import replace

import numpy as np
import pytest

from robustpu import datasets, estimate_prior, make_pu
from robustpu.metrics import evaluate
from robustpu.study.prior import Prior, find_prior, parse_prior, within


@pytest.fixture(scope="module")
def pu():
    table = datasets.load("breast_cancer")
    return make_pu(
        table.data, table.target, n_positive=60, n_unlabeled=200, prior=0.3, random_state=0
    )


def test_an_estimate_is_that_of_estimate_prior(pu):
    found = find_prior(pu.X, pu.y, "auto", "case-control", 3)
    wanted = estimate_prior(pu.X, pu.y, random_state=3)
    assert (found.how, found.value, found.low, found.high) == (
        "estimated",
        wanted.value,
        wanted.low,
        wanted.high,
    )
    assert found.interval == (found.low, found.high)
    assert found.answers["dedpul"] == wanted.answers["dedpul"]


@pytest.mark.parametrize(
    ("asked", "how", "value"), [("0.25", "given", 0.25), (0.25, "given", 0.25)]
)
def test_a_number_is_taken_as_it_is(pu, asked, how, value):
    found = find_prior(pu.X, pu.y, asked, "case-control", 0)
    assert (found.how, found.value, found.interval) == (how, value, None)


def test_two_ends_are_an_interval_around_their_middle(pu):
    found = find_prior(pu.X, pu.y, "0.02:0.08", "case-control", 0)
    assert (found.how, found.value, found.interval) == ("range", pytest.approx(0.04), (0.02, 0.08))
    held = within(found, 0.03)
    assert (held.value, held.interval) == (0.03, (0.02, 0.03))
    assert "The middle of yours is 4.0%" in held.doubts[0]


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
    held = within(found, 0.2)
    assert (held.value, held.low, held.high) == (0.2, 0.0, 0.2)
    assert "Figures are by 0.0% to 20.0%" in held.doubts[-1]
    held = within(found, 0.27)
    assert (held.value, held.low, held.high) == (0.27, 0.0, 0.27)
    assert within(found, 0.4) == replace(found, high=0.4)
    assert within(found, 0.9) == found


def test_a_prior_that_was_given_is_kept_where_rows_do_not_refute_it():
    given = Prior("given", 0.3)
    assert within(given, 0.4) == given


@pytest.mark.parametrize("how", ["given", "count"])
def test_a_prior_that_was_given_and_is_refuted_is_no_certainty(how):
    held = within(Prior(how, 0.3), 0.2)
    assert (held.how, held.value, held.low, held.high) == (how, 0.2, 0.0, 0.2)
    for told in ("at most 20.0%", "You gave 30.0%", "by 0.0% to 20.0%"):
        assert told in held.doubts[0]
