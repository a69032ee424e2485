"""Evaluation of a model by the fits of folds: scores on one scale, wider intervals."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import combinations
from typing import Final

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, stdtrit

from robustpu.calibration import log_odds
from robustpu.metrics.estimates import Estimate, scaled
from robustpu.metrics.evaluation import Evaluation
from robustpu.metrics.ranking import auc_of_labeled, prior_of_lift
from robustpu.metrics.rates import rates_of
from robustpu.metrics.sample import Floats, Sample, sample_of
from robustpu.metrics.values import estimate_of

# Unlabelled rows that fits are compared on at most.
COMPARED: Final = 20_000
# Quantiles by which fits are put on one scale, and what rounding may do to a score on the way.
LEVELS: Final = 201
ROUNDING: Final = 1e-12


@dataclass(frozen=True)
class Apart:
    """Differences between fits: pairs of them, evaluated on rows that both trained on.

    Attributes
    ----------
    pairs
        The same rows by either fit.
    factor
        Half the width of an interval, in deviations between fits.
    """

    pairs: tuple[tuple[Sample, Sample], ...]
    factor: float

    def room(self, metric: Callable[[Sample], float]) -> float:
        """What another fit may add to the metric, or take from it.

        Parameters
        ----------
        metric
            Of a sample.
        """
        return self.factor * spread([metric(one) - metric(other) for one, other in self.pairs])


def fits_apart(
    sample: Sample,
    is_positive: NDArray[np.bool_],
    scores: NDArray[np.float64],
    fold: NDArray[np.intp],
) -> Apart | None:
    """Compare the fits of folds; None if no rows are left to compare them on.

    Each of K folds is evaluated by another fit, and the model is one more fit. It differs from
    their mean by a variance of tau^2 (1 + 1/K), in addition to the sampling of the rows. Two fits
    are compared on rows that both trained on, where the sampling is the same for both.

    Parameters
    ----------
    sample
        All folds together, each evaluated by its fit.
    is_positive
        Labels of the rows, (n,).
    scores
        Of the fits, one without each fold, (K, n).
    fold
        Of the rows, 0 to K - 1, (n,).
    """
    count = len(scores)
    thinned = np.flatnonzero(~is_positive)
    thinned = thinned[:: math.ceil(len(thinned) / COMPARED)]
    kept = np.sort(np.concatenate([np.flatnonzero(is_positive), thinned]))

    def sample_by(fit: int, rows: NDArray[np.intp]) -> Sample:
        evaluated = sample_of(
            is_positive[rows], scores[fit, rows], prior=sample.prior, threshold=sample.threshold
        )
        return replace(evaluated, labeled=sample.labeled)

    pairs = []
    for first, second in combinations(range(count), 2):
        rows = kept[~np.isin(fold[kept], (first, second))]
        if is_positive[rows].any() and not is_positive[rows].all():
            pairs.append((sample_by(first, rows), sample_by(second, rows)))
    if not pairs:
        return None
    # Few fits estimate their spread badly.
    t = float(stdtrit(count - 1, (1 + sample.level) / 2))
    return Apart(tuple(pairs), t * math.sqrt(1 + 1 / count))


def between_fits(found: Evaluation, apart: Apart) -> Evaluation:
    """The evaluation with room for what another fit would have been.

    Parameters
    ----------
    found
        The evaluation of all folds together.
    apart
        How far the fits are from each other.

    Examples
    --------
    >>> from robustpu.metrics import evaluate
    >>> rng = np.random.default_rng(0)
    >>> y, fold = np.arange(1000) < 200, np.arange(1000) % 5
    >>> scores = rng.normal(y * np.array([[1.0], [1.5], [2.0], [2.5], [3.0]]))
    >>> found = evaluate(y, scores[fold, np.arange(1000)], prior=0.01)
    >>> wider = between_fits(found, fits_apart(found.sample, y, scores, fold))
    >>> wider["auc"].low < found["auc"].low - 0.05
    True
    """
    sample = found.sample
    prior = sample.prior if found.is_prior_known else prior_of_lift(sample)
    most = {"lee_liu": 1 / rates_of(sample).population_prior, "lift_at_k": 1 / prior}
    made = {
        name: with_room(estimate, apart.room(partial(_value, name)), most.get(name, 1.0))
        for name, estimate in found.items()
    }
    if "precision_at_k" in made:
        made["positives_at_k"] = scaled(made["precision_at_k"], sample.k)
    room = apart.room(partial(_value, "auc_of_labeled"))
    area = with_room(found.auc_of_labeled, room, 1.0)
    return replace(found, estimates=made, auc_of_labeled=area)


def _value(name: str, sample: Sample) -> float:
    if name == "auc_of_labeled":
        return auc_of_labeled(sample).value
    return estimate_of(name, sample).value


def spread(differences: Sequence[float]) -> float:
    """tau = sqrt(mean of d^2 / 2), of differences d between two of a kind.

    Examples
    --------
    >>> spread([2.0, -2.0])
    1.4142135623730951
    """
    return math.sqrt(sum(d * d for d in differences) / len(differences) / 2)


def with_room(estimate: Estimate, extra: float, most: float) -> Estimate:
    """The estimate with an interval that an independent error has widened, in 0 to ``most``.

    Examples
    --------
    >>> print(with_room(Estimate(0.5, 0.47, 0.53, 0.5, False), 0.04, 1.0))
    0.500 [0.450, 0.550]
    """
    low = estimate.value - math.hypot(estimate.value - estimate.low, extra)
    high = estimate.value + math.hypot(estimate.high - estimate.value, extra)
    return replace(estimate, low=max(0.0, low), high=min(most, high))


def aligned(score: Floats, fitted: Floats, usual: Floats, threshold: float) -> Floats:
    """Scores of another fit, on the scale of the model: equal shares of rows reach them.

    Fits differ in the level of their scores much more than in their ranking, so one threshold would
    not suit all, and rows of two fits could not be ranked together. Both are compared on unlabelled
    rows that they trained on, so that overfitting is the same for both.

    Parameters
    ----------
    score
        What to move: along the log-odds, by as much as the quantiles around it differ.
    fitted, usual
        Scores of the other fit, and of the model, for unlabelled rows that each trained on.
    threshold
        Of the model; rounding puts no score on its other side.

    Examples
    --------
    >>> fitted, usual = np.array([0.1, 0.2, 0.3, 0.4]), np.array([0.1, 0.2, 0.6, 0.7])
    >>> aligned(np.array([0.2, 0.3]), fitted, usual, 0.5).round(6).tolist()
    [0.2, 0.6]
    """
    levels = np.linspace(0, 1, min(LEVELS, len(fitted)))
    theirs, ours = (np.quantile(log_odds(answers), levels) for answers in (fitted, usual))
    # Ties go to the mean of their quantiles.
    known, place = np.unique(theirs, return_inverse=True)
    ours = np.bincount(place, ours) / np.bincount(place)
    odds = log_odds(score)
    moved = expit(odds + np.interp(odds, known, ours - known))
    return np.where(np.abs(moved - threshold) < ROUNDING, threshold, moved)
