"""Gridlines, labels, and cards around pictures, for the user's page and the bench's."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from html import escape
from itertools import pairwise
from typing import TypeAlias

from robustpu.charts.svg import Scale, text_width

Point: TypeAlias = tuple[float, float]
Write: TypeAlias = Callable[[float], str]


def place(point: Point) -> str:
    """A point as a path has it.

    Examples
    --------
    >>> place((1.25, 30))
    '1.2 30'
    """
    return " ".join(f"{value:.1f}".removesuffix(".0") for value in point)


def polyline(points: Iterable[Point]) -> str:
    """The path through points.

    Examples
    --------
    >>> polyline([(0, 0), (1, 2.5)])
    'M0 0L1 2.5'
    """
    return "M" + "L".join(map(place, points))


def label(words: str, x: float, y: float, kind: str = "", anchor: str = "") -> str:
    """A text in a picture, escaped.

    Parameters
    ----------
    words
        The text.
    x, y
        Its place.
    kind
        Classes, which give its colour.
    anchor
        "middle" or "end", if it does not start at `x`.

    Examples
    --------
    >>> label("a < b", 1, 2)
    '<text x="1" y="2">a &lt; b</text>'
    """
    kind = f' class="{kind}"' if kind else ""
    anchor = f' text-anchor="{anchor}"' if anchor else ""
    return f'<text{kind} x="{_short(x)}" y="{_short(y)}"{anchor}>{escape(words)}</text>'


def levels(marks: Sequence[float], y: Scale, left: float, right: float, write: Write) -> str:
    """Horizontal lines at values, which are written to the left of them.

    Parameters
    ----------
    marks
        The values.
    y
        Their heights.
    left, right
        Ends of the lines.
    write
        How a value is written.
    """
    return "".join(
        f'<path class="rule" d="M{_short(left)} {_short(y(mark))}H{_short(right)}"/>'
        + label(write(mark), left - 5, y(mark) + 3.5, anchor="end")
        for mark in marks
    )


def feet(marks: Sequence[float], x: Scale, y: float, write: Write, least: float = 8) -> str:
    """Values below an axis, except those that would touch the one before.

    Parameters
    ----------
    marks
        From left to right.
    x
        Their places.
    y
        Height of the line of text.
    write
        How a value is written.
    least
        Room between two.

    Examples
    --------
    >>> feet([1, 2], lambda value: 10 * value, 5, str).count("<text")
    1
    """
    texts, last = [], -1e9
    for mark in marks:
        words = write(mark)
        if x(mark) - text_width(words) / 2 >= last + least:
            last = x(mark) + text_width(words) / 2
            texts.append(label(words, x(mark), y, anchor="middle"))
    return "".join(texts)


def apart(heights: Mapping[str, float], least: float = 12, lowest: float = 1e9) -> dict[str, float]:
    """Move texts apart until none touch, and none lies below the lowest height.

    Parameters
    ----------
    heights
        Where they would be, by name.
    least
        Room between two.
    lowest
        The largest height.

    Examples
    --------
    >>> apart({"a": 10, "b": 12, "c": 40}, lowest=30)
    {'a': 6, 'b': 18, 'c': 30}
    """
    order = sorted(heights, key=lambda name: heights[name])
    placed = dict(heights)
    for upper, lower in pairwise(order):
        placed[lower] = max(placed[lower], placed[upper] + least)
    limit = lowest
    for name in reversed(order):
        placed[name] = min(placed[name], limit)
        limit = placed[name] - least
    return {name: placed[name] for name in heights}


def _short(value: float) -> str:
    return f"{value:.1f}".removesuffix(".0")
