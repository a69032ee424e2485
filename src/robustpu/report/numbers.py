"""How good the model is, in numbers with intervals, each explained in a sentence."""

from html import escape
from typing import Final, Literal, NamedTuple

from robustpu.charts.wording import between, counted, digits, number, percent
from robustpu.report.ranges import quarters, whisker
from robustpu.results import EvaluationSummary, Metric, Results


class Meaning(NamedTuple):
    """A metric's title, what it says, and what random guessing gets: "share", "rest" or "half"."""

    title: str
    words: str
    random: Literal["share", "rest", "half", ""] = ""


MEANINGS: Final = {
    "precision": Meaning("Precision", "share of the flagged rows that are positive", "share"),
    "recall": Meaning("Recall", "share of all positives that are flagged"),
    "f1": Meaning("F1", "precision and recall in one number; high only if both are"),
    "accuracy": Meaning(
        "Accuracy", "share of rows classified correctly; flagging none gets the grey mark", "rest"
    ),
    "auc": Meaning("AUC", "chance that a positive is ranked above a negative", "half"),
    "auc_of_labeled": Meaning(
        "AUC of known positives", "chance that one is ranked above an unlabelled row", "half"
    ),
    "average_precision": Meaning(
        "Average precision", "precision averaged over all thresholds", "share"
    ),
}
OTHERS: Final = {
    "specificity": "Specificity: share of the negatives that are not flagged",
    "balanced_accuracy": "Balanced accuracy: mean of recall and specificity",
    "zero_one_risk": "Zero-one risk: share of rows classified wrongly",
    "lee_liu": "Lee and Liu’s criterion: recall² over the share of flagged rows",
    "precision_at_k": "Precision of the first {k} rows of the list",
    "lift_at_k": "Lift of the first {k} rows: how many times better than random rows",
    "positives_at_k": "Positives among the first {k} rows of the list",
}
KEY: Final = (
    '<p class="key"><svg class="sign" viewBox="0 0 22 8" aria-hidden="true">'
    '<path class="blind" d="M11 0V8"/></svg> what random guessing gets</p>\n'
)


def numbers(results: Results) -> str:
    """Write the metrics, most of them drawn as dots on ranges.

    Parameters
    ----------
    results
        See :func:`robustpu.report.render`.

    Returns
    -------
    html
        Tables; empty if there is no evaluation.
    """
    evaluation = results.evaluation
    if evaluation is None or not evaluation.metrics:
        return ""
    found = {metric.name: metric for metric in evaluation.metrics}
    drawn = "".join(_row(found[name], results) for name in MEANINGS if name in found)
    head = (
        '<thead><tr><th scope="col">estimate</th><th scope="col"><span class="aside">drawn, in '
        f'percent</span>{quarters()}</th><th scope="col">%</th><th scope="col">interval</th></tr>'
        "</thead>"
    )
    table = f'<table class="estimates">\n{head}\n<tbody>\n{drawn}</tbody></table>\n{KEY}'
    others = [metric for metric in evaluation.metrics if metric.name not in MEANINGS]
    rest = "".join(_other(metric, counted(evaluation.k)) for metric in others)
    more = f'<table class="plain">{rest}</table></details>\n'
    return (
        f'<p class="how">{escape(basis(evaluation))}</p>\n'
        + (table if drawn else "")
        + "".join(f'<p class="fine">{escape(line)}</p>\n' for line in evaluation.remarks)
        + (f"<details><summary>Other estimates</summary>\n{more}" if rest else "")
    )


def basis(evaluation: EvaluationSummary) -> str:
    """Say what the estimates rest on.

    Parameters
    ----------
    evaluation
        Of the results.

    Examples
    --------
    >>> "90" in basis(EvaluationSummary(0.9, 5, 10, 20, (), ()))
    True
    """
    return (
        f"Estimates without negatives on {counted(evaluation.n_positive, 'labelled positive')} and "
        f"{counted(evaluation.n_unlabeled, 'unlabelled row')} that the model was not fitted on. "
        "They hold if positives were labelled completely at random, and if the share of positives "
        f"is right. Intervals are of {percent(evaluation.level)}."
    )


def _row(metric: Metric, results: Results) -> str:
    meaning = MEANINGS[metric.name]
    value, low, high = metric.value, metric.low, metric.high
    places = digits(value, low, high)
    mark = "<sup>*</sup>" if metric.clipped else ""
    return (
        f'<tr><th scope="row">{meaning.title}{mark}<small>{meaning.words}</small></th>'
        f"<td>{whisker(value, low, high, _random(meaning, results))}</td>"
        f"<td><b>{percent(value, places=places, sign=False)}</b></td>"
        f"<td>{between(value, low, high)}</td></tr>\n"
    )


def _random(meaning: Meaning, results: Results) -> float | None:
    """What random guessing gets in the population that the metric is about."""
    share, data = results.prior.value, results.data
    if results.scenario == "single-set":
        share = (data.n_positive + share * data.n_unlabeled) / data.rows
    return {"half": 0.5, "share": share, "rest": 1 - share}.get(meaning.random)


def _other(metric: Metric, length: str) -> str:
    words = OTHERS.get(metric.name, metric.name.replace("_", " ")).replace("{k}", length)
    return (
        f'<tr><th scope="row">{escape(words)}</th><td><b>{number(metric.value)}</b></td>'
        f"<td>{number(metric.low)} to {number(metric.high)}</td></tr>\n"
    )
