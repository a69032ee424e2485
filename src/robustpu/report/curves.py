"""A sweep on one data set, drawn as SVG: error against a number, one line a prior."""

from collections.abc import Mapping, Sequence
from html import escape
from itertools import pairwise
from typing import Final

from robustpu.report.drawing import WIDTH, Scale, deviation, scale, svg, tick_texts, ticks
from robustpu.report.sweeps import Point, Sweep
from robustpu.report.wording import number

HEIGHT, LEFT, RIGHT, TOP, BOTTOM = 230, 34, 58, 10, 36
COLOURS: Final = 5


def curves(sweep: Sweep, dataset: str) -> str:
    """Draw means as lines with bands of one deviation, each named at its end.

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
    panel = sweep.panels[dataset]
    points = [point for line in panel.values() for point in line]
    if not points:
        return ""
    marks = ticks(
        max(0.0, min(point.mean - deviation(point.sd) for point in points)),
        max(point.mean + deviation(point.sd) for point in points),
    )
    y = scale(marks[0], marks[-1], HEIGHT - BOTTOM, TOP)
    xs = sorted({point.x for point in points})
    x = scale(xs[0], xs[-1], LEFT + 8, WIDTH - RIGHT, logarithmic=sweep.logarithmic)
    parts = [_level(mark, y(mark)) for mark in marks]
    parts.append(tick_texts(xs, x, HEIGHT - BOTTOM + 15))
    axis = f'<text class="axis" x="{(LEFT + WIDTH - RIGHT) / 2:.1f}" y="{HEIGHT - 4}">'
    parts.append(f"{axis}{escape(sweep.label)}</text>")
    ends = _apart({prior: y(line[-1].mean) for prior, line in panel.items() if line})
    for j, (prior, line) in enumerate(panel.items()):
        if line:
            name = f'<text class="end" x="{x(line[-1].x) + 8:.1f}" y="{ends[prior]:.1f}">'
            inside = f"{_line(line, x, y)}{name}π = {prior:g}</text>"
            parts.append(f'<g class="p{j % COLOURS}">{inside}</g>')
    return svg(HEIGHT, f"{dataset}: error against {sweep.name}, one line a prior", parts)


def _level(mark: float, y: float) -> str:
    return (
        f'<path class="rule" d="M{LEFT} {y:.1f}H{WIDTH - RIGHT + 4}"/>'
        f'<text class="level" x="{LEFT - 5}" y="{y:.1f}">{mark:g}</text>'
    )


def _line(line: Sequence[Point], x: Scale, y: Scale) -> str:
    above = [f"{x(point.x):.1f} {y(point.mean + deviation(point.sd)):.1f}" for point in line]
    below = [f"{x(point.x):.1f} {y(point.mean - deviation(point.sd)):.1f}" for point in line]
    middle = "L".join(f"{x(point.x):.1f} {y(point.mean):.1f}" for point in line)
    dots = "".join(
        f'<circle class="ours" cx="{x(point.x):.1f}" cy="{y(point.mean):.1f}" r="2.6">'
        f"<title>{point.x:g}: {number(point.mean, point.sd)}</title></circle>"
        for point in line
    )
    band = "L".join([*above, *reversed(below)])
    return f'<path class="band" d="M{band}Z"/><path class="line" d="M{middle}"/>{dots}'


def _apart(ends: Mapping[float, float], least: float = 12) -> dict[float, float]:
    """Move names apart, from the top down, until none touch."""
    order = sorted(ends, key=lambda prior: ends[prior])
    placed = dict(ends)
    for upper, lower in pairwise(order):
        placed[lower] = max(placed[lower], placed[upper] + least)
    return placed
