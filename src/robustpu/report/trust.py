"""Can I trust it? Known positives were hidden from the model: where did they come back?"""

from collections.abc import Sequence
from typing import Final

from markupsafe import Markup

from robustpu.charts.svg import scale
from robustpu.charts.wording import SPACE, counted, percent
from robustpu.report.markup import card, element
from robustpu.report.plot import Point, feet, levels, path, plot, rule, words
from robustpu.results import Recovery, Results

HEIGHT: Final = 190
QUARTERS: Final = (0.0, 0.25, 0.5, 0.75, 1.0)


def trust(results: Results) -> Markup:
    """Draw where hidden positives came back, and say what that rests on.

    Parameters
    ----------
    results
        See :func:`robustpu.report.render`.

    Returns
    -------
    html
        A card; empty if nothing was held out.
    """
    evaluation = results.evaluation
    if evaluation is None or not evaluation.recovery:
        return Markup("")
    n_hidden = evaluation.n_positive
    how = (
        f"A test: {counted(n_hidden, 'known positive')} were hidden from the model in turn. The "
        "line shows how many came back by how many rows one looks at; the dotted one is chance. "
        "It holds whatever the share of positives is."
    )
    fine = element(
        "p",
        "It holds for positives like the known ones. If only some kinds of positives were ever "
        "found, the others may rank lower. To be sure, check some thirty rows from the list and "
        "from elsewhere.",
        class_="fine",
    )
    picture = [_curve(evaluation.recovery), fine]
    return element("div", card("Can I trust it?", picture, how), id="trust")


def _curve(recovery: Sequence[Recovery]) -> Markup:
    x, y = scale(0, 1, 0, 100), scale(0, 1, HEIGHT, 0)

    def points(of: Sequence[float]) -> list[Point]:
        shares = (point.share for point in recovery)
        return [(0, HEIGHT), *((x(at), y(value)) for at, value in zip(shares, of, strict=True))]

    low, high = points([each.low for each in recovery]), points([each.high for each in recovery])
    line = points([each.recall for each in recovery])
    half = reach(recovery, 0.5)
    mark, found = [], ""
    if half is not None:
        mark = [rule(0, y(0.5), x(half), y(0.5), "reach")]
        mark.append(rule(x(half), y(0.5), x(half), HEIGHT, "reach"))
        found = f": half of them in the first {percent_of(half)}"
    return plot(
        HEIGHT,
        f"Share of the hidden positives that came back, by share of the rows looked at{found}",
        words("positives found", 0, -8, dx=-40),
        levels(QUARTERS, y, percent),
        element("g", path([*low, *reversed(high)], HEIGHT, "band"), class_="warm"),
        path([(0, HEIGHT), (100, 0)], HEIGHT, "reference"),
        mark,
        element("g", path(line, HEIGHT, "line"), class_="warm"),
        feet(QUARTERS, x, HEIGHT + 16, percent),
        words("of the unlabelled rows, the highest scores first", 50, HEIGHT + 32, "middle"),
        kind="wide",
    )


def reach(recovery: Sequence[Recovery], recall: float) -> float | None:
    """The share of the rows that holds this share of the hidden positives; None if unknown.

    Examples
    --------
    >>> reach([Recovery(0.1, 0.4, 0.3, 0.5), Recovery(0.3, 0.6, 0.5, 0.7)], 0.5)
    0.2
    """
    before = Recovery(0, 0, 0, 0)
    for point in recovery:
        if point.recall >= recall:
            part = (recall - before.recall) / (point.recall - before.recall)
            return round(before.share + part * (point.share - before.share), 9)
        before = point
    return None


def percent_of(share: float) -> str:
    """A share in percent, roughly, without decimals that say nothing.

    Examples
    --------
    >>> [percent_of(share).replace(SPACE, " ") for share in (0.005, 0.05, 0.11538, 1)]
    ['0.5 %', '5 %', '12 %', '100 %']
    """
    return f"{float(f'{100 * share:.2g}'):g}{SPACE}%"
