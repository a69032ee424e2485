"""Classifiers beside the networks: what they learn from, and their answers."""

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from robustpu.neural import NeuralPUClassifier
from robustpu.rows import Scale, blocks, inputs_of, is_mapped, some_of_each
from robustpu.sharing import Prepared
from robustpu.wrapper import WrapperPUClassifier

Floats = NDArray[np.float64]

# Bytes of rows, in double precision, that a classifier gets of a mapped file if it holds them; and
# rows at least.
HELD = 1 << 28
LEAST = 2_000
# Standardised numbers that are as far away as can be: sums of them are finite in single precision.
FAR = 1e30
# Numbers of the rows that it answers at a time.
ASKED = 1 << 22


def fit_beside(
    companion: Any, data: Prepared, seed: int, scale: Scale | None
) -> tuple[Floats, Floats]:
    """Fit a classifier, and give its answers to the training rows: all, and to rows it did not see.

    Networks read a mapped file as they train. Others hold what they learn from, so of a file
    larger than 256 MB, in double precision, they get a sample. Half of it is for labelled rows, or
    more where unlabelled ones do not fill the rest. Weights make up for what was left out. Learners
    of scikit-learn, which mostly hold single precision, get standardised rows.

    Parameters
    ----------
    companion
        A classifier of this library.
    data
        Rows, labels and weights.
    seed
        Decides which rows are in the sample.
    scale
        By which rows are standardised, if they are.

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
    >>> fit_beside(trees, data, seed=0, scale=None)[0].shape
    (100,)
    """
    rows = None if _reads_files(companion) else _sample(data, seed)
    if rows is None:
        # Some learners take no weights.
        weight = None if (data.weight == data.weight[0]).all() else data.weight
        companion.fit(inputs(companion, data.table, scale), data.is_positive, weight)
        return companion.probability_, companion.out_of_fold_
    weight = _scaled(data.weight, data.is_positive, rows)
    own = inputs(companion, data.table[rows], scale)
    companion.fit(own, data.is_positive[rows], weight)
    probability = answers_of(companion, data.table, scale)
    unseen = probability.copy()
    probability[rows], unseen[rows] = companion.probability_, companion.out_of_fold_
    return probability, unseen


def answers_of(companion: Any, X: NDArray[Any], scale: Scale | None) -> Floats:
    """Probability of a positive, (n,); rows of a mapped file come to memory a block at a time.

    Parameters
    ----------
    companion
        Fitted.
    X
        Rows (n, ...).
    scale
        As in ``fit_beside``.

    Examples
    --------
    >>> from robustpu import PUExtraTreesClassifier
    >>> X, y = np.arange(100.0)[:, None], np.isin(np.arange(100), np.arange(0, 50, 2))
    >>> len(answers_of(PUExtraTreesClassifier(prior=1 / 3, random_state=0).fit(X, y), X, None))
    100
    """
    if _reads_files(companion) or not (is_mapped(X) or is_scaled(companion)):
        whole: Floats = companion.predict_proba(X)[:, 1]
        return whole
    table = np.asarray(X)
    parts = (inputs(companion, table[own], scale) for own in blocks(table, ASKED))
    return np.concatenate([companion.predict_proba(own)[:, 1] for own in parts])


def is_scaled(companion: Any) -> bool:
    """Whether it gets standardised rows.

    Parameters
    ----------
    companion
        A classifier of this library.

    Examples
    --------
    >>> from robustpu import BaggingPUClassifier, PUExtraTreesClassifier
    >>> is_scaled(BaggingPUClassifier()), is_scaled(PUExtraTreesClassifier())
    (True, False)
    """
    return isinstance(companion, WrapperPUClassifier)


def inputs(companion: Any, X: NDArray[Any], scale: Scale | None) -> NDArray[Any]:
    """Give rows as a companion gets them; those from very far away are put nearer.

    Parameters
    ----------
    companion, X, scale
        As above.

    Examples
    --------
    >>> from robustpu import BaggingPUClassifier
    >>> scale = np.array([2.0]), np.array([0.5])
    >>> inputs(BaggingPUClassifier(), np.array([[1.0], [3.0]]), scale).tolist()
    [[-2.0], [2.0]]
    """
    if scale is None or not is_scaled(companion):
        return X
    return inputs_of(X, scale, np.float64).clip(-FAR, FAR)


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
