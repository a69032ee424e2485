"""Many columns in a few numbers, for learners that need a dense table."""

from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import issparse
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.decomposition import TruncatedSVD
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted

from robustpu.sparse.scaler import SparseScaler, checked, entries, scaled

# Rows with more columns are projected, and those of more numbers: 1 GB in double precision.
WIDE, MOST_NUMBERS = 1_000, 1 << 27
# Columns that are taken as they are, directions of all, and columns that these are made of.
KEPT, DIRECTIONS, VOCABULARY = 200, 100, 1 << 15
# Rows, and numbers of rows that are not sparse, that directions are learned from.
ROWS, NUMBERS = 20_000, 1 << 25
# Rows that there must be for each direction.
ROWS_EACH = 5


class RowProjection(TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """[z of the fullest columns, z V]: z = scaled columns, V = strongest directions of all.

    z is that of :class:`robustpu.sparse.scaler.SparseScaler`, V of a truncated singular value
    decomposition. The result is dense, in single precision.

    Attributes
    ----------
    columns_
        The columns that are used, ascending, (m,).
    mean_, scale_
        Theirs, (m,).
    kept_
        Which of these are taken as they are, by place, (k,).
    components_
        V, (directions, m).
    """

    def fit(self, X: ArrayLike, y: ArrayLike | None = None) -> Self:
        """Learn scales and directions, from a draw if rows are very many.

        Parameters
        ----------
        X
            Rows (n, d), sparse or not.
        y
            Not used.
        """
        table = checked(self, X, reset=True)
        n, d = table.shape
        most = ROWS if issparse(table) else max(ROWS_EACH * DIRECTIONS, min(ROWS, NUMBERS // d))
        if n > most:
            table = table[np.random.default_rng(0).choice(n, most, replace=False)]
        scaler = SparseScaler().fit(table)
        Z = scaled(table, scaler.mean_, scaler.scale_)
        count, energy = entries(Z)
        # A column with one entry goes along with no other.
        energy[count < 2] = 0.0
        used = np.sort(np.argsort(-energy, kind="stable")[:VOCABULARY])
        self.columns_ = used[energy[used] > 0] if energy.any() else used[:1]
        self.mean_, self.scale_ = scaler.mean_[self.columns_], scaler.scale_[self.columns_]
        full = np.flatnonzero(scaler.is_full_[self.columns_])
        self.kept_ = full if len(full) <= KEPT else full[:0]
        some = Z[:, self.columns_]
        k = max(1, min(DIRECTIONS, len(self.columns_) - 1, some.shape[0] // ROWS_EACH))
        with np.errstate(invalid="ignore", divide="ignore"):
            found = TruncatedSVD(k, random_state=0).fit(some)
        self.components_ = found.components_.astype(np.float32)
        return self

    def transform(self, X: ArrayLike) -> NDArray[np.float32]:
        """Project rows, (n, k + directions).

        Parameters
        ----------
        X
            Rows (n, d), sparse or not.
        """
        check_is_fitted(self)
        table = checked(self, X, reset=False)[:, self.columns_]
        Z = scaled(table, self.mean_, self.scale_)
        kept = Z[:, self.kept_]
        kept = kept.toarray() if issparse(kept) else kept
        return np.hstack([kept, Z @ self.components_.T], dtype=np.float32)

    @property
    def width(self) -> int:
        """Number of columns that it makes."""
        return len(self.kept_) + len(self.components_)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags


def projection_of(X: Any) -> RowProjection | None:
    """What makes a bounded table of sparse rows; None if they may become dense as they are.

    Parameters
    ----------
    X
        Rows (n, d) in CSR form.
    """
    return RowProjection().fit(X) if is_wide(X) else None


def is_wide(X: Any) -> bool:
    """Whether rows have more than 1,000 columns, or 1 GB of numbers.

    Examples
    --------
    >>> from scipy.sparse import csr_matrix
    >>> is_wide(csr_matrix((10, 1_000))), is_wide(csr_matrix((10, 1_001)))
    (False, True)
    """
    n, d = X.shape
    return bool(d > WIDE or (d > DIRECTIONS and n * d > MOST_NUMBERS))


def dense(X: Any, projection: RowProjection | None) -> NDArray[Any]:
    """Rows (n, m), projected or as they are.

    Parameters
    ----------
    X
        Rows (n, d), sparse or not.
    projection
        Of the fit.

    Examples
    --------
    >>> from scipy.sparse import csr_matrix
    >>> dense(csr_matrix([[0, 2]]), None).tolist()
    [[0, 2]]
    """
    if projection is not None:
        return projection.transform(X)
    found: NDArray[Any] = X.toarray() if issparse(X) else X
    return found
