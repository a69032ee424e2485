"""Wilcoxon's signed-rank test, exact even where differences are tied."""

from collections.abc import Sequence
from typing import Final

import numpy as np

# With five pairs the smallest two-sided p value is 2 / 2^5, above 0.05 whatever was measured.
FEWEST_PAIRS: Final = 6


def signed_rank(differences: Sequence[float]) -> float:
    """Two-sided p value of Wilcoxon's signed-rank test over paired differences.

    Errors on a thousand test rows come in steps of a tenth of a point, so differences are often
    equal or zero, where the usual tables do not hold. So the distribution is counted here, over all
    signs of the differences. Zeros are left out, as Wilcoxon does; if all are zero, p is 1.

    Parameters
    ----------
    differences
        One a trial, in points.

    Returns
    -------
    p
        In (0, 1].

    Examples
    --------
    >>> signed_rank([0.3, 0.1, 0.4, 0.2, 0.6, 0.5])  # 2 / 2^6
    0.03125
    """
    # 3.2 - 3.1 and 5.4 - 5.3 are the same difference.
    rounded = np.round(np.asarray(differences, dtype=np.float64), 9)
    nonzero = rounded[rounded != 0]
    _, place, count = np.unique(np.abs(nonzero), return_inverse=True, return_counts=True)
    ranks = (2 * np.cumsum(count) - count + 1)[place]  # twice the mean rank: whole numbers
    ways = np.ones(1)  # ways[s]: share of all signs with a sum of positive ranks of s
    for rank in ranks:
        with_rank = np.concatenate([np.zeros(rank), ways])
        ways = 0.5 * (np.pad(ways, (0, rank)) + with_rank)
    positive = int(ranks[nonzero > 0].sum())
    tail = min(ways[: positive + 1].sum(), ways[positive:].sum())
    return min(1.0, 2 * float(tail))
