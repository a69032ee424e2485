"""Functions of the columns of a table that linear rankers are linear in."""

from collections.abc import Callable, Mapping
from typing import Any, Final, NamedTuple, TypeAlias

import numpy as np
import torch
from numpy.typing import NDArray

from robustpu.fleet.devices import threads_for

Floats: TypeAlias = NDArray[np.float64]
Singles: TypeAlias = NDArray[np.float32]
Fitted: TypeAlias = dict[str, Floats]
Scorer: TypeAlias = Callable[[Floats], Floats]

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
# Eigenvalues of a kernel below it are rounding.
SMALL = 1e-5


def standardized(X: Floats, mean: Floats, scale: Floats) -> Floats:
    """(x - mean) / scale, at most 5 away from 0, shape (n, d)."""
    return np.clip((X - mean) / scale, -FAR, FAR)


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


def hinges_scorer(fitted: Fitted, coef: Floats) -> Scorer:
    """Z -> ``hinges(Z) @ coef``, (n,), without the features in memory.

    Examples
    --------
    >>> Z, coef = np.arange(12.0)[:, None], np.arange(6.0)
    >>> fitted = fit_hinges(Z, np.random.RandomState(0))
    >>> float(np.abs(hinges_scorer(fitted, coef)(Z) - hinges(Z, fitted) @ coef).max())
    0.0
    """
    columns, knots = fitted["columns"].astype(np.intp), fitted["knots"]
    width = len(coef) - knots.size
    slopes = coef[width:].reshape(knots.shape)

    def score(Z: Floats) -> Floats:
        part = Z[:, columns]
        total: Floats = Z @ coef[:width]
        for knot, slope in zip(knots.T, slopes.T, strict=True):
            total += np.maximum(part - knot, 0.0) @ slope
        return total

    return score


def fit_laplacian(Z: Floats, random: np.random.RandomState) -> Fitted:
    """Draw landmarks."""
    return {"landmarks": Z[random.choice(len(Z), min(LANDMARKS, len(Z)), replace=False)]}


class CityBlock:
    """Z -> sum over the columns of |z - landmark|, (n, m), prepared for many blocks of rows.

    In single precision, in which it and the exponential function after it are far quicker. Flags
    and the like take a product of matrices. If a column of the landmarks has the values a_1 < a_2
    < ..., then for any z |z - landmark| = |z - a_1| + sum of |z - a_s| - |z - a_{s-1}| over 1 < s,
    a_s <= landmark.

    Parameters
    ----------
    landmarks
        Standardised rows, (m, d).

    Examples
    --------
    >>> CityBlock(np.array([[0.0, 0.0], [1.0, 7.0]]))(np.array([[0.5, 2.0]])).tolist()
    [[2.5, 5.5]]
    """

    def __init__(self, landmarks: Floats):
        ordered = np.sort(landmarks, axis=0)
        rises = np.diff(ordered, axis=0) > 0
        has_few = rises.sum(axis=0) <= FEW_STEPS
        self._many = np.flatnonzero(~has_few)
        self._landmarks = torch.from_numpy(landmarks[:, self._many].astype(np.float32))
        self._few, self._lowest = np.flatnonzero(has_few), ordered[0, has_few]
        place, self._stepped = np.nonzero(rises & has_few)
        low, high = ordered[place, self._stepped], ordered[place + 1, self._stepped]
        self._ends, self._gap = low + high, high - low
        is_above = landmarks[:, self._stepped] >= high
        self._is_above = np.ascontiguousarray(is_above.T, dtype=np.float32)

    def __call__(self, Z: Floats) -> Singles:
        distance: Singles = np.zeros((len(Z), len(self._landmarks)), np.float32)
        if len(self._many):
            part = torch.from_numpy(Z[:, self._many].astype(np.float32))
            # Processes that are forked would wait forever for the threads of torch.
            with threads_for(0):
                distance = torch.cdist(part, self._landmarks, p=1).numpy()
        if len(self._few):
            distance += np.abs(Z[:, self._few] - self._lowest).sum(axis=1)[:, None]
            # |z - high| - |z - low|
            change = np.clip(self._ends - 2 * Z[:, self._stepped], -self._gap, self._gap)
            distance += change.astype(np.float32) @ self._is_above
        return distance


def laplacian(Z: Floats, fitted: Fitted) -> Singles:
    """exp(-|z - landmark| / (2 d)): the Laplacian kernel, (n, m)."""
    return _kernel(CityBlock(fitted["landmarks"])(Z), Z.shape[1])


def laplacian_scorer(fitted: Fitted, coef: Floats) -> Scorer:
    """Z -> ``laplacian(Z) @ coef``, (n,)."""
    distances = CityBlock(fitted["landmarks"])

    def score(Z: Floats) -> Floats:
        total: Floats = _kernel(distances(Z), Z.shape[1]) @ coef
        return total

    return score


def _kernel(distance: Singles, n_columns: int) -> Singles:
    kernel: Singles = np.exp(np.float32(-WIDTH / n_columns) * distance)
    return kernel


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
    """What is learned from standardised rows, the features of rows, and what scores rows."""

    fit: Callable[[Floats, np.random.RandomState], Fitted]
    features: Callable[[Floats, Fitted], Any]
    scorer: Callable[[Fitted, Floats], Scorer]


BASES: Final[Mapping[str, Basis]] = {
    "hinges": Basis(fit_hinges, hinges, hinges_scorer),
    "laplacian": Basis(fit_laplacian, laplacian, laplacian_scorer),
}
