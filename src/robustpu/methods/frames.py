"""DataFrames as they are: text, categories, dates and gaps become numbers inside a classifier."""

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import _check_feature_names, _check_n_features

from robustpu.sparse.rows import has_sparse_type

if TYPE_CHECKING:
    from robustpu.tables import Vectorizer


def is_frame(X: Any) -> bool:
    """Whether rows come with named columns, as in a DataFrame of pandas or polars.

    Examples
    --------
    >>> import pandas as pd
    >>> is_frame(pd.DataFrame({"a": [1]})), is_frame(np.zeros((2, 2)))
    (True, False)
    """
    return hasattr(X, "columns") and hasattr(X, "dtypes")


def needs_vectorizer(X: Any) -> bool:
    """Whether a table has columns that are no numbers, or missing values.

    Examples
    --------
    >>> import pandas as pd
    >>> needs_vectorizer(pd.DataFrame({"a": ["x"]})), needs_vectorizer(np.array([[np.nan], [1.0]]))
    (True, True)
    >>> needs_vectorizer(pd.DataFrame({"a": [1, 2]})), needs_vectorizer(np.ones((2, 2)))
    (False, False)
    """
    if is_frame(X):
        # Of sparse columns, the entries and what fills the rest.
        columns = (getattr(X[name], "array", X[name]) for name in X.columns)
        return any(not _is_full(_entries(column)) for column in columns)
    is_floats = isinstance(X, np.ndarray) and X.ndim == 2 and X.dtype.kind == "f"
    return is_floats and not _is_full(X)


def _entries(column: Any) -> NDArray[Any]:
    if hasattr(column, "sp_values"):
        return np.append(column.sp_values, column.fill_value)
    return np.asarray(column)


def _is_full(values: Any) -> bool:
    """Whether an array holds numbers, none of them missing."""
    return values.dtype.kind in "biu" or (values.dtype.kind == "f" and not np.isnan(values).any())


def refuse_text(X: Any) -> None:
    """Refuse an array with text, of which nothing tells what its columns are.

    Examples
    --------
    >>> refuse_text(np.array([["1", "2"]], dtype=object))
    """
    if not isinstance(X, np.ndarray) or X.dtype.kind not in "OUS":
        return
    try:
        X.astype(np.float64)
    except ValueError as error:
        raise ValueError(
            "X is an array with text. Give a DataFrame: its columns of text, categories and dates "
            "become numbers. Or turn them into numbers first."
        ) from error


def fit_vectorizer(estimator: Any, X: Any) -> tuple["Vectorizer", NDArray[np.float32]]:
    """Learn what becomes of each column, and turn the rows into numbers, (n, features).

    Names and number of the columns are noted on the estimator.
    """
    # pyarrow is an extra.
    try:
        from robustpu.tables import Tally, Vectorizer
    except ImportError as error:
        raise ImportError(
            "columns of text, categories or dates, and missing values, need pyarrow: "
            "pip install 'robustpu[tables]'. Or give numbers without gaps."
        ) from error

    _check_feature_names(estimator, X, reset=True)
    _check_n_features(estimator, X, reset=True)
    columns = columns_of(X)
    # Columns of an array are numbers, however few values they have.
    kinds: Any = None if is_frame(X) else dict.fromkeys(columns, "number")
    vectorizer = Vectorizer(kinds=kinds).fit(columns)
    # Odd cells are in the notes of their columns.
    return vectorizer, vectorizer.encode(columns, tally=Tally())


def columns_of(X: Any, names: Any = None) -> Any:
    """A frame as it is, and an array as columns of these names, or x0, x1...

    Sparse columns beside text or gaps become dense.

    Examples
    --------
    >>> columns_of(np.array([[1.0, 2.0]]))
    {'x0': array([1.]), 'x1': array([2.])}
    """
    if is_frame(X):
        sparse = {
            name: kind.subtype
            for name, kind in zip(X.columns, X.dtypes, strict=True)
            if has_sparse_type(kind)
        }
        return X.astype(sparse) if sparse else X
    columns = np.asarray(X).T
    titles = [f"x{place}" for place in range(len(columns))] if names is None else names
    return dict(zip(titles, columns, strict=True))
