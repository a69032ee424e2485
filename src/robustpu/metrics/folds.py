"""A model judged by other fits: one scale for their scores, and room for their differences."""

import math
from collections.abc import Sequence
from dataclasses import replace
from itertools import combinations
from typing import Final

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, stdtrit

from robustpu.metrics.estimates import Estimate, scaled
from robustpu.metrics.evaluation import Evaluation, evaluate
from robustpu.metrics.rates import rates_of
from robustpu.metrics.sample import Floats
from robustpu.thresholds import log_odds

# Unlabelled rows that fits are compared on; more tell no more.
COMPARED: Final = 20_000
# Quantiles by which fits are put on one scale, and what rounding may do to a score on the way.
LEVELS: Final = 201
ROUNDING: Final = 1e-12


def between_fits(
    found: Evaluation,
    is_positive: NDArray[np.bool_],
    scores: NDArray[np.float64],
    fold: NDArray[np.intp],
) -> Evaluation:
    """The evaluation with room for what another fit would have been.

    Of K folds each is judged by a fit of its own, the model is one more: it differs from their mean
    by a variance of tau^2 (1 + 1/K), which the chance of the rows knows nothing of. Two fits are
    compared on rows that both trained on, where chance is the same for both.

    Parameters
    ----------
    found
        The evaluation of all folds together.
    is_positive
        Labels of the rows, (n,).
    scores
        Of the fits, one without each fold, (K, n).
    fold
        Of the rows, 0 to K - 1, (n,).

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> y, fold = np.arange(1000) < 200, np.arange(1000) % 5
    >>> scores = rng.normal(y * np.array([[1.0], [1.5], [2.0], [2.5], [3.0]]))
    >>> found = evaluate(y, scores[fold, np.arange(1000)], prior=0.01)
    >>> between_fits(found, y, scores, fold)["auc"].low < found["auc"].low - 0.05
    True
    """
    sample, count = found.sample, len(scores)
    thinned = np.flatnonzero(~is_positive)
    thinned = thinned[:: math.ceil(len(thinned) / COMPARED)]
    kept = np.sort(np.concatenate([np.flatnonzero(is_positive), thinned]))

    def judged(fit: int, rows: NDArray[np.intp]) -> Evaluation:
        return evaluate(
            is_positive[rows],
            scores[fit, rows],
            prior=sample.prior,
            threshold=sample.threshold,
            scenario=found.scenario,
        )

    pairs = []
    for pair in combinations(range(count), 2):
        rows = kept[~np.isin(fold[kept], pair)]
        if is_positive[rows].any() and not is_positive[rows].all():
            pairs.append([judged(fit, rows) for fit in pair])
    if not pairs:
        return found
    # Fits are few, and so is what they tell of their spread.
    t = float(stdtrit(count - 1, (1 + sample.level) / 2)) * math.sqrt(1 + 1 / count)
    most = {"lee_liu": 1 / rates_of(sample).population_prior, "lift_at_k": 1 / sample.prior}
    made = {}
    for name, own in found.items():
        tau = spread([first[name].value - second[name].value for first, second in pairs])
        made[name] = _with_room(own, t * tau, most.get(name, 1.0))
    made["positives_at_k"] = scaled(made["precision_at_k"], sample.k)
    return replace(found, estimates=made)


def spread(differences: Sequence[float]) -> float:
    """tau = sqrt(mean of d^2 / 2), of differences d between two of a kind.

    Examples
    --------
    >>> spread([2.0, -2.0])
    1.4142135623730951
    """
    return math.sqrt(sum(own * own for own in differences) / len(differences) / 2)


def _with_room(own: Estimate, extra: float, most: float) -> Estimate:
    low = own.value - math.hypot(own.value - own.low, extra)
    high = own.value + math.hypot(own.high - own.value, extra)
    return replace(own, low=max(0.0, low), high=min(most, high))


def aligned(score: Floats, own: Floats, usual: Floats, threshold: float) -> Floats:
    """Scores of another fit, on the scale of the model: equal shares of rows reach them.

    Fits differ in how high they score much more than in how they rank, so one threshold would mean
    something else to each, and rows of two fits could not be ranked together. Both are compared on
    unlabelled rows that they trained on: so what is learnt by heart does no harm.

    Parameters
    ----------
    score
        What to move: along the log-odds, by as much as the quantiles around it differ.
    own, usual
        Answers of the other fit, and of the model, to unlabelled rows that each trained on.
    threshold
        Of the model; rounding puts no score on its other side.

    Examples
    --------
    >>> own, usual = np.array([0.1, 0.2, 0.3, 0.4]), np.array([0.1, 0.2, 0.6, 0.7])
    >>> aligned(np.array([0.2, 0.3]), own, usual, 0.5).round(6).tolist()
    [0.2, 0.6]
    """
    levels = np.linspace(0, 1, min(LEVELS, len(own)))
    theirs, ours = (np.quantile(log_odds(answers), levels) for answers in (own, usual))
    # Many rows with one answer go to the mean of what theirs would be.
    known, place = np.unique(theirs, return_inverse=True)
    ours = np.bincount(place, ours) / np.bincount(place)
    odds = log_odds(score)
    moved = expit(odds + np.interp(odds, known, ours - known))
    return np.where(np.abs(moved - threshold) < ROUNDING, threshold, moved)
