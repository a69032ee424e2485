from itertools import combinations

import numpy as np
import pytest

from robustpu.results import EvaluationSummary, Metric, Prior, TimeHoldout
from robustpu.workflow.alarms import time_alarms
from robustpu.workflow.config import FitConfig
from robustpu.workflow.evaluation import (
    estimate_lists,
    evaluate_scores,
    expected_hits,
    list_lengths,
    recovery,
    score_histogram,
    smoothed,
    summarize,
    widen_by_folds,
)
from robustpu.workflow.held_out import FoldFits
from robustpu.workflow.time_holdout import evaluate_newest
from robustpu.workflow.training import make_model


@pytest.fixture
def held_out():
    y = np.array([1] * 40 + [0] * 160)
    random = np.random.default_rng(0)
    score = np.clip(random.normal(np.where(y == 1, 0.8, 0.3), 0.15), 0, 1)
    return y, score


def test_precision_is_prior_recall_by_rate(held_out):
    y, score = held_out
    found = summarize(
        evaluate_scores(y, score, Prior("given", 0.1), 0.6, "case-control"), ["first"]
    )
    recall = np.mean(score[y == 1] >= 0.6)
    rate = np.mean(score[y == 0] >= 0.6)
    assert found.metric("recall").value == pytest.approx(recall)
    assert found.metric("precision").value == pytest.approx(min(1, 0.1 * recall / rate))
    assert (found.n_positive, found.n_unlabeled) == (40, 160)
    assert found.remarks[0] == "first"


def test_an_estimated_prior_widens_the_interval(held_out):
    wide = evaluate_scores(*held_out, Prior("estimated", 0.1, 0.02, 0.3), 0.6, "case-control")[
        "precision"
    ]
    narrow = evaluate_scores(*held_out, Prior("given", 0.1), 0.6, "case-control")["precision"]
    assert wide.high - wide.low > narrow.high - narrow.low


def test_fits_that_differ_widen_the_lists():
    random = np.random.default_rng(0)
    y, fold = (np.arange(1200) < 200).astype(int), np.arange(1200) % 5
    is_hidden = np.arange(1200) < 400
    noise, shifts = random.normal(size=1200), np.linspace(0.5, 2.5, 5)[:, None]
    scores = 1 / (1 + np.exp(-noise - shifts * is_hidden))
    held_out = scores[fold, np.arange(1200)]
    found = evaluate_scores(y, held_out, Prior("given", 0.2), 0.6, "case-control")
    wider, apart = widen_by_folds(found, y, held_out, FoldFits(fold, scores))
    narrow, wide = expected_hits(found, 1000), expected_hits(wider, 1000, apart)
    assert [top.expected for top in narrow] == [top.expected for top in wide]
    widths = [[top.high - top.low for top in lists] for lists in (narrow, wide)]
    assert np.all(np.greater_equal(*reversed(widths)))
    # By hand: t of four degrees of freedom, and the spread of the precision of pairs.
    shares = [
        [np.mean(scores[fit, rows & (y == 1)] >= cut) for fit, cut in zip(pair, cuts, strict=True)]
        for pair, rows, cuts in _pairs(y, fold, scores)
    ]
    extra = 2.1318 * 1.2**0.5 * np.mean([(a - b) ** 2 / 2 for a, b in shares]) ** 0.5
    plain, with_room = (
        estimate_lists(found.sample, [200], 1000, each)[0] for each in (None, apart)
    )
    expected = np.hypot(plain.value - plain.low, 200 * extra)
    assert with_room.value - with_room.low == pytest.approx(expected, rel=0.02)


def _pairs(y, fold, scores):
    for pair in combinations(range(5), 2):
        rows = ~np.isin(fold, pair)
        yield pair, rows, [np.quantile(scores[fit, rows & (y == 0)], 0.8) for fit in pair]


def test_rows_without_a_score_are_left_out(held_out):
    y, score = held_out
    assert (
        evaluate_scores(y, np.full(200, np.nan), Prior("given", 0.1), 0.5, "case-control") is None
    )
    assert summarize(None, []) is None
    assert expected_hits(None, 10) == ()
    score[y == 1] = np.nan
    assert evaluate_scores(y, score, Prior("given", 0.1), 0.5, "case-control") is None


def test_the_list_grows_and_never_finds_more_than_it_has(held_out):
    found = expected_hits(evaluate_scores(*held_out, Prior("given", 0.1), 0.5, "case-control"), 160)
    lists = [top.k for top in found]
    assert lists == sorted(set(lists))
    assert lists[0] == 1
    assert lists[-1] == 32
    for top in found:
        assert 0 <= top.low <= top.expected <= top.high <= top.k
    # By hand, of the first 20: prior * share of positives above * 160, at the 20th score.
    y, score = held_out
    last = np.sort(score[y == 0])[-20]
    wanted = min(20, 0.1 * np.mean(score[y == 1] >= last) * 160)
    assert next(top for top in found if top.k == 20).expected == pytest.approx(wanted)


def test_a_list_of_more_rows_than_were_held_out(held_out):
    few = expected_hits(evaluate_scores(*held_out, Prior("given", 0.1), 0.5, "case-control"), 1600)
    assert few[-1].k == 320
    same = expected_hits(evaluate_scores(*held_out, Prior("given", 0.1), 0.5, "case-control"), 160)
    ten = next(top for top in same if top.k == 10).expected
    assert next(top for top in few if top.k == 100).expected == pytest.approx(10 * ten)


def test_lengths_end_where_the_table_does():
    assert list_lengths(1000, 7) == [1, 2, 3, 5, 7]
    assert list_lengths(1000, 5000)[-1] == 2000


def test_scores_are_counted_once(held_out):
    y, score = held_out
    score[:3] = np.nan
    found = score_histogram(y, score)
    assert (sum(found.positive), sum(found.unlabeled)) == (37, 160)
    assert len(found.edges) == len(found.positive) + 1


def test_the_newest_rows_are_evaluated_with_a_model_of_the_older():
    random = np.random.default_rng(0)
    y = np.tile([1, 0, 0, 0], 50)
    X = random.normal(size=(200, 2)).astype(np.float32) + y[:, None]
    times = np.arange("2023-01-01", 200, dtype="datetime64[D]").astype("datetime64[us]")
    times[0] = np.datetime64("NaT")
    # From a day on, labels mean the opposite: whoever looks at the newest rows alone sees it.
    X[160:] = -X[160:]
    model = make_model(FitConfig("elkan-noto"), 0.1)
    found = evaluate_newest(model, X, y, times, Prior("given", 0.1))
    assert found.evaluation.metric("auc").value < 0.4
    assert found.since == "2023-06-10"
    assert "newest 40, from 2023-06-10 on, 10 of them labelled: AUC 0." in found.text


def test_newest_rows_without_labels_cannot_be_evaluated():
    y = np.array([1] * 10 + [0] * 90)
    model = make_model(FitConfig("elkan-noto"), 0.1)
    X = np.zeros((100, 1), np.float32)
    found = evaluate_newest(model, X, y, np.arange(100.0), Prior("given", 0.1))
    assert (found.since, found.evaluation) == (None, None)
    assert "different times" in found.text


def test_rows_further_down_are_never_better():
    """By hand: 0.2 in the first five and 0.6 in the next five are 0.4 in all ten."""
    assert smoothed([5, 10, 20], [1, 4, 6]) == [2.0, 4.0, 6.0]
    assert smoothed([5, 10, 20], [4, 6, 7]) == [4.0, 6.0, 7.0]


def test_intervals_of_lists_agree_with_each_other(held_out):
    # So high a prior that every row of the list counts more than once.
    found = expected_hits(evaluate_scores(*held_out, Prior("given", 0.6), 0.5, "case-control"), 160)
    low, high = ([getattr(top, end) for top in found] for end in ("low", "high"))
    assert low == sorted(low)
    assert high == sorted(high)
    assert all(top.high > top.low for top in found)
    assert found[0].expected == found[0].k


def _summary(value, low, high, labelled=20):
    return EvaluationSummary(0.9, 10, labelled, 100, (), (Metric("auc", value, low, high),))


def _newest(value, low, high, labelled=20):
    return TimeHoldout("worse", "2024-05-01", _summary(value, low, high, labelled))


USUAL = _summary(0.9, 0.85, 0.95)


@pytest.mark.parametrize(
    ("high", "alarms"), [(0.84, 1), (0.86, 0)], ids=["beyond chance", "perhaps chance"]
)
def test_newest_rows_that_are_ranked_worse_are_an_alarm(high, alarms):
    found = time_alarms(USUAL, _newest(0.7, 0.5, high))
    assert [alarm.kind for alarm in found] == ["time"] * alarms
    assert all("2024-05-01" in alarm.text for alarm in found)


@pytest.mark.parametrize(("labelled", "alarms"), [(4, 0), (5, 1)])
def test_few_labelled_rows_among_the_newest_are_no_alarm(labelled, alarms):
    assert len(time_alarms(USUAL, _newest(0.7, 0.5, 0.8, labelled))) == alarms


def test_without_newest_rows_there_is_no_alarm_of_them():
    assert time_alarms(USUAL, None) == []
    assert time_alarms(USUAL, TimeHoldout("cannot be evaluated")) == []
    assert time_alarms(None, _newest(0.7, 0.5, 0.8)) == []


def test_hidden_positives_come_back_among_the_first_rows(held_out):
    y, score = held_out
    evaluation = evaluate_scores(y, score, Prior("given", 0.1), 0.6, "case-control")
    found = summarize(evaluation, []).recovery
    assert found == recovery(evaluation.sample)
    assert [point.share for point in found] == sorted(point.share for point in found)
    for share in (0.05, 0.1, 0.5):
        (point,) = [each for each in found if each.share == share]
        cut = np.sort(score[y == 0])[-round(160 * share)]
        assert point.recall == pytest.approx((score[y == 1] > cut).mean(), abs=0.026)
        assert point.low <= point.recall <= point.high
    assert (found[-1].share, found[-1].recall) == (1, 1)


def test_equal_scores_come_back_half_way():
    y, score = np.array([1] * 10 + [0] * 10), np.zeros(20)
    evaluation = evaluate_scores(y, score, Prior("given", 0.1), 0.6, "case-control")
    assert {each.share: each.recall for each in recovery(evaluation.sample)}[0.4] == 0
    assert {each.share: each.recall for each in recovery(evaluation.sample)}[0.5] == 1
