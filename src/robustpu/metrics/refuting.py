"""What prior held-out answers rule out."""

from statistics import NormalDist
from typing import Final

import numpy as np
from numpy.typing import ArrayLike

from robustpu.metrics.estimates import wilson
from robustpu.metrics.sample import Floats, effective_rows
from robustpu.thresholds import tail

# A prior is taken to be refuted only where chance can hardly be the reason.
SURE: Final = 0.99
# Where it is looked: quantiles of the answers to labelled rows.
THRESHOLDS: Final = 101


def largest_prior(
    positive: ArrayLike,
    unlabeled: ArrayLike,
    level: float = SURE,
    *,
    weight_positive: Floats | None = None,
    weight_unlabeled: Floats | None = None,
) -> float:
    """The largest prior that held-out scores allow: min of rate(t) / recall(t) over thresholds t.

    Positives alone make up prior * recall of the rate at which unlabelled rows are answered
    positive. Of the rate the upper, of the recall the lower end of an interval is taken.

    Parameters
    ----------
    positive, unlabeled
        Scores of labelled and of unlabelled rows that the model was not fitted on; (n,).
    level
        Chance with which each end is to hold.
    weight_positive, weight_unlabeled
        Weights of these rows.

    Returns
    -------
    prior
        At most 1, which it is without rows.

    Examples
    --------
    >>> positive, unlabeled = np.full(100, 0.9), np.repeat([0.9, 0.1], [300, 700])
    >>> round(largest_prior(positive, unlabeled, 0.9), 2)
    0.32
    """
    scores = [np.asarray(own, dtype=np.float64) for own in (positive, unlabeled)]
    if not all(map(len, scores)):
        return 1.0
    weights = [
        np.ones(len(score)) if own is None else own
        for own, score in zip((weight_positive, weight_unlabeled), scores, strict=True)
    ]
    rows = [effective_rows(own) for own in weights]
    z = NormalDist().inv_cdf(level)
    at = np.unique(np.quantile(scores[0], np.linspace(0, 1, THRESHOLDS), method="lower"))
    shares = [
        tail(score, own / own.sum(), at)[1] for score, own in zip(scores, weights, strict=True)
    ]
    ratios = [
        wilson(rate, rows[1], z)[1] / wilson(recall, rows[0], z)[0]
        for recall, rate in zip(*shares, strict=True)
    ]
    return float(min(1.0, *ratios))
