"""The share of positives among the unlabelled rows, its estimates, and what others would mean."""

from typing import Final

from markupsafe import Markup

from robustpu.charts.wording import CAVEAT, between, counted, percent
from robustpu.report.markup import Child, card, element, table
from robustpu.report.plot import interval
from robustpu.report.prospects import foremost
from robustpu.report.trust import percent_of
from robustpu.results import Prior, Results

SOURCES: Final = {
    "estimated": f"estimated from the data; {CAVEAT}",
    "given": "as you said",
    "range": "from the range that you gave",
    "count": "from the number of hidden positives that you gave",
}


def share(results: Results) -> Markup:
    """Write the share with its interval, each estimate of it, and what other shares would mean.

    Parameters
    ----------
    results
        See :func:`robustpu.report.render`.
    """
    prior = results.prior
    rows: list[list[Child]] = [_row("assumed" if not prior.is_known else "taken", prior)]
    rows += [
        [name, interval(estimate, None, None), percent(estimate), ""]
        for name, estimate in prior.estimates.items()
    ]
    found = table(("", "0 to 100 %", "share", "interval"), rows, "estimates")
    return element(
        "div",
        card("Share of positives among the unlabelled rows", found, _explained(prior)),
        _others(results) if prior.is_known else None,
    )


def _explained(prior: Prior) -> str:
    if not prior.is_known:
        return (
            f"The rows do not tell it: {between(prior.value, prior.low, prior.high)} are possible. "
            f"{percent(prior.value)} was assumed to turn scores into probabilities; neither the "
            "order of the list nor anything above rests on it."
        )
    return f"{percent(prior.value)}: {SOURCES[prior.source]}."


def _row(name: str, prior: Prior) -> list[Child]:
    level = "" if prior.source == "range" else f" ({percent(prior.level)})"
    ends = between(prior.value, prior.low, prior.high)
    return [
        name,
        interval(prior.value, prior.low, prior.high),
        element("b", percent(prior.value)),
        f"{ends}{level}" if ends else "",
    ]


def _others(results: Results) -> Markup:
    points, first = results.sensitivity, foremost(results.top, results.expected)
    if len(points) < 2 or first is None:
        return Markup("")
    place = results.top.index(first)
    decimals = 2 if min(point.cutoff for point in points) >= 0.05 else 3
    rows: list[list[Child]] = [
        [
            [percent_of(point.share), " (taken)" * (point.share == results.prior.value)],
            counted(point.share * results.data.n_unlabeled),
            percent(point.precision, places=0),
            counted(point.expected[place]),
            f"{point.cutoff:.{decimals}f}",
        ]
        for point in points
    ]
    heads = "if it were", "positives", "precision", f"of the first {counted(first.k)}", "cutoff"
    words = (
        "With the same model. Recall and the order of the list do not depend on the share, "
        "precision does. Cutoff: the score that as many rows reach as would be positive."
    )
    return card("If the share were another", table(heads, rows, "shares known"), words)
