"""How good the model is, without negatives: sections of the findings."""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Any, Final, TypeAlias

import numpy as np
from numpy.typing import NDArray
from sklearn.isotonic import isotonic_regression

from robustpu.metrics import Evaluation, evaluate
from robustpu.metrics.estimates import Estimate, scaled
from robustpu.metrics.folds import Apart, between_fits, fits_apart, with_room
from robustpu.metrics.ranking import positives_at_k, precision_at_k
from robustpu.metrics.sample import Sample
from robustpu.study.held_out import Fits
from robustpu.study.prior import Prior

Floats: TypeAlias = NDArray[np.float64]

BINS: Final = 50


def judge(
    y: NDArray[np.int64], score: Floats, prior: Prior, threshold: float, scenario: str
) -> Evaluation | None:
    """Every metric from held-out answers; None if labelled or unlabelled rows have none.

    Parameters
    ----------
    y, score
        Labels, and answers by what has not seen the row, NaN where there is none; (n,).
    prior, threshold, scenario
        Of the model.
    """
    known = np.isfinite(score)
    is_positive = y[known] == 1
    if not is_positive.any() or is_positive.all():
        return None
    return evaluate(
        is_positive,
        score[known],
        prior=prior.value,
        prior_interval=prior.interval,
        threshold=threshold,
        scenario=scenario,
        labeled_share=float((y == 1).mean()),
        level=prior.level,
    )


def judge_folds(
    found: Evaluation | None, y: NDArray[np.int64], score: Floats, fits: Fits | None
) -> tuple[Evaluation | None, Apart | None]:
    """The evaluation with room for how far the fits of folds are from each other, and how far.

    Parameters
    ----------
    found
        The evaluation, or None.
    y, score
        What it is from.
    fits
        If each fold was judged by another fit; these differ as the model may.
    """
    if found is None or fits is None:
        return found, None
    known = np.isfinite(score)
    apart = fits_apart(found.sample, y[known] == 1, fits.scores[:, known], fits.fold[known])
    return (found, None) if apart is None else (between_fits(found, apart), apart)


def evaluation_section(found: Evaluation | None, remarks: Sequence[str]) -> dict[str, Any] | None:
    """The estimates with their intervals, in plain values."""
    if found is None:
        return None
    return {
        "level": found.sample.level,
        "k": found.sample.k,
        "judged": {
            "n_positive": len(found.sample.positive),
            "n_unlabeled": len(found.sample.unlabeled),
        },
        "remarks": [*remarks, *found.remarks()],
        "metrics": [
            {
                "name": name,
                "value": float(own.value),
                "low": float(own.low),
                "high": float(own.high),
                "clipped": bool(own.clipped),
            }
            for name, own in found.items()
        ],
    }


def top_section(
    found: Evaluation | None, n_unlabeled: int, apart: Apart | None = None
) -> list[dict[str, Any]]:
    """Expected positives among the k most suspect unlabelled rows, to past all that there are.

    If only some of the rows could be judged, the list is of the same share of them. The first rows
    rest on few labelled ones, so what is expected of them is smoothed; their intervals are not.
    """
    if found is None:
        return []
    sample = found.sample
    ks = lengths(sample.prior * n_unlabeled, n_unlabeled)
    answers = in_lists(sample, ks, n_unlabeled, apart)
    ends = rising([own.low for own in answers], [own.high for own in answers])
    expected = smoothed(ks, [own.value for own in answers])
    most = sample.priors[1] * n_unlabeled
    return [
        {"k": k, "expected": value, "low": min(low, value), "high": max(min(high, most), value)}
        for k, value, low, high in zip(ks, expected, *ends, strict=True)
    ]


def in_lists(
    sample: Sample, ks: Sequence[int], n_unlabeled: int, apart: Apart | None = None
) -> list[Estimate]:
    """Positives among the first k of all unlabelled rows, by the same share of those judged.

    Parameters
    ----------
    sample
        What was judged.
    ks
        Lengths of the lists.
    n_unlabeled
        Number of unlabelled rows, of which some may not have been judged.
    apart
        How far fits are from each other, if the intervals are to have room for it.
    """
    answers = []
    for k in ks:
        own = _of_length(sample, k, n_unlabeled)
        found = scaled(positives_at_k(own), k / own.k)
        if apart is not None:
            found = with_room(found, k * apart.room(partial(_precision, k, n_unlabeled)), k)
        answers.append(found)
    return answers


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
    return [float(own) for own in np.cumsum(shares * lengths).round(9)]


def rising(low: Sequence[float], high: Sequence[float]) -> tuple[list[float], list[float]]:
    """Intervals of the positives among the first k rows: a longer list has no fewer.

    Examples
    --------
    >>> rising([0, 5, 4], [10, 20, 15])
    ([0.0, 5.0, 5.0], [10.0, 15.0, 15.0])
    """
    least = np.maximum.accumulate(np.asarray(low, dtype=np.float64))
    most = np.minimum.accumulate(np.asarray(high, dtype=np.float64)[::-1])[::-1]
    return least.tolist(), most.tolist()


def lengths(expected: float, most: int) -> list[int]:
    """Lengths of lists, 1, 2, 5, 10 and between, to about twice the expected number of positives.

    Examples
    --------
    >>> lengths(9, 1000)
    [1, 2, 3, 5, 7, 10, 15, 20]
    """
    last = min(most, max(20, 2 * round(expected)))
    steps = [round(step * 10.0**power) for power in range(9) for step in (1, 1.5, 2, 3, 5, 7)]
    return sorted({1, last, *(own for own in steps if 1 <= own <= last)} - {0})


def scores_section(y: NDArray[np.int64], score: Floats) -> dict[str, Any]:
    """Held-out answers of labelled and of unlabelled rows, counted in bins."""
    known = np.isfinite(score)
    edges = np.linspace(0, 1, BINS + 1)
    counts = [np.histogram(score[known & (y == label)], edges)[0].tolist() for label in (1, 0)]
    return {"edges": edges.round(6).tolist(), "positive": counts[0], "unlabeled": counts[1]}


def unjudged_alarms(found: Evaluation | None, how: str) -> list[dict[str, str]]:
    """Say if there is no evaluation, and why.

    Parameters
    ----------
    found
        The evaluation, or None.
    how
        See :class:`robustpu.study.training.HeldOut`.

    Examples
    --------
    >>> unjudged_alarms(None, "nothing: 1 labelled row is too few")[0]["text"]
    'How good the model is could not be judged: 1 labelled row is too few.'
    """
    if found is not None:
        return []
    why = how.removeprefix("nothing: ").removesuffix(".")
    return [{"kind": "few", "text": f"How good the model is could not be judged: {why}."}]
