"""The first things that a person asks: which rows do I look at, and can I trust it?"""

import math
from collections.abc import Sequence
from typing import Final

from markupsafe import Markup

from robustpu.charts.wording import SPACE, about, counted, moment
from robustpu.report.markup import Child, element, joined
from robustpu.report.prospects import foremost
from robustpu.report.trust import percent_of, reach
from robustpu.results import Alarm, Results, SharePoint, TopK

KINDS: Final = {
    "chance": "The ranking may be no better than chance",
    "collapse": "The model may have failed",
    "level": "Hardly any row is flagged",
    "leak": "A column may give the label away",
    "prior": "The share of positives is in doubt",
    "scar": "The known positives may be of one kind",
    "few": "Few known positives",
    "time": "The newest rows are ranked worse",
    "fit": "The training gave a warning",
}
# Their texts are technical, and stand further below.
FOLDED: Final = frozenset({"fit"})
# Length of the list to begin with, if nothing can be said about any.
START: Final = 20
LEAST: Final = 1e-6


def headline(results: Results) -> Markup:
    """Write what to do, what it will bring, and how far to trust it.

    Parameters
    ----------
    results
        See :func:`robustpu.report.render`.
    """
    data = results.data
    label = f" ({data.label} is {data.positive})" if data.label else ""
    over = (
        data.name,
        f"{counted(data.n_positive, 'known positive')}{label}",
        counted(data.n_unlabeled, "unlabelled row"),
        moment(results.made),
    )
    first = foremost(results.top, results.expected)
    title = _title(results, first)
    lead: list[Child] = [_outlook(results, first), _trust(results)]
    if not results.beats_chance:
        title, lead = "The list may be no better than chance", [_chance(results)]
    return joined(
        element("p", " · ".join(over), class_="over"),
        element("h1", title),
        [element("p", words, class_="lead") for words in lead if words],
    )


def alarms(results: Results) -> Markup:
    """Write what the reader has to know before trusting anything else; empty if there is nothing.

    Parameters
    ----------
    results
        See :func:`robustpu.report.render`.
    """
    # What the headline says is not said again.
    found = [alarm for alarm in results.alarms if alarm.kind != "chance"]
    if not found:
        return Markup("")
    title = "Check this first" if len(found) == 1 else f"Check these {len(found)} things first"
    lines = [element("li", _alarm(alarm)) for alarm in found]
    inside = element("h2", title, id="alarms-title"), element("ul", lines)
    return element("section", *inside, class_="alarms", id="alarms", aria_labelledby="alarms-title")


def _alarm(alarm: Alarm) -> list[Child]:
    title = element("strong", f"{KINDS.get(alarm.kind, 'Please check')}.")
    if alarm.kind in FOLDED:
        return [
            title,
            " It stands under ",
            element("a", "technical details", href="#technical"),
            ".",
        ]
    return [title, f" {alarm.text}"]


def _chance(results: Results) -> str:
    return (
        "Known positives that were hidden from the model did not clearly come back near the top, "
        "so do not work from this list. Fit again with more known positives "
        f"({counted(results.data.n_positive)} were known), or with columns that have to do with "
        "what makes a row positive."
    )


def _title(results: Results, first: TopK | None) -> str:
    length = min(START, len(results.suspects)) if first is None else first.k
    start = f"Start with these {counted(length)} rows" if length else "No row is left to look at"
    if first is None or not results.is_list_known:
        return start
    return f"{start}: {_span(counted(first.low), counted(first.high))} of them are likely positive"


def _span(low: str, high: str) -> str:
    """An interval of a number of rows; one that starts at zero only says how many at most."""
    if low == "0":
        return f"at most {high}"
    return f"about {low}" if low == high else f"{low}{SPACE}to{SPACE}{high}"


def _outlook(results: Results, first: TopK | None) -> list[Child]:
    """What the list will bring, in a sentence."""
    if first is None:
        return []
    prior, rows = results.prior, results.data.n_unlabeled
    if not results.is_list_known:
        return _by_share(results, first) if results.sensitivity else []
    best = counted(first.expected) if round(first.expected) < first.k else "nearly all"
    words = f"The best guess is {best} of these {counted(first.k)}"
    if results.data.n_checked:
        words += f", with the help of {counted(results.data.n_checked, 'checked row')}"
    if not prior.is_known:
        return [f"{words}."]
    interval = ""
    if prior.low is not None and prior.high is not None:
        interval = f" ({_span(about(prior.low * rows), about(prior.high * rows))})"
    source = "" if prior.source == "estimated" else ", as you said"
    return [
        f"{words}. In all, about {about(results.expected)} of the {counted(rows)} unlabelled rows "
        f"are positive{interval}{source}."
    ]


def _by_share(results: Results, first: TopK) -> list[Child]:
    """What two shares of positives would mean for the first rows."""
    place = results.top.index(first)
    hits = [(percent_of(point.share), counted(point.expected[place])) for point in _two(results)]
    (share, count), *others = hits
    further = "".join(f"; if {share}, about {count}" for share, count in others)
    return [
        f"If {share} of the unlabelled rows are positive, about {count} of these "
        f"{counted(first.k)} are{further}. Which share is right, these rows do not tell (",
        element("a", "more shares", href="#prospects"),
        "); the order of the list hardly depends on it.",
    ]


def _two(results: Results) -> Sequence[SharePoint]:
    """The share that is assumed, and a third of it."""
    prior, points = results.prior, results.sensitivity
    wanted = prior.value / 3, prior.value
    chosen = [
        min(points, key=lambda point: abs(math.log(max(point.share, LEAST) / max(share, LEAST))))
        for share in wanted
    ]
    return [point for point in points if point in chosen]


def _trust(results: Results) -> list[Child]:
    evaluation = results.evaluation
    if evaluation is None:
        return [
            "How good the list is could not be tested: there are too few known positives. Look at "
            "the first rows, and judge by what you find."
        ]
    half = reach(evaluation.recovery, 0.5)
    if half is None:
        return []
    return [
        "Known positives were hidden from the model as a test: half of them came back among the "
        f"first {percent_of(half)} of the rows, where chance needs half of the rows. ",
        element("a", "Can I trust it?", href="#trust"),
    ]
