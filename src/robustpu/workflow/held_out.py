"""Held-out scores of the training rows: those of the model itself, or of cross-fitting."""

import time
import warnings
from typing import Any, Final, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from robustpu.base.classifier import BasePUClassifier
from robustpu.metrics import PUKFold
from robustpu.metrics.folds import aligned
from robustpu.training import Job, fit_together
from robustpu.workflow.progress import Progress, silent
from robustpu.workflow.training import probability

Floats: TypeAlias = NDArray[np.float64]
Places: TypeAlias = NDArray[np.intp]

# Out-of-fold scores of the model are enough if they cover this share of both labels, or this many
# labelled and unlabelled rows; otherwise folds are fitted.
ENOUGH: Final = 0.75
ENOUGH_ROWS: Final = (200, 2_000)
FOLDS: Final = 5
# With fewer labelled rows, a method may fail on those of the other folds.
ENOUGH_LABELED: Final = 10


class FoldFits(NamedTuple):
    """The fold of each row, (n,), and scores of all rows by the fits without a fold, (K, n)."""

    fold: Places
    scores: Floats


class HeldOut(NamedTuple):
    """Held-out scores of the training rows.

    Attributes
    ----------
    score
        Shape (n,); NaN where there is none.
    how
        Where they come from, in words; if there are none, why.
    fits
        The fits of cross-fitting, or None.
    """

    score: Floats
    how: str
    fits: FoldFits | None = None


def held_out_scores(
    model: BasePUClassifier,
    X: NDArray[np.float32],
    y: NDArray[np.int64],
    seed: int,
    progress: Progress = silent,
    propensity: Floats | None = None,
    checked: NDArray[np.bool_] | None = None,
) -> HeldOut:
    """Scores of the training rows by models that were not trained on them.

    These are the out-of-fold scores of the model if there are enough; otherwise those of models
    that are fitted without each fold, made comparable by :func:`aligned`.

    Parameters
    ----------
    model
        Fitted.
    X, y
        What it was fitted on.
    seed
        Of the folds.
    progress
        Callback for the fits.
    propensity
        Of labelled rows, (n,), or None.
    checked
        Which rows owe their label to a check, (n,).
    """
    score: Floats = model.out_of_fold_
    known = np.isfinite(score)
    parts = known[y == 1], known[y == 0]
    count = min(FOLDS, *map(len, parts))
    is_most = all(part.mean() >= ENOUGH for part in parts)
    is_many = all(part.sum() >= rows for part, rows in zip(parts, ENOUGH_ROWS, strict=True))
    if is_most or is_many or (count < 2 and all(part.any() for part in parts)):
        return HeldOut(score, "rows that each part of the model did not train on")
    if count < 2:
        return HeldOut(score, f"{_sizes(y)} are too few to hold some out")
    try:
        how = count, seed, progress, "evaluating"
        copies, splits, _ = _fit_folds(model, X, y, *how, propensity, checked)
    except ValueError as error:
        if (y == 1).sum() >= ENOUGH_LABELED:
            raise
        return HeldOut(np.full(len(y), np.nan), f"{_sizes(y)} are too few for folds. {error}")
    return _align(model, copies, splits, X, y)


def _align(
    model: BasePUClassifier,
    copies: list[Any],
    splits: list[tuple[Places, Places]],
    X: NDArray[np.float32],
    y: NDArray[np.int64],
) -> HeldOut:
    """Held-out scores by the fits of folds, on the scale of the model."""
    fold, scores = np.empty(len(y), dtype=np.intp), np.empty((len(copies), len(y)))
    usual = model.probability_[y == 0]
    for place, (copy, (trained, rows)) in enumerate(zip(copies, splits, strict=True)):
        in_sample = copy.probability_[y[trained] == 0]
        scores[place] = aligned(probability(copy, X), in_sample, usual, model.threshold_)
        fold[rows] = place
    score = scores[fold, np.arange(len(y))]
    return HeldOut(score, f"{len(copies)}-fold cross-fitting", FoldFits(fold, scores))


def _sizes(y: NDArray[np.int64]) -> str:
    return f"{int((y == 1).sum()):,} labelled and {int((y == 0).sum()):,} unlabelled rows"


def cross_fit(
    model: BasePUClassifier,
    X: NDArray[np.float32],
    y: NDArray[np.int64],
    folds: int,
    seed: int,
    progress: Progress = silent,
    stage: str = "evaluating",
) -> tuple[Floats, float]:
    """Scores of each row by a copy that was fitted on the other folds, (n,); seconds of a fit.

    They are on the common scale of all copies, see :func:`aligned`.

    Parameters
    ----------
    model
        Its parameters are used; the prior must be a number.
    X, y
        Rows and labels.
    folds
        Their number; each has labelled and unlabelled rows.
    seed
        Of the folds.
    progress, stage
        Callback, and the name of this stage.
    """
    copies, splits, seconds = _fit_folds(model, X, y, folds, seed, progress, stage)
    in_sample = [
        copy.probability_[y[trained] == 0]
        for copy, (trained, _) in zip(copies, splits, strict=True)
    ]
    usual, score = np.concatenate(in_sample), np.empty(len(y))
    for copy, scores, (_, rows) in zip(copies, in_sample, splits, strict=True):
        score[rows] = aligned(probability(copy, X[rows]), scores, usual, copy.threshold_)
    return score, seconds


def _fit_folds(
    model: BasePUClassifier,
    X: NDArray[np.float32],
    y: NDArray[np.int64],
    folds: int,
    seed: int,
    progress: Progress,
    stage: str,
    propensity: Floats | None = None,
    checked: NDArray[np.bool_] | None = None,
) -> tuple[list[Any], list[tuple[Places, Places]], float]:
    """Copies fitted on all folds but one, the rows of training and of the fold, seconds of a fit.

    For the parameters see :func:`cross_fit`.
    """
    splits = list(PUKFold(folds, random_state=seed, neg_label=-1).split(X, y))
    copies = [clone(model) for _ in splits]
    started = time.perf_counter()
    with warnings.catch_warnings():
        # Folds only serve the evaluation; the user sees the warnings of the model itself.
        warnings.simplefilter("ignore")
        jobs = [
            Job(
                copy,
                X[rows],
                y[rows],
                propensity=None if propensity is None else propensity[rows],
                checked=None if checked is None else checked[rows],
            )
            for copy, (rows, _) in zip(copies, splits, strict=True)
        ]
        fit_together(jobs, lambda done, total: progress(stage, done, total))
    return copies, splits, (time.perf_counter() - started) / folds
