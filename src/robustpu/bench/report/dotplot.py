"""Ours against the paper's on one data set as SVG: one row per method, one line per prior."""

from html import escape
from typing import Final

from robustpu.bench.paper import MeanSD
from robustpu.bench.report.cells import Cell
from robustpu.bench.report.panels import Axis, leaves, panels, scale_words
from robustpu.bench.report.tables import Table
from robustpu.bench.report.wording import number
from robustpu.charts.axes import feet, label
from robustpu.charts.svg import WIDTH, Scale, scale, shortened, svg, text_width

RIGHT, LINE, GAP, FOOT = 12, 9, 7, 26
WIDEST_NAME: Final = 0.42 * WIDTH
COLOURS: Final = 5


def dotplot(table: Table, dataset: str) -> str:
    """Draw means and standard deviations; those of the paper are hollow.

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
    panel = panels(table).get(dataset)
    if panel is None:
        return ""
    names = {method.key: shortened(method.label, WIDEST_NAME) for method in panel.methods}
    left = 14 + max(map(text_width, names.values()))
    row = LINE * len(table.priors) + GAP
    bottom = row * len(panel.methods) + 6
    low, high, marks, logarithmic = panel.axis
    place = scale(low, high, left, WIDTH - RIGHT, logarithmic=logarithmic)
    parts = [f'<path class="rule" d="M{place(mark):.1f} 2V{bottom}"/>' for mark in marks]
    parts.append(feet(marks, place, bottom + 14, "{:g}".format))
    for i, method in enumerate(panel.methods):
        top = 4 + i * row
        parts.append(label(names[method.key], left - 9, top + row / 2 + 3.5, "name", "end"))
        for j, prior in enumerate(table.priors):
            if (method.key, prior) in panel.cells:
                y = top + GAP / 2 + LINE * (j + 0.5)
                title = f"{method.label}, π = {prior:g}"
                inside = _pair(panel.cells[method.key, prior], title, y, panel.axis, place)
                parts.append(f'<g class="p{j % COLOURS}">{inside}</g>')
    return svg(bottom + FOOT - 6, f"{dataset}: errors of ours and of the paper's, by method", parts)


def key(table: Table) -> str:
    """Explain the marks and colours of the plots of a table.

    Parameters
    ----------
    table
        The table.

    Returns
    -------
    html
        A line of text.
    """
    shown = panels(table)
    priors = " ".join(
        f'<span class="p{j % COLOURS}"><b></b>π = {prior:g}</span>'
        for j, prior in enumerate(table.priors)
    )
    signs = f"{_sign(_bar('ours', 1, 21, 11, 4))} ours, {_sign(_bar('paper', 1, 21, 11, 4))} the "
    words = [f"{signs}paper’s, with one standard deviation", escape(scale_words(shown))]
    if any(panel.cut for panel in shown.values()):
        arrow = _bar("ours", 4, 21, 15, 4) + _arrow("ours", 4, 4)
        words.append(f"{_sign(arrow)} the bar extends beyond the axis")
    return f"{'; '.join(word for word in words if word)} {priors}"


def _sign(inside: str) -> str:
    return f'<svg class="sign" viewBox="0 0 22 8" aria-hidden="true">{inside}</svg>'


def _pair(cell: Cell, title: str, y: float, axis: Axis, place: Scale) -> str:
    words = f"{title}: ours {number(cell.ours)}"
    if cell.paper is None:
        return f"<title>{escape(words)}</title>{_error('ours', cell.ours, y, axis, place)}"
    words += f", paper {number(cell.paper, places=1)}"
    theirs = _error("paper", cell.paper, y + 1.8, axis, place)
    ours = _error("ours", cell.ours, y - 1.8, axis, place)
    return f"<title>{escape(words)}</title>{theirs}{ours}"


def _error(kind: str, error: MeanSD, y: float, axis: Axis, place: Scale) -> str:
    low, high = place(error.low), place(error.high)
    beyond = _arrow(kind, low, y) if leaves(axis, error) else ""
    return _bar(kind, low, high, place(error.mean), y) + beyond


def _bar(kind: str, low: float, high: float, middle: float, y: float) -> str:
    return (
        f'<path class="{kind}" d="M{low:.1f} {y:.1f}H{high:.1f}"/>'
        f'<circle class="{kind}" cx="{middle:.1f}" cy="{y:.1f}" r="2.6"/>'
    )


def _arrow(kind: str, x: float, y: float) -> str:
    """Head of an arrow to the left, out of the picture."""
    return f'<path class="{kind} beyond" d="M{x - 4:.1f} {y:.1f}l5 -2.4v4.8z"/>'
