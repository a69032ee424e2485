"""What a person should know before trusting the results."""

from collections.abc import Mapping
from typing import Final

import numpy as np
from numpy.typing import NDArray

from robustpu import thresholds
from robustpu.base.classifier import CollapseWarning
from robustpu.metrics import collapse
from robustpu.metrics.ranking import chance_doubt
from robustpu.results import Alarm, EvaluationSummary, Prior, TimeHoldout
from robustpu.workflow.config import FitConfig
from robustpu.workflow.problem import Problem

# From this AUC on, a model ranks rows well enough not to have collapsed.
RANKS: Final = 0.65
# With fewer labelled positives, precision and recall are uncertain.
FEW: Final = 30
# Of fewer positives that are expected, none may be flagged by chance.
EXPECTED: Final = 5
# Fewer labelled rows among the newest are no ground for an alarm.
FEW_NEWEST: Final = 5


def data_alarms(
    problem: Problem, prior: Prior, warnings: Mapping[str, type[Warning]]
) -> list[Alarm]:
    """Leaking columns, warnings of the fit and of the prior, few labelled positives.

    Parameters
    ----------
    problem, prior
        The data and the share of positives.
    warnings
        Those of the fit; a collapse is left to :func:`collapse_alarms`.
    """
    alarms = [
        Alarm("leak", f"Column {column.name!r}: {column.alarm}")
        for column in problem.vectorizer.columns_
        if column.alarm
    ]
    alarms += [
        Alarm("fit", text)
        for text, category in warnings.items()
        if not issubclass(category, CollapseWarning)
    ]
    alarms += [Alarm("prior", text) for text in prior.warnings]
    if problem.n_positive < FEW:
        count = problem.n_positive
        known = "1 positive is" if count == 1 else f"{count} positives are"
        text = "intervals are wide. Check rows of the list, and fit again with what you find."
        alarms.append(Alarm("few", f"Only {known} known: {text}"))
    return alarms


def collapse_alarms(
    score: NDArray[np.float64],
    prior: float,
    config: FitConfig,
    threshold: float,
    auc: float | None = None,
) -> list[Alarm]:
    """Say if the model predicts the same for nearly all unlabelled rows, and what to try.

    A model that ranks rows well has not collapsed: positives that are rare and hard to tell apart
    do not reach a score of one half.

    Parameters
    ----------
    score
        Of the unlabelled rows.
    prior
        Share of positives among them.
    config, threshold
        What was fitted, and the threshold that was found.
    auc
        Lower end of its interval on held-out rows; None if it is unknown.

    Examples
    --------
    >>> [alarm.kind for alarm in collapse_alarms(np.zeros(100), 0.2, FitConfig(), 0.5)]
    ['collapse']
    """
    # A target may ask for few or many positives; then a threshold of one half shows a collapse.
    is_target = thresholds.parse(config.threshold)[0] in thresholds.TARGETS
    at, verb = (0.5, "have") if is_target else (threshold, "are flagged, with")
    rate = float((score >= at).mean())
    side = collapse(rate, prior, len(score))
    if side is None:
        return []
    found = (
        f"{rate:.1%} of the unlabelled rows {verb} a score of {at:.3g} or more, where "
        f"{prior:.1%} are expected to be positive: "
    )
    if side == "negative" and auc is not None and auc >= RANKS:
        # The user may have asked for few flagged rows, by a target or another number.
        if is_target or config.threshold != 0.5 or prior * len(score) < EXPECTED:
            return []
        advice = (
            "single positives are hard to tell apart. The order of the list is still valid: work "
            "from its top, whether rows are flagged or not."
        )
        return [Alarm("level", found + advice)]
    advice = (
        f"the model has probably collapsed to all-{side}. Fit again with another method, or with "
        "the share of positives if you know it better."
    )
    return [Alarm("collapse", found + advice)]


def chance_alarms(evaluation: EvaluationSummary | None) -> list[Alarm]:
    """Say if held-out rows do not show that the ranking is better than chance.

    Only the AUC of labelled against unlabelled rows decides, so no share of positives can hide it.

    Parameters
    ----------
    evaluation
        On held-out rows, or None.

    Examples
    --------
    >>> from robustpu.results import Metric
    >>> area = Metric("auc_of_labeled", 0.47, 0.39, 0.54)
    >>> summary = EvaluationSummary(0.9, 5, 10, 20, (), (), auc_of_labeled=area)
    >>> [alarm.kind for alarm in chance_alarms(summary)]
    ['chance']
    """
    area = None if evaluation is None else evaluation.auc_of_labeled
    if evaluation is None or area is None or evaluation.beats_chance:
        return []
    return [Alarm("chance", chance_doubt(area, evaluation.level))]


def threshold_alarms(prior: Prior, threshold: float | str) -> list[Alarm]:
    """Say that a threshold for a precision cannot be kept, if the share is not known.

    Examples
    --------
    >>> unknown = Prior("estimated", 0.1, 0.01, 0.4, is_known=False)
    >>> [alarm.kind for alarm in threshold_alarms(unknown, "precision:0.9")]
    ['prior']
    """
    if prior.is_known or thresholds.parse(threshold)[0] != "precision":
        return []
    text = "These rows do not tell the share of positives among the unlabelled ones. "
    return [Alarm("prior", text + thresholds.precision_doubt(threshold))]


def missing_evaluation_alarms(evaluation: EvaluationSummary | None, why: str) -> list[Alarm]:
    """Say why there is no evaluation, if there is none.

    Examples
    --------
    >>> missing_evaluation_alarms(None, "1 labelled row is too few")[0].text
    'The model could not be evaluated: 1 labelled row is too few.'
    """
    if evaluation is not None:
        return []
    return [Alarm("few", f"The model could not be evaluated: {why.removesuffix('.')}.")]


def time_alarms(
    evaluation: EvaluationSummary | None, time_holdout: TimeHoldout | None
) -> list[Alarm]:
    """Say if the newest rows are ranked worse than rows of all times, beyond chance.

    Parameters
    ----------
    evaluation
        On held-out rows of all times.
    time_holdout
        On the newest rows, by a model of the older ones.
    """
    newest = None if time_holdout is None else time_holdout.evaluation
    if evaluation is None or newest is None or newest.n_positive < FEW_NEWEST:
        return []
    usual, late = evaluation.auc, newest.auc
    if time_holdout is None or usual is None or late is None or late.high >= usual.low:
        return []
    text = (
        f"A model of the older rows ranks those from {time_holdout.since} on much worse: AUC "
        f"{late.value:.2f}, against {usual.value:.2f} on rows of all times. The data have changed, "
        "and new rows may be ranked as badly. Leave out columns that age, or fit on newer rows."
    )
    return [Alarm("time", text)]
