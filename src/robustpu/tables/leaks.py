"""Features that all but equal the label."""

from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

# Feature alone against label: AUC at least this, or at most one minus this.
SUSPICIOUS: Final = 0.99
FEWEST: Final = 5
MOST: Final = 10_000


def sample_rows(is_positive: NDArray[np.bool_], most: int = MOST) -> NDArray[np.int64]:
    """Some rows of either label, evenly spread, at most ``most`` of each.

    Examples
    --------
    >>> sample_rows(np.array([True, False, False, False]), most=2).tolist()
    [0, 1, 3]
    """
    chosen = []
    for rows in (np.flatnonzero(is_positive), np.flatnonzero(~is_positive)):
        step = max(1, -(-len(rows) // most))
        chosen.append(rows[::step])
    return np.sort(np.concatenate(chosen))


def separation(X: NDArray[np.float32], is_positive: NDArray[np.bool_]) -> NDArray[np.float64]:
    """|2 AUC - 1| of each feature alone, shape (d,): 1 tells the labels apart without fail.

    Parameters
    ----------
    X
        Shape (n, d).
    is_positive
        Shape (n,).

    Examples
    --------
    >>> y = np.array([True, True, False, False])
    >>> separation(np.array([[9, 0], [8, 1], [2, 0], [1, 1]], np.float32), y).tolist()
    [1.0, 0.0]
    """
    return np.abs(2 * _aucs(X, is_positive) - 1)


def separation_by_value(X: NDArray[np.float32], is_positive: NDArray[np.bool_]) -> float:
    """2 AUC - 1 of the share of positives among the other rows with the same features.

    Two values that only positives have tell the labels apart, though neither does alone.

    Parameters
    ----------
    X
        The features of one column, shape (n, d).
    is_positive
        Shape (n,).

    Examples
    --------
    >>> y = np.array([True, True, True, True, False, False])
    >>> kinds = np.array([[1, 0], [1, 0], [0, 1], [0, 1], [0, 0], [0, 0]], np.float32)
    >>> separation(kinds, y).tolist(), separation_by_value(kinds, y)
    ([0.5, 0.5], 1.0)
    """
    mixed = X @ np.random.default_rng(0).normal(size=X.shape[1])
    codes = np.unique(mixed, return_inverse=True)[1]
    hits, rows = np.bincount(codes, weights=is_positive)[codes], np.bincount(codes)[codes]
    # Without the row itself, or a value of its own would tell each label.
    share = (hits - is_positive) / np.maximum(rows - 1, 1)
    return float(2 * _aucs(share[:, None], is_positive)[0] - 1)


def _aucs(X: NDArray[Any], is_positive: NDArray[np.bool_]) -> NDArray[np.float64]:
    """Of each feature, shape (d,); one half if there is only one label."""
    positive, other = np.flatnonzero(is_positive), np.flatnonzero(~is_positive)
    if not len(positive) or not len(other):
        return np.full(X.shape[1], 0.5)
    # Ranks of all features at once would take ten times the memory of X.
    return np.array([_auc(feature[positive], feature[other]) for feature in X.T])


def _auc(positive: NDArray[Any], other: NDArray[Any]) -> float:
    """Share of the pairs in which the positive is larger; of equal ones half."""
    # Searching for sorted values, each is near to the last.
    positive, other = np.sort(positive), np.sort(other)
    wins = sum(int(np.searchsorted(other, positive, side).sum()) for side in ("left", "right"))
    return wins / (2 * len(positive) * len(other))


def alarms(
    X: NDArray[np.float32], is_positive: NDArray[np.bool_], sources: list[str]
) -> dict[str, str]:
    """Columns that nearly equal the label, and why, in words.

    Parameters
    ----------
    X
        Features, shape (n, d).
    is_positive
        Shape (n,).
    sources
        The column that each feature comes from, d of them.
    """
    if is_positive.sum() < FEWEST:
        return {}
    found: dict[str, float] = {}
    for source, value in zip(sources, separation(X, is_positive), strict=True):
        found[source] = max(found.get(source, 0.0), float(value))
    names = np.array(sources)
    for source in found:
        places = np.flatnonzero(names == source)
        if len(places) > 1:
            by_value = separation_by_value(X[:, places], is_positive)
            found[source] = max(found[source], by_value)
    return {
        source: f"alone it tells labelled from unlabelled rows (AUC {(1 + value) / 2:.3f}): check "
        "that it is known before the label is, and drop it if not"
        for source, value in found.items()
        if (1 + value) / 2 >= SUSPICIOUS
    }
