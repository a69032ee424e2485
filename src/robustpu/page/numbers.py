"""How good the model is, in numbers with intervals, each explained in a sentence."""

from html import escape
from typing import Final, NamedTuple

from robustpu.page.ranges import quarters, whisker
from robustpu.page.reading import Part, number, part, parts, text, texts
from robustpu.page.wording import between, counted, digits, percent
from robustpu.page.wording import number as written


class Meaning(NamedTuple):
    """A metric's title, what it says, and what blind guessing gets of it, by the prior."""

    title: str
    words: str
    blind: str = ""


MEANINGS: Final = {
    "precision": Meaning("Precision", "share of the positive answers that are right", "prior"),
    "recall": Meaning("Recall", "share of all positives that are answered positive"),
    "f1": Meaning("F1", "precision and recall in one number; high only if both are"),
    "accuracy": Meaning(
        "Accuracy", "share of right answers; “always negative” gets the grey mark", "rest"
    ),
    "auc": Meaning("AUC", "chance that a positive is ranked above a negative", "half"),
    "average_precision": Meaning(
        "Average precision", "precision averaged over all thresholds", "prior"
    ),
}
OTHERS: Final = {
    "specificity": "Specificity: share of the negatives that are answered negative",
    "balanced_accuracy": "Balanced accuracy: mean of recall and specificity",
    "zero_one_risk": "Zero-one risk: share of wrong answers",
    "lee_liu": "Lee and Liu’s criterion: recall² over the share answered positive",
    "precision_at_k": "Precision of the first {k} rows of the list",
    "lift_at_k": "Lift of the first {k} rows: how many times better than rows drawn by lot",
    "positives_at_k": "Positives among the first {k} rows of the list",
}


def numbers(findings: Part) -> str:
    """Write the metrics, most of them drawn as dots on ranges.

    Parameters
    ----------
    findings
        See :func:`robustpu.page.render`.

    Returns
    -------
    html
        Tables; empty if there is no evaluation.
    """
    evaluation = part(findings, "evaluation")
    found = {text(each, "name"): each for each in parts(evaluation, "metrics")}
    usable = {name: each for name, each in found.items() if number(each, "value") is not None}
    drawn = [_row(name, usable[name], findings) for name in MEANINGS if name in usable]
    if not usable:
        return ""
    head = (
        '<thead><tr><th scope="col">estimate</th><th scope="col"><span class="aside">drawn, in '
        f'percent</span>{quarters()}</th><th scope="col">%</th><th scope="col">interval</th></tr>'
        "</thead>"
    )
    table = f'<table class="estimates">\n{head}\n<tbody>\n{"".join(drawn)}</tbody></table>\n'
    k = number(evaluation, "k")
    length = "" if k is None else counted(k)
    rest = [_other(name, each, length) for name, each in usable.items() if name not in MEANINGS]
    more = "".join(rest)
    return "".join(
        [
            f'<p class="how">{escape(basis(findings))}</p>\n',
            table if drawn else "",
            '<p class="key"><svg class="sign" viewBox="0 0 22 8" aria-hidden="true">'
            '<path class="blind" d="M11 0V8"/></svg> what guessing blindly gets</p>\n'
            if drawn
            else "",
            _remarks(evaluation, found),
            f'<details><summary>Other estimates</summary>\n<table class="plain">{more}</table>'
            "</details>\n"
            if more
            else "",
        ]
    )


def basis(findings: Part) -> str:
    """Say what the estimates rest on.

    Parameters
    ----------
    findings
        See :func:`robustpu.page.render`.

    Examples
    --------
    >>> "90" in basis({"evaluation": {"level": 0.9}})
    True
    """
    evaluation = part(findings, "evaluation")
    judged = part(evaluation, "judged")
    positive, unlabeled = number(judged, "n_positive"), number(judged, "n_unlabeled")
    rows = ""
    if positive is not None and unlabeled is not None:
        rows = (
            f" on {counted(positive, 'labelled positive')} and "
            f"{counted(unlabeled, 'unlabelled row')} that the model was not fitted on"
        )
    level = number(evaluation, "level")
    sure = f" Intervals are of {percent(level)}." if level is not None else ""
    return (
        f"Estimates without negatives{rows}. They hold if labelled positives are a fair sample "
        f"of all positives, and if the share of positives is right.{sure}"
    )


def _row(name: str, each: Part, findings: Part) -> str:
    meaning = MEANINGS[name]
    value, low, high = (number(each, key) for key in ("value", "low", "high"))
    assert value is not None
    places = digits(value, low, high)
    mark = "<sup>*</sup>" if each.get("clipped") is True else ""
    return (
        f'<tr><th scope="row">{meaning.title}{mark}<small>{meaning.words}</small></th>'
        f"<td>{whisker(value, low, high, _blind(meaning.blind, findings))}</td>"
        f"<td><b>{percent(value, places=places, sign=False)}</b></td>"
        f"<td>{between(value, low, high)}</td></tr>\n"
    )


def _blind(kind: str, findings: Part) -> float | None:
    """What blind guessing gets in the population that the metric is about."""
    prior = number(part(findings, "prior"), "value")
    data = part(findings, "data")
    if kind == "half":
        return 0.5
    if not kind or prior is None:
        return None
    labelled, unlabelled = number(data, "n_positive"), number(data, "n_unlabeled")
    if text(findings, "scenario") == "single-set" and labelled and unlabelled:
        prior = (labelled + prior * unlabelled) / (labelled + unlabelled)
    return prior if kind == "prior" else 1 - prior


def _other(name: str, each: Part, length: str) -> str:
    value, low, high = (number(each, key) for key in ("value", "low", "high"))
    assert value is not None
    words = OTHERS.get(name, name.replace("_", " ")).replace("{k} ", length and f"{length} ")
    sure = "" if low is None or high is None else f"{written(low)} to {written(high)}"
    return (
        f'<tr><th scope="row">{escape(words)}</th><td><b>{written(value)}</b></td>'
        f"<td>{sure}</td></tr>\n"
    )


def _remarks(evaluation: Part, found: dict[str, Part]) -> str:
    lines = texts(evaluation, "remarks")
    if any(each.get("clipped") is True for each in found.values()) and not lines:
        lines = [
            "* was out of range before it was cut: few rows, a wrong share of positives, or "
            "labelled positives that are no fair sample of all."
        ]
    return "".join(f'<p class="fine">{escape(line)}</p>\n' for line in lines)
