"""Best-bin estimate of the class prior (Garg et al., 2021), on out-of-fold scores."""

import math

import numpy as np
from numpy.typing import ArrayLike

from robustpu.priors.inputs import check_scores


def best_bin(
    positive: ArrayLike, unlabeled: ArrayLike, *, delta: float = 0.1, gamma: float = 0.01
) -> float:
    """q_U(t) / q_P(t) at the t that minimises its upper confidence bound.

    q_P(t) and q_U(t) are the shares of held-out positives and of unlabelled rows with a score of
    at least t. If the highest scores are those of positives alone, the ratio there is the prior.

    Parameters
    ----------
    positive, unlabeled
        Scores of rows that the scorer was not trained on; larger means more positive.
    delta, gamma
        Confidence level and slack of the bound, as in the paper.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> positive, negative = rng.normal(3, 1, 1300), rng.normal(0, 1, 700)
    >>> round(best_bin(positive[:1000], np.concatenate([positive[1000:], negative])), 1)
    0.3
    """
    positive, unlabeled = check_scores(positive, unlabeled)
    n_positive, n_unlabeled = len(positive), len(unlabeled)
    thresholds = np.unique(unlabeled)
    above_positive = n_positive - np.searchsorted(np.sort(positive), thresholds, side="left")
    above_unlabeled = n_unlabeled - np.searchsorted(np.sort(unlabeled), thresholds, side="left")
    # Two of each at the least, as in the authors' code: a bin of one row says nothing.
    usable = (above_positive >= 2) & (above_unlabeled >= 2)
    if not usable.any():
        return 0.0
    share_positive = above_positive[usable] / n_positive
    share_unlabeled = above_unlabeled[usable] / n_unlabeled
    width = math.sqrt(math.log(4 / delta) / 2)
    slack = width / math.sqrt(n_unlabeled) + width / math.sqrt(n_positive)
    bound = (share_unlabeled + (1 + gamma) * slack) / share_positive
    best = int(np.argmin(bound))
    return float(min(1.0, share_unlabeled[best] / share_positive[best]))
