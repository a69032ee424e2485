"""DEDPUL estimate of the class prior (Ivanov, 2020), on out-of-fold scores."""

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.ndimage import gaussian_filter1d, median_filter

from robustpu.priors.inputs import check_scores

Floats = NDArray[np.float64]

# Kernel width, in units of the deviation of the scores of P, and at least in units of all scores.
WIDTH = 0.1
NARROWEST = 1e-3
# Cells of the grid in a kernel width: eight thousand at the most.
FINENESS = 8
LARGEST_RATIO = 50.0
TOLERANCE = 1e-5
LEAST_MEAN = 1.05
ROUNDS = 1000


def dedpul(positive: ArrayLike, unlabeled: ArrayLike) -> float:
    """The largest a with a = mean over U of min(1, a r), r = p_P / p_U the ratio of densities.

    min(1, a r) is the chance of a row to be positive if a is the prior. From a = 1, the mean of it
    is put in place of a until it stays. The densities of the scores are by Gaussian kernels; their
    ratio is smoothed by a running median and made to rise with the score in the upper part, above
    the middle of both means.

    Parameters
    ----------
    positive, unlabeled
        Scores of rows that the scorer was not trained on, larger means more positive, shape (n,).
        Logits, rather than probabilities, which crowd at 0 and 1.

    Returns
    -------
    float
        The prior, in [0, 1].

    Notes
    -----
    The mean of a ratio of densities is 1; smoothing raises it, as a rule by a third. If there are
    few rows it may end below 1, and then a = 0 alone stays: the ratio is raised to a mean of 1.05.
    The authors' code goes by the bend of a - mean min(1, a r) then, which misses as often as not on
    few rows. Their "monotonising of trends" is left out. Their kernel widths are 0.1 deviations of
    P for P and 0.05 deviations of U for U. Ours is 0.1 deviations of P for both: a mixture stays
    the same mixture when all of it is smoothed alike, ties included.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> positive, negative = rng.normal(3, 1, 1300), rng.normal(0, 1, 700)
    >>> round(dedpul(positive[:1000], np.concatenate([positive[1000:], negative])), 1)
    0.3
    """
    positive, unlabeled = check_scores(positive, unlabeled)
    ratio = _smooth_ratio(positive, unlabeled)
    mean = float(ratio.mean())
    return fixed_share(ratio * max(1.0, LEAST_MEAN / mean)) if mean > 0 else 0.0


def fixed_share(ratio: Floats) -> float:
    """The largest a with a = mean min(1, a r), by iteration from a = 1.

    Parameters
    ----------
    ratio
        r of the unlabelled rows, shape (n,).

    Examples
    --------
    >>> round(fixed_share(np.array([0.0, 0.0, 0.0, 5.0])), 3)
    0.25
    """
    share = 1.0
    for _ in range(ROUNDS):
        before, share = share, float(np.minimum(1.0, share * ratio).mean())
        if abs(before - share) < TOLERANCE:
            break
    return share


def _smooth_ratio(positive: Floats, unlabeled: Floats) -> Floats:
    """p_P / p_U at the unlabelled rows in rising order of score."""
    unlabeled = np.sort(unlabeled)
    ratio = _raw_ratio(positive, unlabeled)
    ratio = median_filter(ratio, 5, mode="nearest")
    upper = unlabeled >= (positive.mean() + unlabeled.mean()) / 2
    ratio[upper] = np.maximum.accumulate(ratio[upper])
    return np.asarray(median_filter(ratio, len(ratio) // 20 | 1, mode="nearest"))


def _raw_ratio(positive: Floats, unlabeled: Floats) -> Floats:
    lowest = min(positive.min(), unlabeled.min())
    extent = max(positive.max(), unlabeled.max()) - lowest
    if extent == 0:
        return np.ones(len(unlabeled))
    width = max(WIDTH * positive.std() / extent, NARROWEST)
    cells = int(np.ceil(FINENESS / width))

    def density(score: Floats) -> Floats:
        count = np.bincount(place(score), minlength=cells + 1) / len(score)
        return np.asarray(gaussian_filter1d(count, width * cells, mode="constant"))

    def place(score: Floats) -> NDArray[np.int64]:
        return np.asarray(np.rint((score - lowest) / extent * cells), dtype=np.int64)

    at = place(unlabeled)
    return np.minimum(LARGEST_RATIO, density(positive)[at] / density(unlabeled)[at])
