"""Splits of labelled and of unlabelled rows alike: folds, and rows that are held out."""

from typing import Any

import numpy as np
from scipy.sparse import issparse
from sklearn.model_selection import StratifiedKFold

from robustpu.training.data import Index, Mask
from robustpu.training.members import held_out_sizes

FOLDS = 5


def n_folds(is_positive: Mask) -> int:
    """Folds that rows are split into: no more than there are rows of either kind.

    Examples
    --------
    >>> n_folds(np.array([True, True, False, False, False]))
    2
    """
    return min(FOLDS, int(is_positive.sum()), int((~is_positive).sum()))


def folds(
    is_positive: Mask, random: np.random.RandomState, X: Any = None
) -> list[tuple[Index, Index]]:
    """Split P and U evenly: rows to learn from and rows to score; none if they are too few.

    Parameters
    ----------
    is_positive
        Which rows are labelled, (n,).
    random
        Decides which row is where.
    X
        If given, copies of a row are kept in one fold: trees would recognise them. Where most rows
        are copies, as in a table of a few categories, they are rows of their own.

    Examples
    --------
    >>> mask = np.array([True, True, False, False, False])
    >>> [len(other) for _, other in folds(mask, np.random.RandomState(0))]
    [3, 2]
    """
    count = n_folds(is_positive)
    if count < 2:
        return []
    splitter = StratifiedKFold(count, shuffle=True, random_state=random)
    splits = list(splitter.split(np.zeros(len(is_positive)), is_positive))
    if X is None:
        return splits
    first = first_copies(X)
    if 2 * np.count_nonzero(first == np.arange(len(first))) < len(first):
        return splits
    fold = np.empty(len(is_positive), dtype=np.intp)
    for place, (_, other) in enumerate(splits):
        fold[other] = place
    together = fold[first]
    # Where all rows of one label are copies, they cannot be kept in one fold.
    if not has_both_outside(together, is_positive):
        return splits
    return [
        (np.flatnonzero(together != place), np.flatnonzero(together == place))
        for place in np.unique(together)
    ]


def has_both_outside(fold: Index, is_positive: Mask) -> bool:
    """Whether labelled and unlabelled rows lie outside of every fold.

    Examples
    --------
    >>> has_both_outside(np.array([0, 1, 1]), np.array([True, False, False]))
    False
    """
    places = np.unique(fold)
    return len(places) > 1 and all(
        0 < is_positive[fold != place].sum() < (fold != place).sum() for place in places
    )


def first_copies(X: Any) -> Index:
    """The first row that is equal to each row, (n,).

    Examples
    --------
    >>> first_copies(np.array([[1.0], [2.0], [1.0]])).tolist()
    [0, 1, 0]
    """
    if issparse(X):
        return _first_sparse_copies(X)
    keys = np.ascontiguousarray(X).view(np.dtype((np.void, X.dtype.itemsize * X.shape[1]))).ravel()
    _, first, number = np.unique(keys, return_index=True, return_inverse=True)
    return first[number]


def _first_sparse_copies(X: Any) -> Index:
    """The same of rows in CSR form, by their entries."""
    first: dict[tuple[bytes, bytes], int] = {}
    parts = zip(X.indptr[:-1].tolist(), X.indptr[1:].tolist(), strict=True)
    keys = ((X.indices[a:b].tobytes(), X.data[a:b].tobytes()) for a, b in parts)
    return np.array([first.setdefault(key, row) for row, key in enumerate(keys)], dtype=np.intp)


def hold_out(
    is_positive: Mask, fraction: float, random: np.random.RandomState
) -> tuple[Index, Index]:
    """Divide rows into those to learn from and those held out, of P and of U alike.

    Parameters
    ----------
    is_positive
        Which rows are labelled, (n,).
    fraction
        Share to hold out, at least one row of each; none of classes with a single row.
    random
        Decides who is where.

    Examples
    --------
    >>> mask = np.array([True, True, False, False, False])
    >>> [len(part) for part in hold_out(mask, 0.5, np.random.RandomState(0))]
    [3, 2]
    """
    everything = np.arange(len(is_positive))
    parts = np.flatnonzero(is_positive), np.flatnonzero(~is_positive)
    sizes = held_out_sizes(len(parts[0]), len(is_positive), fraction)
    if not any(sizes):
        return everything, everything[:0]
    held_out = np.concatenate(
        [random.permutation(part)[:size] for part, size in zip(parts, sizes, strict=True)]
    )
    return np.setdiff1d(everything, held_out), np.sort(held_out)
