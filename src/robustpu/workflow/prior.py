"""The share of positives among the unlabelled rows, given or estimated."""

import math
import warnings
from collections.abc import Mapping
from dataclasses import replace
from typing import Final

import numpy as np
from numpy.typing import NDArray

from robustpu.base.classifier import BasePUClassifier
from robustpu.priors.estimation import PriorWarning, estimate_prior
from robustpu.results import Prior
from robustpu.scenario import NO_SHARE
from robustpu.workflow.config import parse_prior
from robustpu.workflow.progress import Progress, silent
from robustpu.workflow.scar import SCAR

# An estimate may be 0 or 1, with which no method can be trained.
LEAST: Final = 1e-4
ALLOWED: Final = "Held-out scores allow at most {:.1%} positives among the unlabelled rows."


def bounded(prior: Prior, most: float, labelled: str = SCAR) -> Prior:
    """The prior, with a warning if it is larger than held-out scores allow.

    What the user gave is never replaced: it may be right, and labels not completely at random.

    Parameters
    ----------
    prior
        As given or estimated.
    most
        What is allowed, see :func:`robustpu.metrics.largest_prior`.
    labelled
        How positives were labelled, if that is allowed.

    Examples
    --------
    >>> bounded(Prior("estimated", 0.3, 0.1, 0.5), 0.4).interval
    (0.1, 0.4)
    >>> bounded(Prior("given", 0.5), 0.2).value
    0.5
    """
    most = max(most, LEAST)
    if prior.source == "estimated" and prior.low is not None and prior.high is not None:
        value = min(prior.value, most)
        return replace(
            prior, value=value, low=min(prior.low, value), high=max(min(prior.high, most), value)
        )
    low, high = (prior.value if end is None else end for end in (prior.low, prior.high))
    if high <= most:
        return prior
    if low <= most:
        found = f"You gave up to {high:.1%}, of which the upper part cannot hold"
    else:
        given = f"{low:.1%}" if low == high else f"{low:.1%} to {high:.1%}"
        found = f"You gave {given}. Both cannot hold"
    warning = (
        f"{ALLOWED.format(most)} {found} if positives were labelled {labelled}. The results use "
        "what you gave."
    )
    return replace(prior, warnings=(*prior.warnings, warning))


def among_unlabeled(prior: Prior, y: NDArray[np.int64], checked: NDArray[np.bool_]) -> Prior:
    """The share among the rows that are still unlabelled, of one among those before a check.

    Parameters
    ----------
    prior
        Of the rows before any was checked.
    y, checked
        Labels 1, 0 and -1, and which rows owe them to a check, (n,).

    Examples
    --------
    >>> y, checked = np.array([1] + [0] * 8 + [1, -1]), np.array([False] * 9 + [True] * 2)
    >>> among_unlabeled(Prior("given", 0.5), y, checked).value
    0.5
    """
    if not checked.any():
        return prior
    found, left = int(((y == 1) & checked).sum()), int((y == 0).sum())

    def still(share: float) -> float:
        # Half a row is left at least.
        return min(max(share * (left + int(checked.sum())) - found, 0.5) / left, 1.0)

    low, high = (None if end is None else still(end) for end in (prior.low, prior.high))
    return replace(prior, value=still(prior.value), low=low, high=high)


def find_prior(
    X: NDArray[np.float32],
    y: NDArray[np.int64],
    asked: str | float,
    scenario: str,
    seed: int,
    progress: Progress = silent,
    propensity: NDArray[np.float64] | None = None,
    checked: NDArray[np.bool_] | None = None,
) -> Prior:
    """The prior as it was given, from a count, or estimated.

    Parameters
    ----------
    X, y
        Rows, and 1 for labelled positives, 0 for unlabelled rows, -1 for known negatives.
    asked
        See :func:`parse_prior`. A count is that of the positives among the unlabelled rows.
    scenario
        "case-control" or "single-set".
    seed
        Of the estimate.
    progress
        Callback for the estimate.
    propensity
        Of labelled rows, (n,), or None.
    checked
        Which rows owe their label to a check, (n,). The prior is about the rows before it.

    Examples
    --------
    >>> y = np.array([1] * 10 + [0] * 40)
    >>> find_prior(np.zeros((50, 1), np.float32), y, "count:8", "case-control", 0).value
    0.2
    """
    source, numbers = parse_prior(asked)
    checked = np.zeros(len(y), dtype=np.bool_) if checked is None else checked
    n_unlabeled = int(((y == 0) | checked).sum())
    if source == "given":
        return Prior(source, numbers[0])
    if source == "range":
        low, high = numbers
        # Shares differ by factors, but not from none.
        value = high / 2 if low < NO_SHARE else math.sqrt(low * high)
        return Prior(source, value, low, high)
    if source == "count":
        (number,) = numbers
        if number >= n_unlabeled:
            raise ValueError(
                f"the prior {asked!r} counts as many positives as there are unlabelled rows, "
                f"{n_unlabeled:,}, or more. Give the number that you expect among these."
            )
        return Prior(source, number / n_unlabeled)
    if (y == 1).sum() < 2 and propensity is None:
        raise ValueError(
            "the prior cannot be estimated from a single labelled positive. Give it, such as "
            "--prior 0.05 or --prior count:20, or label more rows."
        )
    return _estimated(X, y, scenario, seed, progress, propensity, checked)


def _estimated(
    X: NDArray[np.float32],
    y: NDArray[np.int64],
    scenario: str,
    seed: int,
    progress: Progress,
    propensity: NDArray[np.float64] | None,
    checked: NDArray[np.bool_],
) -> Prior:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PriorWarning)
        found = estimate_prior(
            X,
            y,
            neg_label=-1,
            checked=checked,
            scenario=scenario,
            random_state=seed,
            progress=lambda done, total: progress("prior", done, total),
            propensity=propensity,
        )
    return _described(
        found.value, found.low, found.high, found.level, found.answers, found.is_known
    )


def prior_of(model: BasePUClassifier) -> Prior:
    """The prior that a model estimated while it was fitted.

    Parameters
    ----------
    model
        Fitted with a prior to be estimated.
    """
    found = model.prior_interval()
    # That it is not known is the headline of all results.
    return _described(model.prior_, found.low, found.high, found.level, {}, found.is_known)


def keep_interval(model: BasePUClassifier, prior: Prior) -> None:
    """Let a model that was fitted with a number know that this is an estimate, or of a range.

    Then ``evaluate()`` promises what the results do.

    Parameters
    ----------
    model
        Fitted.
    prior
        As the results have it.
    """
    if prior.source == "estimated":
        model.set_params(prior="auto")
    if prior.interval is not None:
        model.prior_interval_ = (*prior.interval, prior.level, prior.is_known)


def _described(
    value: float,
    low: float,
    high: float,
    level: float,
    estimates: Mapping[str, float],
    is_known: bool,
) -> Prior:
    value = float(np.clip(value, LEAST, 1 - LEAST))
    return Prior(
        "estimated",
        value,
        min(float(low), value),
        max(float(high), value),
        float(level),
        {name: float(estimate) for name, estimate in estimates.items()},
        is_known=is_known,
    )
