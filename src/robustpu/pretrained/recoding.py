"""One-hot columns as the category they were, filled gaps as missing: what the network learned on.

Whatever else looks like either loses nothing that matters: the columns can be told from the codes.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Index = NDArray[np.intp]
NONE = -1


@dataclass(frozen=True)
class Recoding:
    """Which columns belong together, and which tell of gaps.

    Attributes
    ----------
    group
        Number of each column's group, (C,): the columns of a category share one. -1: the column
        tells of gaps only, and goes.
    low
        Lower of the two values of a column that shares its group or tells of gaps, (C,).
    flag
        The column that tells where this one is missing, (C,), or -1.
    """

    group: Index
    low: Floats
    flag: Index

    def apply(self, X: Floats) -> Floats:
        """Rows (n, C) -> (n, groups); a category becomes the place of its high column.

        Examples
        --------
        >>> X = np.array([[5.0, 0, 1, 0], [6.0, 0, 0, 0], [7.0, 0, 0, 1], [8.0, 1, 0, 0]])
        >>> find_recoding(X, np.zeros(4, bool)).apply(X).tolist()
        [[5.0, 2.0], [6.0, 0.0], [7.0, 3.0], [8.0, 1.0]]
        >>> X = np.array([[5.0, 0], [6.0, 1], [7.0, 0], [6.0, 1]])
        >>> find_recoding(X, np.zeros(2, bool)).apply(X).tolist()
        [[5.0], [nan], [7.0], [nan]]
        """
        kept = np.flatnonzero(self.group != NONE)
        starts = kept[np.flatnonzero(np.diff(self.group[kept], prepend=NONE))]
        if len(starts) == X.shape[1]:
            return X
        out = X[:, starts].copy()
        for place, first in enumerate(starts):
            columns = np.flatnonzero(self.group == place)
            if len(columns) > 1:
                is_high = X[:, columns] > self.low[columns]
                out[:, place] = np.where(is_high.any(1), 1 + is_high.argmax(1), 0)
            elif self.flag[first] != NONE:
                flag = self.flag[first]
                out[X[:, flag] > self.low[flag], place] = np.nan
        return out

    def apply_mask(self, is_category: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """Which columns have no order afterwards: those that had none, and merged ones."""
        kept = self.group != NONE
        merged = np.bincount(self.group[kept]) > 1
        merged[self.group[kept & is_category]] = True
        return merged


def find_recoding(X: Floats, is_category: NDArray[np.bool_]) -> Recoding:
    """Find how our vectorizer, and one-hot encoding in general, wrote categories and gaps.

    A category: neighbouring columns of two values, of which no row has two of the higher ones. A
    gap: a column of two values after one or more numbers that are constant, and no extreme, in at
    least two rows with the higher one.

    Parameters
    ----------
    X
        Rows, (n, C), NaN where missing.
    is_category
        Columns that are codes already, (C,).
    """
    width = X.shape[1]
    low, high = np.fmin.reduce(X), np.fmax.reduce(X)
    has_two = (low < high) & ~is_category & ((low == X) | (high == X)).all(0)
    group, flag = np.arange(width), np.full(width, NONE)
    taken = np.zeros(len(X), np.bool_)
    for column in np.flatnonzero(has_two):
        is_high = X[:, column] == high[column]
        if column > 0 and has_two[column - 1] and not (taken & is_high).any():
            group[column] = group[column - 1]
            taken = taken | is_high
            continue
        taken = is_high
        before = column - 1
        while before >= 0 and not has_two[before] and _is_filled(X[:, before], is_high):
            flag[before] = column
            before -= 1
    # A column that tells of gaps, and is no part of a category, goes.
    flags = [one for one in np.unique(flag[flag != NONE]) if (group == group[one]).sum() == 1]
    flag[~np.isin(flag, flags)] = NONE
    goes = np.isin(np.arange(width), flags)
    numbered = np.full(width, NONE)
    numbered[~goes] = np.unique(group[~goes], return_inverse=True)[1]
    return Recoding(numbered, low, flag)


def _is_filled(values: Floats, is_high: NDArray[np.bool_]) -> bool:
    """Whether a column has one value, and no extreme one, in the marked rows."""
    marked, others = values[is_high], values[~is_high]
    fill = marked[0]
    return bool(
        len(marked) > 1
        and (marked == fill).all()
        and np.fmin.reduce(others) < fill < np.fmax.reduce(others)
    )
