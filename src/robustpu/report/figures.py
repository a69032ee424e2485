"""Tables -> figures by matplotlib, an extra: ``pip install 'robustpu[plot]'``."""

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from robustpu.report.dotplot import axis
from robustpu.report.drawing import deviation
from robustpu.report.sweeps import Point, sweep
from robustpu.report.tables import Table
from robustpu.report.wording import selection

COLOURS: Final = ("#4393c6", "#2f6690", "#173a54", "#8a5a9e", "#c8553d")
INK, SOFT, RULE = "#333333", "#666666", "#e4e4e4"
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
    panels = {} if lines is None else {k: v for k, v in lines.panels.items() if any(v.values())}
    if lines is None or not panels:
        return False
    figure, places = _panels(len(panels), width=3.6, height=2.9)
    for axes, (dataset, panel) in zip(places, panels.items(), strict=True):
        if lines.logarithmic:
            axes.set_xscale("log")
        xs = sorted({point.x for points in panel.values() for point in points})
        axes.set_xticks(xs, [f"{x:g}" for x in xs])
        axes.minorticks_off()
        for points, colour in zip(panel.values(), _colours(panel), strict=True):
            _band(axes, points, colour)
        axes.set_ylim(bottom=max(0.0, axes.get_ylim()[0]))
        axes.set_xlabel(_plain(lines.axis))
        axes.set_title(_plain(dataset), loc="left", color=INK, weight="bold", size=10)
        _name_ends(axes, panel)
    _finish(figure, table, "Test error in percent: mean, and a band of one deviation", picture)
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
    compared = {key[0] for key, cell in table.cells.items() if cell.difference is not None}
    datasets = [dataset for dataset in table.datasets if dataset in compared]
    if not datasets:
        return False
    figure, places = _panels(len(datasets), width=3.1, height=0.9 + 0.36 * len(table.methods))
    for axes, dataset in zip(places, datasets, strict=True):
        _rows(axes, table, dataset)
        axes.set_title(_plain(dataset), loc="left", color=INK, weight="bold", size=10)
        axes.grid(axis="x", color=RULE, linewidth=0.8)
        axes.tick_params(axis="y", length=0)
        axes.set_axisbelow(True)
    figure.legend(*_key(table), loc="outside upper right", ncols=7, frameon=False, fontsize=8)
    caption = "Test error in percent: mean and one deviation"
    _finish(figure, table, caption, picture)
    return True


def _panels(count: int, width: float, height: float) -> tuple[Any, list[Any]]:
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    down = math.ceil(count / ACROSS)
    across = math.ceil(count / down)
    # Wide enough for the title above, even over one panel.
    size = (max(6.4, width * across), height * down + 0.9)
    figure: Any = Figure(figsize=size, layout="constrained")
    figure.get_layout_engine().set(w_pad=0.08, h_pad=0.08)
    FigureCanvasAgg(figure)
    places = list(figure.subplots(down, across, squeeze=False).flat)
    for spare in places[count:]:
        spare.remove()
    for axes in places[:count]:
        axes.spines[["top", "right"]].set_visible(False)
        axes.tick_params(labelsize=8)
    return figure, places[:count]


def _colours(priors: Sequence[float] | Mapping[float, Any]) -> list[str]:
    return [COLOURS[i % len(COLOURS)] for i in range(len(priors))]


def _band(axes: Any, points: Sequence[Point], colour: str) -> None:
    xs = [point.x for point in points]
    low = [point.mean - deviation(point.sd) for point in points]
    high = [point.mean + deviation(point.sd) for point in points]
    axes.fill_between(xs, low, high, color=colour, alpha=0.16, linewidth=0)
    axes.plot(xs, [point.mean for point in points], color=colour, marker="o", markersize=3.5)


def _name_ends(axes: Any, panel: Mapping[float, Sequence[Point]]) -> None:
    """Name each line at its end, from the bottom up; a name that would touch is moved up."""
    low, high = axes.get_ylim()
    ends = [
        (points[-1].mean, points[-1].x, f"π = {prior:g}", colour)
        for (prior, points), colour in zip(panel.items(), _colours(panel), strict=True)
        if points
    ]
    y = -float("inf")
    for mean, x, text, colour in sorted(ends):
        y = max(mean, y + 0.075 * (high - low))
        style = {"va": "center", "color": colour, "weight": "bold", "size": 8}
        axes.annotate(text, (x, y), xytext=(7, 0), textcoords="offset points", **style)


def _rows(axes: Any, table: Table, dataset: str) -> None:
    apart, step = 0.07, 0.8 / len(table.priors)
    drawn = []
    for i, method in enumerate(table.methods):
        for j, (prior, colour) in enumerate(zip(table.priors, _colours(table.priors), strict=True)):
            cell = table.cells[dataset, prior, method.key]
            if cell.paper is None or cell.difference is None:
                continue
            drawn.append(cell)
            y = i - 0.4 + step * (j + 0.5)
            common: dict[str, Any] = {"color": colour, "marker": "o", "markersize": 3.6}
            hollow = {**common, "markerfacecolor": "white", "alpha": 0.75, "elinewidth": 0.8}
            axes.errorbar(cell.paper.mean, y + apart, xerr=cell.paper.sd, **hollow)
            axes.errorbar(cell.mean, y - apart, xerr=deviation(cell.sd), elinewidth=1.4, **common)
    low, high, marks, logarithmic = axis(drawn)
    axes.set_xscale("log" if logarithmic else "linear")
    axes.set_xlim(low, high)
    axes.set_xticks(marks, [f"{mark:g}" for mark in marks])
    axes.minorticks_off()
    axes.set_yticks(range(len(table.methods)), [_plain(method.label) for method in table.methods])
    axes.set_ylim(len(table.methods) - 0.5, -0.5)


def _key(table: Table) -> tuple[list[Any], list[str]]:
    from matplotlib.lines import Line2D

    dot: dict[str, Any] = {"marker": "o", "markersize": 4, "linestyle": "none"}
    signs = [
        Line2D([], [], color=INK, **dot),
        Line2D([], [], color=INK, markerfacecolor="white", **dot),
    ]
    lines = [Line2D([], [], color=colour, linewidth=3) for colour in _colours(table.priors)]
    return [*signs, *lines], ["ours", "paper", *(f"π = {prior:g}" for prior in table.priors)]


def _plain(text: str) -> str:
    """Keep matplotlib from reading dollars as mathematics."""
    return text.replace("$", r"\$")


def _finish(figure: Any, table: Table, caption: str, picture: Path) -> None:
    import matplotlib

    figure.suptitle(_plain(table.title), x=0.01, ha="left", weight="bold", color=INK, size=12)
    words = f"{caption}, {selection(table)}."
    figure.supxlabel(words, x=0.01, ha="left", color=SOFT, size=8)
    # The same table gives the same bytes: no date, no random names.
    with matplotlib.rc_context({"svg.hashsalt": "robustpu"}):
        dateless = {".svg": {"Date": None}, ".pdf": {"CreationDate": None}}
        figure.savefig(picture, dpi=150, metadata=dateless.get(picture.suffix))
