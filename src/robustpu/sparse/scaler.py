"""Columns on one scale, where most are sparse and must stay so."""

from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import csr_matrix, issparse
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted, validate_data

Floats = NDArray[np.float64]

# A column with entries in as many of the rows is no sparse one.
FULL = 0.99
# Times that the entries of a sparse column may be larger, or smaller, than those of the others.
RANGE = 10.0


class SparseScaler(TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """(x - mean) / scale of filled columns; x / scale of sparse ones.

    Sparse columns have one scale together, by which their rows have the mean squared length 1:
    weights that a column has for being rare, as in TF-IDF, are kept. Only entries that are more
    than ten times as large or small as those of the other columns are brought within that.

    Attributes
    ----------
    mean_, scale_
        Of each column, (d,); the mean of a sparse column is 0.
    is_full_
        Which columns hardly have a zero, (d,).

    Examples
    --------
    >>> from scipy.sparse import csr_array
    >>> X = csr_array([[0.0, 3.0], [0.0, 5.0], [2.0, 4.0]])
    >>> SparseScaler().fit_transform(X).toarray().round(3).tolist()
    [[0.0, -1.225], [0.0, 1.225], [1.732, 0.0]]
    """

    def fit(self, X: ArrayLike, y: ArrayLike | None = None) -> Self:
        """Learn the scales.

        Parameters
        ----------
        X
            Rows (n, d), sparse or not.
        y
            Not used.
        """
        table = checked(self, X, reset=True)
        n, d = table.shape
        count, square = entries(table)
        self.is_full_ = is_full = count >= FULL * n
        self.mean_, self.scale_ = np.zeros(d), np.ones(d)
        if is_full.any():
            full = table[:, np.flatnonzero(is_full)]
            full = full.toarray() if issparse(full) else full
            mean, scale = full.mean(axis=0), full.std(axis=0)
            self.mean_[is_full] = mean
            self.scale_[is_full] = np.where(scale > 1e-12 * np.abs(mean), scale, 1.0)
        there = ~is_full & (square > 0)
        if there.any():
            size = np.sqrt(square[there] / count[there])
            usual = np.median(size)
            scale = size / np.clip(size, usual / RANGE, usual * RANGE)
            length = np.sqrt((square[there] / scale**2).sum() / n)
            self.scale_[there] = scale * length
        return self

    def transform(self, X: ArrayLike) -> Any:
        """Scale rows; sparse ones stay sparse.

        Parameters
        ----------
        X
            Rows (n, d).
        """
        check_is_fitted(self)
        return scaled(checked(self, X, reset=False), self.mean_, self.scale_)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags


def scaled(X: Any, mean: Floats, scale: Floats) -> Any:
    """(x - mean) / scale, (n, d); sparse if X is, though columns with a mean are filled then.

    Examples
    --------
    >>> scaled(csr_matrix([[0.0, 4.0]]), np.array([0.0, 2.0]), np.array([1.0, 4.0])).toarray()
    array([[0. , 0.5]])
    """
    if not issparse(X):
        return (X - mean) / scale
    found = csr_matrix(X.multiply(1 / scale[None, :]))
    shifted = np.flatnonzero(mean)
    if len(shifted):
        n, width = X.shape[0], len(shifted)
        shift = np.tile((mean / scale)[shifted], n), np.tile(shifted, n)
        found = found - csr_matrix((*shift, np.arange(n + 1) * width), shape=X.shape)
    return found


def checked(transformer: Any, X: ArrayLike, *, reset: bool) -> Any:
    """Rows of numbers in double precision, a matrix in CSR form or an array."""
    table = validate_data(transformer, X, reset=reset, accept_sparse="csr", dtype=np.float64)
    return csr_matrix(table) if issparse(table) else table


def entries(X: Any) -> tuple[NDArray[np.intp], Floats]:
    """How many numbers other than 0 each column has, and the sum of their squares, (d,) each.

    Examples
    --------
    >>> [found.tolist() for found in entries(csr_matrix([[1.0, 0.0], [2.0, 3.0]]))]
    [[2, 1], [5.0, 9.0]]
    """
    if not issparse(X):
        return np.count_nonzero(X, axis=0), np.einsum("ij,ij->j", X, X)
    return X.getnnz(axis=0), np.asarray(X.multiply(X).sum(axis=0)).ravel()
