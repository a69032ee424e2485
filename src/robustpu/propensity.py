"""Known propensities: how likely each labelled positive was to be labelled.

A labelled row with propensity e stands for 1 / e positives: itself, and (1 - e) / e that were not
labelled. So weights 1 / e make up for labels that are not SCAR. In single-set data the rows stand
for all positives there are, which counts those that are left; in case-control data only the ratios
of propensities count.
"""

from typing import Final, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

Floats = NDArray[np.float64]
Mask = NDArray[np.bool_]

# A row counts at most twenty times as much as the one that was likeliest to be labelled.
LEAST: Final = 0.05


class Counted(NamedTuple):
    """Share of positives among the unlabelled rows, counted by propensities; standard error."""

    share: float
    error: float

    def check(self) -> "Counted":
        """Refuse a share that is none."""
        if self.share >= 1:
            raise ValueError(
                f"propensity says that {self.share:.0%} of the unlabelled rows are positive, which "
                "cannot be. In single-set data it must be the probability itself; if only ratios "
                "are known, also give prior= a number."
            )
        return self


def check(propensity: ArrayLike, is_positive: Mask) -> Floats:
    """Propensities, (n,), no less than 0.05 of the largest; NaN for unlabelled rows.

    Parameters
    ----------
    propensity
        As given.
    is_positive
        Which rows are labelled, (n,).

    Examples
    --------
    >>> check([0.8, 0.01, np.nan], np.array([True, True, False])).round(3).tolist()
    [0.8, 0.04, nan]
    """
    try:
        given = np.asarray(propensity, dtype=np.float64)
    except (TypeError, ValueError):
        raise ValueError(
            f"propensity must be numbers, and NaN for unlabelled rows; it is {propensity!r:.60}."
        ) from None
    if given.shape != is_positive.shape:
        raise ValueError(
            f"propensity must have one number for each of the {len(is_positive)} rows, NaN for "
            f"unlabelled ones; its shape is {given.shape}."
        )
    stray = np.flatnonzero(~is_positive & ~np.isnan(given))
    if len(stray):
        raise ValueError(
            f"propensity is for labelled rows alone, and {len(stray)} unlabelled ones have a "
            f"number, such as row {stray[0]}: put NaN there."
        )
    wrong = np.flatnonzero(is_positive & ~((given > 0) & (given <= 1)))
    if len(wrong):
        raise ValueError(
            "propensity must be above 0 and at most 1 for each labelled row: its probability of "
            f"having been labelled, given that it is positive. It is {given[wrong[0]]} in row "
            f"{wrong[0]}, and wrong in {len(wrong)} of {int(is_positive.sum())}."
        )
    clipped: Floats = np.maximum(given, LEAST * np.nanmax(given))
    return clipped


def inverse_weight(weight: Floats, propensity: Floats, is_positive: Mask) -> Floats:
    """weight / propensity for labelled rows, whose sum stays as it was, (n,).

    Examples
    --------
    >>> is_positive = np.array([True, True, False])
    >>> inverse_weight(np.ones(3), np.array([0.75, 0.25, np.nan]), is_positive).tolist()
    [0.5, 1.5, 1.0]
    """
    found = weight.copy()
    of_labelled = weight[is_positive] / propensity[is_positive]
    found[is_positive] = of_labelled * (weight[is_positive].sum() / of_labelled.sum())
    return found


def count_hidden(weight: Floats, propensity: Floats, is_positive: Mask) -> Counted:
    """sum_P (1 - e) / e over n_U: the share of positives that single-set data were left with.

    Its standard error is that of Horvitz and Thompson, of labels that are drawn independently.

    Parameters
    ----------
    weight, propensity, is_positive
        Sample weights, propensities as of :func:`check`, and which rows are labelled, (n,).

    Examples
    --------
    >>> is_positive = np.arange(10) < 2
    >>> propensity = np.where(is_positive, 0.5, np.nan)
    >>> count_hidden(np.ones(10), propensity, is_positive).share
    0.25
    """
    e, of_labelled = propensity[is_positive], weight[is_positive]
    rows = float(weight[~is_positive].sum())
    share = float((of_labelled * (1 - e) / e).sum()) / rows
    error = float(np.sqrt((of_labelled**2 * (1 - e) / e**2).sum())) / rows
    return Counted(share, error)
