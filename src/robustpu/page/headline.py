"""The first things that a person asks: what was found, and is anything wrong?"""

from html import escape
from typing import Final

from robustpu.page.hits import foremost, hits
from robustpu.page.reading import Part, number, part, parts, text
from robustpu.page.wording import CAVEAT, SPACE, about, counted, moment, percent, took

KINDS: Final = {
    "collapse": "The model may have collapsed",
    "level": "Hardly any row is answered positive",
    "leak": "A column may give the label away",
    "prior": "The share of positives is in doubt",
    "few": "There is little to judge by",
    "fit": "The training warned",
    "time": "The newest rows are ranked worse",
}
DOUBT: Final = f", and {CAVEAT}. Look at some thirty rows of the list, and compare"


def total(findings: Part) -> float | None:
    """Expected number of positives among the unlabelled rows.

    Examples
    --------
    >>> total({"prior": {"value": 0.02}, "data": {"n_unlabeled": 1000}})
    20.0
    """
    share, rows = (
        number(part(findings, "prior"), "value"),
        number(part(findings, "data"), "n_unlabeled"),
    )
    return None if share is None or rows is None else share * rows


def headline(findings: Part) -> str:
    """Write what was found in two sentences, and the sizes of the data.

    Parameters
    ----------
    findings
        See :func:`robustpu.page.render`.

    Returns
    -------
    html
        The head of the page.
    """
    data = part(findings, "data")
    name = text(data, "name") or "your table"
    made = moment(text(findings, "made"))
    over = " · ".join(escape(words) for words in ("robustpu", name, made) if words)
    return (
        f'<p class="over">{over}</p>\n<h1>{escape(_first(findings))}</h1>\n'
        f'<p class="lead">{_second(findings)}</p>\n{_facts(findings)}'
    )


def alarms(findings: Part) -> str:
    """Write what the reader has to know before believing anything.

    Parameters
    ----------
    findings
        See :func:`robustpu.page.render`.

    Returns
    -------
    html
        A list; empty if there is nothing.
    """
    found = [(text(each, "kind"), text(each, "text")) for each in parts(findings, "alarms")]
    lines = "".join(
        f"<li><strong>{escape(KINDS.get(kind, 'Please check'))}.</strong> {escape(words)}</li>\n"
        for kind, words in found
        if words
    )
    if not lines:
        return ""
    many = lines.count("<li>")
    title = "One thing to check first" if many == 1 else f"{many} things to check first"
    return (
        f'<section class="alarms" id="alarms" aria-labelledby="alarms-title">\n'
        f'<h2 id="alarms-title">{title}</h2>\n<ul>\n{lines}</ul>\n</section>\n'
    )


def _first(findings: Part) -> str:
    data, prior = part(findings, "data"), part(findings, "prior")
    rows, found = number(data, "n_unlabeled"), total(findings)
    if rows is None or found is None:
        return "What was found"
    low, high = number(prior, "low"), number(prior, "high")
    few = found < 0.5
    words = "Hardly any" if few else f"About {about(found)}"
    is_sure = low is None or text(prior, "how") == "range"
    fewer = "" if few or is_sure else ", more likely fewer"
    sure = ""
    if low is not None and high is not None:
        sure = f" ({about(low * rows)} to {about(high * rows)})"
    return f"{words} of the {counted(rows)} unlabelled rows are positive{fewer}{sure}"


def _second(findings: Part) -> str:
    found = hits(findings)
    listed = len(parts(findings, "suspects"))
    first = foremost(found, total(findings))
    if first is None:
        return "They are ranked below." if listed else ""
    sure = ""
    if first.low is not None and first.high is not None:
        sure = f" ({counted(first.low)} to {counted(first.high)})"
    where = '<a href="#suspects">the list below</a>' if listed else "the ranking"
    low = number(part(findings, "prior"), "low")
    expected = f"about {counted(first.expected)} should be right{sure}"
    if low == 0:
        expected = (
            f"up to {counted(first.expected)} should be right: "
            '<a href="#yield">what that depends on</a>'
        )
    doubt = "" if low is None or text(part(findings, "prior"), "how") == "range" else DOUBT
    return (
        f"Of the first {counted(first.k)} rows of {where}, {expected}. All this is estimated, "
        f"without a single known negative{doubt}."
    )


def _facts(findings: Part) -> str:
    data, method = part(findings, "data"), part(findings, "method")
    label, positive = text(data, "label"), text(data, "positive")
    known = f"labelled positives: {label} is {positive}" if label else "labelled positives"
    facts = []
    for key, words in (("n_positive", known), ("n_unlabeled", "unlabelled rows")):
        value = number(data, key)
        if value is not None:
            facts.append((counted(value), words))
    share, cut = number(findings, "answered_positive"), number(findings, "threshold")
    if share is not None:
        at = "" if cut is None else f", score{SPACE}≥{SPACE}{cut:.3g}"
        facts.append((percent(share), f"of the unlabelled answered positive{at}"))
    seconds, title = number(method, "seconds"), text(method, "title") or text(method, "name")
    if seconds is not None:
        facts.append((took(seconds), f"of training, {title}" if title else "of training"))
    cards = "".join(
        f"<div><dt>{escape(words)}</dt><dd>{escape(big)}</dd></div>" for big, words in facts
    )
    return f'<dl class="facts">{cards}</dl>\n' if cards else ""
