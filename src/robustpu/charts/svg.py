"""Scales, ticks, widths of texts, and SVG elements; style sheets give the colours."""

import math
from collections.abc import Callable, Iterable
from html import escape
from typing import Final, TypeAlias

Scale: TypeAlias = Callable[[float], float]

WIDTH: Final = 340
# Font size of the style sheets, and widths of letters as shares of it. They are those of the widest
# font that a page may find, so that names are never cut.
TYPE: Final = 10.5
NARROW: Final = frozenset("fijlrtI .,:;!|'()[]-")
LETTER, WIDE, THIN = 0.6, 0.82, 0.38


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
    return math.ceil(high / step - 1e-9) - math.floor(low / step + 1e-9)


def log_ticks(low: float, high: float) -> list[float]:
    """Numbers 1, 2, 5, 10, ... that span a range of positive numbers.

    Parameters
    ----------
    low, high
        The range.

    Returns
    -------
    ticks
        The first is at or below `low`, the last at or above `high`.

    Examples
    --------
    >>> log_ticks(0.3, 9.2)
    [0.2, 0.5, 1.0, 2.0, 5.0, 10.0]
    """
    # One power more at either end: the logarithm of 1000 may be rounded down.
    powers = range(math.floor(math.log10(low)) - 1, math.floor(math.log10(high)) + 3)
    series = [round(f * 10.0**power, 9) for power in powers for f in (1, 2, 5)]
    first = max(i for i, value in enumerate(series) if value <= low)
    last = min(i for i, value in enumerate(series) if value >= high)
    return series[first : max(last, first + 1) + 1]


def scale(low: float, high: float, start: float, end: float, *, logarithmic: bool = False) -> Scale:
    """Make the map from values to coordinates; values outside are put on the edge.

    Parameters
    ----------
    low, high
        Ends of the axis.
    start, end
        Their coordinates.
    logarithmic
        Whether equal ratios are equally far apart.

    Returns
    -------
    place
        The map.

    Examples
    --------
    >>> scale(1, 100, 0, 50, logarithmic=True)(10)
    25.0
    """
    bend: Scale = math.log10 if logarithmic else float
    span = (bend(high) - bend(low)) or 1.0

    def place(value: float) -> float:
        inside = min(max(value, low), high)
        return start + (bend(inside) - bend(low)) / span * (end - start)

    return place


def text_width(text: str) -> float:
    """Width of a text in a picture, never too small.

    Parameters
    ----------
    text
        One line.

    Examples
    --------
    >>> round(text_width("Robust-PU"))
    59
    """
    thin = sum(mark in NARROW for mark in text)
    wide = sum((mark.isupper() and mark not in NARROW) or mark in "mw%@" for mark in text)
    return TYPE * (THIN * thin + WIDE * wide + LETTER * (len(text) - thin - wide))


def shortened(text: str, width: float) -> str:
    """Cut a text that is too wide, and show that it was cut.

    Parameters
    ----------
    text
        One line.
    width
        Room for it.

    Examples
    --------
    >>> shortened("Robust-PU, 5 best", 80)
    'Robust-PU, 5…'
    """
    if text_width(text) <= width:
        return text
    fits = (end for end in range(len(text), 0, -1) if text_width(f"{text[:end]}…") <= width)
    return f"{text[: next(fits, 0)]}…"


def svg(height: float, title: str, parts: Iterable[str]) -> str:
    """Wrap parts as a picture with a name for screen readers.

    Parameters
    ----------
    height
        In the units of `WIDTH`.
    title
        What is to be seen.
    parts
        SVG, escaped.

    Returns
    -------
    svg
        The element.
    """
    head = f'<svg viewBox="0 0 {WIDTH} {height:g}" role="img" aria-label="{escape(title)}">'
    return f"{head}{''.join(parts)}</svg>"
