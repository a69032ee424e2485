"""What a comparison with the paper draws of one data set: the methods, their cells, the axis."""

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from robustpu.report.cells import Cell
from robustpu.report.drawing import deviation, log_ticks, ticks
from robustpu.report.tables import Method, Table
from robustpu.report.wording import listed


class Axis(NamedTuple):
    """Ends of an axis, the values written at it, and whether equal ratios are equally far apart."""

    low: float
    high: float
    marks: list[float]
    logarithmic: bool


class Panel(NamedTuple):
    """One data set: methods that have a whole cell, these cells by method and prior, the axis."""

    methods: tuple[Method, ...]
    cells: Mapping[tuple[str, float], Cell]
    axis: Axis

    @property
    def alone(self) -> bool:
        """Whether the paper has no figure of it."""
        return all(cell.paper is None for cell in self.cells.values())

    @property
    def cut(self) -> bool:
        """Whether a bar goes on beyond the axis."""
        return any(leaves(self.axis, *figure) for figure in _figures(self.cells.values()))


def panels(table: Table) -> dict[str, Panel]:
    """Choose what to draw.

    Parameters
    ----------
    table
        One that the paper has too.

    Returns
    -------
    panels
        By data set, those of which the paper has no figures too; none at all if no cell can be
        compared. Cells that are not whole are left out, and so are methods that have no other.
    """
    if all(cell.difference is None for cell in table.cells.values()):
        return {}
    found = {}
    for dataset in table.datasets:
        cells = {
            (method.key, prior): cell
            for method in table.methods
            for prior in table.priors
            if (cell := table.cells[dataset, prior, method.key]).complete
        }
        drawn = {name for name, _ in cells}
        methods = tuple(method for method in table.methods if method.key in drawn)
        if cells:
            found[dataset] = Panel(methods, cells, axis(cells.values()))
    return found


def scale_words(shown: Mapping[str, Panel]) -> str:
    """Say of which kind the axes are.

    Parameters
    ----------
    shown
        The panels of a table.

    Returns
    -------
    words
        Empty where all are linear.
    """
    linear = [dataset for dataset, panel in shown.items() if not panel.axis.logarithmic]
    if len(linear) == len(shown):
        return ""
    return "logarithmic scale" + (f" (linear for {listed(linear)})" if linear else "")


def leaves(axis: Axis, mean: float, sd: float) -> bool:
    """Whether a bar goes on to the left of the axis; to the right there is always room.

    Parameters
    ----------
    axis
        The axis.
    mean, sd
        Middle of the bar, and half of its length.
    """
    return mean - deviation(sd) < axis.low


def axis(cells: Iterable[Cell]) -> Axis:
    """Find the axis that holds ours and the paper's.

    It is logarithmic, because methods differ by factors, unless a mean is zero.

    Parameters
    ----------
    cells
        At least one, with a mean.

    Returns
    -------
    axis
        Its ends, ticks and kind.
    """
    figures = [(mean, deviation(sd)) for mean, sd in _figures(cells)]
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


def _figures(cells: Iterable[Cell]) -> list[tuple[float, float]]:
    both = (((cell.mean, cell.sd), cell.paper) for cell in cells)
    return [(figure[0], figure[1]) for pair in both for figure in pair if figure is not None]


def _within(marks: list[float], low: float, high: float) -> list[float]:
    return [mark for mark in marks if low <= mark <= high]
