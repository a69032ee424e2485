"""Scores -> probabilities that agree with a prior: shifts of log-odds, and label frequencies."""

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import brentq
from scipy.special import expit, logit

Floats: TypeAlias = NDArray[np.float64]


def log_odds(probability: Floats) -> Floats:
    """log p / (1 - p), finite also where p is 0 or 1.

    Examples
    --------
    >>> log_odds(np.array([0.0, 0.5, 1.0])).round(1).tolist()
    [-34.5, 0.0, 34.5]
    >>> log_odds(np.ones(1, np.float32)).round(1).tolist()
    [34.5]
    """
    # In single precision 1 - 1e-15 would be 1.
    odds: Floats = logit(np.clip(np.asarray(probability, np.float64), 1e-15, 1 - 1e-15))
    return odds


def shifted(probability: Floats, shift: float) -> Floats:
    """Add a constant to the log-odds of probabilities.

    Examples
    --------
    >>> shifted(np.array([0.0, 0.5, 1.0]), np.log(3)).round(6).tolist()
    [0.0, 0.75, 1.0]
    """
    if shift == 0:
        return probability
    factor = np.exp(shift)
    moved: Floats = probability * factor / (1 - probability + probability * factor)
    return moved


def matching_shift(odds: Floats, share: float, weight: Floats | None = None) -> float:
    """The b at which the mean of sigmoid(odds + b) is ``share``.

    Parameters
    ----------
    odds
        Log-odds, (n,).
    share
        The mean probability, in (0, 1).
    weight
        Sample weights, (n,); equal by default.

    Examples
    --------
    >>> round(matching_shift(np.array([-1.0, 0.0, 1.0]), 0.5, np.ones(3)), 6)
    0.0
    """

    def excess(shift: float) -> float:
        return float(np.average(expit(odds + shift), weights=weight)) - share

    # All rows are below the share at one end, and above it at the other.
    ends = logit(share) - odds.max() - 1, logit(share) - odds.min() + 1
    return float(brentq(excess, *ends))


def among_unlabeled(odds: Any, prior: float, population: float) -> Any:
    """Log-odds among the unlabelled rows from those in the population: a constant is added.

    Parameters
    ----------
    odds
        Log-odds of being positive in the population, (n,).
    prior, population
        Share of positives among the unlabelled rows and in the population.

    Examples
    --------
    >>> float(np.exp(among_unlabeled(np.log(3.0), 0.25, 0.5)).round(6))
    1.0
    """
    return odds + float(logit(prior) - logit(population))


def prior_shift(odds: Floats, prior: float, population: float, weight: Floats) -> float:
    """The b at which the mean probability among the unlabelled rows, of odds + b, is the prior.

    Parameters
    ----------
    odds
        Log-odds of the unlabelled rows to be positive in the population, (n,).
    prior, population
        Share of positives among the unlabelled rows and in the population.
    weight
        Sample weights, (n,).

    Examples
    --------
    >>> odds = np.log([1.0, 3.0, 9.0])
    >>> round(float(np.exp(prior_shift(odds, 0.5, 0.75, np.ones(3)))), 6)
    1.0
    """
    return matching_shift(among_unlabeled(odds, prior, population), prior, weight)


def boundary(score: Floats, share: float, weight: Floats) -> float:
    """The middle of the gap between scores above which the weight is nearest to ``share``.

    Parameters
    ----------
    score
        (n,). If all are equal there is no gap, and the boundary is this score.
    share
        Of the weight above the boundary, in (0, 1).
    weight
        Sample weights, (n,).

    Examples
    --------
    >>> boundary(np.array([1.0, 2.0, 4.0, 4.0]), 0.6, np.ones(4))
    3.0
    """
    values, place = np.unique(score, return_inverse=True)
    if len(values) == 1:
        return float(values[0])
    mass = np.bincount(place, weight)
    above = np.cumsum(mass[::-1])[::-1][1:] / mass.sum()
    gap = int(np.argmin(np.abs(above - share)))
    return float((values[gap] + values[gap + 1]) / 2)


def quantile_shift(odds: Floats, share: float, weight: Floats) -> float:
    """The b at which a share of the weight has odds + b above 0; see :func:`boundary`.

    Examples
    --------
    >>> quantile_shift(np.array([1.0, 2.0, 4.0, 4.0]), 0.6, np.ones(4))
    -3.0
    """
    return -boundary(odds, share, weight)


def posterior(labelled: Floats, frequency: float) -> Floats:
    """P(positive | x, unlabelled) = (1 - c) / c g / (1 - g), capped at 1 so that order is kept.

    Learners are not exact, so the formula may exceed 1; the further it does, the nearer to 1.

    Parameters
    ----------
    labelled
        g, the probability that a row is labelled, (n,).
    frequency
        c, the probability that a positive is labelled.

    Examples
    --------
    >>> posterior(np.array([0.0, 0.2, 0.5, 0.6]), 0.5).round(4).tolist()
    [0.0, 0.25, 0.995, 0.9998]
    """
    ratio = (1 - frequency) / frequency * labelled / np.maximum(1 - labelled, 1e-12)
    # A hyperbola that meets the line at 0.99 with slope 1: suspects beyond it stay ranked.
    return np.where(ratio < 0.99, ratio, 1 - 1e-4 / np.maximum(ratio - 0.98, 0.01))


def matched(score: Floats, weight: Floats, prior: float, ratio: float) -> float:
    """The label frequency c at which the mean of ``posterior(score, c)`` is the prior.

    If even scores that are all but 0 do not suffice, every score above 0 is made 1.

    Parameters
    ----------
    score
        Out-of-bag f of the unlabelled rows, (n,).
    weight
        Their sample weights, (n,).
    prior
        Share of positives among them.
    ratio
        K / |P|, or that of the sample weights of a bag and of P.

    Examples
    --------
    >>> score = np.array([0.0, 0.2, 0.5])
    >>> c = matched(score, np.ones(3), 0.25, 1.0)
    >>> posterior(score, c).round(2).tolist()
    [0.0, 0.15, 0.6]
    """
    low, high = -30.0, 30.0
    for _ in range(60):
        middle = (low + high) / 2
        mean = np.average(posterior(score, 1 / (1 + np.exp(middle))), weights=weight)
        low, high = (middle, high) if mean < prior else (low, middle)
    return float(1 / (1 + np.exp(high)))
