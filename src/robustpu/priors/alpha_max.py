"""AlphaMax estimate of the class prior (Jain et al., 2016), with histograms, on scores."""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from robustpu.priors.inputs import check_scores
from robustpu.validation.numbers import check_number

Floats = NDArray[np.float64]

STEP = 0.005
# Halvings of the interval of a multiplier: enough for all digits of a double.
HALVINGS = 60


def alpha_max(positive: ArrayLike, unlabeled: ArrayLike, *, bins: int = 10) -> float:
    """The largest a at which the likelihood under "U holds a times P" has not yet fallen.

    Both samples are put in the same bins. For every a of a grid, the joint likelihood of the counts
    is maximised over all pairs of distributions h (of P) and g (of U) with g >= a h: it is flat up
    to the prior and falls beyond.

    Parameters
    ----------
    positive, unlabeled
        Scores of rows that the scorer was not trained on, larger means more positive, shape (n,).
    bins
        Number of bins, each with an equal share of P and U, which have equal weight.

    Returns
    -------
    float
        The prior, in [0, 1].

    Notes
    -----
    The paper's rule for the point where the curve falls is not known in detail; ours needs no
    setting. At the true prior a bin of positives alone has g = a h, so by chance half of these bins
    hold the constraint back, and each lowers twice the log likelihood by the square of a standard
    normal variable, 1 on average. The estimate is where the fall first exceeds the number of bins
    that are held back.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> positive, negative = rng.normal(3, 1, 1300), rng.normal(0, 1, 700)
    >>> round(alpha_max(positive[:1000], np.concatenate([positive[1000:], negative])), 1)
    0.3
    """
    positive, unlabeled = check_scores(positive, unlabeled)
    check_number("bins", bins, least=2, whole=True)
    counts = _counts(positive, unlabeled, bins)
    share = np.linspace(0, 1, round(1 / STEP) + 1)
    fall, held = likelihood_fall(*counts, share)
    # At a = 0 both are 0, up to rounding.
    beyond = np.flatnonzero(fall > held + 1e-9)
    return float(share[beyond[0] - 1]) if beyond.size else 1.0


def _counts(positive: Floats, unlabeled: Floats, bins: int) -> tuple[Floats, Floats]:
    """Rows of each in bins of equal mass; equal scores stay together."""
    score = np.concatenate([positive, unlabeled])
    mass = np.repeat([0.5 / len(positive), 0.5 / len(unlabeled)], [len(positive), len(unlabeled)])
    place = np.unique(score, return_inverse=True)[1]
    total = np.cumsum(np.bincount(place, mass))
    # The bin of the middle of a score's mass, so that a large tie does not leave gaps.
    middle = total - np.bincount(place, mass) / 2
    number = np.minimum((middle * bins).astype(np.intp), bins - 1)
    bin_of = number[place]
    n = len(positive)
    both = [np.bincount(part, minlength=bins).astype(float) for part in (bin_of[:n], bin_of[n:])]
    filled = (both[0] + both[1]) > 0
    return both[0][filled], both[1][filled]


def likelihood_fall(
    count_positive: Floats, count_unlabeled: Floats, share: Floats
) -> tuple[Floats, NDArray[np.intp]]:
    """2 (L(0) - L(a)), L(a) = max of sum n_P,i log h_i + n_U,i log g_i with g >= a h.

    In a bin that the constraint holds back, h = (n_P,i + n_U,i) / (m + a (n - m)) and g = a h; in
    the others h = n_P,i / m and g = n_U,i / (n - m). n is the number of rows, and m is such that g
    and h sum to 1.

    Parameters
    ----------
    count_positive, count_unlabeled
        Rows in each bin, shape (bins,); no bin is empty in both.
    share
        Values of a, in [0, 1], shape (values,).

    Returns
    -------
    fall, held
        The fall of the likelihood, and the number of bins held back; shape (values,).

    Examples
    --------
    >>> fall, held = likelihood_fall(np.array([0.0, 8.0]), np.array([6.0, 2.0]), np.array([0.3]))
    >>> round(float(fall[0]), 3), int(held[0])
    (0.099, 1)
    """
    n_positive, n_unlabeled = count_positive.sum(), count_unlabeled.sum()
    n = n_positive + n_unlabeled
    a = share[:, None]

    def fitted(m: Floats) -> tuple[Floats, Floats, NDArray[np.bool_]]:
        held = count_unlabeled * m < a * count_positive * (n - m)
        bound = (count_positive + count_unlabeled) / (m + a * (n - m))
        return (
            np.where(held, bound, count_positive / m),
            np.where(held, a * bound, count_unlabeled / (n - m)),
            held,
        )

    low, high = np.zeros_like(a), np.full_like(a, n)
    for _ in range(HALVINGS):
        m = (low + high) / 2
        h, g, _ = fitted(m)
        # The sum of g less that of h rises with m.
        short = g.sum(1, keepdims=True) < h.sum(1, keepdims=True)
        low, high = np.where(short, m, low), np.where(short, high, m)
    h, g, held = fitted((low + high) / 2)
    best = _log_likelihood(count_positive, count_positive / n_positive) + _log_likelihood(
        count_unlabeled, count_unlabeled / n_unlabeled
    )
    fall = best - _log_likelihood(count_positive, h) - _log_likelihood(count_unlabeled, g)
    return np.maximum(0.0, 2 * fall), held.sum(1)


def _log_likelihood(count: Floats, distribution: Floats) -> Floats:
    # 0 log 0 = 0. At a = 0 no bin is held back, so a bin that has rows has some probability.
    return np.asarray((count * np.log(np.where(count > 0, distribution, 1.0))).sum(-1))
