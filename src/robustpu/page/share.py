"""The share of positives among the unlabelled rows, and how the answers are spread."""

from html import escape
from typing import Final

from robustpu.page.axes import figure
from robustpu.page.histograms import Side, histograms, steep
from robustpu.page.ranges import Range, dots
from robustpu.page.reading import Part, number, part, rows, text, texts
from robustpu.page.reading import numbers as read_numbers
from robustpu.page.wording import between, percent

HOW: Final = {
    "estimated": "estimated from the data",
    "given": "given by you",
    "range": "by the range that you gave",
    "count": "from the number of hidden positives that you gave",
}


def prior(findings: Part) -> str:
    """Draw the prior that was used, with its interval, and what each estimator says.

    Parameters
    ----------
    findings
        See :func:`robustpu.page.render`.

    Returns
    -------
    html
        A card; empty if the prior is not known.
    """
    found = part(findings, "prior")
    value, low, high = (number(found, key) for key in ("value", "low", "high"))
    if value is None:
        return ""
    answers = part(found, "answers")
    others = [
        Range(_name(name), answer)
        for name in answers
        if (answer := number(answers, name)) is not None
    ]
    how = HOW.get(text(found, "how"), text(found, "how"))
    # A share that was given has an interval only where rows refute it.
    if how in (HOW["given"], HOW["count"]) and low is not None:
        how = "the most that held-out scores allow"
    sure = between(value, low, high)
    level = number(found, "level")
    kind = "" if how == HOW["range"] or level is None else f"{percent(level)} interval "
    interval = f", {kind}{sure}" if sure else ""
    words = f"{percent(value)} of the unlabelled rows{interval}; {how or 'of unknown origin'}."
    picture = dots([Range("used", value, low, high, strong=True), *others], words)
    doubts = "".join(f'<p class="fine">{escape(line)}</p>' for line in texts(found, "doubts"))
    return figure("Share of positives among the unlabelled", picture + doubts, words)


def scores(findings: Part) -> str:
    """Draw how the scores of labelled and of unlabelled rows are spread.

    Parameters
    ----------
    findings
        See :func:`robustpu.page.render`.

    Returns
    -------
    html
        A card; empty if the scores are not known.
    """
    found = part(findings, "scores")
    edges = [edge for edge in read_numbers(found, "edges") if edge is not None]
    counts = rows({"both": [found.get("positive"), found.get("unlabeled")]}, "both")
    sides = [
        Side("labelled positives", "warm", counts[0]),
        Side("unlabelled rows", "cool", counts[1]),
    ]
    picture = histograms(edges, sides, number(findings, "threshold"), "score")
    words = "Number of rows by score."
    if steep(sides):
        words = f"{words} The scale is logarithmic: each line is ten times the one below."
    return figure("Scores of rows that were held out", picture, words)


def _name(name: object) -> str:
    return text({"name": name}, "name")
