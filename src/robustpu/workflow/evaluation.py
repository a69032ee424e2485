"""How good the model is, without negatives: metrics and lists from held-out scores."""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Final, TypeAlias

import numpy as np
from numpy.typing import NDArray
from sklearn.isotonic import isotonic_regression

from robustpu.metrics import Evaluation, evaluate
from robustpu.metrics.estimates import Estimate, scaled, wilson
from robustpu.metrics.folds import Apart, between_fits, fits_apart, with_room
from robustpu.metrics.ranking import positives_at_k, precision_at_k
from robustpu.metrics.sample import Sample
from robustpu.results import EvaluationSummary, Metric, Prior, Recovery, ScoreHistogram, TopK
from robustpu.workflow.held_out import FoldFits

Floats: TypeAlias = NDArray[np.float64]

BINS: Final = 50
# Shares of the rows at which it is counted how many labelled positives are among them.
LOOKED_AT: Final = (
    *(0.001, 0.002, 0.005, 0.01, 0.015, 0.02, 0.03, 0.04, 0.05, 0.06, 0.08, 0.1, 0.12, 0.15),
    *(0.2, 0.25, 0.3, 0.35, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0),
)


def evaluate_scores(
    y: NDArray[np.int64],
    score: Floats,
    prior: Prior,
    threshold: float,
    scenario: str,
    propensity: Floats | None = None,
    checked: NDArray[np.bool_] | None = None,
) -> Evaluation | None:
    """Every metric from held-out scores; None if no labelled or no unlabelled row has one.

    Parameters
    ----------
    y, score
        Labels 1, 0 and -1, and held-out scores, NaN where there is none; (n,).
    prior, threshold, scenario
        Of the model.
    propensity
        Of labelled rows, (n,), or None.
    checked
        Which rows owe their label to a check, (n,).
    """
    known = np.isfinite(score)
    checked = np.zeros(len(y), dtype=np.bool_) if checked is None else checked
    labeled, others = (y == 1) & ~checked, (y == 0) | checked
    if not (labeled & known).any() or not (others & known).any():
        return None
    return evaluate(
        y[known],
        score[known],
        neg_label=-1,
        checked=checked[known],
        prior=prior.value,
        prior_interval=prior.interval,
        threshold=threshold,
        scenario=scenario,
        labeled_share=float(labeled.sum() / (labeled | others).sum()),
        level=prior.level,
        is_prior_known=prior.is_known,
        propensity=None if propensity is None else propensity[known],
    )


def widen_by_folds(
    evaluation: Evaluation | None,
    is_labeled: NDArray[np.bool_],
    score: Floats,
    fits: FoldFits | None,
) -> tuple[Evaluation | None, Apart | None]:
    """Widen the intervals by how far the fits of folds differ; also return how far.

    Parameters
    ----------
    evaluation
        Of the held-out scores, or None.
    is_labeled, score
        What it was computed from.
    fits
        The fits of cross-fitting: they differ as much as the model may differ from another fit.
    """
    if evaluation is None or fits is None:
        return evaluation, None
    known = np.isfinite(score)
    folds = fits.scores[:, known], fits.fold[known]
    apart = fits_apart(evaluation.sample, is_labeled[known], *folds)
    return (evaluation, None) if apart is None else (between_fits(evaluation, apart), apart)


def summarize(evaluation: Evaluation | None, remarks: Sequence[str]) -> EvaluationSummary | None:
    """The metrics with their intervals, as plain values; what is an alarm is no remark."""
    if evaluation is None:
        return None
    sample = evaluation.sample
    return EvaluationSummary(
        level=float(sample.level),
        k=int(sample.k),
        n_positive=len(sample.positive),
        n_unlabeled=len(sample.unlabeled),
        remarks=(*remarks, *evaluation.remarks(alarms=False)),
        metrics=tuple(_metric(name, estimate) for name, estimate in evaluation.items()),
        recovery=recovery(sample),
        auc_of_labeled=_metric("auc_of_labeled", evaluation.auc_of_labeled),
    )


def recovery(sample: Sample) -> tuple[Recovery, ...]:
    """Share of the labelled positives among the rows with the highest scores, by growing share.

    Needs no share of positives: where labels are selected completely at random, it is the share of
    all positives that such a list holds.
    """
    unlabeled = np.sort(sample.unlabeled)
    # Of equal scores half count as above.
    above = len(unlabeled) - np.mean(
        [np.searchsorted(unlabeled, sample.positive, side=side) for side in ("left", "right")], 0
    )
    found = []
    for share in LOOKED_AT:
        recall = float(np.mean(above <= share * len(unlabeled)))
        low, high = wilson(recall, len(sample.positive), sample.z)
        found.append(Recovery(share, recall, low, high))
    return tuple(found)


def _metric(name: str, estimate: Estimate) -> Metric:
    ends = float(estimate.value), float(estimate.low), float(estimate.high)
    return Metric(name, *ends, bool(estimate.clipped))


def expected_hits(
    evaluation: Evaluation | None, n_unlabeled: int, apart: Apart | None = None
) -> tuple[TopK, ...]:
    """Expected positives among the k unlabelled rows with the highest scores, for growing k.

    If only some of the rows have held-out scores, the list is of the same share of them. Few
    labelled rows reach the top of the list, so its expectations are smoothed; intervals are not.
    """
    if evaluation is None:
        return ()
    sample = evaluation.sample
    ks = list_lengths(sample.prior * n_unlabeled, n_unlabeled)
    hits = list_hits(sample, ks, n_unlabeled, apart)
    return tuple(TopK(k, *each) for k, each in zip(ks, hits, strict=True))


def list_hits(
    sample: Sample, ks: Sequence[int], n_unlabeled: int, apart: Apart | None = None
) -> list[tuple[float, float, float]]:
    """(expected positives, low, high) of each list; for the parameters see :func:`estimate_lists`.

    A longer list has no fewer, and none has more than there are.
    """
    estimates = estimate_lists(sample, ks, n_unlabeled, apart)
    ends = monotone_intervals([each.low for each in estimates], [each.high for each in estimates])
    expected = smoothed(ks, [each.value for each in estimates])
    most = float(sample.priors[1] * n_unlabeled)
    return [
        (value, min(low, value), max(min(high, most), value))
        for value, low, high in zip(expected, *ends, strict=True)
    ]


def estimate_lists(
    sample: Sample, ks: Sequence[int], n_unlabeled: int, apart: Apart | None = None
) -> list[Estimate]:
    """Positives among the first k unlabelled rows, by the same share of the held-out rows.

    Parameters
    ----------
    sample
        The held-out rows.
    ks
        Lengths of the lists.
    n_unlabeled
        Number of unlabelled rows, of which some may not be held out.
    apart
        How far fits differ, to widen the intervals by.
    """
    estimates = []
    for k in ks:
        shorter = _of_length(sample, k, n_unlabeled)
        estimate = scaled(positives_at_k(shorter), k / shorter.k)
        if apart is not None:
            room = k * apart.room(partial(_precision, k, n_unlabeled))
            estimate = with_room(estimate, room, k)
        estimates.append(estimate)
    return estimates


def _of_length(sample: Sample, k: int, n_unlabeled: int) -> Sample:
    """The sample with a list of the same share of its rows."""
    return replace(sample, k=max(1, round(k * len(sample.unlabeled) / n_unlabeled)))


def _precision(k: int, n_unlabeled: int, sample: Sample) -> float:
    return precision_at_k(_of_length(sample, k, n_unlabeled)).value


def smoothed(ks: Sequence[int], expected: Sequence[float]) -> list[float]:
    """Expected positives among the first k rows, so that rows further down are never better.

    Isotonic regression of the share in each stretch of the list.

    Examples
    --------
    >>> smoothed([10, 20, 50, 100], [3, 15, 50, 70])
    [10.0, 20.0, 50.0, 70.0]
    """
    lengths, gains = np.diff(ks, prepend=0), np.diff(expected, prepend=0.0)
    shares = isotonic_regression(gains / lengths, sample_weight=lengths, increasing=False)
    return [float(value) for value in np.cumsum(shares * lengths).round(9)]


def monotone_intervals(
    low: Sequence[float], high: Sequence[float]
) -> tuple[list[float], list[float]]:
    """Intervals of the positives among the first k rows: a longer list has no fewer.

    Examples
    --------
    >>> monotone_intervals([0, 5, 4], [10, 20, 15])
    ([0.0, 5.0, 5.0], [10.0, 15.0, 15.0])
    """
    least = np.maximum.accumulate(np.asarray(low, dtype=np.float64))
    most = np.minimum.accumulate(np.asarray(high, dtype=np.float64)[::-1])[::-1]
    return least.tolist(), most.tolist()


def list_lengths(expected: float, most: int) -> list[int]:
    """Lengths of lists, 1, 2, 5, 10 and between, to about twice the expected number of positives.

    Examples
    --------
    >>> list_lengths(9, 1000)
    [1, 2, 3, 5, 7, 10, 15, 20]
    """
    last = min(most, max(20, 2 * round(expected)))
    steps = [round(step * 10.0**power) for power in range(9) for step in (1, 1.5, 2, 3, 5, 7)]
    return sorted({1, last, *(step for step in steps if 1 <= step <= last)} - {0})


def score_histogram(y: NDArray[np.int64], score: Floats) -> ScoreHistogram:
    """Held-out scores of labelled and of unlabelled rows, counted in bins."""
    known = np.isfinite(score)
    edges = np.linspace(0, 1, BINS + 1)
    positive, unlabeled = (
        tuple(np.histogram(score[known & (y == label)], edges)[0].tolist()) for label in (1, 0)
    )
    return ScoreHistogram(tuple(edges.round(6).tolist()), positive, unlabeled)
