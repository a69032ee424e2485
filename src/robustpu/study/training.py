"""A method by its name, fitted."""

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
from robustpu.naming import suggest
from robustpu.neural import NeuralPUClassifier
from robustpu.study.stages import Tell, silent
from robustpu.thresholds import parse
from robustpu.together import Job, fit_together

Floats: TypeAlias = NDArray[np.float64]

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
    _check_threshold(wish, model)
    model._check_parameters()
    return model


def _check_threshold(wish: Wish, model: BasePUClassifier) -> None:
    """Refuse a threshold that is found on held-out rows, of a method that holds none out."""
    target, _ = parse(wish.threshold)
    if target not in ("recall", "precision") or model.validation_fraction > 0:
        return
    able = [name for name, kind in all_methods().items() if kind.validation_fraction > 0]
    raise ValueError(
        f"the threshold {wish.threshold!r} is found on rows that a method holds out, and "
        f"{wish.method} holds out none. Take one that does ({', '.join(able)}), or give a number, "
        "prior or top:200 as the threshold."
    )


def copy_of(model: BasePUClassifier) -> Any:
    """Make a copy to be judged: not fitted, and without the records that a page shows.

    Parameters
    ----------
    model
        Its parameters are used.

    Examples
    --------
    >>> copy_of(make_model(Wish("robust-pu"), 0.2, n_rows=100)).record_weights
    False
    """
    copy = clone(model)
    if "record_weights" in copy.get_params(deep=False):
        copy.set_params(record_weights=False)
    return copy


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


def probability(model: BasePUClassifier, X: NDArray[np.float32]) -> Floats:
    """Of being positive, (n,), by a model that was fitted with the labels 0 and 1."""
    answer: Floats = model.predict_proba(X)[:, 1]
    return answer
