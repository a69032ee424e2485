"""What the list will bring: positives by its length, and a test that says how far to trust it."""

from collections.abc import Sequence
from typing import Final

from markupsafe import Markup

from robustpu.charts.wording import counted
from robustpu.report.markup import Child, card, element, table
from robustpu.report.plot import interval
from robustpu.report.trust import percent_of, trust
from robustpu.results import Results, SharePoint, TopK

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


def prospects(results: Results) -> Markup:
    """Write how many positives lists of growing length hold, and how that was tested.

    Parameters
    ----------
    results
        See :func:`robustpu.report.render`.
    """
    if not results.beats_chance:
        shown, how = Markup(""), ""
    elif results.is_list_known:
        shown, how = _by_length(results.top), "Further down, rows are right less often."
    else:
        shown, how = _by_share(results), UNKNOWN
    cards = card("How many of the first rows are positive?", shown, how), trust(results)
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


def _rounded(found: Sequence[TopK]) -> list[TopK]:
    """Those of k = 10, 20, 50, 100 and so on, if there are some."""
    # Estimates for a handful of rows are chance.
    found = [top for top in found if top.k >= LEAST] or list(found)
    plain = [top for top in found if f"{top.k:.9e}".partition("e")[0] in ROUND]
    return plain if len(plain) >= 3 else list(found)
