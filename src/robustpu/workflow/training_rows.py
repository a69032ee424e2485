"""Rows that the model was trained on, recognised by a fingerprint of their features.

A model has learnt its unlabelled training rows as negatives, hidden positives included, so it
scores them too low. ``probability_`` of the fit is better: trees score only rows that they were not
trained on.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

Fingerprints: TypeAlias = NDArray[np.uint64]

# Of splitmix64, a mixer of 64 bits.
STEP: Final = 0x9E3779B97F4A7C15
MIX: Final = (np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB))
CHUNK: Final = 4_096


@dataclass(frozen=True)
class TrainingRows:
    """Unique fingerprints of the training rows in ascending order, and their scores; both (m,).

    ``settled`` are those of rows that were checked, or are known negatives, in ascending order.
    """

    fingerprints: Fingerprints
    scores: NDArray[np.float64]
    settled: Fingerprints = field(default_factory=lambda: np.zeros(0, dtype=np.uint64))

    def are_settled(self, X: NDArray[np.float32]) -> NDArray[np.bool_]:
        """Which rows were checked, or are known negatives, (n,).

        Parameters
        ----------
        X
            Features, (n, d).
        """
        if not len(self.settled):
            return np.zeros(len(X), dtype=np.bool_)
        return np.isin(fingerprints_of(X), self.settled)

    def score(
        self,
        X: NDArray[np.float32],
        of_others: Callable[[NDArray[np.float32]], NDArray[np.float64]],
    ) -> tuple[NDArray[np.float64], int]:
        """Scores, those of the fit for training rows, (n,), and the number of such rows.

        Parameters
        ----------
        X
            Features, (n, d).
        of_others
            Features of other rows -> their scores.
        """
        prints = fingerprints_of(X)
        last = len(self.fingerprints) - 1
        place = np.minimum(np.searchsorted(self.fingerprints, prints), last)
        is_known = self.fingerprints[place] == prints
        scores = self.scores[place]
        if not is_known.all():
            scores[~is_known] = of_others(X[~is_known])
        return scores, int(is_known.sum())


def remember(
    X: NDArray[np.float32],
    scores: NDArray[np.float64],
    is_settled: NDArray[np.bool_] | None = None,
) -> TrainingRows:
    """Store the training rows; equal rows share the mean of their scores.

    Parameters
    ----------
    X
        Features, (n, d).
    scores
        Of the fit, (n,).
    is_settled
        Which rows were checked, or are known negatives, (n,).

    Examples
    --------
    >>> X = np.array([[1, 2], [3, 4], [1, 2]], dtype=np.float32)
    >>> rows = remember(X, np.array([0.25, 0.5, 0.75]))
    >>> scores, known = rows.score(X[:2] + [[0], [9]], lambda others: 0.125 * np.ones(len(others)))
    >>> scores.tolist(), known
    ([0.5, 0.125], 1)
    """
    prints, place, count = np.unique(fingerprints_of(X), return_inverse=True, return_counts=True)
    found = np.zeros(len(prints), dtype=np.bool_)
    if is_settled is not None:
        found[place[is_settled]] = True
    return TrainingRows(prints, np.bincount(place, scores) / count, prints[found])


def fingerprints_of(X: NDArray[Any]) -> Fingerprints:
    """Sum over the features of mix(bits + place STEP), mod 2^64, of each row, (n,).

    Examples
    --------
    >>> X = np.array([[0, 1], [1, 0], [0, 1]], dtype=np.float32)
    >>> prints = fingerprints_of(X)
    >>> bool(prints[0] == prints[2]), bool(prints[0] == prints[1])
    (True, False)
    """
    bits = np.ascontiguousarray(X, dtype=np.float32).view(np.uint32)
    keys = np.array([(place + 1) * STEP % 2**64 for place in range(X.shape[1])], dtype=np.uint64)
    found = np.empty(len(X), dtype=np.uint64)
    for start in range(0, len(X), CHUNK):
        z = bits[start : start + CHUNK].astype(np.uint64) + keys
        z = (z ^ (z >> np.uint64(30))) * MIX[0]
        z = (z ^ (z >> np.uint64(27))) * MIX[1]
        found[start : start + CHUNK] = (z ^ (z >> np.uint64(31))).sum(axis=1, dtype=np.uint64)
    return found
