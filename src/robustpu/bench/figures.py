"""Tables -> figures by matplotlib, an extra: ``pip install 'robustpu[plot]'``."""

import math
from collections.abc import Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any, Final

from robustpu.bench.drawing import deviation
from robustpu.bench.sweeps import Point, sweep
from robustpu.bench.tables import Table
from robustpu.bench.wording import selection

COLOURS: Final = ("#5fa8d3", "#2f6690", "#173a54", "#8a5a9e", "#c8553d")
INK, SOFT = "#333333", "#666666"
ACROSS: Final = 4


def draw_sweep(table: Table, picture: Path) -> bool:
    """Draw error against the `x` of the methods: a panel a data set, a line a prior.

    Parameters
    ----------
    table
        One whose methods have an `x`.
    picture
        File to write; its ending tells the format.

    Returns
    -------
    drawn
        False, and no file, if the table is no sweep.
    """
    lines = sweep(table)
    if lines is None:
        return False
    figure, panels = _panels(table, lines.panels, height=3.2)
    for axes, (dataset, panel) in zip(panels, lines.panels.items(), strict=True):
        if lines.logarithmic:
            axes.set_xscale("log")
        ends = {}
        for (prior, points), colour in zip(panel.items(), _cycle(panel), strict=True):
            if points:
                _band(axes, points, colour)
                ends[prior] = (points[-1], colour)
        axes.set_xlabel(lines.axis)
        axes.set_title(dataset, loc="left", color=INK, weight="bold", size=10)
        axes.set_ylim(bottom=max(0.0, axes.get_ylim()[0]))
        axes.margins(x=0.04)
        figure.canvas.draw()
        _name_ends(axes, ends)
    panels[0].set_ylabel("test error in percent")
    _finish(figure, table, "Mean over the trials, bands of one deviation", picture)
    return True


def draw_comparison(table: Table, picture: Path) -> bool:
    """Draw ours against the paper's: a panel a data set, a row a method, a colour a prior.

    Parameters
    ----------
    table
        One that the paper has too.
    picture
        File to write; its ending tells the format.

    Returns
    -------
    drawn
        False, and no file, if no cell can be compared.
    """
    datasets = [
        dataset
        for dataset in table.datasets
        if any(
            cell.difference is not None for (name, _, _), cell in table.cells.items() if name == dataset
        )
    ]
    if not datasets:
        return False
    figure, panels = _panels(table, datasets, height=0.9 + 0.34 * len(table.methods))
    for axes, dataset in zip(panels, datasets, strict=True):
        _rows(axes, table, dataset)
        axes.set_title(dataset, loc="left", color=INK, weight="bold", size=10)
        axes.grid(axis="x", color="#e4e4e4", linewidth=0.8)
        axes.set_axisbelow(True)
    panels[0].legend(*_legend(table), frameon=False, fontsize=7, loc="lower right")
    _finish(figure, table, "Test error in percent, with one deviation", picture)
    return True
