"""Whether the newest rows are ranked as well as those before them."""

from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from robustpu.base import BasePUClassifier
from robustpu.metrics import PUTimeSplit
from robustpu.study.judging import evaluation_section, judge
from robustpu.study.prior import Prior
from robustpu.study.stages import Tell, silent
from robustpu.study.training import copy_of, probability, train

# Blocks of time; the newest is judged.
BLOCKS: Final = 5
# Fewer labelled rows among the newest are no ground for an alarm.
LEAST_NEWEST: Final = 5


def judge_newest(
    model: BasePUClassifier,
    X: NDArray[np.float32],
    y: NDArray[np.int64],
    times: NDArray[Any],
    prior: Prior,
    progress: Tell = silent,
) -> dict[str, Any]:
    """What a model of the older rows says about the newest block, a fifth by share of both labels.

    Parameters
    ----------
    model
        Its parameters are used.
    X, y, times
        Rows, labels and times; rows without a time count as old.
    prior
        Of the whole table; the newest rows are judged by it too.
    progress
        Told of the fit.

    Returns
    -------
    section
        ``text``, a remark; and if the rows could be judged, from when they are and the section of
        their evaluation.
    """
    is_missing = np.isnat(times) if times.dtype.kind == "M" else np.isnan(times)
    order = np.unique(times[~is_missing], return_inverse=True)[1]
    moment = np.full(len(times), -1)
    moment[~is_missing] = order
    try:
        older, newest = list(PUTimeSplit(BLOCKS - 1).split(X, y, moment))[-1]
    except ValueError as error:
        return {"text": f"The newest rows cannot be judged apart: {error}"}
    copy = copy_of(model)
    try:
        train(copy, X[older], y[older], progress, "judging the newest rows")
    except ValueError as error:
        return {"text": f"The newest rows cannot be judged apart: {error}"}
    found = judge(
        y[newest], probability(copy, X[newest]), prior, copy.threshold_, str(copy.scenario)
    )
    assert found is not None
    since = str(np.min(times[newest]))
    since = since.removesuffix("T00:00:00.000000").removesuffix(".000000")
    told = ", ".join(
        f"{name} {found[own].value:.2f} ({found[own].low:.2f} to {found[own].high:.2f})"
        for name, own in (("AUC", "auc"), ("recall", "recall"), ("precision", "precision"))
    )
    return {
        "since": since,
        "evaluation": evaluation_section(found, []),
        "text": f"Fitted on the older rows alone and judged on the newest {len(newest):,}, "
        f"from {since} on, with {int(y[newest].sum()):,} labelled: {told}.",
    }


def newest_alarms(
    whole: dict[str, Any] | None, newest: dict[str, Any] | None
) -> list[dict[str, str]]:
    """Say if the newest rows are ranked worse than rows of all times, beyond chance.

    Parameters
    ----------
    whole
        The section of the evaluation.
    newest
        What ``judge_newest`` answered, or None.

    Examples
    --------
    >>> def section(value, low, high):
    ...     metric = {"name": "auc", "value": value, "low": low, "high": high}
    ...     return {"judged": {"n_positive": 20}, "metrics": [metric]}
    >>> worse = {"since": "2024-05-01", "evaluation": section(0.6, 0.5, 0.7)}
    >>> newest_alarms(section(0.9, 0.85, 0.95), worse)[0]["kind"]
    'time'
    """
    if whole is None or newest is None or newest.get("evaluation") is None:
        return []
    if newest["evaluation"]["judged"]["n_positive"] < LEAST_NEWEST:
        return []
    usual, late = (
        next(own for own in section["metrics"] if own["name"] == "auc")
        for section in (whole, newest["evaluation"])
    )
    if late["high"] >= usual["low"]:
        return []
    text = (
        f"A model of the older rows ranks those from {newest['since']} on much worse: AUC "
        f"{late['value']:.2f}, and {usual['value']:.2f} on rows of all times. Things have changed, "
        "and new rows may be ranked as badly. Leave out columns that age, or fit on newer rows."
    )
    return [{"kind": "time", "text": text}]
