"""The first things that a person asks: what was found, and is anything wrong?"""

from html import escape
from typing import Final

from robustpu.charts.wording import CAVEAT, SPACE, about, counted, moment, percent, took
from robustpu.report.hits import foremost
from robustpu.results import Results, TopK

KINDS: Final = {
    "collapse": "The model may have collapsed",
    "level": "Hardly any row is flagged",
    "leak": "A column may give the label away",
    "prior": "The share of positives is in doubt",
    "few": "There are few labelled rows",
    "fit": "The training warned",
    "time": "The newest rows are ranked worse",
}
DOUBT: Final = f", and {CAVEAT}. Look at some thirty rows of the list, and compare"


def headline(results: Results) -> str:
    """Write what was found in two sentences, and the sizes of the data.

    Parameters
    ----------
    results
        See :func:`robustpu.report.render`.

    Returns
    -------
    html
        The head of the page.
    """
    words = "robustpu", results.data.name, moment(results.made)
    over = " · ".join(escape(each) for each in words if each)
    return (
        f'<p class="over">{over}</p>\n<h1>{escape(_first(results))}</h1>\n'
        f'<p class="lead">{_second(results)}</p>\n{_facts(results)}'
    )


def alarms(results: Results) -> str:
    """Write what the reader has to know before trusting anything else.

    Parameters
    ----------
    results
        See :func:`robustpu.report.render`.

    Returns
    -------
    html
        A list; empty if there is nothing.
    """
    if not results.alarms:
        return ""
    lines = "".join(
        f"<li><strong>{escape(KINDS.get(alarm.kind, 'Please check'))}.</strong> "
        f"{escape(alarm.text)}</li>\n"
        for alarm in results.alarms
    )
    count = len(results.alarms)
    title = "One thing to check first" if count == 1 else f"{count} things to check first"
    return (
        f'<section class="alarms" id="alarms" aria-labelledby="alarms-title">\n'
        f'<h2 id="alarms-title">{title}</h2>\n<ul>\n{lines}</ul>\n</section>\n'
    )


def _first(results: Results) -> str:
    rows, prior = results.data.n_unlabeled, results.prior
    if not prior.is_known:
        first = foremost(results.top, results.expected)
        start = "the first rows" if first is None else f"these {counted(first.k)} rows"
        return f"Start with {start}: the most likely positives of {counted(rows)} unlabelled ones"
    few = results.expected < 0.5
    words = "Hardly any" if few else f"About {about(results.expected)}"
    interval = ""
    if prior.low is not None and prior.high is not None:
        interval = f" ({about(prior.low * rows)} to {about(prior.high * rows)})"
    return f"{words} of the {counted(rows)} unlabelled rows are positive{interval}"


def _second(results: Results) -> str:
    first, prior = foremost(results.top, results.expected), results.prior
    if first is None:
        return "They are ranked below." if results.suspects else ""
    if not results.is_list_known:
        return _by_share(results, first)
    where = '<a href="#suspects">the list below</a>' if results.suspects else "the ranking"
    expected = (
        f"about {counted(first.expected)} should be right "
        f"({counted(first.low)} to {counted(first.high)})"
    )
    doubt = "" if prior.low is None or prior.source == "range" else DOUBT
    if results.data.n_checked:
        basis = f"estimated, with the help of {counted(results.data.n_checked, 'checked row')}"
    else:
        basis = f"estimated, without a single known negative{doubt}"
    return f"Of the first {counted(first.k)} rows of {where}, {expected}. All this is {basis}."


def _by_share(results: Results, first: TopK) -> str:
    """What some shares of positives would mean for the first rows."""
    place, points = results.top.index(first), results.sensitivity
    # Those around the cautious share, which is the likeliest.
    below = sum(point.share <= results.prior.value for point in points)
    chosen = points[max(0, min(below - 2, len(points) - 3)) :][:3]
    phrases = [
        f"{percent(point.share)} of all unlabelled rows are positive, about "
        f"{counted(point.expected[place])} of them are"
        for point in chosen
    ]
    means = "; if ".join(phrases)
    return (
        f'If {means}. These rows do not tell the share: <a href="#yield">more shares</a>. The '
        '<a href="#suspects">list</a> does not depend on it.'
    )


def _facts(results: Results) -> str:
    data, method = results.data, results.method
    label = f": {data.label} is {data.positive}" if data.label else ""
    facts = [
        (counted(data.n_positive), f"labelled positives{label}"),
        (counted(data.n_unlabeled), "unlabelled rows"),
        (
            percent(results.flagged),
            f"of the unlabelled rows flagged, score{SPACE}≥{SPACE}{results.threshold:.3g}",
        ),
        (took(method.seconds), f"of training, {method.title}"),
    ]
    cards = "".join(
        f"<div><dt>{escape(words)}</dt><dd>{escape(big)}</dd></div>" for big, words in facts
    )
    return f'<dl class="facts">{cards}</dl>\n'
