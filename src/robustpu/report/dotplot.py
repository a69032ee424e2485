"""Ours against the paper's on one data set, drawn as SVG: a row a method, a line a prior."""

from collections.abc import Iterable
from html import escape
from typing import Final, NamedTuple

from robustpu.report.cells import Cell
from robustpu.report.drawing import (
    WIDTH,
    Scale,
    deviation,
    log_ticks,
    scale,
    svg,
    tick_texts,
    ticks,
)
from robustpu.report.tables import Table
from robustpu.report.wording import number

LEFT, RIGHT, LINE, GAP, FOOT = 78, 12, 9, 7, 26
COLOURS: Final = 5


class Axis(NamedTuple):
    """Ends of an axis, the values written at it, and whether equal ratios are equally far apart."""

    low: float
    high: float
    marks: list[float]
    logarithmic: bool


def dotplot(table: Table, dataset: str) -> str:
    """Draw the means and deviations, those of the paper hollow.

    Parameters
    ----------
    table
        The table.
    dataset
        One of its columns.

    Returns
    -------
    svg
        Empty if there is nothing to compare.
    """
    cells = {
        (method.key, prior): cell
        for method in table.methods
        for prior in table.priors
        if (cell := table.cells[dataset, prior, method.key]).difference is not None
    }
    if not cells:
        return ""
    row = LINE * len(table.priors) + GAP
    bottom = row * len(table.methods) + 6
    low, high, marks, logarithmic = axis(cells.values())
    place = scale(low, high, LEFT, WIDTH - RIGHT, logarithmic=logarithmic)
    parts = [f'<path class="rule" d="M{place(mark):.1f} 2V{bottom}"/>' for mark in marks]
    parts.append(tick_texts(marks, place, bottom + 14))
    for i, method in enumerate(table.methods):
        top = 4 + i * row
        name = f'<text class="name" x="{LEFT - 8}" y="{top + row / 2:.1f}">'
        parts.append(f"{name}{escape(method.label)}</text>")
        for j, prior in enumerate(table.priors):
            if (method.key, prior) in cells:
                y = top + GAP / 2 + LINE * (j + 0.5)
                title = f"{method.label}, π = {prior:g}"
                inside = _pair(cells[method.key, prior], title, y, place)
                parts.append(f'<g class="p{j % COLOURS}">{inside}</g>')
    return svg(bottom + FOOT - 6, f"{dataset}: errors of ours and of the paper's, by method", parts)


def key(table: Table) -> str:
    """Explain the signs and colours of the plots of a table.

    Parameters
    ----------
    table
        The table.

    Returns
    -------
    html
        A line of text.
    """
    priors = " ".join(
        f'<span class="p{j % COLOURS}"><b></b>π = {prior:g}</span>'
        for j, prior in enumerate(table.priors)
    )
    return f"{_sign('ours')} ours, {_sign('paper')} the paper’s, with one deviation; {priors}"


def _sign(kind: str) -> str:
    inside = _bar(kind, 11, 10, 4, float)
    return f'<svg class="sign" viewBox="0 0 22 8" aria-hidden="true">{inside}</svg>'


def axis(cells: Iterable[Cell]) -> Axis:
    """Find the axis that holds ours and the paper's.

    It is logarithmic, because methods differ by factors, unless a mean is zero.

    Parameters
    ----------
    cells
        With a figure of the paper.

    Returns
    -------
    axis
        Its ends, ticks and kind.
    """
    figures = [
        figure
        for cell in cells
        for figure in ((cell.mean, deviation(cell.sd)), cell.paper)
        if figure is not None
    ]
    lowest = min(mean for mean, _ in figures)
    high = 1.03 * max(mean + sd for mean, sd in figures)
    if lowest <= 0:
        marks = ticks(0.0, high)
        return Axis(0.0, marks[-1], marks, logarithmic=False)
    # Bars may reach to zero and below; they end at the edge.
    low = 0.97 * max(min(mean - sd for mean, sd in figures), 0.7 * lowest)
    marks = _within(log_ticks(low, high), low, high)
    if len(marks) < 3:
        marks = _within(ticks(low, high), low, high)
    return Axis(low, high, marks, logarithmic=True)


def _within(marks: list[float], low: float, high: float) -> list[float]:
    return [mark for mark in marks if low <= mark <= high]


def _pair(cell: Cell, title: str, y: float, place: Scale) -> str:
    paper = cell.paper or (cell.mean, cell.sd)
    words = f"{title}: ours {number(cell.mean, cell.sd)}, paper {number(*paper, places=1)}"
    theirs = _bar("paper", *paper, y + 1.8, place)
    ours = _bar("ours", cell.mean, cell.sd, y - 1.8, place)
    return f"<title>{escape(words)}</title>{theirs}{ours}"


def _bar(kind: str, mean: float, sd: float, y: float, place: Scale) -> str:
    low, high = place(mean - deviation(sd)), place(mean + deviation(sd))
    return (
        f'<path class="{kind}" d="M{low:.1f} {y:.1f}H{high:.1f}"/>'
        f'<circle class="{kind}" cx="{place(mean):.1f}" cy="{y:.1f}" r="2.6"/>'
    )
