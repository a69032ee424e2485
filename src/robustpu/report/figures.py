"""Tables -> figures by matplotlib, an extra: ``pip install 'robustpu[plot]'``."""

import math
import textwrap
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from robustpu.report.drawing import deviation
from robustpu.report.panels import Panel, leaves, panels, scale_words
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
    drawn = {} if lines is None else {k: v for k, v in lines.panels.items() if any(v.values())}
    if lines is None or not drawn:
        return False
    figure, places = _places(3.6, [2.9] * len(drawn))
    for axes, (dataset, panel) in zip(places, drawn.items(), strict=True):
        if lines.logarithmic:
            axes.set_xscale("log")
        xs = sorted({point.x for points in panel.values() for point in points})
        axes.set_xticks(xs, [f"{x:g}" for x in xs])
        axes.minorticks_off()
        for points, colour in zip(panel.values(), _colours(panel), strict=True):
            _band(axes, points, colour)
        axes.set_ylim(bottom=max(0.0, axes.get_ylim()[0]))
        axes.set_xlabel(_plain(lines.label))
        axes.set_title(_plain(dataset), loc="left", color=INK, weight="bold", size=10)
        _name_ends(axes, panel)
    caption = f"Test error in percent against {lines.name}: mean, and a band of one deviation"
    _finish(figure, table, caption, picture)
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
    drawn = panels(table)
    if not drawn:
        return False
    heights = [0.9 + 0.36 * len(panel.methods) for panel in drawn.values()]
    figure, places = _places(3.1, heights)
    for axes, (dataset, panel) in zip(places, drawn.items(), strict=True):
        _rows(axes, panel, table.priors)
        title = _plain(dataset) + (" (ours alone)" if panel.alone else "")
        axes.set_title(title, loc="left", color=INK, weight="bold", size=10)
        axes.grid(axis="x", color=RULE, linewidth=0.8)
        axes.tick_params(axis="y", length=0)
        axes.set_axisbelow(True)
    figure.legend(*_key(table), loc="outside upper right", ncols=7, frameon=False, fontsize=8)
    words = ["Test error in percent", scale_words(drawn), "mean and one deviation"]
    if any(panel.cut for panel in drawn.values()):
        words.append("◂: the bar goes on beyond the axis")
    _finish(figure, table, "; ".join(word for word in words if word), picture)
    return True


def _places(width: float, heights: Sequence[float]) -> tuple[Any, list[Any]]:
    """Make a figure with room for panels of these heights, in inches."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    count = len(heights)
    down = math.ceil(count / ACROSS)
    across = math.ceil(count / down)
    tallest = [max(heights[i * across : (i + 1) * across]) for i in range(down)]
    # Wide enough for the title above, even over one panel.
    size = (max(6.4, width * across), sum(tallest) + 0.9)
    figure: Any = Figure(figsize=size, layout="constrained")
    figure.get_layout_engine().set(w_pad=0.08, h_pad=0.08)
    FigureCanvasAgg(figure)
    places = list(figure.subplots(down, across, squeeze=False, height_ratios=tallest).flat)
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


def _rows(axes: Any, panel: Panel, priors: Sequence[float]) -> None:
    step = 0.8 / len(priors)
    hollow: dict[str, Any] = {"markerfacecolor": "white", "alpha": 0.75, "elinewidth": 0.8}
    for i, method in enumerate(panel.methods):
        for j, (prior, colour) in enumerate(zip(priors, _colours(priors), strict=True)):
            cell = panel.cells.get((method.key, prior))
            if cell is None:
                continue
            y = i - 0.4 + step * (j + 0.5)
            # Ours stands above the paper's, and in the middle where it is alone.
            apart = 0.07 if cell.paper else 0.0
            if cell.paper:
                _bar(axes, panel, *cell.paper, y + apart, colour, **hollow)
            _bar(axes, panel, cell.mean, cell.sd, y - apart, colour, elinewidth=1.4)
    low, high, marks, logarithmic = panel.axis
    axes.set_xscale("log" if logarithmic else "linear")
    axes.set_xlim(low, high)
    axes.set_xticks(marks, [f"{mark:g}" for mark in marks])
    axes.minorticks_off()
    axes.set_yticks(range(len(panel.methods)), [_plain(method.label) for method in panel.methods])
    axes.set_ylim(len(panel.methods) - 0.5, -0.5)


def _bar(
    axes: Any, panel: Panel, mean: float, sd: float, y: float, colour: str, **style: Any
) -> None:
    """Draw a mean and its deviation; an arrow at the edge says that the bar goes on."""
    dot: dict[str, Any] = {"color": colour, "marker": "o", "markersize": 3.6, **style}
    axes.errorbar(mean, y, xerr=deviation(sd), **dot)
    if leaves(panel.axis, mean, sd):
        head: dict[str, Any] = {"marker": "<", "markersize": 5, "markeredgewidth": 0}
        axes.plot([panel.axis.low], [y], color=colour, clip_on=False, zorder=5, **head)


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
    # Type of 8 points; a letter is about half as wide as high.
    room = int(figure.get_figwidth() * 72 / (8 * 0.55))
    words = textwrap.fill(_plain(f"{caption}; {selection(table)}."), room)
    figure.supxlabel(words, x=0.01, ha="left", color=SOFT, size=8)
    # The same table gives the same bytes: no date, no random names.
    with matplotlib.rc_context({"svg.hashsalt": "robustpu"}):
        dateless = {".svg": {"Date": None}, ".pdf": {"CreationDate": None}}
        figure.savefig(picture, dpi=150, metadata=dateless.get(picture.suffix))
