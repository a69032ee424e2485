"""Small pictures for the page, as SVG; colours come from its style sheet, by class."""

import math
from collections.abc import Callable, Iterable, Mapping
from html import escape
from itertools import pairwise

from robustpu.bench.sweeps import Point, Sweep
from robustpu.bench.tables import Table
from robustpu.bench.wording import number

WIDTH, LEFT, RIGHT = 340, 78, 10


def ticks(low: float, high: float, most: int = 5) -> list[float]:
    """Round numbers that span a range.

    Parameters
    ----------
    low, high
        The range.
    most
        How many steps at most.

    Returns
    -------
    ticks
        The first is at or below `low`, the last at or above `high`.

    Examples
    --------
    >>> ticks(0.3, 9.2)
    [0.0, 2.0, 4.0, 6.0, 8.0, 10.0]
    """
    high = max(high, low + 0.1)
    power = 10.0 ** math.floor(math.log10((high - low) / most))
    step = next(f * power for f in (1, 2, 5, 10, 20) if _steps(low, high, f * power) <= most)
    first = math.floor(low / step + 1e-9)
    return [round((first + i) * step, 9) for i in range(_steps(low, high, step) + 1)]


def _steps(low: float, high: float, step: float) -> int:
    return max(1, math.ceil(high / step - 1e-9) - math.floor(low / step + 1e-9))


def dots(table: Table, dataset: str) -> str:
    """Draw ours against the paper's on one data set: a row a method, a line a prior.

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
    ends = [
        end
        for cell in cells.values()
        for mean, sd in ((cell.mean, cell.sd), cell.paper or (cell.mean, 0.0))
        for end in (mean - _or_zero(sd), mean + _or_zero(sd))
    ]
    marks = ticks(max(0.0, min(ends)), max(ends))
    place = _scale(marks[0], marks[-1], LEFT, WIDTH - RIGHT)
    line, gap = 9, 7
    row = line * len(table.priors) + gap
    height = row * len(table.methods) + 30
    parts = [_grid(marks, place, height - 22)]
    for i, method in enumerate(table.methods):
        top = 4 + i * row
        middle = top + row / 2 + 1
        parts.append(f'<text class="name" x="{LEFT - 8}" y="{middle:.1f}">{escape(method.label)}')
        parts.append("</text>")
        for j, prior in enumerate(table.priors):
            if (cell := cells.get((method.key, prior))) and cell.paper:
                y = top + gap / 2 + line * j + line / 2
                ours, paper = number(cell.mean, cell.sd), number(*cell.paper, places=1)
                parts += [
                    f'<g class="p{j % 5}"><title>',
                    escape(f"{method.label}, π = {prior:g}: ours {ours}, paper {paper}"),
                    "</title>",
                    _bar("paper", *cell.paper, y + 1.8, place),
                    _bar("ours", cell.mean, cell.sd, y - 1.8, place),
                    "</g>",
                ]
    return _svg(height, f"{dataset}: ours and the paper's error, by method and prior", parts)


def lines(sweep: Sweep, dataset: str) -> str:
    """Draw the error on one data set against the number that the sweep changes.

    Parameters
    ----------
    sweep
        The sweep.
    dataset
        One of its panels.

    Returns
    -------
    svg
        Empty if there is no point.
    """
    panel = {prior: points for prior, points in sweep.panels[dataset].items() if points}
    points = [point for each in panel.values() for point in each]
    if not points:
        return ""
    height, left, right, top, bottom = 230, 34, 58, 10, 36
    marks = ticks(
        max(0.0, min(point.mean - _or_zero(point.sd) for point in points)),
        max(point.mean + _or_zero(point.sd) for point in points),
    )
    y = _scale(marks[0], marks[-1], height - bottom, top)
    bend: Callable[[float], float] = math.log if sweep.logarithmic else float
    xs = sorted({point.x for point in points})
    flat = _scale(bend(xs[0]), bend(xs[-1]), left + 8, WIDTH - right)
    parts = [_levels(marks, y, left, WIDTH - right + 4)]
    parts += [_below(xs, [flat(bend(x)) for x in xs], height - bottom)]
    axis = f'<text class="axis" x="{(left + WIDTH - right) / 2:.1f}" y="{height - 4}">'
    parts.append(f"{axis}{escape(sweep.axis)}</text>")
    ends = _apart({prior: y(each[-1].mean) for prior, each in panel.items()})
    for j, prior in enumerate(sweep.panels[dataset]):
        if prior in panel:
            placed = [(flat(bend(point.x)), point) for point in panel[prior]]
            parts += [f'<g class="p{j % 5}">', _line(placed, y)]
            parts += [f'<text class="end" x="{placed[-1][0] + 8:.1f}" y="{ends[prior]:.1f}">']
            parts += [f"π = {prior:g}</text></g>"]
    return _svg(height, f"{dataset}: error against {sweep.axis}, one line a prior", parts)


def _svg(height: float, title: str, parts: Iterable[str]) -> str:
    label = escape(title, quote=True)
    head = f'<svg viewBox="0 0 {WIDTH} {height:g}" role="img" aria-label="{label}">'
    return f"{head}{''.join(parts)}</svg>"


def _scale(low: float, high: float, start: float, end: float) -> Callable[[float], float]:
    span = (high - low) or 1.0
    return lambda value: start + (value - low) / span * (end - start)


def _or_zero(sd: float) -> float:
    return 0.0 if math.isnan(sd) else sd


def _grid(marks: Iterable[float], place: Callable[[float], float], bottom: float) -> str:
    return "".join(
        f'<path class="rule" d="M{place(mark):.1f} 2V{bottom:g}"/>'
        f'<text class="tick" x="{place(mark):.1f}" y="{bottom + 14:g}">{mark:g}</text>'
        for mark in marks
    )


def _levels(
    marks: Iterable[float], place: Callable[[float], float], left: float, right: float
) -> str:
    return "".join(
        f'<path class="rule" d="M{left:g} {place(mark):.1f}H{right:g}"/>'
        f'<text class="level" x="{left - 5:g}" y="{place(mark):.1f}">{mark:g}</text>'
        for mark in marks
    )


def _below(values: Iterable[float], places: list[float], bottom: float) -> str:
    """Write the values under the axis, except those that would touch the one before."""
    texts, last = [], -math.inf
    for value, x in zip(values, places, strict=True):
        if x - last >= 20:
            texts.append(f'<text class="tick" x="{x:.1f}" y="{bottom + 15:g}">{value:g}</text>')
            last = x
    return "".join(texts)


def _bar(kind: str, mean: float, sd: float, y: float, place: Callable[[float], float]) -> str:
    low, high = place(max(0.0, mean - _or_zero(sd))), place(mean + _or_zero(sd))
    return (
        f'<path class="{kind}" d="M{low:.1f} {y:.1f}H{high:.1f}"/>'
        f'<circle class="{kind}" cx="{place(mean):.1f}" cy="{y:.1f}" r="2.6"/>'
    )


def _line(placed: list[tuple[float, Point]], y: Callable[[float], float]) -> str:
    above = [f"{x:.1f} {y(point.mean + _or_zero(point.sd)):.1f}" for x, point in placed]
    below = [f"{x:.1f} {y(max(0.0, point.mean - _or_zero(point.sd))):.1f}" for x, point in placed]
    path = "L".join(f"{x:.1f} {y(point.mean):.1f}" for x, point in placed)
    rings = "".join(
        f'<circle class="ours" cx="{x:.1f}" cy="{y(point.mean):.1f}" r="2.6">'
        f"<title>{point.x:g}: {number(point.mean, point.sd)}</title></circle>"
        for x, point in placed
    )
    around = "L".join([*above, *reversed(below)])
    band = f'<path class="band" d="M{around}Z"/>'
    return f'{band}<path class="line" d="M{path}"/>{rings}'


def _apart(ends: Mapping[float, float], least: float = 12) -> dict[float, float]:
    """Move labels apart, from the top down, until none touch."""
    order = sorted(ends, key=lambda prior: ends[prior])
    placed = {prior: ends[prior] for prior in order}
    for upper, lower in pairwise(order):
        placed[lower] = max(placed[lower], placed[upper] + least)
    return placed
