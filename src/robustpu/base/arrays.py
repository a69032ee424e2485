"""Checks of rows of numbers: tables, sparse ones, images, and mapped files that are never held."""

from collections import Counter
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import issparse
from sklearn.utils import check_array, check_X_y
from sklearn.utils.validation import _num_samples, validate_data

from robustpu import labels
from robustpu.modules.rows import extremes, is_mapped
from robustpu.sparse.projection import dense, projection_of
from robustpu.sparse.rows import as_csr, is_sparse
from robustpu.training.data import TrainingData
from robustpu.validation.frames import naming_text

# Many learners hold numbers in single precision, others square them.
LARGEST = float(np.finfo(np.float32).max)
LEAST = 1e-150


def check_training_data(
    estimator: Any,
    X: ArrayLike,
    y: ArrayLike,
    sample_weight: ArrayLike | None,
    eval_set: tuple[ArrayLike, ArrayLike] | None,
    keeps_sparse: Callable[[Any], bool] | None = None,
) -> TrainingData:
    """Check what a fit on numbers was given; sets ``input_shape_`` and what scikit-learn sets."""
    labels.refuse_missing(y)
    how = {"multi_output": False, "keeps_sparse": keeps_sparse, **_how(X)}
    table, y = check_rows(estimator, X, y, **how)
    is_positive = estimator.encode_labels(y)
    estimator.input_shape_ = table.shape[1:]
    weight = estimator.check_weight(sample_weight, is_positive)
    truth = estimator.check_truth(eval_set)
    rows = None if eval_set is None else check_table(estimator, eval_set[0])
    return TrainingData(table, is_positive, weight, rows, truth)


def check_table(estimator: Any, X: ArrayLike) -> NDArray[Any]:
    """Check rows to be scored against those of the fit, ``input_shape_``."""
    table: NDArray[Any] = check_rows(estimator, X, reset=False, **_how(X))
    if table.shape[1:] != estimator.input_shape_:
        raise ValueError(
            f"X has rows of shape {table.shape[1:]}, but {type(estimator).__name__} was fitted on "
            f"rows of shape {estimator.input_shape_}."
        )
    return table


def check_rows(
    estimator: Any,
    X: ArrayLike,
    *y: ArrayLike,
    reset: bool = True,
    keeps_sparse: Callable[[Any], bool] | None = None,
    **how: Any,
) -> Any:
    """What ``validate_data`` of scikit-learn returns, with clear errors for dates and names.

    Sparse rows become dense, or a projection of them if they are wide, see :func:`bounded`.
    ``keeps_sparse`` says of those of a fit whether they stay as they are, as ``is_sparse_`` notes.
    """
    refuse_repeated_names(X)
    refuse_dates(X)
    # It adds up all numbers to see them finite: 1e308 and -1e308 are, and their sums are not.
    with np.errstate(over="ignore", invalid="ignore"):
        if not is_sparse(X):
            with naming_text(X):
                found = validate_data(estimator, X, *y, reset=reset, **how)
                # Categories of a frame are left as they are.
                if how.get("dtype") == "numeric":
                    found = (_numbers(found[0]), *found[1:]) if y else _numbers(found)
            return found if reset else bounded(estimator, found, reset=False)
        given = as_csr(X, *map(_num_samples, y))
        # Names and number of the columns.
        validate_data(estimator, X, reset=reset, skip_check_array=True)
        how = {**how, "accept_sparse": "csr", "estimator": estimator}
        if y:
            rows, labelled = check_X_y(given, *y, **how)
        else:
            rows = check_array(given, input_name="X", **how)
    if reset and keeps_sparse is not None and keeps_sparse(rows):
        estimator.is_sparse_ = True
    table = bounded(estimator, rows, reset=reset, dtype=how["dtype"])
    return (table, labelled) if y else table


def _numbers(table: NDArray[Any]) -> NDArray[Any]:
    return table.astype(np.float64) if table.dtype.kind == "O" else table


def bounded(estimator: Any, X: Any, *, reset: bool, dtype: Any = "numeric") -> Any:
    """Rows as those of the fit: sparse ones stay so, are projected, or become dense.

    Parameters
    ----------
    estimator
        Whose ``is_sparse_`` says that rows stay sparse, and whose ``projection_`` that they are
        projected; without either they become dense.
    X
        Rows (n, d).
    reset
        Whether these are the rows of a fit; wide ones are given a projection then.
    dtype
        Of what becomes dense; "numeric" leaves the type.
    """
    if getattr(estimator, "is_sparse_", False):
        return X
    if reset and (found := projection_of(X)) is not None:
        estimator.projection_ = found
    table = dense(X, getattr(estimator, "projection_", None))
    return table if dtype == "numeric" else table.astype(dtype, copy=False)


def refuse_repeated_names(X: Any) -> None:
    """Refuse a frame with two columns of one name.

    Examples
    --------
    >>> import pandas as pd
    >>> refuse_repeated_names(pd.DataFrame([[1, 2]], columns=["a", "a"]))
    Traceback (most recent call last):
    ValueError: X has 2 columns named 'a': rename them, or leave all but one out.
    """
    if not hasattr(X, "columns"):
        return
    name, count = max(Counter(X.columns).items(), key=lambda item: item[1], default=("", 0))
    if count > 1:
        raise ValueError(
            f"X has {count} columns named {name!r}: rename them, or leave all but one out."
        )


def refuse_dates(X: Any) -> None:
    """Refuse dates and durations, which are no numbers.

    Examples
    --------
    >>> refuse_dates(np.array([["2024-01-31"]], dtype="datetime64[D]"))
    Traceback (most recent call last):
    ValueError: X holds dates or durations, expected numbers: convert them, ...
    """
    kinds = getattr(X, "dtypes", None)
    if hasattr(X, "columns") and kinds is not None:
        named = zip(X.columns, kinds, strict=True)
        what = next((f"column {name!r} of X" for name, kind in named if _is_time(kind)), None)
    else:
        what = "X" if _is_time(getattr(X, "dtype", None)) else None
    if what is not None:
        raise ValueError(
            f"{what} holds dates or durations, expected numbers: convert them, as to days since a "
            "date, or give the table to robustpu.tables.Vectorizer first."
        )


def refuse_huge(X: Any) -> None:
    """Refuse numbers that single precision cannot hold; infinity is for the learner to refuse.

    And tables of nothing but numbers whose squares are 0: learners cannot scale them, or never end.

    Examples
    --------
    >>> refuse_huge([[1e200]])
    Traceback (most recent call last):
    ValueError: X holds numbers beyond 3.4e+38, such as 1e+200: scale the columns, or ...
    """
    if hasattr(X, "select_dtypes"):
        X = X.select_dtypes(np.floating).to_numpy(dtype=np.float64, na_value=np.nan)
    try:
        table = np.asarray(X.tocoo().data if issparse(X) else X)
    except ValueError:
        # Rows of several lengths, which some learners read.
        return
    if table.dtype.kind == "f" and table.dtype.itemsize > 4:
        huge = np.isfinite(table) & (np.abs(table) > LARGEST)
        if huge.any():
            raise ValueError(
                f"X holds numbers beyond {LARGEST:.2g}, such as {table[huge][0]:.3g}: scale the "
                "columns, or take their logarithms."
            )
        most = np.max(np.abs(table), initial=0.0, where=np.isfinite(table))
        if 0 < most < LEAST:
            raise ValueError(f"X holds no number beyond {most:.2g}: scale the columns.")


def _is_time(kind: Any) -> bool:
    if hasattr(kind, "is_temporal"):
        return bool(kind.is_temporal())
    return getattr(kind, "kind", "") in ("m", "M")


def check_images(mirror: bool, input_shape: tuple[int, ...]) -> None:
    """Refuse to mirror what is no image."""
    if mirror and len(input_shape) != 3:
        raise ValueError(
            "mirror=True is for images, one row a (channels, height, width) array; a row here has "
            f"the shape {input_shape}."
        )


def edges_of(estimator: Any, X: NDArray[Any]) -> NDArray[Any] | None:
    """Least and largest rows of a mapped table, if all numbers are finite; None of others."""
    if not is_mapped(X):
        return None
    return check_array(  # type: ignore[no-any-return]
        extremes(X), allow_nd=True, ensure_2d=False, estimator=estimator, input_name="X"
    )


def _how(X: Any) -> dict[str, Any]:
    """How scikit-learn checks rows; of a mapped file it would make copies to see it finite."""
    return {"dtype": "numeric", "allow_nd": True, "ensure_all_finite": not is_mapped(X)}
