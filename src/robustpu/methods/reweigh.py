"""Weights of rows from the log-odds of any learner: row by row, but for a few sums and a shift.

Nothing here needs all rows at once, so they may lie in blocks, on several machines too: functions
of rows take any block of them, ``factors`` takes sums, and a shift can be found on a histogram (its
bins as ``odds``, their counts as ``weight``).
"""

from typing import Any, NamedTuple, TypeAlias

import numpy as np
import torch
from numpy.typing import NDArray
from scipy.special import logit

from robustpu.hardness import HardnessFunction
from robustpu.thresholds import matching_shift
from robustpu.weighting import WeightingFunction

Floats: TypeAlias = NDArray[np.float64]
Mask: TypeAlias = NDArray[np.bool_]


class Rule(NamedTuple):
    """What makes a weight of log-odds: d = hardness(odds / τ), v = weighting(d, λ).

    ``temperature`` and ``threshold`` are pairs: of labelled positives, of unlabelled rows.
    """

    hardness: HardnessFunction
    weighting: WeightingFunction
    temperature: tuple[float, float]
    threshold: tuple[float, float]


def weigh(odds: Floats, is_positive: Mask, rule: Rule) -> tuple[Floats, Floats]:
    """d = hardness(odds / τ), v = weighting(d, λ): of each row, unlabelled ones as negatives.

    Parameters
    ----------
    odds
        Log-odds of being positive, (n,).
    is_positive
        Which rows are labelled positives, (n,).
    rule
        Hardness, weighting and their numbers.

    Returns
    -------
    hardness, weight
        (n,) each.

    Examples
    --------
    >>> from robustpu import hardness, weighting
    >>> rule = Rule(hardness.logistic, weighting.welsch, (1.0, 1.0), (1.0, 1.0))
    >>> odds, mask = np.log([0.25, 0.25]), np.array([True, False])
    >>> weigh(odds, mask, rule)[1].round(6).tolist()  # the probabilities themselves
    [0.2, 0.8]
    """
    target = torch.from_numpy(is_positive)
    temperature, threshold = (
        torch.where(target, torch.tensor(own[0], dtype=torch.float64), own[1])
        for own in (rule.temperature, rule.threshold)
    )
    hardness = rule.hardness(torch.from_numpy(np.ascontiguousarray(odds)), target, temperature)
    weight = rule.weighting(hardness, threshold)
    return hardness.numpy(), weight.numpy()


def among_unlabeled(odds: Any, prior: float, population: float) -> Any:
    """Log-odds among the unlabelled rows from those in the population: a constant is added.

    Parameters
    ----------
    odds
        Of being positive in the population, (n,).
    prior, population
        Share of positives among the unlabelled rows and in the population.

    Examples
    --------
    >>> float(np.exp(among_unlabeled(np.log(3.0), 0.25, 0.5)).round(6))
    1.0
    """
    return odds + float(logit(prior) - logit(population))


def prior_shift(odds: Floats, prior: float, population: float, weight: Floats) -> float:
    """Find b such that odds + b make the mean probability among the unlabelled rows the prior.

    Parameters
    ----------
    odds
        Of unlabelled rows to be positive in the population, (n,).
    prior, population
        Share of positives among the unlabelled rows and in the population.
    weight
        Of each row, (n,).

    Examples
    --------
    >>> odds = np.log([1.0, 3.0, 9.0])
    >>> round(float(np.exp(prior_shift(odds, 0.5, 0.75, np.ones(3)))), 6)
    1.0
    """
    return matching_shift(among_unlabeled(odds, prior, population), prior, weight)


def factors(positive: float, negative: float, share: float) -> tuple[float, float]:
    """Find what to multiply two masses by: the sum stays, and the first has a share of it.

    Parameters
    ----------
    positive, negative
        Sums of the weights of rows taken as positives and as negatives, both above 0.
    share
        Wanted of the first.

    Examples
    --------
    >>> factors(1.0, 3.0, 0.5)
    (2.0, 0.6666666666666666)
    """
    total = positive + negative
    return share * total / positive, (1 - share) * total / negative
