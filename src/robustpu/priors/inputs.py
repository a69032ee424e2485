"""Scores and tables as the estimators of the prior take them."""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from robustpu.validation.numbers import check_number

Floats = NDArray[np.float64]


def check_scores(positive: ArrayLike, unlabeled: ArrayLike) -> tuple[Floats, Floats]:
    """Both as float arrays of shape (n,), if they are finite scores; else a ValueError.

    Examples
    --------
    >>> len(check_scores([1, 2], [3])[0])
    2
    """
    checked = []
    for name, values in (("positive", positive), ("unlabeled", unlabeled)):
        scores = np.asarray(values, dtype=np.float64)
        if scores.ndim != 1:
            raise ValueError(
                f"{name} must be scores, shape (rows,); its shape is {scores.shape}. This "
                "estimate does not read tables: score the rows first, out of fold, with a "
                "classifier of labelled against unlabelled rows."
            )
        checked.append(check_rows(name, scores))
    return checked[0], checked[1]


def check_rows(name: str, values: Floats) -> Floats:
    """The values themselves, if there are some and all are finite.

    Examples
    --------
    >>> check_rows("unlabeled", np.array([]))
    Traceback (most recent call last):
    ValueError: unlabeled must have at least one row; its shape is (0,).
    """
    if values.size == 0:
        raise ValueError(f"{name} must have at least one row; its shape is {values.shape}.")
    if not np.isfinite(values).all():
        bad = int((~np.isfinite(values)).sum())
        raise ValueError(
            f"{name} must be finite; {bad} of its {values.size} values are NaN or infinite. "
            "Impute or drop them first."
        )
    return values


def check_tables(positive: ArrayLike, unlabeled: ArrayLike) -> tuple[Floats, Floats]:
    """Both as float arrays of shape (rows, columns), if they are finite tables; else a ValueError.

    Examples
    --------
    >>> check_tables([1, 2], [3])[0].shape[1]
    1
    """
    tables = []
    for name, values in (("positive", positive), ("unlabeled", unlabeled)):
        table = np.asarray(values, dtype=np.float64)
        if table.ndim not in (1, 2):
            raise ValueError(
                f"{name} must be a table, shape (rows, columns), or scores, shape (rows,); its "
                f"shape is {table.shape}. Flatten it, or score the rows first."
            )
        tables.append(check_rows(name, table if table.ndim == 2 else table[:, None]))
    if tables[0].shape[1] != tables[1].shape[1]:
        raise ValueError(
            f"positive and unlabeled must have the same columns; they have {tables[0].shape[1]} "
            f"and {tables[1].shape[1]}."
        )
    return tables[0], tables[1]


def standardised(positive: Floats, unlabeled: Floats) -> tuple[Floats, Floats]:
    """Columns less their mean over both tables, by their deviation; constant columns become 0.

    Examples
    --------
    >>> standardised(np.array([[3.0, 7.0]]), np.array([[1.0, 7.0]]))[0].tolist()
    [[1.0, 0.0]]
    """
    rows = np.concatenate([positive, unlabeled])
    mean, deviation = rows.mean(0), rows.std(0)
    # Rounding alone leaves a deviation of some 1e-16 of the mean.
    varies = deviation > 1e-12 * np.abs(mean)
    scale = np.where(varies, deviation, 1.0)
    return (
        np.where(varies, (positive - mean) / scale, 0.0),
        np.where(varies, (unlabeled - mean) / scale, 0.0),
    )


def subsample(table: Floats, max_rows: int, rng: np.random.Generator) -> Floats:
    """At most ``max_rows`` rows, drawn without replacement.

    Examples
    --------
    >>> len(subsample(np.zeros((5, 2)), 3, np.random.default_rng(0)))
    3
    """
    check_number("max_rows", max_rows, least=2, whole=True)
    if len(table) <= max_rows:
        return table
    return table[rng.choice(len(table), max_rows, replace=False)]


def median_distance(squared: Floats) -> float:
    """Median of the distances other than 0, or 1 if there are none.

    Examples
    --------
    >>> median_distance(np.array([[0.0, 4.0], [4.0, 0.0]]))
    2.0
    """
    apart = squared[squared > 0]
    return float(np.sqrt(float(np.median(apart)))) if apart.size else 1.0
