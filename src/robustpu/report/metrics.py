"""How good the model is, in numbers with intervals, each explained in a sentence."""

from typing import Final, Literal, NamedTuple

from markupsafe import Markup

from robustpu.charts.wording import between, counted, digits, number, percent
from robustpu.report.markup import Child, element, joined, table
from robustpu.report.plot import interval
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
    "accuracy": Meaning("Accuracy", "share of rows classified correctly", "rest"),
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


def metrics(results: Results) -> Markup:
    """Write the metrics, most of them drawn as dots on ranges.

    Parameters
    ----------
    results
        See :func:`robustpu.report.render`.
    """
    evaluation = results.evaluation
    if evaluation is None or not evaluation.metrics:
        return Markup("")
    found = {metric.name: metric for metric in evaluation.metrics}
    drawn = [_row(found[name], results) for name in MEANINGS if name in found]
    heads = "estimate", "0 to 100 %; the grey mark is random guessing", "%", "interval"
    others = [metric for metric in evaluation.metrics if metric.name not in MEANINGS]
    rest = [_other(metric, counted(evaluation.k)) for metric in others]
    return joined(
        element("p", _basis(results, evaluation), class_="how"),
        table(heads, drawn, "estimates") if drawn else None,
        [element("p", line, class_="fine") for line in evaluation.remarks],
        element("details", element("summary", "Other estimates"), table((), rest, "plain"))
        if rest
        else None,
    )


def _basis(results: Results, evaluation: EvaluationSummary) -> str:
    if_so = "positives were labelled completely at random"
    if results.data.propensity is not None:
        if_so = f"the propensities in {results.data.propensity} are right"
    return (
        f"A row is flagged from a score of {results.threshold:.3g} on, as "
        f"{percent(results.flagged)} of the unlabelled rows are. Estimates without negatives on "
        f"{counted(evaluation.n_positive, 'labelled positive')} and "
        f"{counted(evaluation.n_unlabeled, 'unlabelled row')} that the model was not fitted on. "
        f"They hold if {if_so}, and if the share of positives is right. "
        f"Intervals are of {percent(evaluation.level)}."
    )


def _row(metric: Metric, results: Results) -> list[Child]:
    meaning = MEANINGS[metric.name]
    value, low, high = metric.value, metric.low, metric.high
    mark = element("sup", "*") if metric.clipped else None
    return [
        [meaning.title, mark, element("small", meaning.words)],
        interval(value, low, high, _random(meaning, results)),
        element("b", percent(value, places=digits(value, low, high), sign=False)),
        between(value, low, high),
    ]


def _random(meaning: Meaning, results: Results) -> float | None:
    """What random guessing gets in the population that the metric is about."""
    share, data = results.prior.value, results.data
    if results.scenario == "single-set":
        share = (data.n_positive + share * data.n_unlabeled) / data.rows
    return {"half": 0.5, "share": share, "rest": 1 - share}.get(meaning.random)


def _other(metric: Metric, length: str) -> list[Child]:
    words = OTHERS.get(metric.name, metric.name.replace("_", " ")).replace("{k}", length)
    return [
        words,
        element("b", number(metric.value)),
        f"{number(metric.low)} to {number(metric.high)}",
    ]
