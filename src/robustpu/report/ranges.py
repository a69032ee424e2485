"""Values with their intervals, as dots on ranges: metrics, and the share of positives."""

from collections.abc import Sequence
from typing import Final, NamedTuple

from robustpu.charts.axes import feet, label
from robustpu.charts.svg import WIDTH, Scale, scale, shortened, svg, text_width, ticks
from robustpu.charts.wording import evenly, percent

LONG, HIGH, EDGE = 300, 60, 6
QUARTERS: Final = (0.0, 0.25, 0.5, 0.75, 1.0)
LINE, TOP, FOOT, RIGHT = 20, 6, 22, 48
# Estimates this many times as large as the share that is used would leave no room for the others.
FAR: Final = 3


class Range(NamedTuple):
    """A named share, with the ends of its interval or None."""

    name: str
    value: float
    low: float | None = None
    high: float | None = None
    strong: bool = False


def whisker(value: float, low: float | None, high: float | None, blind: float | None = None) -> str:
    """Draw one share between 0 and 1, to stand in a row of a table.

    Parameters
    ----------
    value, low, high
        The share and its interval.
    blind
        What blind guessing gets, if that is worth knowing.

    Returns
    -------
    svg
        Hidden from screen readers: the numbers stand next to it.

    Examples
    --------
    >>> 'cx="152.9"' in whisker(0.51, 0.4, 0.6)
    True
    """
    x = scale(0, 1, EDGE, LONG - EDGE)
    middle = HIGH / 2
    grid = "".join(f"M{x(mark):.1f} 0V{HIGH}" for mark in QUARTERS)
    guess = "" if blind is None else f'<path class="blind" d="M{x(blind):.1f} {middle - 7:g}v14"/>'
    bar = "" if low is None or high is None else _bar(x(low), x(high), middle)
    # Taller than any row: what is too much is cut off, so that gridlines of rows meet.
    return (
        f'<svg viewBox="0 0 {LONG} {HIGH}" preserveAspectRatio="xMidYMid slice" '
        f'aria-hidden="true"><path class="rule" d="{grid}"/>'
        f'{guess}<g class="cool">{bar}'
        f'<circle class="dot" cx="{x(value):.1f}" cy="{middle:g}" r="4.2"/></g></svg>'
    )


def quarters() -> str:
    """Draw the numbers that stand above rows of :func:`whisker`.

    Examples
    --------
    >>> quarters().count("<text")
    5
    """
    x = scale(0, 1, EDGE, LONG - EDGE)
    ends = {0.0: "", 1.0: "end"}
    texts = "".join(
        label(
            f"{100 * mark:g}",
            x(mark) + (EDGE if mark == 1 else -EDGE * (mark == 0)),
            10,
            "",
            ends.get(mark, "middle"),
        )
        for mark in QUARTERS
    )
    return f'<svg viewBox="0 0 {LONG} 14" aria-hidden="true">{texts}</svg>'


def dots(ranges: Sequence[Range], title: str) -> str:
    """Draw shares below each other on one axis from zero, each with its value.

    What is far beyond the strong ones is an arrow at the edge, and the axis ends before it.

    Parameters
    ----------
    ranges
        From the top; the strong ones large, their interval as a band through all.
    title
        What is to be seen.

    Returns
    -------
    svg
        Empty if there is nothing to draw.

    Examples
    --------
    >>> dots([Range("dedpul", 0.02), Range("km1", 0.031)], "prior").count("<circle")
    2
    """
    if not ranges:
        return ""
    marks = [mark / 100 for mark in ticks(0, 100 * _reach(ranges))]
    names = [shortened(each.name, 0.4 * WIDTH) for each in ranges]
    left = 14 + max(map(text_width, names))
    x = scale(0, marks[-1], left, WIDTH - RIGHT)
    bottom = TOP + LINE * len(ranges)
    grid = "".join(f"M{x(mark):.1f} {TOP}V{bottom}" for mark in marks)
    parts = [*(_band(each, x, bottom) for each in ranges if each.strong)]
    parts.append(f'<path class="rule" d="{grid}"/>')
    parts.append(feet(marks, x, bottom + 14, evenly(marks, is_share=True)))
    for i, (name, each) in enumerate(zip(names, ranges, strict=True)):
        beyond = each.value > marks[-1]
        parts.append(_row(name, each, x, left, TOP + LINE * (i + 0.5), beyond))
    return svg(bottom + FOOT, title, parts)


def _reach(ranges: Sequence[Range]) -> float:
    """Where the axis has to end: with the strong ones, and what is not far beyond them."""
    ends = [max(each.value, each.high or 0) for each in ranges]
    strong = [end for each, end in zip(ranges, ends, strict=True) if each.strong]
    most = FAR * max(strong) if strong else max(ends)
    return max(end for end in ends if end <= most)


def _row(name: str, each: Range, x: Scale, left: float, y: float, beyond: bool) -> str:
    kind = "strong" if each.strong else "name"
    bar = ""
    if each.strong and each.low is not None and each.high is not None:
        bar = _bar(x(each.low), x(each.high), y)
    size, side = (4.6, "warm") if each.strong else (3.2, "cool")
    end = max(x(each.value), x(each.high or 0) if each.strong else 0)
    mark = f'<circle class="dot" cx="{x(each.value):.1f}" cy="{y:g}" r="{size}"/>'
    if beyond:
        mark = f'<path class="dot" d="M{end - 5:.1f} {y - 4:g}l8 4l-8 4z"/>'
    return (
        f'{label(name, left - 9, y + 3.5, kind, "end")}<g class="{side}">'
        f"{bar}{mark}</g>"
        f"{label(percent(each.value), end + 8, y + 3.5, 'strong' if each.strong else '')}"
    )


def _band(each: Range, x: Scale, bottom: float) -> str:
    if each.low is None or each.high is None:
        return ""
    wide = max(x(each.high) - x(each.low), 0)
    return (
        f'<rect class="zone" x="{x(each.low):.1f}" y="{TOP}" width="{wide:.1f}" '
        f'height="{bottom - TOP:g}"/>'
    )


def _bar(low: float, high: float, y: float) -> str:
    return f'<path class="range" d="M{low:.1f} {y:g}H{high:.1f}"/>'
