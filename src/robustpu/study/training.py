"""A method by its name, fitted; and answers to all rows by models that have not seen them."""

import time
import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from robustpu.base import BasePUClassifier, CollapseWarning
from robustpu.methods import METHODS, all_methods
from robustpu.methods.puet import PUExtraTreesClassifier
from robustpu.metrics import PUKFold
from robustpu.naming import suggest
from robustpu.neural import NeuralPUClassifier
from robustpu.study.stages import Tell, silent
from robustpu.together import Job, fit_together

Floats: TypeAlias = NDArray[np.float64]

# A model must have answers of its own to so large a share of the rows, or to so many labelled and
# unlabelled rows, that it did not train on; with fewer, folds are fitted to have more.
ENOUGH: Final = 0.75
ENOUGH_ROWS: Final = (200, 2_000)
FOLDS: Final = 5
# Beyond so many rows the weights of all rounds are not worth their memory.
RECORDED: Final = 200_000


@dataclass(frozen=True)
class Wish:
    """What model is wanted.

    Attributes
    ----------
    method
        A name of :data:`robustpu.methods.METHODS`.
    scenario, threshold
        As in :class:`robustpu.RobustPUClassifier`.
    seed
        Of everything random.
    members
        Networks to average; None for the method's default.
    """

    method: str = "robust-pu"
    scenario: str = "case-control"
    threshold: float | str = 0.5
    seed: int = 0
    members: int | None = None


@dataclass(frozen=True)
class Fitted:
    """A fitted model, its seconds, and its warnings with their categories."""

    model: BasePUClassifier
    seconds: float
    warnings: Mapping[str, type[Warning]]


def make_model(wish: Wish, prior: float, n_rows: int = 0) -> BasePUClassifier:
    """The estimator that is wished for, not fitted.

    Parameters
    ----------
    wish
        What is wanted.
    prior
        Share of positives among the unlabelled rows.
    n_rows
        Of the table; see ``RECORDED``.

    Examples
    --------
    >>> make_model(Wish("nnpu", members=3), 0.2).n_members
    3
    """
    if wish.method not in METHODS:
        raise ValueError(f"unknown method {wish.method!r}{suggest(wish.method, METHODS)}")
    kind = all_methods()[wish.method]
    given: dict[str, Any] = {
        "prior": prior,
        "scenario": wish.scenario,
        "threshold": wish.threshold,
        "random_state": wish.seed,
    }
    known = kind().get_params(deep=False)
    if wish.members is not None:
        if "n_members" not in known:
            raise ValueError(f"{wish.method} has no members to choose a number of: leave it out.")
        given["n_members"] = wish.members
    if "record_weights" in known and 0 < n_rows <= RECORDED:
        given["record_weights"] = True
    model = kind(**given)
    model._check_parameters()
    return model


def train(
    model: BasePUClassifier,
    X: NDArray[np.float32],
    y: NDArray[np.int64],
    progress: Tell = silent,
    stage: str = "training",
) -> Fitted:
    """Fit a model, and say how far it is.

    Parameters
    ----------
    model
        Not fitted; it is fitted in place.
    X, y
        Rows and labels.
    progress, stage
        What is called, and how this is called.
    """
    started = time.perf_counter()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        if isinstance(model, NeuralPUClassifier):
            fit_together([Job(model, X, y)], lambda done, total: progress(stage, done, total))
        else:
            progress(stage, 0, 0)
            if isinstance(model, PUExtraTreesClassifier):
                model._fit(X, y, None, None, lambda done, total: progress(stage, done, total))
            else:
                model.fit(X, y)
    told = {
        str(own.message): own.category
        for own in caught
        if issubclass(own.category, CollapseWarning) or own.category is UserWarning
    }
    return Fitted(model, time.perf_counter() - started, told)


def unseen(
    model: BasePUClassifier,
    X: NDArray[np.float32],
    y: NDArray[np.int64],
    seed: int,
    progress: Tell = silent,
) -> tuple[Floats, str]:
    """Answers to the training rows by what has not seen them, (n,), and how they came about.

    The model's own, if there are such for most rows or for many; else those of models that are
    fitted anew, one a fold. NaN where there is none.

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
    if is_most or is_many or count < 2:
        return own, "rows that each part of the model did not train on"
    score, _ = cross_fit(model, X, y, count, seed, progress)
    return score, f"{count}-fold cross-fitting"


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
    parts = list(PUKFold(folds, random_state=seed).split(X, y))
    copies: list[Any] = [clone(model) for _ in parts]
    for copy in copies:
        if "record_weights" in copy.get_params(deep=False):
            copy.set_params(record_weights=False)
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
    seconds = (time.perf_counter() - started) / folds
    score = np.empty(len(y))
    for copy, (_, rows) in zip(copies, parts, strict=True):
        score[rows] = probability(copy, X[rows])
    return score, seconds


def probability(model: BasePUClassifier, X: NDArray[np.float32]) -> Floats:
    """Of being positive, (n,), by a model that was fitted with the labels 0 and 1."""
    answer: Floats = model.predict_proba(X)[:, 1]
    return answer
