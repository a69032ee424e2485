"""Rows that are mostly zeros: from any form to one, within bounds, and back to dense ones."""

from collections.abc import Iterator
from typing import Any, Final

import numpy as np
from scipy.sparse import csc_matrix, csr_matrix, issparse

# A number for each column is held many times over, and one for each row.
MOST_COLUMNS: Final = 1 << 22
MOST_ROWS: Final = 1 << 28
# Rows that are scored at a time: inside they may become dense.
BLOCK: Final = 1 << 14


def is_sparse(X: Any) -> bool:
    """Whether X is a sparse matrix or array, or a DataFrame of numbers with a sparse column.

    Examples
    --------
    >>> is_sparse(csr_matrix((2, 3))), is_sparse(np.zeros((2, 3)))
    (True, False)
    """
    if issparse(X):
        return True
    if not hasattr(X, "dtypes") or not hasattr(X, "iloc"):
        return False
    kinds = [getattr(kind, "subtype", kind) for kind in X.dtypes]
    numbers = all(getattr(kind, "kind", "O") in "biuf" for kind in kinds)
    return numbers and any(has_sparse_type(kind) for kind in X.dtypes)


def has_sparse_type(kind: Any) -> bool:
    """Whether a column of a DataFrame with this type is sparse.

    Examples
    --------
    >>> import pandas as pd
    >>> has_sparse_type(pd.SparseDtype(float, 0)), has_sparse_type(np.dtype(float))
    (True, False)
    """
    return hasattr(kind, "subtype") and hasattr(kind, "fill_value")


def as_csr(X: Any, n_rows: int | None = None) -> csr_matrix:
    """Rows as a matrix in CSR form, with sorted indices of 32 bits; X stays as it is.

    Parameters
    ----------
    X
        What :func:`is_sparse` says yes to.
    n_rows
        How many there must be, if that is known.

    Raises
    ------
    ValueError
        It has no two axes, another number of rows, more rows or columns than can be held, or
        indices out of range.

    Examples
    --------
    >>> from scipy.sparse import coo_array
    >>> as_csr(coo_array(([1.0], ([0], [2])), shape=(2, 3))).shape
    (2, 3)
    >>> as_csr(coo_array((3, 1 << 40)))
    Traceback (most recent call last):
    ValueError: X has 1,099,511,627,776 columns, and at most 4,194,304 can be learned from: ...
    """
    if len(X.shape) != 2:
        raise ValueError(f"Expected 2D array of rows and columns; X has the shape {X.shape}.")
    rows, columns = X.shape
    if n_rows is not None and rows != n_rows:
        raise ValueError(f"X has {rows:,} rows but y has {n_rows:,}.")
    if columns > MOST_COLUMNS:
        raise ValueError(
            f"X has {columns:,} columns, and at most {MOST_COLUMNS:,} can be learned from: leave "
            "out those without entries, X[:, numpy.unique(X.nonzero()[1])], or hash their names "
            "into fewer (sklearn.feature_extraction.FeatureHasher)."
        )
    if rows > MOST_ROWS:
        raise ValueError(f"X has {rows:,} rows: give at most {MOST_ROWS:,} at a time.")
    if not issparse(X):
        X = _of_frame(X)
    if X.format in ("csr", "csc", "bsr"):
        # An index out of range would be read outside of the arrays.
        X.check_format(full_check=True)
    found = csr_matrix(X)
    if not found.has_canonical_format:
        found = found.copy() if np.shares_memory(found.data, getattr(X, "data", 0)) else found
        found.sum_duplicates()
    if found.indices.dtype != np.int32 and found.nnz < np.iinfo(np.int32).max:
        indices, ends = found.indices.astype(np.int32), found.indptr.astype(np.int32)
        found = csr_matrix((found.data, indices, ends), shape=found.shape)
    return found


def _of_frame(X: Any) -> csc_matrix:
    """The columns of a DataFrame of numbers, one after the other."""
    values, places, ends = [], [], [0]
    for number, kind in enumerate(X.dtypes):
        column = X.iloc[:, number].array
        if has_sparse_type(kind) and kind.fill_value == 0:
            place, value = column.sp_index.indices, column.sp_values
        else:
            value = np.asarray(column)
            place = np.flatnonzero(value)
            value = value[place]
        values.append(np.asarray(value, dtype=np.float64))
        places.append(place)
        ends.append(ends[-1] + len(place))
    return csc_matrix((np.concatenate(values), np.concatenate(places), ends), shape=X.shape)


def blocks(X: Any) -> Iterator[Any]:
    """Rows of a sparse table, some thousands at a time; of a DataFrame, as such.

    Examples
    --------
    >>> [block.shape[0] for block in blocks(csr_matrix((20_000, 2)))]
    [16384, 3616]
    """
    X = as_csr(X) if issparse(X) else X
    for start in range(0, max(X.shape[0], 1), BLOCK):
        yield X[start : start + BLOCK]
