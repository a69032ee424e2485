"""Can a share of positives hold together with labels that are selected completely at random?

With f_P and f_U the densities of labelled and of unlabelled rows, both hold only if f_U is at least
prior f_P everywhere: the unlabelled rows hold the hidden positives, and those are distributed as
the labelled ones. So at each threshold rate >= prior recall. Nothing else can be tested: whatever
the densities are, a small enough prior explains them.
"""

from typing import Final

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import expit, logit

from robustpu.metrics.sample import Floats, effective_rows
from robustpu.thresholds import tail

# A prior that is right is refuted in one of twenty problems at most.
SURE: Final = 0.95
# Thresholds that are tried, and the fewest labelled rows above one.
THRESHOLDS: Final = 60
FEWEST: Final = 5
# Samples of rows for which the prior is right, and steps towards the prior that is just refuted.
DRAWS: Final = 1_000
STEPS: Final = 3
LEAST: Final = 1e-6


def largest_prior(
    positive: ArrayLike,
    unlabeled: ArrayLike,
    level: float = SURE,
    *,
    weight_positive: Floats | None = None,
    weight_unlabeled: Floats | None = None,
) -> float:
    """The largest prior for which no threshold has a rate too far below prior recall.

    How far is too far is found by simulation, of rows whose positives are all above all negatives:
    where classes overlap, a prior that is right is refuted more rarely.

    Parameters
    ----------
    positive, unlabeled
        Scores of labelled and of unlabelled rows that the model was not fitted on; (n,).
    level
        Chance with which a prior that is right is not refuted, at the least.
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
    scores = [np.asarray(score, dtype=np.float64) for score in (positive, unlabeled)]
    if not all(map(len, scores)):
        return 1.0
    weights = [
        np.ones(len(score)) if weight is None else weight
        for weight, score in zip((weight_positive, weight_unlabeled), scores, strict=True)
    ]
    rows = effective_rows(weights[0]), max(1, round(effective_rows(weights[1])))
    at = np.sort(scores[0])[::-1][_places(len(scores[0])) - 1]
    recall, rate = (
        tail(score, weight / weight.sum(), at)[1]
        for score, weight in zip(scores, weights, strict=True)
    )
    prior = 1.0
    for _ in range(STEPS):
        limit = float(np.quantile(_draws(recall, prior, *rows), level))
        prior = _largest(recall, rate, limit, *rows)
    return prior


def _places(n_positive: int) -> NDArray[np.intp]:
    """Numbers of labelled rows to have above a threshold, ascending."""
    found = np.geomspace(min(FEWEST, n_positive), n_positive, THRESHOLDS)
    return np.unique(found.round().astype(np.intp))


def _excess(prior: Floats | float, recall: Floats, rate: Floats, rows: tuple[float, int]) -> Floats:
    """(prior recall - rate) in standard errors, the largest over the thresholds."""
    # Some positives lie below the last labelled one.
    above = recall * rows[0] / (rows[0] + 1)
    of_recall = prior**2 * above * (1 - above) / rows[0]
    of_rate = prior * above * (1 - prior * above) / rows[1]
    excess: Floats = ((prior * recall - rate) / np.sqrt(of_recall + of_rate)).max(axis=-1)
    return excess


def _draws(recall: Floats, prior: float, n_positive: float, n_unlabeled: int) -> Floats:
    """The excess of rows with this prior, positives above negatives, (DRAWS,)."""
    rng = np.random.default_rng(0)
    # The share of all positives above each threshold: sums of spacings of order statistics.
    counts = np.append(np.diff(recall, prepend=0.0), 1 - recall[-1]) * n_positive
    # The generator takes another way below 1.
    counts = counts.round(6)
    counts[-1] += 1
    spacings = rng.gamma(np.maximum(counts, LEAST), size=(DRAWS, len(counts)))
    share = prior * spacings[:, :-1] / spacings.sum(axis=1, keepdims=True)
    below = np.maximum(1 - share.sum(axis=1, keepdims=True), 0.0)
    hits = rng.multinomial(n_unlabeled, np.hstack([share, below]))[:, :-1]
    rate = hits.cumsum(axis=1) / n_unlabeled
    return _excess(prior, recall, rate, (n_positive, n_unlabeled))


def _largest(
    recall: Floats, rate: Floats, limit: float, n_positive: float, n_unlabeled: int
) -> float:
    """The largest prior with an excess up to the limit, by bisection of the log-odds."""
    rows = n_positive, n_unlabeled
    if _excess(1.0, recall, rate, rows) <= limit:
        return 1.0
    low, high = logit(LEAST), logit(1 - LEAST)
    for _ in range(40):
        middle = (low + high) / 2
        is_allowed = _excess(float(expit(middle)), recall, rate, rows) <= limit
        low, high = (middle, high) if is_allowed else (low, middle)
    return float(expit(low))
