"""How weights are spread, round by round: a histogram a round, each a step below the other."""

import math
from collections.abc import Sequence
from itertools import pairwise
from typing import Final, TypeAlias

from robustpu.charts.axes import feet, label, polyline
from robustpu.charts.svg import WIDTH, scale, svg, text_width
from robustpu.charts.wording import evenly

Ridge: TypeAlias = tuple[float, Sequence[float]]

STEP, TOP = 17, 14
# How far the highest crest reaches over the rounds above it, in steps.
REACH: Final = 2.2
MOST: Final = 14
BEST: Final = "◂ best"


def ridges(
    edges: Sequence[float],
    rounds: Sequence[float],
    counts: Sequence[Sequence[float]],
    best: float | None,
    *,
    name: str,
    kind: str,
) -> str:
    """Draw one histogram a round; heights are roots of shares, so that small ones are seen, too.

    Parameters
    ----------
    edges
        Of the bins.
    rounds
        Numbers of the rounds.
    counts
        Counts of each round; none where a round has no weights.
    best
        Number of the round to mark.
    name, kind
        Of which rows they are, and a class that gives their colour.

    Returns
    -------
    svg
        Empty if there is nothing to draw.

    Examples
    --------
    >>> two = ridges([0, 0.5, 1], [1, 2], [[3, 1], [1, 3]], 2, name="unlabelled", kind="cool")
    >>> two.count('class="crest"')
    2
    """
    known = [
        (number, heights)
        for number, heights in zip(rounds, counts, strict=True)
        if len(heights) == len(edges) - 1 and any(heights)
    ]
    if not known:
        return ""
    drawn = _thinned(known, best)
    left = 12 + max(text_width(f"{number:g}") for number, _ in drawn)
    right = WIDTH - 10 - text_width(BEST)
    x = scale(edges[0], edges[-1], left, right)
    # Shares, not counts: members stop at different rounds, so fewer rows are weighted later.
    heights = [[math.sqrt(count / sum(each)) for count in each] for _, each in drawn]
    tallest = max(map(max, heights))
    first = TOP + REACH * STEP
    parts = []
    for i, ((number, _), row_heights) in enumerate(zip(drawn, heights, strict=True)):
        base = first + i * STEP
        y = scale(0, tallest, base, base - REACH * STEP)
        middles = [x((low + high) / 2) for low, high in pairwise(edges)]
        crest = list(zip(middles, map(y, row_heights), strict=True))
        crest = [(left, crest[0][1]), *crest, (right, crest[-1][1])]
        is_best = number == best
        shape = polyline([(left, base), *crest, (right, base)])
        parts.append(f'<path class="ridge{" best" if is_best else ""}" d="{shape}Z"/>')
        parts.append(f'<path class="crest" d="{polyline(crest)}"/>')
        parts.append(label(f"{number:g}", left - 6, base, "strong" if is_best else "", "end"))
        if is_best:
            parts.append(label(BEST, right + 6, base, "strong"))
    bottom = first + (len(drawn) - 1) * STEP
    marks = [edges[0] + i * (edges[-1] - edges[0]) / 4 for i in range(5)]
    axis = label("weight", (left + right) / 2, bottom + 31, anchor="middle")
    inside = (
        f'<g class="{kind}">{"".join(parts)}</g>{label("round", 0, 10)}{axis}'
        f"{feet(marks, x, bottom + 15, evenly([round(mark, 3) for mark in marks]))}"
    )
    title = f"Weights of {name} rows, round by round: {_drift(edges, drawn)}"
    return svg(bottom + 36, title, [inside])


def _thinned(known: Sequence[Ridge], best: float | None) -> list[Ridge]:
    """About as many rounds as there is room for, with the first, the last and the best one."""
    step = max(1, -(-len(known) // MOST))
    last = len(known) - 1
    return [row for i, row in enumerate(known) if i % step == 0 or i == last or row[0] == best]


def _drift(edges: Sequence[float], drawn: Sequence[Ridge]) -> str:
    middles = [(low + high) / 2 for low, high in pairwise(edges)]
    means = [
        sum(middle * count for middle, count in zip(middles, counts, strict=True)) / sum(counts)
        for _, counts in (drawn[0], drawn[-1])
    ]
    return (
        f"mean weight {means[0]:.2f} in round {drawn[0][0]:g}, {means[1]:.2f} in round "
        f"{drawn[-1][0]:g}"
    )
