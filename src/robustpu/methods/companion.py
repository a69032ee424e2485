"""The classifier beside the networks: what it learns from, and its answers."""

import math
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from robustpu.neural import NeuralPUClassifier
from robustpu.rows import blocks, is_mapped, some_of_each
from robustpu.sharing import Prepared

Floats = NDArray[np.float64]

# Bytes of rows, in double precision, that a classifier gets of a mapped file if it holds them; and
# rows at least.
HELD = 1 << 28
LEAST = 2_000
# Numbers of the rows that it answers at a time.
ASKED = 1 << 22


def fit_beside(companion: Any, data: Prepared, seed: int) -> tuple[Floats, Floats]:
    """Fit a classifier, and give its answers to the training rows: all, and to rows it did not see.

    Networks read a mapped file as they train. Others hold what they learn from, so of a file
    larger than 256 MB, in double precision, they get a sample. Half of it is for labelled rows, or
    more where unlabelled ones do not fill the rest. Weights make up for what was left out.

    Parameters
    ----------
    companion
        A classifier of this library.
    data
        Rows, labels and weights.
    seed
        Decides which rows are in the sample.

    Returns
    -------
    probability, unseen
        Of all rows, (n,); NaN in the second where nobody is left who has not seen the row.

    Examples
    --------
    >>> import torch
    >>> from robustpu import PUExtraTreesClassifier
    >>> X, y = np.arange(100.0)[:, None], np.isin(np.arange(100), np.arange(0, 50, 2))
    >>> data = Prepared(X, torch.from_numpy(X), y, np.ones(100), None, None)
    >>> trees = PUExtraTreesClassifier(prior=1 / 3, random_state=0)
    >>> fit_beside(trees, data, seed=0)[0].shape
    (100,)
    """
    rows = None if _reads_files(companion) else _sample(data, seed)
    if rows is None:
        companion.fit(data.table, data.is_positive, data.weight)
        return companion.probability_, companion.out_of_fold_
    weight = _scaled(data.weight, data.is_positive, rows)
    companion.fit(data.table[rows], data.is_positive[rows], weight)
    probability = answers_of(companion, data.table)
    unseen = probability.copy()
    probability[rows], unseen[rows] = companion.probability_, companion.out_of_fold_
    return probability, unseen


def answers_of(companion: Any, X: ArrayLike) -> Floats:
    """Probability of a positive, (n,); rows of a mapped file come to memory a block at a time.

    Parameters
    ----------
    companion
        Fitted.
    X
        Rows (n, ...).

    Examples
    --------
    >>> from robustpu import PUExtraTreesClassifier
    >>> X, y = np.arange(100.0)[:, None], np.isin(np.arange(100), np.arange(0, 50, 2))
    >>> len(answers_of(PUExtraTreesClassifier(prior=1 / 3, random_state=0).fit(X, y), X))
    100
    """
    if _reads_files(companion) or not is_mapped(X):
        whole: Floats = companion.predict_proba(X)[:, 1]
        return whole
    table = np.asarray(X)
    parts = [companion.predict_proba(table[own])[:, 1] for own in blocks(table, ASKED)]
    return np.concatenate(parts)


def _reads_files(companion: Any) -> bool:
    return isinstance(companion, NeuralPUClassifier)


def _sample(data: Prepared, seed: int) -> NDArray[np.intp] | None:
    """Rows to learn from, None for all."""
    table = data.table
    most = max(LEAST, HELD // (8 * math.prod(table.shape[1:])))
    if len(table) <= most or not is_mapped(table):
        return None
    counting = np.flatnonzero(data.weight > 0)
    is_positive = data.is_positive[counting]
    n_positive = int(is_positive.sum())
    positive = min(n_positive, max(most // 2, most - (len(counting) - n_positive)))
    return counting[some_of_each(is_positive, (positive, most - positive), seed)]


def _scaled(weight: Floats, is_positive: NDArray[np.bool_], rows: NDArray[np.intp]) -> Floats:
    """Weights of some rows, whose sums over P and over U are those of all."""
    own, labelled = weight[rows], is_positive[rows]
    unlabeled, positive = (
        weight[is_positive == kind].sum() / own[labelled == kind].sum() for kind in (False, True)
    )
    scaled: Floats = own * np.where(labelled, positive, unlabeled)
    return scaled
