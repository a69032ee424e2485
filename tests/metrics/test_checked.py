"""Precision from checked rows."""

import numpy as np
import pytest

from robustpu import estimate_prior, metrics
from robustpu.metrics.sample import sample_of

RNG = np.random.default_rng(0)
TRUTH = RNG.random(3000) < 0.04
SCORE = RNG.normal(1.5 * TRUTH)
LABELED = TRUTH & (RNG.random(3000) < 0.5)


def after(rows):
    """Labels 1, 0 and -1, and which rows were checked."""
    y, checked = LABELED.astype(int), np.zeros(3000, dtype=bool)
    y[rows], checked[rows] = np.where(TRUTH[rows], 1, -1), True
    return {"y": y, "score": SCORE, "neg_label": -1, "checked": checked}


def top(n):
    return np.argsort(np.where(LABELED, np.inf, -SCORE), kind="stable")[:n]


def drawn(n):
    return RNG.choice(np.flatnonzero(~LABELED), n, replace=False)


WIDE = {"prior": 0.05, "prior_interval": (0.005, 0.5), "scenario": "single-set"}


@pytest.mark.parametrize("rows", [top(30), top(100), drawn(200)], ids=["30", "100", "random"])
def test_intervals_hold_the_truth_and_are_narrow(rows):
    setting = after(rows)
    found = metrics.evaluate(**setting, **WIDE, k=80, threshold=1.5)
    still = np.flatnonzero(setting["y"] == 0)
    listed = still[np.argsort(-SCORE[still], kind="stable")[:80]]
    truth = {
        "precision_at_k": TRUTH[listed].mean(),
        "positives_at_k": TRUTH[listed].sum(),
        "precision": TRUTH[SCORE >= 1.5].mean(),
    }
    plain = metrics.evaluate(LABELED, SCORE, **WIDE, k=80, threshold=1.5)
    for name, true in truth.items():
        assert found[name].low <= true <= found[name].high
        widths = [each[name].high - each[name].low for each in (found, plain)]
        assert widths[0] < 0.5 * widths[1]


def test_other_metrics_do_not_change_with_what_was_found():
    """Positives that a check found say nothing about how labelled ones rank."""
    found = metrics.evaluate(**after(top(100)), **WIDE)
    plain = metrics.evaluate(LABELED, SCORE, **WIDE)
    for name in ("recall", "auc", "lift_at_k", "accuracy"):
        assert found[name] == plain[name]


def test_few_checked_rows_do_not_tell_the_precision():
    few = metrics.evaluate(**after(top(9)), **WIDE)
    plain = metrics.evaluate(LABELED, SCORE, **WIDE)
    assert few["precision"] == plain["precision"]
    assert few.sample.n_checked == 9
    assert few.sample.posterior is None


def test_precision_is_given_where_the_share_is_unknown():
    found = metrics.evaluate(**after(top(30)), **WIDE, is_prior_known=False)
    assert {"precision", "precision_at_k", "positives_at_k"} <= set(found)
    with pytest.raises(KeyError, match="accuracy needs"):
        found["accuracy"]
    assert any("30 checked rows" in line for line in found.remarks())


def test_negatives_that_were_not_checked_are_left_out():
    y = after(top(50))["y"]
    y = np.where(y == -1, -1, LABELED.astype(int))
    found = metrics.evaluate(y, SCORE, neg_label=-1, **WIDE)
    kept = y != -1
    assert str(found) == str(metrics.evaluate(LABELED[kept], SCORE[kept], **WIDE))
    assert metrics.recall(y, SCORE, neg_label=-1, prior=0.1) == found["recall"].value


def test_nothing_is_flagged():
    sample = sample_of(**after(top(30)), **WIDE, threshold=99)
    found = metrics.checked.precision_above(sample)
    assert (found.low, found.high) == (0, 1)


def test_the_prior_is_estimated_from_checks():
    rows = after(top(60))
    found = estimate_prior(SCORE, rows["y"], neg_label=-1, checked=rows["checked"])
    with pytest.warns(match="do not tell the share"):
        plain = estimate_prior(SCORE, LABELED)
    true = TRUTH[~LABELED].mean()
    assert found.low < true < found.high
    assert found.low > plain.low == 0
    assert abs(np.log(found.value / true)) < abs(np.log(plain.value / true))
