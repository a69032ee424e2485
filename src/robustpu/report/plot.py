"""Drawing in a width that is not known: across in percent, down in pixels.

So a picture fills its card, and its texts have the size of the page's, however wide it is. Texts
may stand outside of the picture: the style sheet leaves room for them.
"""

from collections.abc import Callable, Iterable, Sequence
from typing import TypeAlias

from markupsafe import Markup

from robustpu.report.markup import Child, element

Point: TypeAlias = tuple[float, float]
Place: TypeAlias = Callable[[float], float]


def plot(height: float, title: str, *parts: Child, kind: str = "") -> Markup:
    """A picture with a name for screen readers.

    Parameters
    ----------
    height
        In pixels.
    title
        What is to be seen.
    parts
        Of the functions below.
    kind
        Its classes.
    """
    classes = f"plot {kind}".rstrip()
    return element("svg", *parts, class_=classes, height=height, role="img", aria_label=title)


def words(
    text: str, x: float, y: float, anchor: str = "", *, kind: str = "", dx: int = 0
) -> Markup:
    """A text.

    Parameters
    ----------
    text
        The text.
    x, y
        Its place.
    anchor
        "middle" or "end", if it does not start there.
    kind
        Its class.
    dx
        Pixels to the right.

    Examples
    --------
    >>> print(words("5", 10, 2.5, "end"))
    <text x="10%" y="2.5" text-anchor="end">5</text>
    """
    return element(
        "text",
        text,
        x=_across(x),
        y=y,
        text_anchor=anchor or None,
        class_=kind or None,
        dx=dx or None,
    )


def box(x: float, y: float, width: float, height: float, kind: str) -> Markup:
    """A rectangle."""
    wide, tall = _across(max(width, 0)), max(height, 0)
    return element("rect", x=_across(x), y=y, width=wide, height=tall, class_=kind)


def rule(x1: float, y1: float, x2: float, y2: float, kind: str = "rule") -> Markup:
    """A straight line."""
    return element("line", x1=_across(x1), y1=y1, x2=_across(x2), y2=y2, class_=kind)


def dot(x: float, y: float, radius: float = 3, title: str = "") -> Markup:
    """A dot, with a text that is shown when it is pointed at."""
    inside = element("title", title) if title else None
    return element("circle", inside, cx=_across(x), cy=y, r=radius, class_="dot")


def path(points: Iterable[Point], height: float, kind: str) -> Markup:
    """A line through points, or the area inside of them.

    Parameters
    ----------
    points
        Percent across, pixels down.
    height
        Of the picture.
    kind
        Its class, which fills it or not.
    """
    line = "M" + "L".join(f"{x:.2f} {y:.1f}" for x, y in points)
    # Paths know no percent: a picture of its own is stretched, and its lines keep their width.
    return element(
        "svg",
        element("path", d=line, class_=kind),
        viewBox=f"0 0 100 {height:g}",
        preserveAspectRatio="none",
        width="100%",
        height=height,
        aria_hidden="true",
    )


def levels(marks: Sequence[float], y: Place, write: Callable[[float], str]) -> list[Markup]:
    """Lines at values, which are written to the left of them."""
    return [
        part
        for mark in marks
        for part in (
            rule(0, y(mark), 100, y(mark)),
            words(write(mark), 0, y(mark) + 4, "end", dx=-6),
        )
    ]


def feet(marks: Sequence[float], x: Place, y: float, write: Callable[[float], str]) -> list[Markup]:
    """Values below an axis."""
    return [words(write(mark), x(mark), y, "middle") for mark in marks]


def interval(
    value: float, low: float | None, high: float | None, chance: float | None = None
) -> Markup:
    """A share with its interval, from 0 to 1, to stand in a row of a table.

    Parameters
    ----------
    value, low, high
        The share, and its interval or None.
    chance
        What random guessing gets, if that is worth knowing.

    Examples
    --------
    >>> 'cx="51%"' in interval(0.51, 0.4, 0.6)
    True
    """
    bar = None if low is None or high is None else rule(100 * low, 8, 100 * high, 8, "range")
    guess = None if chance is None else rule(100 * chance, 1, 100 * chance, 15, "chance")
    grid = [rule(at, 0, at, 16) for at in (0, 25, 50, 75, 100)]
    inside = grid, guess, bar, dot(100 * value, 8, 4)
    return element("svg", *inside, class_="interval cool", height=16, aria_hidden="true")


def _across(percent: float) -> str:
    return f"{percent:.2f}".rstrip("0").rstrip(".") + "%"
