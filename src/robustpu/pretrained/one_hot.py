"""Columns that were one category are one again: the network was trained on categories too."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class OneHot:
    """Which columns belong together; the columns of a group become codes of a category.

    Attributes
    ----------
    group
        Number of each column's group, (C,): neighbours share one.
    low
        Lower of the two values of a column that shares its group, (C,).
    """

    group: NDArray[np.intp]
    low: Floats

    def merge(self, X: Floats) -> Floats:
        """Rows (n, C) -> (n, groups): a column alone stays, others give the place of the high one.

        Examples
        --------
        >>> X = np.array([[5.0, 0, 1, 0], [6.0, 0, 0, 0], [7.0, 0, 0, 1], [8.0, 1, 0, 0]])
        >>> find_one_hot(X, np.zeros(4, bool)).merge(X).tolist()
        [[5.0, 2.0], [6.0, 0.0], [7.0, 3.0], [8.0, 1.0]]
        """
        starts = np.flatnonzero(np.diff(self.group, prepend=-1))
        if len(starts) == len(self.group):
            return X
        out = X[:, starts].copy()
        for place, columns in enumerate(np.split(np.arange(len(self.group)), starts[1:])):
            if len(columns) > 1:
                is_high = X[:, columns] > self.low[columns]
                out[:, place] = np.where(is_high.any(1), 1 + is_high.argmax(1), 0)
        return out

    def merge_mask(self, is_category: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """Which columns have no order after ``merge``: those that had none, and those merged."""
        merged = np.bincount(self.group) > 1
        merged[self.group[is_category]] = True
        return merged


def find_one_hot(X: Floats, is_category: NDArray[np.bool_]) -> OneHot:
    """Find neighbouring columns of two values, of which no row has two of the higher ones.

    That is how one-hot encoding writes a category. Whatever else looks like it loses nothing: the
    columns can be told from the codes.

    Parameters
    ----------
    X
        Rows, (n, C), NaN where missing.
    is_category
        Columns that are codes already, (C,).
    """
    low, high = np.fmin.reduce(X), np.fmax.reduce(X)
    has_two = (low < high) & ~is_category & ((low == X) | (high == X)).all(0)
    group, taken = np.arange(X.shape[1]), np.zeros(len(X), np.bool_)
    for column in np.flatnonzero(has_two):
        is_high = X[:, column] == high[column]
        follows = column > 0 and has_two[column - 1] and not (taken & is_high).any()
        taken = taken | is_high if follows else is_high
        if follows:
            group[column] = group[column - 1]
    return OneHot(np.unique(group, return_inverse=True)[1], low)
