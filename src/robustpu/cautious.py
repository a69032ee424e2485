"""What scores say about the share of positives where classes overlap: a distribution, not a point.

With f_P and f_U the densities of the scores of labelled and of unlabelled rows, the share is at
most min f_U / f_P, and equal to it only if the top of the ranking holds no negatives. Whether it
does cannot be seen in the scores. Estimators that assume it are too high wherever classes overlap.

Rows that were checked do show it. A row at rank r is positive with probability share f_P / f_U at r
wherever and however it was picked by its columns: at random, or from the top of a list. So each
checked row adds the logarithm of that, and rows from the top are not taken for a random sample.
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
# What tables of users have, before anything is seen: in nine of ten a share around a tenth, by a
# logit-normal distribution, and in one of ten any share.
CENTRE, WIDTH, ANY = logit(0.1), 1.2, 0.1
# Where rows were checked they tell, and the belief may be weak.
WIDE = 2.0
# Power of the likelihood: scores are no mixture of normal distributions.
TEMPER = 0.3
# Labels, however many there are, count at most as so many where checked rows tell a precision.
MOST_LABELS = 15
# Log-odds of the ranks at which densities are known.
RANKS: Final = np.linspace(-12.0, 12.0, 129)
# A share counts as known if the ends of its interval differ by no more than this factor...
NARROW = 3.0
# ...or if classes are separable, and by this one with the full likelihood.
NARROWER, SEPARABLE = 2.0, 0.85
# Draws of the share of positives among some rows.
DRAWS: Final = 2_000


@dataclass(frozen=True, eq=False)
class SharePosterior:
    """Probability of each share of positives in ``SHARES``, (60,).

    ``tempered`` has the power 0.3 of the likelihood of the labels, ``full`` all of it; that of
    checked rows counts in full. ``separation`` is 1 if the scores separate the classes fully, see
    :func:`separation`. ``mixtures`` is a distribution over mixtures too, (60, 20, 5), in which
    many labels do not outvote checked rows, and ``unlabeled`` are the scores in ascending order.
    """

    tempered: Floats
    full: Floats
    separation: float
    mixtures: Floats
    unlabeled: Floats

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

    def draw_shares(self, score: Floats, weight: Floats) -> Floats:
        """Draws of the share of positives among rows with such scores, (2000,).

        Parameters
        ----------
        score, weight
            Of these rows, (n,).
        """
        positive = np.exp(_log_chances()) @ _counts(_rank_odds(score, self.unlabeled), weight)
        chance = self.mixtures.ravel()
        drawn = np.random.default_rng(0).choice(chance.size, DRAWS, p=chance)
        shares: Floats = positive.ravel()[drawn] / weight.sum()
        return np.clip(shares, 0, 1)


def share_posterior(
    positive: ArrayLike,
    unlabeled: ArrayLike,
    outcome: ArrayLike | None = None,
) -> SharePosterior:
    """Distribution of the share of positives, from the ranks of labelled rows among the unlabelled.

    Scores are taken as a monotone function of a mixture of two normal distributions, so only ranks
    count. The belief before that is a share around a tenth in nine of ten tables, and any share in
    one; without the latter a share of 0.8 would be ruled out, where it can hardly be seen.

    Parameters
    ----------
    positive, unlabeled
        Scores of rows that the scorer was not trained on, larger means more positive, shape (n,).
    outcome
        Of unlabelled rows that were checked: 1 positive, 0 negative; NaN of others, (n,).

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
    scores = np.asarray(unlabeled, dtype=np.float64)
    P, U = np.sort(np.asarray(positive, dtype=np.float64)), np.sort(scores)
    log_likelihood = _log_ratios() @ _counts(_odds(_spread_ranks(P, U), len(U)))
    is_told = outcome is not None and bool(np.isfinite(np.asarray(outcome)).any())
    log_prior = _log_belief(is_told)[:, None, None] - 2 * np.log(np.array(DEVIATIONS)) ** 2
    if outcome is not None:
        log_prior = log_prior + _log_checked(_rank_odds(scores, U), np.asarray(outcome))
    powers = TEMPER, 1.0, min(TEMPER, MOST_LABELS / len(P))
    tempered, full, mixtures = (_normalized(each * log_likelihood + log_prior) for each in powers)
    shares = tempered.sum(axis=(1, 2)), full.sum(axis=(1, 2))
    return SharePosterior(*shares, separation(P, U), mixtures, U)


def _log_belief(is_told: bool) -> Floats:
    """Log-probability of each share before scores are seen, up to a constant, (60,)."""
    distance = logit(SHARES) - CENTRE
    if is_told:
        return np.asarray(-((distance / WIDE) ** 2) / 2)
    usual = np.exp(-((distance / WIDTH) ** 2) / 2) / (WIDTH * np.sqrt(2 * np.pi))
    # All shares alike, as a density of their log-odds.
    alike = SHARES * (1 - SHARES)
    return np.asarray(np.log((1 - ANY) * usual + ANY * alike))


def by_weight(score: Floats, weight: Floats) -> Floats:
    """Floats of equal weight that stand for weighted ones: each as often as it weighs.

    They are as many as the effective sample size, (sum w)^2 / sum w^2, so that intervals are not
    too narrow.

    Examples
    --------
    >>> by_weight(np.array([1.0, 2.0, 3.0, 4.0]), np.array([0.0, 1.0, 1.0, 2.0])).tolist()
    [2.0, 3.0, 4.0]
    """
    if (weight == weight[0]).all():
        return score
    cumulated = np.cumsum(weight)
    count = max(1, round(cumulated[-1] ** 2 / float(weight @ weight)))
    # The middles of as many equal parts of the whole weight.
    places = (np.arange(count) + 0.5) / count * cumulated[-1]
    found: Floats = score[np.searchsorted(cumulated, places)]
    return found


def _rank_odds(score: Floats, unlabeled: Floats) -> Floats:
    """Log-odds of the rank of each score among those of unlabelled rows, ascending, (n,)."""
    below, most = (np.searchsorted(unlabeled, score, side=side) for side in ("left", "right"))
    return _odds((below + most) / 2, len(unlabeled))


def _spread_ranks(positive: Floats, unlabeled: Floats) -> Floats:
    """Ranks of scores, ascending, among others; equal ones spread over their ties, (n,)."""
    _, first, group, count = np.unique(
        positive, return_index=True, return_inverse=True, return_counts=True
    )
    part = (np.arange(len(positive)) - first[group] + 0.5) / count[group]
    below, most = (np.searchsorted(unlabeled, positive, side=side) for side in ("left", "right"))
    return np.asarray(below + part * (most - below), dtype=np.float64)


def _odds(rank: Floats, n: int) -> Floats:
    odds: Floats = logit(np.clip(rank / n, 0.5 / n, 1 - 0.5 / n))
    return odds


@cache
def _log_chances() -> Floats:
    """log share f_P / f_U, of being positive, at each rank of each mixture, (60, 20, 5, 129)."""
    # Not quite 1, so that a negative is never impossible.
    chances: Floats = np.log(SHARES)[:, None, None, None] + _log_ratios()
    return np.minimum(chances, -1e-6)


def _log_checked(odds: Floats, outcome: Floats) -> Floats:
    """Log-likelihood of the outcomes of checked rows, (60, 20, 5)."""
    chance = _log_chances()
    positive, negative = (_counts(odds[outcome == value]) for value in (1, 0))
    found: Floats = chance @ positive + np.log(-np.expm1(chance)) @ negative
    return found


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


def _counts(odds: Floats, weight: Floats | float = 1.0) -> Floats:
    """Log-odds of ranks as counts, or weights, of the nearest two of ``RANKS``, (129,)."""
    place = np.clip((odds - RANKS[0]) / (RANKS[1] - RANKS[0]), 0, len(RANKS) - 1.001)
    below = place.astype(np.intp)
    part = place - below
    parts = (below, weight * (1 - part)), (below + 1, weight * part)
    counts: Floats = np.sum([np.bincount(rank, mass, len(RANKS)) for rank, mass in parts], axis=0)
    return counts


def _normalized(log_probability: Floats) -> Floats:
    probability = np.exp(log_probability - log_probability.max())
    normalized: Floats = probability / probability.sum()
    return normalized


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
