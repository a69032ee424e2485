"""What a comparison with the paper draws of one data set: the methods, their cells, the axis."""

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from robustpu.bench.paper import MeanSD
from robustpu.bench.report.cells import Cell
from robustpu.bench.report.tables import Method, Table
from robustpu.charts.svg import log_ticks, ticks
from robustpu.charts.wording import listed


class Axis(NamedTuple):
    """Ends of an axis, its ticks, and whether it is logarithmic."""

    low: float
    high: float
    marks: list[float]
    logarithmic: bool


class Panel(NamedTuple):
    """One data set: methods with a complete cell, these cells by method and prior, the axis."""

    methods: tuple[Method, ...]
    cells: Mapping[tuple[str, float], Cell]
    axis: Axis

    @property
    def alone(self) -> bool:
        """Whether the paper has no error of it."""
        return all(cell.paper is None for cell in self.cells.values())

    @property
    def cut(self) -> bool:
        """Whether a bar goes on beyond the axis."""
        return any(leaves(self.axis, error) for error in _errors(self.cells.values()))


def panels(table: Table) -> dict[str, Panel]:
    """Choose what to draw.

    Parameters
    ----------
    table
        One that the paper has too.

    Returns
    -------
    panels
        By data set, also those that the paper does not have; none if no cell can be compared with
        the paper. Incomplete cells are left out, and so are methods without a complete cell.
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
    """Say which axes are logarithmic.

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


def leaves(axis: Axis, error: MeanSD) -> bool:
    """Whether a bar goes on to the left of the axis; to the right there is always room.

    Parameters
    ----------
    axis
        The axis.
    error
        Middle of the bar, and half of its length.
    """
    return error.low < axis.low


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
    errors = _errors(cells)
    lowest = min(error.mean for error in errors)
    high = 1.03 * max(error.high for error in errors)
    if lowest <= 0:
        marks = ticks(0.0, high)
        return Axis(0.0, marks[-1], marks, logarithmic=False)
    # Bars may reach to zero and below; they end at the edge.
    low = 0.97 * max(min(error.low for error in errors), 0.7 * lowest)
    marks = _within(log_ticks(low, high), low, high)
    if len(marks) < 3:
        marks = _within(ticks(low, high), low, high)
    return Axis(low, high, marks, logarithmic=True)


def _errors(cells: Iterable[Cell]) -> list[MeanSD]:
    """List ours and the paper's."""
    return [error for cell in cells for error in (cell.ours, cell.paper) if error is not None]


def _within(marks: list[float], low: float, high: float) -> list[float]:
    return [mark for mark in marks if low <= mark <= high]
