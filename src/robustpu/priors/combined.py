"""The estimate of the class prior that needs no choice: a median of three."""

import numpy as np
from numpy.typing import ArrayLike

from robustpu.priors.best_bin import best_bin
from robustpu.priors.dedpul import dedpul
from robustpu.priors.kernel_mean import km1

# More rows make the kernel method slow, and hardly better on scores.
MOST_ROWS = 400


def combined(positive: ArrayLike, unlabeled: ArrayLike) -> float:
    """Median of DEDPUL, best-bin and KM1.

    DEDPUL has the least error of all on most scores, and now and then a gross one where there are
    few; the others then outvote it.

    Parameters
    ----------
    positive, unlabeled
        Scores of rows that the scorer was not trained on, larger means more positive, shape (n,).

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> positive, negative = rng.normal(3, 1, 1300), rng.normal(0, 1, 700)
    >>> round(combined(positive[:1000], np.concatenate([positive[1000:], negative])), 1)
    0.3
    """
    answers = [
        dedpul(positive, unlabeled),
        best_bin(positive, unlabeled),
        km1(positive, unlabeled, max_rows=MOST_ROWS),
    ]
    return float(np.median(answers))
