"""The distribution of the scores of labelled and unlabelled rows."""

import math
from collections.abc import Sequence
from itertools import pairwise
from statistics import median
from typing import Final, NamedTuple

from robustpu.charts.axes import feet, label, levels
from robustpu.charts.svg import WIDTH, Scale, scale, svg, text_width, ticks
from robustpu.charts.wording import counted, evenly

RIGHT, TALL, TOP, GAP, FOOT = 12, 82, 36, 26, 36
# Most unlabelled rows are plain negatives. If the fullest bin has this many times the rows of a
# usual one, the rows that matter cannot be seen on a linear scale.
STEEP: Final = 20
# A bin with one row has to be seen on a logarithmic scale, too.
LEAST: Final = 0.6


class Side(NamedTuple):
    """Counts of one side: its name, a class that gives its colour, and rows in each bin."""

    name: str
    kind: str
    counts: Sequence[float]


def steep(sides: Sequence[Side]) -> bool:
    """Whether counts differ so much that only a logarithmic scale shows them all.

    Examples
    --------
    >>> steep([Side("a", "", [4, 5, 6])]), steep([Side("b", "", [900, 2, 3, 0])])
    (False, True)
    """
    full = [[count for count in side.counts if count > 0] for side in sides]
    return any(max(counts) > STEEP * median(counts) for counts in full if counts)


def histograms(edges: Sequence[float], sides: Sequence[Side], cut: float | None, axis: str) -> str:
    """Draw histograms below each other, on one axis.

    Parameters
    ----------
    edges
        Of the bins, one more than there are bins.
    sides
        From the top.
    cut
        The threshold, if there is one: bars above it are drawn full.
    axis
        Name of the axis.

    Returns
    -------
    svg
        Empty if edges and counts do not fit together.

    Examples
    --------
    >>> side = Side("labelled", "warm", [1, 9])
    >>> histograms([0, 0.5, 1], [side], 0.5, "score").count('class="bar')
    2
    """
    if len(edges) < 2 or any(len(side.counts) != len(edges) - 1 for side in sides):
        return ""
    logarithmic = steep(sides)
    grids = [_marks(max(side.counts), logarithmic) for side in sides]
    left = 10 + max(text_width(counted(mark)) for marks in grids for mark in marks)
    x = scale(edges[0], edges[-1], left, WIDTH - RIGHT)
    bottom = TOP + len(sides) * (TALL + GAP) - GAP
    parts = []
    for i, (side, marks) in enumerate(zip(sides, grids, strict=True)):
        base = TOP + TALL + i * (TALL + GAP)
        low = LEAST if logarithmic else 0
        y = scale(low, max(marks[-1], max(side.counts)), base, base - TALL, logarithmic=logarithmic)
        parts.append(levels(marks, y, left, WIDTH - RIGHT, counted))
        parts.append(_bars(edges, side, cut, x, y))
        parts.append(f'<path class="rule" d="M{left:.1f} {base}H{WIDTH - RIGHT}"/>')
        name = f"{counted(sum(side.counts))} {side.name}"
        parts.append(label(name, left, base - TALL - 7, side.kind))
    if cut is not None:
        parts.append(f'<path class="blind" d="M{x(cut):.1f} 14V{bottom}"/>')
        far = x(cut) > 0.62 * WIDTH
        parts.append(label("flagged →", x(cut) + (2 if far else -2), 10, "", "end" if far else ""))
    marks = [edges[0] + i * (edges[-1] - edges[0]) / 5 for i in range(6)]
    parts.append(feet(marks, x, bottom + 15, evenly([round(mark, 3) for mark in marks])))
    parts.append(label(axis, (left + WIDTH - RIGHT) / 2, bottom + 31, anchor="middle"))
    title = "; ".join(f"{side.name}: {_middle(edges, side)}" for side in sides)
    return svg(bottom + FOOT, f"Histograms of the {axis}. {title}", parts)


def _marks(most: float, logarithmic: bool) -> list[float]:
    if not logarithmic:
        # Only what lies within: the tallest bar has the full height.
        return [mark for mark in ticks(0, max(most, 1), 4) if mark <= max(most, 1)]
    powers = range(math.floor(math.log10(max(most, 1))) + 1)
    return [10.0**power for power in powers]


def _bars(edges: Sequence[float], side: Side, cut: float | None, x: Scale, y: Scale) -> str:
    below: list[str] = []
    above: list[str] = []
    base = y(0)
    for (low, high), count in zip(pairwise(edges), side.counts, strict=True):
        if count > 0:
            wide = max(x(high) - x(low) - 0.8, 0.6)
            bar = f"M{x(low) + 0.4:.1f} {base:g}V{y(count):.1f}h{wide:.1f}V{base:g}z"
            (above if cut is None or (low + high) / 2 >= cut else below).append(bar)
    return (
        f'<g class="{side.kind}"><path class="bar pale" d="{"".join(below)}"/>'
        f'<path class="bar" d="{"".join(above)}"/></g>'
    )


def _middle(edges: Sequence[float], side: Side) -> str:
    total, reached = sum(side.counts), 0.0
    for (low, high), count in zip(pairwise(edges), side.counts, strict=True):
        reached += count
        if total and reached >= total / 2:
            return f"{counted(total)} rows, half of them at about {(low + high) / 2:.2g} or below"
    return "no rows"
