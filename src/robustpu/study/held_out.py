"""Answers to training rows by what has not seen them: the model's own, or those of folds."""

import time
import warnings
from typing import Any, Final, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from robustpu.base import BasePUClassifier
from robustpu.metrics import PUKFold
from robustpu.metrics.folds import aligned
from robustpu.neural import NeuralPUClassifier
from robustpu.study.stages import Tell, silent
from robustpu.study.training import copy_of, probability
from robustpu.together import Job, fit_together

Floats: TypeAlias = NDArray[np.float64]

# A model must have answers of its own to so large a share of the rows, or to so many labelled and
# unlabelled rows, that it did not train on; with fewer, folds are fitted to have more.
ENOUGH: Final = 0.75
ENOUGH_ROWS: Final = (200, 2_000)
FOLDS: Final = 5
# With fewer labelled rows a method may be unable to do with those of the other folds.
ENOUGH_LABELED: Final = 10


class Fits(NamedTuple):
    """The fold of each row, (n,), and answers to all rows by the fits without each, (K, n)."""

    fold: NDArray[np.intp]
    scores: Floats


class HeldOut(NamedTuple):
    """Answers by what has not seen the row, and how they came about.

    Attributes
    ----------
    score
        Shape (n,); NaN where there is none.
    how
        In words.
    fits
        If models were fitted anew, one a fold, what they answer; else None.
    """

    score: Floats
    how: str
    fits: Fits | None = None


def unseen(
    model: BasePUClassifier,
    X: NDArray[np.float32],
    y: NDArray[np.int64],
    seed: int,
    progress: Tell = silent,
) -> HeldOut:
    """Answers to the training rows by what has not seen them, and how they came about.

    The model's own, if there are such for most rows or for many; else those of models that are
    fitted anew, one a fold, and made comparable by :func:`aligned`.

    Parameters
    ----------
    model
        Fitted.
    X, y
        What it was fitted on.
    seed
        Of the folds.
    progress
        Told of the fits.
    """
    own: Floats = model.out_of_fold_
    known = np.isfinite(own)
    parts = known[y == 1], known[y == 0]
    count = min(FOLDS, *map(len, parts))
    is_most = all(part.mean() >= ENOUGH for part in parts)
    is_many = all(part.sum() >= rows for part, rows in zip(parts, ENOUGH_ROWS, strict=True))
    if is_most or is_many or (count < 2 and all(part.any() for part in parts)):
        return HeldOut(own, "rows that each part of the model did not train on")
    if count < 2:
        return HeldOut(own, f"nothing: {_parts(y)} are too few to hold some out")
    try:
        copies, splits, _ = _fit_folds(model, X, y, count, seed, progress, "judging")
    except ValueError as error:
        if (y == 1).sum() >= ENOUGH_LABELED:
            raise
        # Folds have fewer labelled rows than the model had, and too few may be left to train on.
        how = f"nothing: {_parts(y)} are too few for folds. {error}"
        return HeldOut(np.full(len(y), np.nan), how)
    fold, scores = np.empty(len(y), dtype=np.intp), np.empty((count, len(y)))
    usual = model.probability_[y == 0]
    for place, (copy, (trained, rows)) in enumerate(zip(copies, splits, strict=True)):
        own = copy.probability_[y[trained] == 0]
        scores[place] = aligned(probability(copy, X), own, usual, model.threshold_)
        fold[rows] = place
    score = scores[fold, np.arange(len(y))]
    return HeldOut(score, f"{count}-fold cross-fitting", Fits(fold, scores))


def _parts(y: NDArray[np.int64]) -> str:
    return f"{int((y == 1).sum()):,} labelled and {int((y == 0).sum()):,} unlabelled rows"


def cross_fit(
    model: BasePUClassifier,
    X: NDArray[np.float32],
    y: NDArray[np.int64],
    folds: int,
    seed: int,
    progress: Tell = silent,
    stage: str = "judging",
) -> tuple[Floats, float]:
    """Answers to each row by a copy that was fitted on the other folds, (n,); seconds of a fit.

    They are on one scale, that of all copies together: see :func:`aligned`.

    Parameters
    ----------
    model
        Its parameters are used; the prior must be a number.
    X, y
        Rows and labels.
    folds
        How many; each has labelled and unlabelled rows.
    seed
        Of the folds.
    progress, stage
        What is called, and how this is called.
    """
    copies, parts, seconds = _fit_folds(model, X, y, folds, seed, progress, stage)
    seen = [
        copy.probability_[y[trained] == 0] for copy, (trained, _) in zip(copies, parts, strict=True)
    ]
    usual, score = np.concatenate(seen), np.empty(len(y))
    for copy, own, (_, rows) in zip(copies, seen, parts, strict=True):
        score[rows] = aligned(probability(copy, X[rows]), own, usual, copy.threshold_)
    return score, seconds


def _fit_folds(
    model: BasePUClassifier,
    X: NDArray[np.float32],
    y: NDArray[np.int64],
    folds: int,
    seed: int,
    progress: Tell,
    stage: str,
) -> tuple[list[Any], list[tuple[NDArray[np.intp], NDArray[np.intp]]], float]:
    """Copies fitted on all folds but one, the rows of training and of the fold, seconds of a fit.

    For the parameters see :func:`cross_fit`.
    """
    parts = list(PUKFold(folds, random_state=seed).split(X, y))
    copies = [copy_of(model) for _ in parts]
    started = time.perf_counter()
    with warnings.catch_warnings():
        # The folds are there to be judged; warnings are those of the model itself.
        warnings.simplefilter("ignore")
        if isinstance(model, NeuralPUClassifier):
            jobs = [
                Job(copy, X[rows], y[rows]) for copy, (rows, _) in zip(copies, parts, strict=True)
            ]
            fit_together(jobs, lambda done, total: progress(stage, done, total))
        else:
            for place, (copy, (rows, _)) in enumerate(zip(copies, parts, strict=True)):
                progress(stage, place, folds)
                copy.fit(X[rows], y[rows])
    return copies, parts, (time.perf_counter() - started) / folds
