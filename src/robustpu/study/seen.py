"""Rows that the model was trained on, known again by a fingerprint of their features.

A model has learnt its own unlabelled rows as negatives, hidden positives among them too, so its
plain answer to them is too low. What a fit notes as ``probability_`` is better: trees answer only
for rows that they have not seen.
"""

from dataclasses import dataclass
from typing import Any, Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

Prints: TypeAlias = NDArray[np.uint64]

# Of splitmix64, a mixer of 64 bits.
STEP: Final = 0x9E3779B97F4A7C15
MIX: Final = (np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB))
CHUNK: Final = 4_096


@dataclass(frozen=True)
class Seen:
    """Fingerprints of the training rows, sorted, each once, and the answers to them; (m,) both."""

    prints: Prints
    answers: NDArray[np.float64]

    def corrected(
        self, X: NDArray[np.float32], answers: NDArray[np.float64]
    ) -> tuple[NDArray[np.float64], int]:
        """Answers with those to known rows in their places, (n,), and how many these are.

        Parameters
        ----------
        X
            Features, (n, d).
        answers
            Of the model, (n,).
        """
        own = fingerprints(X)
        place = np.minimum(np.searchsorted(self.prints, own), len(self.prints) - 1)
        is_known = self.prints[place] == own
        return np.where(is_known, self.answers[place], answers), int(is_known.sum())


def remember(X: NDArray[np.float32], answers: NDArray[np.float64]) -> Seen:
    """Note the training rows; rows that are alike share the mean of their answers.

    Parameters
    ----------
    X
        Features, (n, d).
    answers
        What is known of these rows, (n,).

    Examples
    --------
    >>> X = np.array([[1, 2], [3, 4], [1, 2]], dtype=np.float32)
    >>> seen = remember(X, np.array([0.25, 0.5, 0.75]))
    >>> answers, known = seen.corrected(X[:2] + [[0], [9]], np.array([0.0, 0.125]))
    >>> answers.tolist(), known
    ([0.5, 0.125], 1)
    """
    prints, place, count = np.unique(fingerprints(X), return_inverse=True, return_counts=True)
    return Seen(prints, np.bincount(place, answers) / count)


def fingerprints(X: NDArray[Any]) -> Prints:
    """Sum over the features of mix(bits + place STEP), mod 2^64, of each row, (n,).

    Examples
    --------
    >>> X = np.array([[0, 1], [1, 0], [0, 1]], dtype=np.float32)
    >>> own = fingerprints(X)
    >>> bool(own[0] == own[2]), bool(own[0] == own[1])
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
