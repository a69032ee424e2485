"""Functions of the columns of a table that linear rankers are linear in."""

from collections.abc import Callable, Mapping
from typing import Final, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.distance import cdist

Floats: TypeAlias = NDArray[np.float64]
Fitted: TypeAlias = dict[str, Floats]

# Standardised numbers end here.
FAR = 5.0
# Quantiles at which a hinge begins.
KNOTS = (0.1, 0.25, 0.5, 0.75, 0.9)
# A column of fewer values has no hinges.
FEW_VALUES = 10
# Columns and hinges at most: time grows with the cube.
MOST_FEATURES = 1_500
# Rows that the Laplacian kernel compares with, and its width divided by the number of columns.
LANDMARKS, WIDTH = 200, 0.5
# Columns that rise so often among the landmarks have distances by a product of matrices.
FEW_STEPS = 4
# Quantiles and numbers of values are those of this many rows.
MOST_ROWS = 20_000
TINY = 1e-12
# Eigenvalues of a kernel below it are rounding.
SMALL = 1e-5


def standardized(X: Floats, mean: Floats, scale: Floats) -> Floats:
    """(x - mean) / scale, at most 5 away from 0, shape (n, d)."""
    return np.clip((X - mean) / scale, -FAR, FAR)


def scale_of(X: Floats) -> tuple[Floats, Floats]:
    """Mean and deviation of each column, (d,); constant columns have the deviation 1.

    Examples
    --------
    >>> scale_of(np.array([[1.0, 5.0], [3.0, 5.0]]))
    (array([2., 5.]), array([1., 1.]))
    """
    mean, scale = X.mean(axis=0), X.std(axis=0)
    return mean, np.where(scale > TINY * np.abs(mean), scale, 1.0)


def has_many_values(X: Floats) -> NDArray[np.bool_]:
    """Which columns have more than ten values, (d,).

    Examples
    --------
    >>> has_many_values(np.column_stack([np.arange(20.0), np.arange(20) % 2]))
    array([ True, False])
    """
    return np.array([len(np.unique(column)) > FEW_VALUES for column in X.T], dtype=np.bool_)


def fit_hinges(Z: Floats, random: np.random.RandomState) -> Fitted:
    """Learn where the hinges max(0, z - knot) begin, of columns with many values, or of some."""
    few = len(Z) <= MOST_ROWS
    sample = Z if few else Z[random.choice(len(Z), MOST_ROWS, replace=False)]
    columns = np.flatnonzero(has_many_values(sample))
    most = max(0, MOST_FEATURES - Z.shape[1]) // len(KNOTS)
    if len(columns) > most:
        columns = np.sort(random.choice(columns, most, replace=False))
    knots = np.quantile(sample[:, columns], KNOTS, axis=0).T
    return {"columns": columns.astype(np.float64), "knots": knots.reshape(len(columns), len(KNOTS))}


def hinges(Z: Floats, fitted: Fitted) -> Floats:
    """Columns, and max(0, z - knot) of those with many values, (n, d + 5 m)."""
    part = Z[:, fitted["columns"].astype(np.intp), None]
    return np.hstack([Z, np.maximum(part - fitted["knots"], 0.0).reshape(len(Z), -1)])


def hinges_times(Z: Floats, fitted: Fitted, coef: Floats) -> Floats:
    """``hinges(Z) @ coef`` without the features in memory, (n,).

    Examples
    --------
    >>> Z, coef = np.arange(12.0)[:, None], np.arange(6.0)
    >>> fitted = fit_hinges(Z, np.random.RandomState(0))
    >>> float(np.abs(hinges_times(Z, fitted, coef) - hinges(Z, fitted) @ coef).max())
    0.0
    """
    width = Z.shape[1]
    part = Z[:, fitted["columns"].astype(np.intp)]
    total: Floats = Z @ coef[:width]
    slopes = coef[width:].reshape(fitted["knots"].shape)
    for knot, slope in zip(fitted["knots"].T, slopes.T, strict=True):
        total += np.maximum(part - knot, 0.0) @ slope
    return total


def fit_laplacian(Z: Floats, random: np.random.RandomState) -> Fitted:
    """Draw landmarks."""
    return {"landmarks": Z[random.choice(len(Z), min(LANDMARKS, len(Z)), replace=False)]}


def cityblock(Z: Floats, landmarks: Floats) -> Floats:
    """Sum over the columns of |z - landmark|, (n, m); flags and the like by a product of matrices.

    If a column of the landmarks has the values a_1 < a_2 < ..., then for any z
    |z - landmark| = |z - a_1| + sum of |z - a_s| - |z - a_{s-1}| over 1 < s, a_s <= landmark.

    Examples
    --------
    >>> cityblock(np.array([[0.3, 2.0]]), np.array([[0.0, 0.0], [1.0, 7.0]]))
    array([[2.3, 5.7]])
    """
    ordered = np.sort(landmarks, axis=0)
    rises = np.diff(ordered, axis=0) > 0
    has_few = rises.sum(axis=0) <= FEW_STEPS
    distance: Floats = np.zeros((len(Z), len(landmarks)))
    if not has_few.all():
        many = np.flatnonzero(~has_few)
        distance = cdist(Z[:, many], landmarks[:, many], "cityblock")
    if has_few.any():
        first = np.abs(Z[:, has_few] - ordered[0, has_few]).sum(axis=1)
        step, column = np.nonzero(rises & has_few)
        low, high, part = ordered[step, column], ordered[step + 1, column], Z[:, column]
        change = np.abs(part - high) - np.abs(part - low)
        distance += first[:, None] + change @ (landmarks[:, column] >= high).T.astype(np.float64)
    return distance


def laplacian(Z: Floats, fitted: Fitted) -> Floats:
    """exp(-|z - landmark| / (2 d)): the Laplacian kernel, (n, m)."""
    distance = cityblock(Z, fitted["landmarks"])
    # Single precision, in which the exponential function is twenty times as fast.
    kernel: Floats = np.exp(np.float32(-WIDTH / Z.shape[1]) * distance.astype(np.float32))
    return kernel


def laplacian_times(Z: Floats, fitted: Fitted, coef: Floats) -> Floats:
    """``laplacian(Z) @ coef``, (n,)."""
    total: Floats = laplacian(Z, fitted) @ coef
    return total


def whitening(fitted: Fitted) -> Floats | None:
    """Nystroem's map: K(landmarks, landmarks)^-1/2, (m, r); None for a basis without landmarks."""
    if "landmarks" not in fitted:
        return None
    values, vectors = np.linalg.eigh(laplacian(fitted["landmarks"], fitted).astype(np.float64))
    # Copies of a row have no direction of their own.
    counts = values > SMALL
    found: Floats = vectors[:, counts] / np.sqrt(values[counts])
    return found


class Basis(NamedTuple):
    """What is learned from standardised rows, the features of rows, and their scores."""

    fit: Callable[[Floats, np.random.RandomState], Fitted]
    features: Callable[[Floats, Fitted], Floats]
    times: Callable[[Floats, Fitted, Floats], Floats]


BASES: Final[Mapping[str, Basis]] = {
    "hinges": Basis(fit_hinges, hinges, hinges_times),
    "laplacian": Basis(fit_laplacian, laplacian, laplacian_times),
}


def blocks(n_rows: int, width: int, most: int = 1 << 22) -> list[slice]:
    """Slices of rows whose features are ``most`` numbers at most.

    Examples
    --------
    >>> blocks(5, 2, most=4)
    [slice(0, 2, None), slice(2, 4, None), slice(4, 6, None)]
    """
    step = max(1, most // max(1, width))
    return [slice(start, start + step) for start in range(0, n_rows, step)]
