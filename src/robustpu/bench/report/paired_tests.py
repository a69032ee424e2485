"""The best method of a data set and prior, and whether it is ahead by more than chance."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import fmean, stdev
from typing import Final

import numpy as np
from scipy.special import stdtrit

from robustpu.bench.report.cells import SIGNIFICANT, Cell

# With five pairs the smallest two-sided p value is 2 / 2^5, above 0.05 whatever was measured.
FEWEST_PAIRS: Final = 6
LEVEL: Final = 0.95


@dataclass(frozen=True)
class PairedTest:
    """The best method against its best rival, over their common trials.

    A rival is of the same kind and of another family: a method is no rival of its variants.
    """

    dataset: str
    prior: float
    best: str
    rival: str
    pairs: int
    wins: int
    losses: int
    difference: float  # mean error of the rival minus that of the best, percentage points
    p: float | None  # None: too few pairs
    interval: tuple[float, float]  # of the difference, at LEVEL; NaN with a single pair

    @property
    def significant(self) -> bool:
        """Whether the best is ahead by more than chance."""
        return self.p is not None and self.p < SIGNIFICANT


def rank(
    cells: Mapping[str, Cell], dataset: str, prior: float, families: Mapping[str, str]
) -> tuple[dict[str, Cell], PairedTest | None]:
    """Mark the best, and test all others against it.

    Incomplete cells are left out, and a single method is not called the best.

    Parameters
    ----------
    cells
        By method, of one kind, data set and prior.
    dataset, prior
        Which.
    families
        By method; variants share one.

    Returns
    -------
    cells
        With `best` and `p` filled in.
    test
        The best against the lowest mean of another family; None where there is none.
    """
    means = {name: cell.mean for name, cell in cells.items() if cell.complete}
    if len(means) < 2:
        return dict(cells), None
    order = sorted(means, key=lambda name: means[name])
    best = cells[order[0]]
    ranked = dict(cells)
    for name in order:
        ranked[name] = replace(
            cells[name],
            best=f"{means[name]:.2f}" == f"{best.mean:.2f}",
            p=None if name == order[0] else _p_value(_differences(best, cells[name])),
        )
    rivals = [name for name in order if families[name] != families[order[0]]]
    if not rivals:
        return ranked, None
    differences = _differences(best, cells[rivals[0]])
    return ranked, PairedTest(
        dataset,
        prior,
        best=order[0],
        rival=rivals[0],
        pairs=len(differences),
        wins=sum(difference > 0 for difference in differences),
        losses=sum(difference < 0 for difference in differences),
        difference=means[rivals[0]] - best.mean,
        p=ranked[rivals[0]].p,
        interval=mean_interval(differences),
    )


def _differences(best: Cell, other: Cell) -> list[float]:
    return [round(other.errors[trial] - error, 9) for trial, error in best.errors.items()]


def _p_value(differences: Sequence[float]) -> float | None:
    return signed_rank(differences) if len(differences) >= FEWEST_PAIRS else None


def mean_interval(differences: Sequence[float]) -> tuple[float, float]:
    """Student's interval of a mean difference, at `LEVEL`.

    Parameters
    ----------
    differences
        One per trial, in percentage points.

    Returns
    -------
    low, high
        NaN with fewer than two differences.

    Examples
    --------
    >>> low, high = mean_interval([0.1, 0.2, 0.3])
    >>> round(low, 3), round(high, 3)
    (-0.048, 0.448)
    """
    count = len(differences)
    if count < 2:
        return math.nan, math.nan
    quantile = float(stdtrit(count - 1, (1 + LEVEL) / 2))
    half = quantile * stdev(differences) / math.sqrt(count)
    return fmean(differences) - half, fmean(differences) + half


def signed_rank(differences: Sequence[float]) -> float:
    """Two-sided p value of Wilcoxon's signed-rank test, exact also for tied differences.

    Errors on a thousand test rows come in steps of a tenth of a percent, so differences are often
    equal or zero, where the usual tables do not hold. The distribution is therefore counted over
    all signs of the differences. Zeros are left out, as Wilcoxon does; if all are zero, p is 1.

    Parameters
    ----------
    differences
        One per trial, in percentage points.

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
    for value in ranks:
        with_value = np.concatenate([np.zeros(value), ways])
        ways = 0.5 * (np.pad(ways, (0, value)) + with_value)
    positive = int(ranks[nonzero > 0].sum())
    tail = min(ways[: positive + 1].sum(), ways[positive:].sum())
    return min(1.0, 2 * float(tail))
