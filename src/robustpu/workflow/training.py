"""A method by its name, fitted."""

import time
import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from robustpu.base.classifier import BasePUClassifier, CollapseWarning
from robustpu.methods import METHODS, all_methods
from robustpu.methods.voting import PUVotingClassifier
from robustpu.thresholds import parse
from robustpu.training import Job, fit_together
from robustpu.validation.names import suggest
from robustpu.validation.parameters import check_parameters
from robustpu.workflow.config import FitConfig
from robustpu.workflow.progress import Progress, silent

Floats: TypeAlias = NDArray[np.float64]


@dataclass(frozen=True)
class Fitted:
    """A fitted model, its fit time in seconds, and its warnings with their categories."""

    model: BasePUClassifier
    seconds: float
    warnings: Mapping[str, type[Warning]]


def make_model(config: FitConfig, prior: float | str) -> BasePUClassifier:
    """The configured estimator, not fitted.

    Parameters
    ----------
    config
        What to fit.
    prior
        Share of positives among the unlabelled rows, or "auto".

    Examples
    --------
    >>> make_model(FitConfig("nnpu", members=3), 0.2).n_members
    3
    """
    if config.method not in METHODS:
        raise ValueError(f"unknown method {config.method!r}{suggest(config.method, METHODS)}")
    kind = all_methods()[config.method]
    given: dict[str, Any] = {
        "prior": prior,
        "scenario": config.scenario,
        "threshold": config.threshold,
        "random_state": config.seed,
    }
    known = kind().get_params(deep=False)
    if config.members is not None:
        if "n_members" not in known:
            raise ValueError(f"{config.method} does not average members: leave their number out.")
        given["n_members"] = config.members
    if config.effort != "default":
        if "effort" not in known:
            raise ValueError(f"{config.method} has no effort to set: leave it out.")
        given["effort"] = config.effort
    model = kind(**given)
    _check_threshold(config, model)
    check_parameters(model)
    return model


def _check_threshold(config: FitConfig, model: BasePUClassifier) -> None:
    """Refuse a threshold that needs held-out rows, for a method that holds out none."""
    target, _ = parse(config.threshold)
    if target not in ("recall", "precision") or model.validation_fraction > 0:
        return
    able = [name for name, kind in all_methods().items() if kind.validation_fraction > 0]
    raise ValueError(
        f"the threshold {config.threshold!r} needs held-out rows, and {config.method} holds out "
        f"none. Choose a method that does ({', '.join(able)}), or give a number, prior or top:200 "
        "as the threshold."
    )


def parts_of(model: Any) -> list[Any]:
    """A classifier, and those that it averages if it is an ensemble.

    Examples
    --------
    >>> len(parts_of(make_model(FitConfig("nnpu"), 0.2)))
    1
    """
    ensemble = getattr(model, "ensemble_", None) or model
    is_ensemble = isinstance(ensemble, PUVotingClassifier) and hasattr(ensemble, "estimators_")
    return [model, *(ensemble.estimators_ if is_ensemble else ())]


def train(
    model: BasePUClassifier,
    X: NDArray[np.float32],
    y: NDArray[np.int64],
    progress: Progress = silent,
    stage: str = "training",
    propensity: Floats | None = None,
    checked: NDArray[np.bool_] | None = None,
) -> Fitted:
    """Fit a model, and report progress.

    Parameters
    ----------
    model
        Not fitted; it is fitted in place.
    X, y
        Rows and labels.
    progress, stage
        Callback, and the name of this stage.
    propensity
        Of labelled rows, (n,), or None.
    checked
        Which rows owe their label to a check, (n,); None if none.
    """
    started = time.perf_counter()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        checked = checked if checked is not None and checked.any() else None
        job = Job(model, X, y, propensity=propensity, checked=checked)
        fit_together([job], lambda done, total: progress(stage, done, total))
    categories = {
        str(warning.message): warning.category
        for warning in caught
        if issubclass(warning.category, CollapseWarning) or warning.category is UserWarning
    }
    return Fitted(model, time.perf_counter() - started, categories)


def probability(model: BasePUClassifier, X: NDArray[np.float32]) -> Floats:
    """Probability of being positive, (n,), of a model that was fitted with the labels 0 and 1."""
    positive: Floats = model.predict_proba(X)[:, 1]
    return positive
