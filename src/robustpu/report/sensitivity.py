"""What the results would be with another share of positives."""

from collections.abc import Sequence
from html import escape
from typing import Final

from robustpu.charts.axes import figure
from robustpu.charts.wording import SPACE, counted, digits, percent
from robustpu.report.hits import foremost
from robustpu.results import Results

USED: Final = '<tr class="used">'
HEADS: Final = ("if the share were", "positives", "precision", "right of first {}", "cutoff")


def sensitivity(results: Results) -> str:
    """Write what some shares of positives would mean.

    Parameters
    ----------
    results
        See :func:`robustpu.report.render`.

    Returns
    -------
    html
        A card with a table; empty if there is nothing to compare.
    """
    points, first = results.sensitivity, foremost(results.top, results.expected)
    if len(points) < 2 or first is None:
        return ""
    place = results.top.index(first)
    decimals = 2 if min(point.cutoff for point in points) >= 0.05 else 3
    shares = _percents([point.share for point in points])
    precisions = _percents([point.precision for point in points])
    body = "".join(
        f"{USED if point.share == results.prior.value else '<tr>'}"
        f'<th scope="row">{share}</th>'
        f"<td>{counted(point.share * results.data.n_unlabeled)}</td><td>{precision}</td>"
        f"<td>{counted(point.expected[place])}</td><td>{point.cutoff:.{decimals}f}</td></tr>\n"
        for point, share, precision in zip(points, shares, precisions, strict=True)
    )
    heads = "".join(
        f'<th scope="col">{escape(words.format(counted(first.k)))}</th>' for words in HEADS
    )
    table = (
        f'<table class="sensitivity">\n<thead><tr>{heads}</tr></thead>\n'
        f"<tbody>\n{body}</tbody></table>\n"
    )
    return figure("If the share of positives were another", table, _explained(results))


def _explained(results: Results) -> str:
    recall = None if results.evaluation is None else results.evaluation.metric("recall")
    known = "" if recall is None else f" ({percent(recall.value)})"
    return (
        f"With the same model. Recall{known} and the order of the list do not depend on the share, "
        "precision does. Cutoff: the score that as many rows reach as would be positive."
    )


def _percents(shares: Sequence[float]) -> list[str]:
    """Shares in percent, all with the decimals of the smallest."""
    least = min(shares)
    places = digits(least) if least < 0.5 else 0
    return [f"{100 * share:.{places}f}{SPACE}%" for share in shares]
