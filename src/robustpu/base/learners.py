"""Learners of scikit-learn's kind that tell positives (1) from other rows (0): fit and score."""

from copy import deepcopy
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn import config_context, get_config
from sklearn.base import clone
from sklearn.pipeline import Pipeline
from sklearn.utils.metadata_routing import MetadataRouter, get_routing_for_object
from sklearn.utils.validation import has_fit_parameter

from robustpu.sparse.learners import for_sparse
from robustpu.sparse.rows import is_sparse
from robustpu.training.data import Floats
from robustpu.validation.frames import naming_text

ROUNDING = 1e-6


def fit_learner(
    learner: Any,
    X: Any,
    target: NDArray[Any],
    weight: Floats,
    random: np.random.RandomState,
    start: Any = None,
) -> Any:
    """Fit a fresh copy of a learner to rows with targets 0 and 1.

    A linear one with ``warm_start=True`` goes on from the coefficients of another fit. Ensembles do
    not: they would keep the trees of that fit. Nor do scikit-learn's networks, which would stop at
    the losses of other weights. Scalers do not centre sparse rows.

    Parameters
    ----------
    learner
        A scikit-learn classifier; it stays as it is.
    X, target, weight
        Rows, their targets, (n,), and weights, (n,). Weights that are all 1 are not passed on, so
        that learners without ``sample_weight`` can be fitted.
    random
        Every ``random_state`` of the learner is drawn from it.
    start
        The same learner after another fit, or None; it stays as it is.
    """
    goes_on = getattr(learner, "warm_start", False) and hasattr(start, "coef_")
    learner = deepcopy(start) if goes_on else clone(learner)
    states = {
        name: random.randint(np.iinfo(np.int32).max)
        for name in sorted(learner.get_params())
        if name == "random_state" or name.endswith("__random_state")
    }
    learner.set_params(**states)
    learner = for_sparse(learner) if is_sparse(X) else learner
    target = np.asarray(target, dtype=np.int64)

    def takes_no_text(names: str) -> str:
        return (
            f"{type(learner).__name__} takes no text, and X has columns of it: {names}. "
            'Make categories of them, X.astype({name: "category"}), if the learner takes those, or '
            "put an encoder in front of it, in a pipeline."
        )

    with naming_text(X, takes_no_text, categories=False):
        if (weight == 1).all():
            return learner.fit(X, target)
        return _fit_weighted(learner, X, target, weight)


def _fit_weighted(learner: Any, X: Any, target: NDArray[Any], weight: Floats) -> Any:
    """Fit a learner with weights, by the requests of its parts if there are any."""
    if get_config()["enable_metadata_routing"]:
        routing = get_routing_for_object(learner)
        if isinstance(routing, MetadataRouter) and routing.consumes("fit", ["sample_weight"]):
            return learner.fit(X, target, sample_weight=weight)
    # Weights are made here, not given by a user, so that nobody has to have requested them.
    with config_context(enable_metadata_routing=False):
        return learner.fit(X, target, **{_weight_name(learner): weight})


def _weight_name(learner: Any) -> str:
    """Name the parameter of ``fit`` that takes the weights of the rows."""
    if isinstance(learner, Pipeline):
        name, last = learner.steps[-1]
        if isinstance(last, Pipeline) or has_fit_parameter(last, "sample_weight"):
            return f"{name}__{_weight_name(last)}"
    elif has_fit_parameter(learner, "sample_weight"):
        return "sample_weight"
    raise ValueError(
        f"{type(learner).__name__} takes no sample_weight, and rows have to be weighted here. Take "
        "another estimator=, such as HistGradientBoostingClassifier()."
    )


def scores(learner: Any, X: Any) -> Floats:
    """Score rows by a fitted learner: probabilities of target 1, or a sigmoid of its decisions.

    Parameters
    ----------
    learner
        Fitted to targets 0 and 1.
    X
        Rows.
    """
    if hasattr(learner, "predict_proba"):
        both = np.asarray(learner.predict_proba(X))
        if both.ndim != 2 or both.shape[1] != 2:
            raise ValueError(
                f"{type(learner).__name__}.predict_proba must return two columns, one a class; it "
                f"returns an array of shape {both.shape}."
            )
        return _checked(learner, both[:, 1])
    decision: Floats = np.clip(learner.decision_function(X), -500, 500)
    return _checked(learner, 1 / (1 + np.exp(-decision)))


def _checked(learner: Any, probability: Floats) -> Floats:
    """Refuse what is no probability: one such score would spoil those of all rows."""
    # A rounding error beyond the ends does no harm.
    wrong = ~((probability >= -ROUNDING) & (probability <= 1 + ROUNDING))
    if wrong.any():
        first = int(wrong.argmax())
        raise ValueError(
            f"{type(learner).__name__} predicts {probability[first]} for row {first} of "
            f"{len(wrong)}, which is no probability; it does so for {int(wrong.sum())} of them. "
            "Take another estimator=, or rows that it can score."
        )
    return probability


def balanced_logits(probability: Floats, share: float) -> Floats:
    """Log-odds as if labelled and unlabelled rows had the same weight, (n,).

    Parameters
    ----------
    probability
        Of being labelled, (n,).
    share
        Of the labelled rows, as the learner saw it.

    Examples
    --------
    >>> balanced_logits(np.array([0.25, 0.25]), 0.25).round(6)
    array([0., 0.])
    """
    inside = np.clip(probability, 1e-9, 1 - 1e-9)
    odds: Floats = np.log(inside / (1 - inside)) - np.log(share / (1 - share))
    return odds
