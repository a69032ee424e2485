"""Pearson-divergence estimate PE of the class prior (du Plessis and Sugiyama, 2014)."""

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.spatial.distance import cdist

from robustpu.priors.inputs import check_tables, median_distance, standardised, subsample

Floats = NDArray[np.float64]

CENTRES = 200
FOLDS = 5
# Kernel widths, in units of the median distance, and ridges that are tried.
WIDTHS = np.linspace(0.2, 5, 10)
RIDGES = np.logspace(-3, 1, 9)


def pearson(
    positive: ArrayLike, unlabeled: ArrayLike, *, max_rows: int = 2000, random_state: int = 0
) -> float:
    """1 / (2 a'h - a'Ha), a = (H + ridge I)^-1 h: the share at which p_P comes nearest to p_U.

    Gaussian kernels phi at (at most 200) positives; h is the mean of phi over P and H the mean of
    phi phi' over U, so that a'phi is the density ratio p_P / p_U. Width and ridge are those of the
    least squared error of the ratio in cross-validation. Where the classes overlap the estimate is
    too high: the match is of the whole densities, negatives included.

    Parameters
    ----------
    positive, unlabeled
        Tables, shape (rows, columns), which are standardised together; or scores, shape (rows,).
    max_rows
        Rows of each that are used at most, drawn without replacement.
    random_state
        Decides which rows these are, which are centres, and the folds.

    Returns
    -------
    float
        The prior, in [0, 1].

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> P, N = rng.normal(2, 1, (520, 2)), rng.normal(-2, 1, (280, 2))
    >>> round(pearson(P[:400], np.concatenate([P[400:], N])), 1)
    0.3
    """
    rng = np.random.default_rng(random_state)
    tables = standardised(*check_tables(positive, unlabeled))
    positive, unlabeled = (subsample(table, max_rows, rng) for table in tables)
    centres = subsample(positive, CENTRES, rng)
    squared_positive = cdist(positive, centres, "sqeuclidean")
    squared_unlabeled = cdist(unlabeled, centres, "sqeuclidean")
    middle = median_distance(np.concatenate([squared_positive, squared_unlabeled]))
    folds = min(FOLDS, len(positive), len(unlabeled))
    fold_positive, fold_unlabeled = (
        rng.permutation(np.arange(len(table)) % folds) for table in (positive, unlabeled)
    )
    lowest, estimate = np.inf, 1.0
    for width in middle * WIDTHS:
        phi_positive = np.exp(squared_positive / (-2 * width**2))
        phi_unlabeled = np.exp(squared_unlabeled / (-2 * width**2))
        error = _errors(phi_positive, phi_unlabeled, fold_positive, fold_unlabeled, folds)
        best = int(np.argmin(error))
        if error[best] < lowest:
            lowest = error[best]
            h = phi_positive.mean(0)
            H = phi_unlabeled.T @ phi_unlabeled / len(unlabeled)
            estimate = matched_share(h, H, RIDGES[best])
    return estimate


def matched_share(h: Floats, H: Floats, ridge: float) -> float:
    """1 / (2 a'h - a'Ha) with a = (H + ridge I)^-1 h, clipped to [0, 1].

    Parameters
    ----------
    h, H
        Mean of phi over P, shape (k,), and of phi phi' over U, shape (k, k).
    ridge
        What is added to the diagonal of H.

    Examples
    --------
    >>> matched_share(np.array([1.0]), np.array([[0.25]]), 0.0)
    0.25
    """
    a = ratio_weights(h, H, np.array([ridge]))[0]
    energy = 2 * a @ h - a @ H @ a
    return float(min(1.0, 1 / energy)) if energy > 0 else 1.0


def ratio_weights(h: Floats, H: Floats, ridges: Floats) -> Floats:
    """(H + ridge I)^-1 h of each ridge, by one decomposition of H; shape (ridges, k).

    Examples
    --------
    >>> ratio_weights(np.array([1.0]), np.array([[3.0]]), np.array([1.0, 2.0])).tolist()
    [[0.25], [0.2]]
    """
    value, vector = np.linalg.eigh(H)
    return np.asarray((h @ vector) / (np.maximum(value, 0) + ridges[:, None]) @ vector.T)


def _errors(
    phi_positive: Floats,
    phi_unlabeled: Floats,
    fold_positive: NDArray[np.int64],
    fold_unlabeled: NDArray[np.int64],
    folds: int,
) -> Floats:
    """a'Ha / 2 - a'h on held-out rows, of each ridge: the squared error of the ratio, up to a
    constant. A single fold is evaluated on its training rows."""
    error = np.zeros(len(RIDGES))
    for held_out in range(folds):
        parts = []
        for same in (False, True) if folds > 1 else (True, True):
            positive = phi_positive[(fold_positive == held_out) == same]
            unlabeled = phi_unlabeled[(fold_unlabeled == held_out) == same]
            parts.append((positive.mean(0), unlabeled.T @ unlabeled / len(unlabeled)))
        a = ratio_weights(*parts[0], RIDGES)
        h, H = parts[1]
        error += np.einsum("ri,ij,rj->r", a, H, a, optimize=True) / 2 - a @ h
    return error
