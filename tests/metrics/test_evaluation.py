"""Estimates, their ranges and flags, and the table."""

import math
import pickle

import numpy as np
import pytest
from scipy.stats import norm

from robustpu import metrics
from robustpu.metrics.estimates import Estimate, combine, wilson


def rows(seed=0, n_positive=100, n_unlabeled=400, prior=0.3):
    rng = np.random.default_rng(seed)
    truth = np.r_[np.ones(n_positive, bool), rng.random(n_unlabeled) < prior]
    score = 1 / (1 + np.exp(-rng.normal(np.where(truth, 0.7, -0.7), 1)))
    return np.arange(len(truth)) < n_positive, score


def test_all_metrics_are_there_in_the_order_of_the_table():
    found = metrics.evaluate(*rows(), prior=0.3)
    assert list(found) == list(metrics.METRICS)
    assert len(found) == 13


@pytest.mark.parametrize("scenario", ["case-control", "single-set"])
def test_values_are_those_of_the_functions_and_lie_in_their_intervals(scenario):
    y, score = rows()
    found = metrics.evaluate(y, score, prior=0.3, scenario=scenario)
    for name, estimate in found.items():
        value = metrics.METRICS[name](y, score, prior=0.3, scenario=scenario)
        assert estimate.value == value == float(estimate)
        assert estimate.low < estimate.value < estimate.high
        assert not estimate.clipped
        assert estimate.raw == estimate.value


@pytest.mark.parametrize("name", sorted(metrics.METRICS))
def test_a_higher_level_widens(name):
    y, score = rows()
    narrow, wide = (metrics.evaluate(y, score, prior=0.3, level=x)[name] for x in (0.5, 0.9))
    assert wide.low < narrow.low
    assert wide.high > narrow.high


@pytest.mark.parametrize("name", sorted({*metrics.METRICS} - {"recall", "lee_liu", "lift_at_k"}))
def test_an_uncertain_prior_widens(name):
    y, score = rows()
    known = metrics.evaluate(y, score, prior=0.3)[name]
    unsure = metrics.evaluate(y, score, prior=0.3, prior_interval=(0.25, 0.36))[name]
    assert unsure.value == known.value
    assert unsure.high - unsure.low > known.high - known.low


@pytest.mark.parametrize("least", [0, 1e-9, 0.05])
def test_lift_of_a_list_has_an_interval_whatever_the_least_prior(least):
    given = {"prior": 0.2, "prior_interval": (least, 0.5), "k": 50, "is_prior_known": False}
    found = metrics.evaluate(*rows(n_positive=30), **given)
    lift = found["lift_at_k"]
    known = metrics.evaluate(*rows(n_positive=30), prior=0.2, k=50)["lift_at_k"]
    assert lift.value == pytest.approx(known.value)
    assert 1 < lift.low < lift.value < lift.high < 400 / 50
    shown = "up to" if least < 1e-6 else "0.05 to"
    assert f"prior unknown, {shown} 0.5," in str(found)


@pytest.mark.parametrize("scenario", ["case-control", "single-set"])
@pytest.mark.parametrize("is_prior_known", [True, False])
def test_an_interval_of_the_prior_may_begin_at_nothing(scenario, is_prior_known):
    given = {"prior": 0.3, "scenario": scenario, "is_prior_known": is_prior_known}
    found, nearly = (
        metrics.evaluate(*rows(), prior_interval=(least, 0.5), **given) for least in (0, 1e-9)
    )
    assert found.sample.priors == (0, 0.5)
    for name, estimate in found.items():
        assert estimate.low == pytest.approx(nearly[name].low)
        assert estimate.high == pytest.approx(nearly[name].high)
        assert estimate.value == nearly[name].value


@pytest.mark.parametrize("name", ["recall", "lee_liu", "lift_at_k"])
def test_metrics_that_do_not_need_the_prior_do_not_mind(name):
    y, score = rows()
    known = metrics.evaluate(y, score, prior=0.3)[name]
    unsure = metrics.evaluate(y, score, prior=0.3, prior_interval=(0.25, 0.36))[name]
    assert (known.low, known.high) == pytest.approx((unsure.low, unsure.high))


def test_a_wrong_prior_leaves_the_range_and_is_flagged():
    y, score = rows()
    found = metrics.evaluate(y, score, prior=0.7)
    assert found["precision"].raw > 1
    assert found["precision"].value == found["precision"].high == 1
    assert found["precision"].clipped
    assert "precision" in found.clipped
    assert "recall" not in found.clipped
    assert "precision             1.000" in str(found)
    assert "* out of range before it was cut" in str(found)


def test_what_had_to_be_cut_keeps_its_relative_width():
    """By hand: 3 (2 to 4) is 1 (2/3 to 4/3) after the cut at 1, and mirrored below 0."""
    above, below = combine(3.0, [(2.0, 4.0)], (0, 1)), combine(-2.0, [(-3.0, -1.0)], (0, 1))
    assert (above.value, above.low, above.high) == pytest.approx((1, 2 / 3, 1))
    assert (below.value, below.low, below.high) == pytest.approx((0, 0, 1 / 3))
    inside = combine(0.5, [(0.4, 0.7)], (0, 1))
    assert (inside.low, inside.high) == pytest.approx((0.4, 0.7))


@pytest.mark.parametrize("prior", [0.7, 0.95])
def test_no_prior_however_wrong_makes_a_certainty(prior):
    y, score = rows()
    found = metrics.evaluate(y, score, prior=prior)
    assert "precision" in found.clipped
    assert all(estimate.high - estimate.low > 0.005 for estimate in found.values())


@pytest.mark.parametrize("name", ["auc", "average_precision"])
def test_one_labelled_row_says_nothing_about_the_order(name):
    estimate = metrics.evaluate(np.arange(50) < 1, np.linspace(1, 0, 50), prior=0.2)[name]
    assert (estimate.low, estimate.high) == (0, 1)


@pytest.mark.parametrize("n_labelled", [2, 3, 5, 10])
@pytest.mark.parametrize("shift", [1.5, 3.0])
def test_intervals_of_orders_hold_with_few_labelled_rows(n_labelled, shift):
    rng = np.random.default_rng(0)
    is_covered = []
    for _ in range(150):
        truth = np.r_[np.ones(n_labelled, bool), rng.random(300) < 0.2]
        score = rng.normal(shift * truth)
        found = metrics.evaluate(np.arange(len(truth)) < n_labelled, score, prior=0.2)["auc"]
        is_covered.append(found.low <= norm.cdf(shift / 2**0.5) <= found.high)
        assert found.high - found.low > 0.01
    assert np.mean(is_covered) > 0.85


def test_rounding_is_not_clipping():
    assert not combine(1 + 1e-15, [(1, 1)], (0, 1)).clipped
    assert combine(1.001, [(1, 1)], (0, 1)).clipped


def test_a_model_that_answers_nothing_has_no_precision_and_we_know_nothing_about_it():
    y, score = rows()
    found = metrics.evaluate(y, score, prior=0.3, threshold=2)
    assert (found["precision"].value, found["precision"].low) == (0, 0)
    assert found["precision"].high == 1
    assert found["f1"].value == found["lee_liu"].value == 0
    assert found["accuracy"].value == pytest.approx(0.7)
    assert found.collapse == "negative"
    assert "0.0% of the unlabelled rows are predicted positive" in str(found)
    assert "all-negative" in str(found)


def test_labelled_rows_alone_above_the_threshold():
    y = np.arange(50) < 10
    found = metrics.evaluate(y, np.where(y, 0.9, 0.1), prior=0.3)
    # Half an unlabelled row is taken, so that the ratio is finite.
    assert found["precision"].raw == pytest.approx(0.3 / (0.5 / 40))
    assert found["precision"].value == 1
    assert found["lee_liu"].value == pytest.approx(1 / 0.3)
    assert set(found.clipped) >= {"precision", "lee_liu", "specificity", "auc"}
    assert all(math.isfinite(x) for e in found.values() for x in (e.low, e.high, e.raw))


def test_one_row_of_each_is_enough():
    found = metrics.evaluate([1, 0], [0.9, 0.1], prior=0.5)
    assert all(e.low <= e.value <= e.high for e in found.values())
    assert found["recall"].low < 0.5


def test_recall_of_one_has_an_interval():
    found = metrics.evaluate(np.arange(100) < 20, np.ones(100), prior=0.3)
    assert 0.8 < found["recall"].low < 0.9
    assert found.collapse == "positive"


def test_wilson_by_its_definition():
    low, high = wilson(0.3, 50, 1.645)
    for end in (low, high):
        # The ends are the shares that the found one is just compatible with.
        assert abs(0.3 - end) == pytest.approx(1.645 * math.sqrt(end * (1 - end) / 50))
    assert low < 0.3 < high


def test_collapse_has_the_bounds_of_the_estimators():
    for prior in (0.1, 0.5, 0.9):
        least, most = 0.2 * prior, 1 - 0.2 * (1 - prior)
        assert metrics.collapse(least, prior) is None
        assert metrics.collapse(most, prior) is None
        assert metrics.collapse(least - 1e-9, prior) == "negative"
        assert metrics.collapse(most + 1e-9, prior) == "positive"


def test_a_sound_model_has_not_collapsed():
    found = metrics.evaluate(*rows(), prior=0.3)
    assert found.collapse is None
    assert "collapsed" not in str(found)
    assert "*" not in str(found)


def test_the_table():
    y, score = rows()
    lines = str(metrics.evaluate(y, score, prior=0.3, scenario="single-set", k=100)).splitlines()
    assert lines[0] == "100 labelled positives, 400 unlabelled rows, single-set"
    assert lines[1] == "prior 0.3, threshold 0.5, k 100, intervals of 90%"
    assert [line.split()[0] for line in lines[3:]] == list(metrics.METRICS)
    assert (
        repr(metrics.evaluate(y, score, prior=0.3, scenario="single-set", k=100)).splitlines()
        == lines
    )


def test_it_can_be_pickled():
    found = metrics.evaluate(*rows(), prior=0.3)
    again = pickle.loads(pickle.dumps(found))
    assert dict(again) == dict(found)
    assert isinstance(again["auc"], Estimate)


@pytest.mark.parametrize("interval", [(0.1, 0.2), (0.4, 0.2), (-0.1, 0.5), (0.2,), (0.2, 1)])
def test_errors_of_the_interval_of_the_prior(interval):
    with pytest.raises(ValueError, match=r"prior_interval must be a pair .* prior of 0.3"):
        metrics.evaluate(*rows(), prior=0.3, prior_interval=interval)


def test_errors_of_the_level():
    with pytest.raises(ValueError, match="level must be a number above 0 and below 1; it is 90"):
        metrics.evaluate(*rows(), prior=0.3, level=90)


def test_less_than_one_expected_row_is_no_collapse():
    assert metrics.collapse(0.0, 0.01, 50) is None
    assert metrics.collapse(0.0, 0.01, 200) == "negative"
    assert metrics.collapse(1.0, 0.99, 50) is None
    assert metrics.collapse(1.0, 0.99, 200) == "positive"


def test_lift_of_an_unknown_share_is_that_of_a_known_one():
    """An interval of the share that begins at nothing says nothing of the lift."""
    y, score = rows()
    known = metrics.evaluate(y, score, prior=0.3, k=120)
    unknown = metrics.evaluate(
        y, score, prior=0.3, prior_interval=(1e-9, 0.8), k=120, is_prior_known=False
    )
    assert unknown["lift_at_k"] == known["lift_at_k"]
    assert "prior unknown, up to 0.8, " in str(unknown)
    # Of a short list it may be more than one over the share, and is not cut off there.
    short = metrics.evaluate(y, score, prior=0.6, k=20, is_prior_known=False)["lift_at_k"]
    assert short.low < short.value < short.high < 400 / 20
    assert short.value > 1 / 0.6
