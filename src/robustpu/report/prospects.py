"""What the list will bring: positives by its length, and where hidden positives came back."""

from collections.abc import Sequence
from typing import Final

from markupsafe import Markup

from robustpu.charts.svg import scale
from robustpu.charts.wording import SPACE, counted, percent
from robustpu.report.markup import Child, card, element, table
from robustpu.report.plot import Point, feet, interval, levels, path, plot, rule, words
from robustpu.results import Recovery, Results, SharePoint, TopK

HEIGHT: Final = 190
ROWS: Final = 8
LEAST: Final = 10
SMALL: Final = 10
# Lists that there is room for, beside shares.
LISTS: Final = 4
UNKNOWN: Final = (
    "That depends on the share of positives among all unlabelled rows, which these rows do not "
    "tell: read the line of the share that you think is right."
)
ROUND: Final = frozenset(f"{first}.{0:09}" for first in (1, 2, 5))
QUARTERS: Final = (0.0, 0.25, 0.5, 0.75, 1.0)


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


def reach(recovery: Sequence[Recovery], recall: float) -> float | None:
    """The share of the rows that holds this share of the hidden positives; None if unknown.

    Examples
    --------
    >>> reach([Recovery(0.1, 0.4, 0.3, 0.5), Recovery(0.3, 0.6, 0.5, 0.7)], 0.5)
    0.2
    """
    before = Recovery(0, 0, 0, 0)
    for point in recovery:
        if point.recall >= recall:
            part = (recall - before.recall) / (point.recall - before.recall)
            return round(before.share + part * (point.share - before.share), 9)
        before = point
    return None


def prospects(results: Results) -> Markup:
    """Write how many positives lists of growing length hold.

    Parameters
    ----------
    results
        See :func:`robustpu.report.render`.
    """
    if results.prior.is_known:
        shown, how = _by_length(results.top), "Further down, rows are right less often."
    else:
        shown, how = _by_share(results), UNKNOWN
    cards = card("How many of the first rows are positive?", shown, how), _trust(results)
    return element("div", cards, class_="panels pair") if any(cards) else Markup("")


def _by_length(found: Sequence[TopK]) -> Markup:
    lists = _rounded(found)[:ROWS]
    if not lists:
        return Markup("")
    # Decimals only if whole numbers are too coarse, and then in the whole column.
    places = 0 if max(top.expected for top in lists) >= SMALL else 1
    rows: list[list[Child]] = []
    for top in lists:
        shares = [min(1, each / top.k) for each in (top.expected, top.low, top.high)]
        ends = f"{top.low:,.{places}f} to {top.high:,.{places}f}"
        best = element("b", f"{top.expected:,.{places}f}")
        rows.append([counted(top.k), ends, best, interval(*shares)])
    heads = "of the first", "positive", "best guess", "as a share, 0 to 100 %"
    return table(heads, rows, "hits")


def _by_share(results: Results) -> Markup:
    points, first = results.sensitivity, foremost(results.top, results.expected)
    lists = [top for top in _rounded(results.top) if first and top.k >= first.k / 5][:LISTS]
    if not points or not lists:
        return Markup("")
    places = [results.top.index(top) for top in lists]
    rows: list[list[Child]] = [
        [
            percent_of(point.share),
            counted(point.share * results.data.n_unlabeled),
            *(_hits(point, place) for place in places),
        ]
        for point in points
    ]
    heads = "if this share", "positives", *(f"of the first {counted(top.k)}" for top in lists)
    return table(heads, rows, "shares")


def _hits(point: SharePoint, place: int) -> list[Child]:
    expected = element("b", counted(point.expected[place]))
    if not point.low:
        return [expected]
    low, high = counted(point.low[place]), counted(point.high[place])
    return [expected, element("small", f" {low} to {high}")]


def _trust(results: Results) -> Markup:
    """Where hidden positives came back, as a curve; and what that rests on."""
    evaluation = results.evaluation
    if evaluation is None or not evaluation.recovery:
        return Markup("")
    n_hidden = evaluation.n_positive
    how = (
        f"A test: {counted(n_hidden, 'known positive')} were hidden from the model in turn. The "
        "line shows how many came back by how many rows one looks at; the dotted one is chance. "
        "It holds whatever the share of positives is."
    )
    fine = element(
        "p",
        "It holds for positives like the known ones. If only some kinds of positives were ever "
        "found, the others may rank lower. To be sure, check some thirty rows from the list and "
        "from elsewhere.",
        class_="fine",
    )
    picture = [_curve(evaluation.recovery), fine]
    return element("div", card("Can I trust it?", picture, how), id="trust")


def _curve(recovery: Sequence[Recovery]) -> Markup:
    x, y = scale(0, 1, 0, 100), scale(0, 1, HEIGHT, 0)

    def points(of: Sequence[float]) -> list[Point]:
        shares = (point.share for point in recovery)
        return [(0, HEIGHT), *((x(at), y(value)) for at, value in zip(shares, of, strict=True))]

    low, high = points([each.low for each in recovery]), points([each.high for each in recovery])
    line = points([each.recall for each in recovery])
    half = reach(recovery, 0.5)
    mark, found = [], ""
    if half is not None:
        mark = [rule(0, y(0.5), x(half), y(0.5), "reach")]
        mark.append(rule(x(half), y(0.5), x(half), HEIGHT, "reach"))
        found = f": half of them in the first {percent_of(half)}"
    return plot(
        HEIGHT,
        f"Share of the hidden positives that came back, by share of the rows looked at{found}",
        words("positives found", 0, -8, dx=-40),
        levels(QUARTERS, y, percent),
        element("g", path([*low, *reversed(high)], HEIGHT, "band"), class_="warm"),
        path([(0, HEIGHT), (100, 0)], HEIGHT, "reference"),
        mark,
        element("g", path(line, HEIGHT, "line"), class_="warm"),
        feet(QUARTERS, x, HEIGHT + 16, percent),
        words("of the unlabelled rows, the highest scores first", 50, HEIGHT + 32, "middle"),
        kind="wide",
    )


def percent_of(share: float) -> str:
    """A share in percent, roughly, without decimals that say nothing.

    Examples
    --------
    >>> [percent_of(share).replace(SPACE, " ") for share in (0.005, 0.05, 0.11538, 1)]
    ['0.5 %', '5 %', '12 %', '100 %']
    """
    return f"{float(f'{100 * share:.2g}'):g}{SPACE}%"


def _rounded(found: Sequence[TopK]) -> list[TopK]:
    """Those of k = 10, 20, 50, 100 and so on, if there are some."""
    # Estimates for a handful of rows are chance.
    found = [top for top in found if top.k >= LEAST] or list(found)
    plain = [top for top in found if f"{top.k:.9e}".partition("e")[0] in ROUND]
    return plain if len(plain) >= 3 else list(found)
