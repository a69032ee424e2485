"""Elkan and Noto's estimate of the class prior (2008), on out-of-fold scores."""

from collections.abc import Callable
from typing import Final

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import expit

from robustpu.priors.inputs import check_scores
from robustpu.validation.names import pick

Scores = NDArray[np.float64]

# c, the share of labelled rows where rows are positive for sure; arguments: g on P, g on U.
LABEL_SHARES: Final[dict[str, Callable[[Scores, Scores], float]]] = {
    "mean": lambda positive, _: float(positive.mean()),
    # Scores may be so low that g is 0 everywhere.
    "ratio": lambda positive, unlabeled: float(
        positive.mean() / max(positive.mean() + unlabeled.mean(), 1e-300)
    ),
    "max": lambda positive, unlabeled: float(max(positive.max(), unlabeled.max())),
}


def elkan_noto(positive: ArrayLike, unlabeled: ArrayLike, *, share: str = "mean") -> float:
    """(1 - c) / c, c the probability of a label, in balanced data, of a sure positive.

    With g = sigmoid(score) and both samples of equal weight, a row that is surely positive has
    g = 1 / (1 + prior). Needs calibrated scores and separable positives: where the classes overlap
    g is lower, and the estimate too high.

    Parameters
    ----------
    positive, unlabeled
        Logits of rows that the scorer was not trained on, larger means more positive, shape (n,).
        The scorer classifies labelled against unlabelled rows, of equal total weight.
    share
        How c is found: "mean", e1 of the paper, is the mean of g on the positives; "ratio", e2, is
        their part of all of g; "max", e3, is the largest g, and the most sensitive.

    Returns
    -------
    float
        The prior, in [0, 1].

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> x = np.concatenate([rng.normal(3, 1, 1300), rng.normal(-3, 1, 700)])
    >>> score = np.log(1 / (0.3 + 0.7 * np.exp(-6 * x)))
    >>> round(elkan_noto(score[:1000], score[1000:]), 2)
    0.3
    """
    positive, unlabeled = check_scores(positive, unlabeled)
    c = pick("share", share, LABEL_SHARES)(expit(positive), expit(unlabeled))
    return min(1.0, (1 - c) / c) if c > 0 else 1.0
