"""Expected positives among the k rows with the highest scores: a curve, and a table."""

from collections.abc import Sequence
from typing import Final

from robustpu.charts.axes import Point, feet, label, levels, polyline
from robustpu.charts.svg import WIDTH, Scale, scale, svg, text_width, ticks
from robustpu.charts.wording import SPACE, about, counted, digits
from robustpu.results import TopK

HEIGHT, RIGHT, TOP, BOTTOM = 232, 18, 20, 36
ROWS: Final = 8
LEAST: Final = 10
SMALL: Final = 10
ROUND: Final = frozenset(f"{first}.{0:09}" for first in (1, 2, 5))


def foremost(found: Sequence[TopK], total: float) -> TopK | None:
    """The list to speak of first: one that a person can go through, mostly right.

    Parameters
    ----------
    found
        By growing k.
    total
        Expected number of positives.

    Returns
    -------
    top
        That of the largest k up to 100, and not past all positives.

    Examples
    --------
    >>> foremost([TopK(k, k, k, k) for k in (10, 50, 100, 200)], 2000).k
    100
    """
    most = min(100.0, max(10.0, total))
    return max(
        (top for top in found if top.k <= most),
        key=lambda top: top.k,
        default=next(iter(found), None),
    )


def curve(found: Sequence[TopK], total: float, share: float) -> str:
    """Draw the expected positives against k, between "all right" and "picked at random".

    Parameters
    ----------
    found
        By growing k.
    total
        Expected number of positives among the unlabelled rows.
    share
        Their share.

    Returns
    -------
    svg
        Empty if there are fewer than two points.
    """
    if len(found) < 2:
        return ""
    end = found[-1]
    highest = max([total, *(top.high for top in found)])
    marks = ticks(0, min(highest, 1.3 * (total or highest)))
    left = 12 + max(text_width(counted(mark)) for mark in marks)
    x = scale(0, end.k, left, WIDTH - RIGHT)
    y = scale(0, marks[-1], HEIGHT - BOTTOM, TOP)
    edge = WIDTH - RIGHT
    parts = [
        levels(marks, y, left, edge, counted),
        feet([mark for mark in ticks(0, end.k) if mark <= end.k], x, HEIGHT - BOTTOM + 15, counted),
        label("rows looked at", (left + edge) / 2, HEIGHT - 4, anchor="middle"),
        label("positives", left, 10),
    ]
    sure = min(end.k, marks[-1])
    parts.append(_line([(x(0), y(0)), (x(sure), y(sure))], "reference"))
    # Where it is clear of the line of all positives.
    spot = min(0.55 * sure, 0.7 * (total or sure))
    parts.append(label("all right", x(spot) - 6, y(spot), anchor="end"))
    random = share * end.k
    parts.append(_line([(x(0), y(0)), (x(end.k), y(min(random, marks[-1])))], "reference"))
    parts.append(label("picked at random", edge, y(random) - 5, anchor="end"))
    if 0 < total <= marks[-1]:
        parts.append(_line([(left, y(total)), (edge, y(total))], "all"))
        parts.append(label(f"all {about(total)}", left + 4, y(total) - 4, "warm"))
    parts.append(_drawn([(x(top.k), top) for top in found], (x(0), y(0)), y))
    parts.append(label("this list", edge, y(end.expected) + 14, "strong", "end"))
    first, last = found[0], found[-1]
    title = (
        f"Expected positives among the first rows of the list: {counted(first.expected)} of the "
        f"first {counted(first.k)}, rising to {counted(last.expected)} of {counted(last.k)}"
    )
    return svg(HEIGHT, title, parts)


def table(found: Sequence[TopK]) -> str:
    """Write the expected positives for some round k.

    Parameters
    ----------
    found
        By growing k.

    Returns
    -------
    html
        A table; empty if there is nothing to write.
    """
    chosen = _rounded(found)
    if not chosen:
        return ""
    # Decimals only if whole numbers are too coarse, and then in the whole column.
    places = 0 if max(top.expected for top in chosen) >= SMALL else 1
    least = min(top.expected / top.k for top in chosen)
    fine = digits(least) if least < 0.5 else 0
    body = []
    for top in chosen:
        share = min(1, top.expected / top.k)
        interval = f"{top.low:,.{places}f} to {top.high:,.{places}f}"
        body.append(
            f'<tr><th scope="row">{counted(top.k)}</th><td><b>{top.expected:,.{places}f}</b></td>'
            f"<td>{interval}</td><td>{100 * share:.{fine}f}{SPACE}%</td>"
            f'<td class="gauge">{_gauge(share)}</td></tr>\n'
        )
    heads = ("first rows", "right", "interval", "share")
    cells = "".join(f'<th scope="col">{head}</th>' for head in heads)
    return (
        f'<table class="hits">\n<thead><tr>{cells}<td class="gauge"></td></tr></thead>\n'
        f"<tbody>\n{''.join(body)}</tbody></table>\n"
    )


def _rounded(found: Sequence[TopK]) -> list[TopK]:
    """Those of k = 10, 20, 50, 100 and so on, if there are some; else every few."""
    # Estimates for a handful of rows are chance.
    found = [top for top in found if top.k >= LEAST] or list(found)
    plain = [top for top in found if f"{top.k:.9e}".partition("e")[0] in ROUND]
    chosen = plain if len(plain) >= 3 else list(found)
    step = max(1, -(-len(chosen) // ROWS))
    return chosen[::step]


def _gauge(share: float) -> str:
    length = 60 * min(max(share, 0), 1)
    return (
        '<svg viewBox="0 0 60 8" aria-hidden="true"><path class="track" d="M0 4H60"/>'
        f'<path class="gauge" d="M0 4H{length:.1f}"/></svg>'
    )


def _line(points: Sequence[Point], kind: str) -> str:
    return f'<path class="{kind}" d="{polyline(points)}"/>'


def _drawn(places: Sequence[tuple[float, TopK]], origin: Point, y: Scale) -> str:
    above = [(at, y(top.high)) for at, top in places]
    below = [(at, y(top.low)) for at, top in places]
    shape = polyline([origin, *above, *reversed(below)])
    middle = polyline([origin, *((at, y(top.expected)) for at, top in places)])
    dots = "".join(
        f'<circle class="dot" cx="{at:.1f}" cy="{y(top.expected):.1f}" r="2.4">'
        f"<title>{counted(top.expected)} of the first {counted(top.k)}</title></circle>"
        for at, top in places
    )
    band = f'<path class="band" d="{shape}Z"/>'
    return f'<g class="warm">{band}<path class="line" d="{middle}"/>{dots}</g>'
