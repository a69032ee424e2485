"""Expected true positives among the k most suspect rows: the curve, and a table of round k."""

from collections.abc import Sequence
from typing import Final, NamedTuple

from robustpu.page.axes import Point, feet, label, levels, polyline
from robustpu.page.reading import Part, number, parts
from robustpu.page.wording import SPACE, about, counted, digits
from robustpu.report.drawing import WIDTH, Scale, scale, svg, text_width, ticks

HEIGHT, RIGHT, TOP, BOTTOM = 232, 18, 20, 36
ROWS: Final = 8
LEAST: Final = 10
SMALL: Final = 10
ROUND: Final = frozenset(f"{first}.{0:09}" for first in (1, 2, 5))


class Hit(NamedTuple):
    """How many of the first k rows are positive, with the ends of an interval or None."""

    k: float
    expected: float
    low: float | None
    high: float | None


def hits(findings: Part) -> list[Hit]:
    """Read what is expected among the first k rows, by growing k.

    Examples
    --------
    >>> hits({"top": [{"k": 20, "expected": 17.5}, {"k": 10, "expected": 9}]})[0].expected
    9.0
    """
    found = []
    for each in parts(findings, "top"):
        k, expected = number(each, "k"), number(each, "expected")
        if k is not None and expected is not None and k >= 1:
            low, high = number(each, "low"), number(each, "high")
            whole = low is not None and high is not None
            found.append(Hit(k, expected, low if whole else None, high if whole else None))
    return sorted(found)


def foremost(found: Sequence[Hit], total: float | None) -> Hit | None:
    """The hit to speak of first: a list that a person can go through, mostly right.

    Parameters
    ----------
    found
        By growing k.
    total
        Expected number of positives, if known.

    Returns
    -------
    hit
        That of the largest k up to 100, and not past all positives.

    Examples
    --------
    >>> foremost([Hit(k, k, None, None) for k in (10, 50, 100, 200)], 2000).k
    100
    """
    most = 100 if total is None else min(100.0, max(10.0, total))
    return max((hit for hit in found if hit.k <= most), default=next(iter(found), None))


def curve(found: Sequence[Hit], total: float | None, prior: float | None) -> str:
    """Draw the expected hits against k, between "all right" and "picked blindly".

    Parameters
    ----------
    found
        By growing k.
    total
        Expected number of positives among the unlabelled rows, if known.
    prior
        Their share, if known.

    Returns
    -------
    svg
        Empty if there are fewer than two points.
    """
    if len(found) < 2:
        return ""
    end = found[-1]
    highest = max([hit.high or hit.expected for hit in found] + ([total] if total else []))
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
    if prior is not None:
        blind = prior * end.k
        parts.append(_line([(x(0), y(0)), (x(end.k), y(min(blind, marks[-1])))], "reference"))
        parts.append(label("picked blindly", edge, y(blind) - 5, anchor="end"))
    if total and total <= marks[-1]:
        parts.append(_line([(left, y(total)), (edge, y(total))], "all"))
        parts.append(label(f"all {about(total)}", left + 4, y(total) - 4, "warm"))
    parts.append(_drawn([(x(hit.k), hit) for hit in found], (x(0), y(0)), y))
    parts.append(label("this list", edge, y(end.expected) + 14, "strong", "end"))
    first, last = found[0], found[-1]
    title = (
        f"Expected positives among the first rows of the list: {counted(first.expected)} of the "
        f"first {counted(first.k)}, rising to {counted(last.expected)} of {counted(last.k)}"
    )
    return svg(HEIGHT, title, parts)


def table(found: Sequence[Hit]) -> str:
    """Write the expected hits of some round k.

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
    # A decimal only where whole numbers would tell too little, and then in the whole column.
    places = 0 if max(hit.expected for hit in chosen) >= SMALL else 1
    least = min(hit.expected / hit.k for hit in chosen)
    fine = digits(least) if least < 0.5 else 0
    body = []
    for hit in chosen:
        share = min(1, hit.expected / hit.k)
        sure = "" if hit.low is None else f"{hit.low:,.{places}f} to {hit.high or 0:,.{places}f}"
        body.append(
            f'<tr><th scope="row">{counted(hit.k)}</th><td><b>{hit.expected:,.{places}f}</b></td>'
            f"<td>{sure}</td><td>{100 * share:.{fine}f}{SPACE}%</td>"
            f'<td class="gauge">{_gauge(share)}</td></tr>\n'
        )
    heads = ("first rows", "right", "interval", "share")
    cells = "".join(f'<th scope="col">{head}</th>' for head in heads)
    return (
        f'<table class="hits">\n<thead><tr>{cells}<td class="gauge"></td></tr></thead>\n'
        f"<tbody>\n{''.join(body)}</tbody></table>\n"
    )


def _rounded(found: Sequence[Hit]) -> list[Hit]:
    """Those of k = 10, 20, 50, 100 and so on, if there are some; else every few."""
    # What is said of a handful of rows is chance.
    found = [hit for hit in found if hit.k >= LEAST] or list(found)
    plain = [hit for hit in found if f"{hit.k:.9e}".partition("e")[0] in ROUND]
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


def _drawn(places: Sequence[tuple[float, Hit]], origin: Point, y: Scale) -> str:
    sure = [(at, hit.low, hit.high) for at, hit in places]
    above = [(at, y(high)) for at, _, high in sure if high is not None]
    below = [(at, y(low)) for at, low, _ in sure if low is not None]
    shape = polyline([origin, *above, *reversed(below)])
    middle = polyline([origin, *((at, y(hit.expected)) for at, hit in places)])
    dots = "".join(
        f'<circle class="dot" cx="{at:.1f}" cy="{y(hit.expected):.1f}" r="2.4">'
        f"<title>{counted(hit.expected)} of the first {counted(hit.k)}</title></circle>"
        for at, hit in places
    )
    band = f'<path class="band" d="{shape}Z"/>' if above else ""
    return f'<g class="warm">{band}<path class="line" d="{middle}"/>{dots}</g>'
