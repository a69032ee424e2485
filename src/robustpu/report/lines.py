"""Values by round, as lines named at their ends."""

from collections.abc import Sequence
from typing import NamedTuple

from robustpu.charts.axes import Point, Write, apart, feet, label, levels, polyline
from robustpu.charts.svg import WIDTH, Scale, scale, svg, text_width, ticks
from robustpu.charts.wording import SPACE, evenly, number

HEIGHT, TOP, BOTTOM, GAP = 190, 20, 36, 8


class Course(NamedTuple):
    """A name, a class that gives the colour, and a value a round, None where there is none."""

    name: str
    kind: str
    values: Sequence[float | None]


class Level(NamedTuple):
    """A value to compare with: its name, and the ends of its interval or None."""

    name: str
    value: float
    low: float | None = None
    high: float | None = None


def lines(
    rounds: Sequence[float],
    courses: Sequence[Course],
    title: str,
    level: Level | None = None,
    best: float | None = None,
    *,
    is_share: bool = False,
) -> str:
    """Draw values against rounds.

    Parameters
    ----------
    rounds
        Numbers of the rounds.
    courses
        One line each.
    title
        What is to be seen.
    level
        A value to compare with.
    best
        Number of the round to mark.
    is_share
        Whether values are written in percent.

    Returns
    -------
    svg
        Empty if no line has two points.

    Examples
    --------
    >>> lines([0, 1], [Course("score", "cool", [0.5, 0.7])], "score").count("<circle")
    2
    """
    known = {each.name: _known(rounds, each.values) for each in courses}
    points = [point for line in known.values() for point in line]
    if not any(len(line) > 1 for line in known.values()) or len({at for at, _ in points}) < 2:
        return ""
    compared = [value for value in (level or ())[1:] if isinstance(value, float)]
    heights = [height for _, height in points] + compared
    # Ticks are at least a tenth apart, so values are drawn in hundredths.
    marks = [mark / 100 for mark in ticks(100 * min(heights), 100 * max(heights), 4)]
    at_mark = evenly(marks, is_share=is_share)
    write = _percent if is_share else number
    left = 10 + max(text_width(at_mark(mark)) for mark in marks)
    names = [each.name for each in courses if known[each.name]] + ([level.name] if level else [])
    right = WIDTH - 16 - max(map(text_width, names))
    x = scale(min(at for at, _ in points), max(at for at, _ in points), left + GAP, right - GAP)
    y = scale(marks[0], marks[-1], HEIGHT - BOTTOM, TOP)
    parts = [levels(marks, y, left, right, at_mark)]
    ends = {name: y(line[-1][1]) for name, line in known.items() if line}
    if level:
        ends[level.name] = y(level.value)
        parts.append(_level(level, y, left, right))
    if best is not None and any(at == best for at, _ in points):
        parts.append(f'<path class="blind" d="M{x(best):.1f} {TOP - 5}V{HEIGHT - BOTTOM}"/>')
        parts.append(label("best", x(best), TOP - 9, "strong", "middle"))
    spots = apart(ends, lowest=HEIGHT - BOTTOM)
    for each in courses:
        if known[each.name]:
            parts.append(f'<g class="{each.kind}">{_line(known[each.name], x, y, write)}</g>')
    kinds = {each.name: each.kind for each in courses}
    parts += [
        label(name, right + 5, spot + 3.5, kinds.get(name, "")) for name, spot in spots.items()
    ]
    numbers = sorted({at for at, _ in points})
    parts.append(feet(numbers, x, HEIGHT - BOTTOM + 15, lambda number: f"{number:g}"))
    parts.append(label("round", (left + right) / 2, HEIGHT - 4, anchor="middle"))
    return svg(HEIGHT, title, parts)


def _percent(share: float) -> str:
    return f"{100 * share:.3g}{SPACE}%"


def _known(rounds: Sequence[float], values: Sequence[float | None]) -> list[Point]:
    both = zip(rounds, values, strict=True)
    return sorted((at, value) for at, value in both if value is not None)


def _line(points: Sequence[Point], x: Scale, y: Scale, write: Write) -> str:
    dots = "".join(
        f'<circle class="dot" cx="{x(at):.1f}" cy="{y(value):.1f}" r="2.4">'
        f"<title>round {at:g}: {write(value)}</title></circle>"
        for at, value in points
    )
    path = polyline((x(at), y(value)) for at, value in points)
    return f'<path class="line" d="{path}"/>{dots}'


def _level(level: Level, y: Scale, left: float, right: float) -> str:
    band = ""
    if level.low is not None and level.high is not None:
        tall = max(y(level.low) - y(level.high), 0)
        band = (
            f'<rect class="zone" x="{left:.1f}" y="{y(level.high):.1f}" '
            f'width="{right - left:.1f}" height="{tall:.1f}"/>'
        )
    return f'{band}<path class="reference" d="M{left:.1f} {y(level.value):.1f}H{right:.1f}"/>'
