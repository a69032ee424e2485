"""The share of positives among the unlabelled rows, and the distribution of the scores."""

from html import escape
from typing import Final

from robustpu.charts.axes import figure
from robustpu.charts.wording import between, percent
from robustpu.report.histograms import Side, histograms, steep
from robustpu.report.ranges import Range, dots
from robustpu.results import Prior, Results

SOURCES: Final = {
    "estimated": "estimated from the data",
    "given": "given by you",
    "range": "from the range that you gave",
    "count": "from the number of hidden positives that you gave",
}


def share_of_positives(prior: Prior) -> str:
    """Draw the share that was used, with its interval, and the estimate of each method.

    Parameters
    ----------
    prior
        Of the results.

    Returns
    -------
    html
        A card.
    """
    source = SOURCES[prior.source]
    # A given share has an interval only if held-out scores refute it.
    if prior.source in ("given", "count") and prior.low is not None:
        source = "the most that held-out scores allow"
    interval = between(prior.value, prior.low, prior.high)
    if interval:
        level = "" if prior.source == "range" else f"{percent(prior.level)} interval "
        interval = f", {level}{interval}"
    words = f"{percent(prior.value)} of the unlabelled rows{interval}; {source}."
    used = Range("used", prior.value, prior.low, prior.high, strong=True)
    others = [Range(name, estimate) for name, estimate in prior.estimates.items()]
    warnings = "".join(f'<p class="fine">{escape(line)}</p>' for line in prior.warnings)
    picture = dots([used, *others], words) + warnings
    return figure("Share of positives among the unlabelled rows", picture, words)


def scores(results: Results) -> str:
    """Draw the distribution of the scores of labelled and of unlabelled rows.

    Parameters
    ----------
    results
        See :func:`robustpu.report.render`.

    Returns
    -------
    html
        A card.
    """
    found = results.scores
    sides = [
        Side("labelled positives", "warm", found.positive),
        Side("unlabelled rows", "cool", found.unlabeled),
    ]
    words = "Number of rows by score."
    if steep(sides):
        words = f"{words} The scale is logarithmic: each line is ten times the one below."
    picture = histograms(found.edges, sides, results.threshold, "score")
    return figure("Scores of held-out rows", picture, words)
