"""What scores say about the share of positives where classes overlap: a distribution, not a point.

With f_P and f_U the densities of the scores of labelled and of unlabelled rows, the share is at
most min f_U / f_P, and equal to it only if the top of the ranking holds no negatives. Whether it
does cannot be seen in the scores. Estimators that assume it are too high wherever classes overlap.
"""

from dataclasses import dataclass
from functools import cache
from itertools import product
from typing import Final

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import expit, logit, ndtr

Floats = NDArray[np.float64]

# Shares, and mixtures of negatives N(0, 1) and positives N(distance, deviation).
SHARES: Final = expit(np.linspace(logit(0.002), logit(0.95), 60))
DISTANCES: Final = np.linspace(0.1, 5.0, 20)
DEVIATIONS: Final = (0.6, 0.8, 1.0, 1.25, 1.6)
GRID: Final = np.linspace(-4.0, 9.0, 300)
# What tables of users have, before anything is seen: logit-normal.
CENTRE, WIDTH = logit(0.1), 1.2
# Power of the likelihood: scores are no mixture of normal distributions.
TEMPER = 0.3
# Log-odds of the ranks at which densities are known.
RANKS: Final = np.linspace(-12.0, 12.0, 129)
# A share counts as known if the ends of its interval differ by no more than this factor...
NARROW = 3.0
# ...or if classes are separable, and by this one with the full likelihood.
NARROWER, SEPARABLE = 2.0, 0.85


@dataclass(frozen=True, eq=False)
class SharePosterior:
    """Probability of each share of positives in ``SHARES``, (60,).

    ``tempered`` has the power 0.3 of the likelihood, ``full`` all of it. ``separation`` is 1 if
    the scores separate the classes fully, see :func:`separation`.
    """

    tempered: Floats
    full: Floats
    separation: float

    def quantile(self, at: float) -> float:
        """The share that is exceeded with probability 1 - at."""
        return _quantile(self.tempered, at)

    def interval(self, level: float) -> tuple[float, float]:
        """Ends between which the share lies with this probability."""
        return self.quantile((1 - level) / 2), self.quantile((1 + level) / 2)

    @property
    def is_separable(self) -> bool:
        """Whether the top of the ranking holds hardly any negatives, as most estimators assume."""
        return self.is_known and self.separation >= SEPARABLE

    @property
    def is_known(self) -> bool:
        """Whether the scores tell the share, up to a factor that a user can act on."""
        low, high = self.interval(0.9)
        if high <= NARROW * low:
            return True
        low, high = (_quantile(self.full, at) for at in (0.05, 0.95))
        return self.separation >= SEPARABLE and high <= NARROWER * low


def share_posterior(positive: ArrayLike, unlabeled: ArrayLike) -> SharePosterior:
    """Distribution of the share of positives, from the ranks of labelled rows among the unlabelled.

    Scores are taken as a monotone function of a mixture of two normal distributions, so only ranks
    count. The prior of the share is logit-normal around a tenth.

    Parameters
    ----------
    positive, unlabeled
        Scores of rows that the scorer was not trained on, larger means more positive, shape (n,).

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> positive, negative = rng.normal(1, 1, 400), rng.normal(0, 1, 1800)
    >>> found = share_posterior(positive[:200], np.concatenate([positive[200:], negative]))
    >>> found.is_known, found.quantile(0.05) < 0.1 < found.quantile(0.95)
    (False, True)
    >>> found = share_posterior(positive[:200] + 4, np.concatenate([positive[200:] + 4, negative]))
    >>> found.is_known, round(found.quantile(0.5), 1)
    (True, 0.1)
    """
    P, U = (np.sort(np.asarray(part, dtype=np.float64)) for part in (positive, unlabeled))
    ranks = (np.searchsorted(U, P) + np.searchsorted(U, P, side="right")) / (2 * len(U))
    odds: Floats = logit(np.clip(ranks, 0.5 / len(U), 1 - 0.5 / len(U)))
    log_likelihood = _log_ratios() @ _counts(odds)
    belief = -(((logit(SHARES) - CENTRE) / WIDTH) ** 2) / 2
    log_prior = belief[:, None, None] - 2 * np.log(np.array(DEVIATIONS)) ** 2
    tempered, full = (_normalized(power * log_likelihood + log_prior) for power in (TEMPER, 1.0))
    return SharePosterior(tempered, full, separation(P, U))


@cache
def _log_ratios() -> Floats:
    """log f_P / f_U at each rank, of each share, distance and deviation, (60, 20, 5, 129)."""
    found = np.zeros((len(SHARES), len(DISTANCES), len(DEVIATIONS), len(RANKS)))
    negative, ranks = ndtr(GRID), expit(RANKS)
    for (j, distance), (k, deviation) in product(enumerate(DISTANCES), enumerate(DEVIATIONS)):
        positive = ndtr((GRID - distance) / deviation)
        for i, share in enumerate(SHARES):
            x = np.interp(ranks, share * positive + (1 - share) * negative, GRID)
            log_ratio = (((x - distance) / deviation) ** 2 - x**2) / 2 + np.log(deviation)
            found[i, j, k] = -np.log(share + (1 - share) * np.exp(log_ratio))
    return found


def _counts(odds: Floats) -> Floats:
    """Log-odds of ranks as counts of the nearest two of ``RANKS``, (129,)."""
    place = np.clip((odds - RANKS[0]) / (RANKS[1] - RANKS[0]), 0, len(RANKS) - 1.001)
    below = place.astype(np.intp)
    part = place - below
    size = len(RANKS)
    counts = np.bincount(below, 1 - part, size) + np.bincount(below + 1, part, size)
    return counts.astype(np.float64)


def _normalized(log_probability: Floats) -> Floats:
    probability = np.exp(log_probability - log_probability.max()).sum(axis=(1, 2))
    share: Floats = probability / probability.sum()
    return share


def _quantile(probability: Floats, at: float) -> float:
    # A share stands for those around it.
    return float(np.interp(at, np.cumsum(probability) - probability / 2, SHARES))


def separation(positive: ArrayLike, unlabeled: ArrayLike, recall: float = 0.5) -> float:
    """max(share of P - share of U above a score), over what full separation would give.

    If the half of P with the highest scores is above all negatives, the share of positives is that
    of U above, over that of P; separable classes then reach a difference of 1 - share. No estimate
    of the share is used.

    Parameters
    ----------
    positive, unlabeled
        Scores, shape (n,).
    recall
        Share of P that is taken to be above all negatives.

    Examples
    --------
    >>> separation(np.arange(5, 10), np.arange(10))
    1.0
    """
    P, U = (np.sort(np.asarray(part, dtype=np.float64)) for part in (positive, unlabeled))
    above_P = 1 - np.arange(len(P)) / len(P)
    above_U = 1 - np.searchsorted(U, P) / len(U)
    rate = max(float(np.mean(np.quantile(P, 1 - recall) <= U)), 0.5 / len(U))
    promised = 1 - rate / recall
    return float(np.clip((above_P - above_U).max() / promised, 0, 1)) if promised > 0.05 else 0.0
