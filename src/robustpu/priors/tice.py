"""TIcE, tree-induced label frequency estimate (Bekker and Davis, 2018)."""

import heapq

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.stats import rankdata

from robustpu.priors.inputs import check_tables
from robustpu.validation.numbers import check_number

Floats = NDArray[np.float64]
Counts = NDArray[np.int64]

FOLDS = 5
ROUNDS = 2
# A split is cut at the quarters of the node's interval.
PARTS = 4
# Rows that a part needs, and that are added to its size so that small parts do not win by chance.
LEAST_ROWS = 10
PRIOR_ROWS = 5


def tice(
    positive: ArrayLike, unlabeled: ArrayLike, *, max_splits: int = 500, random_state: int = 0
) -> float:
    """b (1 - c) / ((1 - b) c), c the largest lower bound of the share of labels in a part of space.

    The share of labelled rows in any part is at most c, that of labelled rows among positives; b is
    the share of labelled rows in all. A tree looks for parts with many labels in one fold, the
    bounds are taken in the others, and c is the mean of the best bound over five folds. With few
    positives the bounds are loose and the estimate is too high.

    Parameters
    ----------
    positive, unlabeled
        Tables, shape (rows, columns), whose columns are replaced by ranks; or scores, shape
        (rows,).
    max_splits
        Number of splits at most; the most promising node is split first.
    random_state
        Decides the folds.

    Returns
    -------
    float
        The prior, in [0, 1].

    Notes
    -----
    The lower bound in a part of T rows with L labels is L / T - sqrt(c (1 - c) (1 - d) / (d T)),
    d = max(0.025, 1 / (1 + 0.004 n)) for n rows to estimate from, c = 0.5 in the first of two
    rounds and the result of the first in the second.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> P, N = rng.normal(2, 1, (2600, 2)), rng.normal(-2, 1, (1400, 2))
    >>> abs(tice(P[:2000], np.concatenate([P[2000:], N])) - 0.3) < 0.1
    True
    """
    check_number("max_splits", max_splits, least=1, whole=True)
    tables = check_tables(positive, unlabeled)
    x = _ranks(np.concatenate(tables))
    is_labelled = np.arange(len(x)) < len(tables[0])
    rng = np.random.default_rng(random_state)
    folds = min(FOLDS, len(tables[0]), len(tables[1]))
    if folds < 2:
        return 1.0
    fold = np.empty(len(x), dtype=np.int64)
    for part in (is_labelled, ~is_labelled):
        fold[part] = rng.permutation(np.arange(part.sum()) % folds)
    found = [_parts(x, is_labelled, fold == number, max_splits) for number in range(folds)]
    c = 0.5
    for _ in range(ROUNDS):
        c = float(np.mean([lower_bound(labels, rows, c) for labels, rows in found]))
    b = float(is_labelled.mean())
    return min(1.0, b * (1 - c) / ((1 - b) * c))


def lower_bound(labels: Counts, rows: Counts, c: float) -> float:
    """max over parts of L / T - sqrt(c (1 - c) (1 - d) / (d T)); at least L / T of the first part.

    Parameters
    ----------
    labels, rows
        L and T of each part, shape (parts,); the first part is all there is.
    c
        Label frequency that the width of the bound is computed with.

    Examples
    --------
    >>> round(lower_bound(np.array([50, 50]), np.array([1000, 100]), 0.5), 3)
    0.4
    """
    delta = max(0.025, 1 / (1 + 0.004 * rows[0]))
    large = rows >= LEAST_ROWS
    share = labels[large] / rows[large]
    bound = share - np.sqrt(c * (1 - c) * (1 - delta) / (delta * rows[large]))
    return float(max(labels[0] / rows[0], bound.max(initial=0.0)))


def _ranks(x: Floats) -> Floats:
    """Mean rank in each column, in (0, 1)."""
    return np.asarray((rankdata(x, axis=0) - 0.5) / len(x))


def _parts(
    x: Floats, is_labelled: NDArray[np.bool_], grows: NDArray[np.bool_], max_splits: int
) -> tuple[Counts, Counts]:
    """Labels and rows, among those that the tree did not grow on, of every part it made."""
    grow, test = np.flatnonzero(grows), np.flatnonzero(~grows)
    labels, rows = [int(is_labelled[test].sum())], [len(test)]
    box = np.stack([np.zeros(x.shape[1]), np.ones(x.shape[1])])
    # Less promise, order of arrival, rows to grow on, rows to test on, box.
    nodes = [(0.0, 0, grow, test, box)]
    for _ in range(max_splits):
        if not nodes:
            break
        *_, grow, test, box = heapq.heappop(nodes)
        promise = _promise(_quarter(x[grow], box), is_labelled[grow])
        column = int(np.argmax(promise.max(1)))
        if promise[column].max() < 0:
            continue
        side = box[:, column]
        in_grow, in_test = _quarter(x[grow, column], side), _quarter(x[test, column], side)
        edges = np.linspace(side[0], side[1], PARTS + 1)
        for part in range(PARTS):
            part_grow, part_test = grow[in_grow == part], test[in_test == part]
            if len(part_test) < LEAST_ROWS:
                continue
            labels.append(int(is_labelled[part_test].sum()))
            rows.append(len(part_test))
            # Without both kinds there is nothing left to look for.
            if len(part_grow) >= LEAST_ROWS and 0 < is_labelled[part_grow].mean() < 1:
                smaller = box.copy()
                smaller[:, column] = edges[part : part + 2]
                less = -float(promise[column, part])
                heapq.heappush(nodes, (less, len(rows), part_grow, part_test, smaller))
    return np.array(labels), np.array(rows)


def _quarter(x: Floats, box: Floats) -> Counts:
    """Which quarter of its interval a value is in; x (rows, columns) or (rows,)."""
    inside = (x - box[0]) / (box[1] - box[0])
    return np.asarray(np.clip(inside * PARTS, 0, PARTS - 1), dtype=np.int64)


def _promise(quarter: Counts, is_labelled: NDArray[np.bool_]) -> Floats:
    """L / (T + 5) of each quarter, (columns, quarters); -1 if a column has rows in one alone."""
    columns = quarter.shape[1]
    cell = quarter + PARTS * np.arange(columns)
    rows = np.bincount(cell.ravel(), minlength=PARTS * columns).reshape(columns, PARTS)
    labels = np.bincount(cell[is_labelled].ravel(), minlength=PARTS * columns)
    share = labels.reshape(columns, PARTS) / (rows + PRIOR_ROWS)
    splits = (rows > 0).sum(1, keepdims=True) > 1
    return np.where(splits, share, -1.0)
