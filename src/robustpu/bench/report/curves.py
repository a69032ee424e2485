"""A sweep on one data set, drawn as SVG: error against a number, one line per prior."""

from collections.abc import Sequence
from typing import Final

from robustpu.bench.report.sweeps import Point, Sweep
from robustpu.bench.report.wording import number
from robustpu.charts.axes import apart, feet, label, levels, polyline
from robustpu.charts.svg import WIDTH, Scale, scale, svg, ticks

HEIGHT, LEFT, RIGHT, TOP, BOTTOM = 230, 34, 58, 10, 36
COLOURS: Final = 5


def curves(sweep: Sweep, dataset: str) -> str:
    """Draw means as lines with bands of one standard deviation, each named at its end.

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
    top = max(point.error.high for point in points)
    marks = ticks(max(0.0, min(point.error.low for point in points)), top)
    y = scale(marks[0], marks[-1], HEIGHT - BOTTOM, TOP)
    xs = sorted({point.x for point in points})
    x = scale(xs[0], xs[-1], LEFT + 8, WIDTH - RIGHT, logarithmic=sweep.logarithmic)
    parts = [
        levels(marks, y, LEFT, WIDTH - RIGHT + 4, "{:g}".format),
        feet(xs, x, HEIGHT - BOTTOM + 15, "{:g}".format),
        label(sweep.label, (LEFT + WIDTH - RIGHT) / 2, HEIGHT - 4, "axis", "middle"),
    ]
    named = {f"π = {prior:g}": line for prior, line in panel.items()}
    ends = apart({name: y(line[-1].error.mean) for name, line in named.items() if line})
    for i, (name, line) in enumerate(named.items()):
        if line:
            end = label(name, x(line[-1].x) + 8, ends[name] + 3.5, "end")
            parts.append(f'<g class="p{i % COLOURS}">{_line(line, x, y)}{end}</g>')
    return svg(HEIGHT, f"{dataset}: error against {sweep.name}, one line per prior", parts)


def _line(line: Sequence[Point], x: Scale, y: Scale) -> str:
    above = [(x(point.x), y(point.error.high)) for point in line]
    below = [(x(point.x), y(point.error.low)) for point in line]
    middle = polyline((x(point.x), y(point.error.mean)) for point in line)
    dots = "".join(
        f'<circle class="ours" cx="{x(point.x):.1f}" cy="{y(point.error.mean):.1f}" r="2.6">'
        f"<title>{point.x:g}: {number(point.error)}</title></circle>"
        for point in line
    )
    band = polyline([*above, *reversed(below)])
    return f'<path class="band" d="{band}Z"/><path class="line" d="{middle}"/>{dots}'
