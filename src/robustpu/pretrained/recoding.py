"""One-hot columns as the category they were, filled values as missing: what the network learned on.

Both are recognised by the rows of the context. Columns that only look like it by chance are told
apart as far as the rows allow.
"""

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Index = NDArray[np.intp]
Mask = NDArray[np.bool_]
NONE = -1
# Columns in which every row has just one, or that were independent would have been high together
# in so many rows, are a category.
EXPECTED_TOGETHER = 4.0
# Rows that an indicator marks, at least, the share of others that may have the fill value, and how
# probable it may be, over all columns, that marked rows have one value by chance.
FEWEST_MARKED, SHARED, CHANCE = 3, 0.5, 1e-3
# How near to the fill value is that value, in standard deviations: rows may have been rounded.
NEAR = 1e-3


@dataclass(frozen=True)
class Recoding:
    """How the columns of rows change.

    Attributes
    ----------
    group
        New number of each column, (C,): the columns of a category share one. -1: an indicator of
        missing values, dropped.
    middle
        Between the two values of one-hot columns and indicators, (C,).
    indicator
        The column that tells where this one is missing, (C,), or -1.
    fill, near
        The value that stands there, and how far from it a value still is that, (C,).
    """

    group: Index
    middle: Floats
    indicator: Index
    fill: Floats
    near: Floats

    @property
    def width(self) -> int:
        """Number of columns afterwards."""
        return int(self.group.max()) + 1

    def apply(self, X: Floats) -> Floats:
        """Rows (n, C) -> (n, width); a category becomes the place of its high column.

        It is 0 if there is none, the number of columns and 1 if there are several, and NaN if there
        is none but a NaN.

        Examples
        --------
        >>> X = np.array([[5.0, 0, 1, 0], [6.0, 1, 0, 0], [7.0, 0, 0, 1], [8.0, 1, 0, 0]])
        >>> find_recoding(X, np.zeros(4, bool)).apply(X).tolist()
        [[5.0, 2.0], [6.0, 1.0], [7.0, 3.0], [8.0, 1.0]]
        >>> X = np.array([[value, 0.0] for value in range(12)] + 4 * [[6.5, 1.0]])
        >>> find_recoding(X, np.zeros(2, bool)).apply(X)[10:14].tolist()
        [[10.0], [11.0], [nan], [nan]]
        """
        if self.width == X.shape[1]:
            return X
        out = np.empty((len(X), self.width))
        for place in range(self.width):
            columns = np.flatnonzero(self.group == place)
            first = columns[0]
            if len(columns) > 1:
                is_high = X[:, columns] > self.middle[columns]
                level = np.where(is_high.any(1), 1.0 + is_high.argmax(1), 0.0)
                level[is_high.sum(1) > 1] = len(columns) + 1
                level[~is_high.any(1) & np.isnan(X[:, columns]).any(1)] = np.nan
                out[:, place] = level
                continue
            out[:, place] = X[:, first]
            if self.indicator[first] != NONE:
                marks = self.indicator[first]
                is_marked = X[:, marks] > self.middle[marks]
                is_filled = np.abs(X[:, first] - self.fill[first]) <= self.near[first]
                out[is_marked & is_filled, place] = np.nan
        return out

    def apply_mask(self, is_category: Mask) -> Mask:
        """Which columns have no order afterwards: those that had none, and merged ones."""
        kept = self.group != NONE
        merged = np.bincount(self.group[kept]) > 1
        merged[self.group[kept & is_category]] = True
        return merged


def find_recoding(X: Floats, is_category: Mask) -> Recoding:
    """Find categories and gaps that our vectorizer, or one-hot encoding in general, has written.

    A category: neighbouring columns of two values, of which no row has two of the higher ones. A
    gap: a column of two values after one or more numbers that have one value, and no extreme one,
    wherever it has the higher one.

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
    group, indicator, fill = np.arange(width), np.full(width, NONE), np.full(width, np.nan)
    near = np.zeros(width)
    for first, end in _disjoint_runs((high == X) & has_two, has_two):
        if end - first > 1 and _is_category(X[:, first:end] == high[first:end]):
            group[first:end] = first
    for column in np.flatnonzero(has_two & (np.bincount(group, minlength=width)[group] == 1)):
        is_high, before = X[:, column] == high[column], column - 1
        while before >= 0 and not has_two[before] and _is_filled(X[:, before], is_high, width):
            indicator[before], fill[before] = column, X[is_high, before][0]
            near[before] = NEAR * X[:, before].std()
            before -= 1
    dropped = np.isin(np.arange(width), indicator)
    numbers = np.full(width, NONE)
    numbers[~dropped] = np.unique(group[~dropped], return_inverse=True)[1]
    return Recoding(numbers, low / 2 + high / 2, indicator, fill, near)


def _disjoint_runs(is_high: Mask, has_two: Mask) -> list[tuple[int, int]]:
    """Ends of the longest runs of neighbours of which no row has two high ones."""
    starts, taken = [], np.zeros(len(is_high), np.bool_)
    for column in range(len(has_two)):
        follows = column > 0 and has_two[column] and has_two[column - 1]
        if follows and not (taken & is_high[:, column]).any():
            taken = taken | is_high[:, column]
        else:
            starts.append(column)
            taken = is_high[:, column].copy()
    return list(pairwise([*starts, len(has_two)]))


def _is_category(is_high: Mask) -> bool:
    """Whether disjoint columns (n, k) are so for a reason."""
    counts = is_high.sum(0)
    together = (counts.sum() ** 2 - (counts**2).sum()) / 2 / len(is_high)
    return bool(is_high.any(1).all() or together >= EXPECTED_TOGETHER)


def _is_filled(values: Floats, is_marked: Mask, n_columns: int) -> bool:
    """Whether the marked rows have one value, not an extreme one, and not by chance.

    With other gaps in the column, the indicator tells something else.
    """
    marked, others = values[is_marked], values[~is_marked]
    if len(marked) < FEWEST_MARKED or len(others) == 0 or np.isnan(values).any():
        return False
    if not (marked == marked[0]).all():
        return False
    inside = others.min() < marked[0] < others.max()
    alike = np.count_nonzero(others == marked[0])
    chance = n_columns * ((alike + 1) / (len(others) + 1)) ** (len(marked) - 1)
    return bool(inside and alike <= SHARED * len(others) and chance <= CHANCE)
