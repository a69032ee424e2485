"""From scores to a prior."""

from collections.abc import Sequence

from robustpu.priors.best_bin import best_bin
from robustpu.priors.crossfit import Sample, Scores, out_of_fold


def estimate(samples: Sequence[Sample]) -> list[float]:
    """Prior of each sample, from scores of networks that are trained together.

    Parameters
    ----------
    samples
        See :func:`robustpu.priors.crossfit.out_of_fold`.

    Returns
    -------
    priors
        One number in (0, 1) a sample.
    """
    return [
        from_scores(score[sample.is_positive], score[~sample.is_positive])
        for sample, score in zip(samples, out_of_fold(samples), strict=True)
    ]


def from_scores(positive: Scores, unlabeled: Scores) -> float:
    """Prior from out-of-fold scores, in the open interval: one positive and one negative at least.

    Parameters
    ----------
    positive, unlabeled
        Scores of rows that the scorer was not trained on; larger means more positive.

    Examples
    --------
    >>> import numpy as np
    >>> from_scores(np.zeros(5), np.zeros(9))
    0.9
    """
    edge = 1 / (len(unlabeled) + 1)
    return min(max(best_bin(positive, unlabeled), edge), 1 - edge)
