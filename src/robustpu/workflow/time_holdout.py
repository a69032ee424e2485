"""Whether the newest rows are ranked as well as the older ones."""

from typing import Any, Final

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from robustpu.base.classifier import BasePUClassifier
from robustpu.metrics import PUTimeSplit
from robustpu.results import Prior, TimeHoldout
from robustpu.workflow.evaluation import evaluate_scores, summarize
from robustpu.workflow.progress import Progress, silent
from robustpu.workflow.training import probability, train

# Blocks of time, the newest of which is held out.
BLOCKS: Final = 5

# What is said of the newest rows, as far as it is known.
SHOWN: Final = {
    "auc": "AUC",
    "auc_of_labeled": "AUC of known positives",
    "recall": "recall",
    "precision": "precision",
}


def evaluate_newest(
    model: BasePUClassifier,
    X: NDArray[np.float32],
    y: NDArray[np.int64],
    times: NDArray[Any],
    prior: Prior,
    progress: Progress = silent,
    propensity: NDArray[np.float64] | None = None,
    checked: NDArray[np.bool_] | None = None,
) -> TimeHoldout:
    """Fit on the older rows and evaluate on the newest block, a fifth of both labels.

    Parameters
    ----------
    model
        Its parameters are used.
    X, y, times
        Rows, labels and times; rows without a time count as old.
    prior
        Of the whole table; also used for the newest rows.
    progress
        Callback for the fit.
    propensity
        Of labelled rows, (n,), or None.
    checked
        Which rows owe their label to a check, (n,).
    """
    checked = np.zeros(len(y), dtype=np.bool_) if checked is None else checked
    is_missing = np.isnat(times) if times.dtype.kind == "M" else np.isnan(times)
    moment = np.full(len(times), -1)
    moment[~is_missing] = np.unique(times[~is_missing], return_inverse=True)[1]
    copy = clone(model)
    try:
        older, newest = list(PUTimeSplit(BLOCKS - 1, neg_label=-1).split(X, y, moment))[-1]
        old, new = (None if propensity is None else propensity[rows] for rows in (older, newest))
        stage = "evaluating the newest rows"
        train(copy, X[older], y[older], progress, stage, old, checked[older])
    except ValueError as error:
        return TimeHoldout(f"The newest rows cannot be evaluated: {error}")
    score = probability(copy, X[newest])
    how = prior, copy.threshold_, str(copy.scenario), new, checked[newest]
    evaluation = evaluate_scores(y[newest], score, *how)
    if evaluation is None:
        return TimeHoldout("The newest rows cannot be evaluated: their positives were checked.")
    since = str(np.min(times[newest]))
    since = since.removesuffix("T00:00:00.000000").removesuffix(".000000")
    figures = ", ".join(
        f"{title} {metric.value:.2f} ({metric.low:.2f} to {metric.high:.2f})"
        for title, metric in ((title, evaluation.get(name)) for name, title in SHOWN.items())
        if metric is not None
    )
    text = (
        f"Fitted on the older rows and evaluated on the newest {len(newest):,}, from {since} on, "
        f"{int((y[newest] == 1).sum()):,} of them labelled: {figures}."
    )
    return TimeHoldout(text, since, summarize(evaluation, []))
