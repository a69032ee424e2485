"""What the figures would be if the share of positives were another."""

from html import escape
from typing import Final

from robustpu.page.axes import figure
from robustpu.page.headline import total
from robustpu.page.hits import foremost, hits
from robustpu.page.reading import Part, number, numbers, part, parts, text
from robustpu.page.wording import SPACE, counted, digits, percent

USED: Final = '<tr class="used">'
HEADS: Final = ("if the share were", "positives", "precision", "right of first {}", "cut")


def suppositions(findings: Part) -> str:
    """Write, for some shares of positives, what follows from each.

    Parameters
    ----------
    findings
        See :func:`robustpu.page.render`.

    Returns
    -------
    html
        A card with a table; empty if nothing is known.
    """
    found = [each for each in parts(findings, "suppositions") if _is_whole(each)]
    rows = number(part(findings, "data"), "n_unlabeled")
    listed = hits(findings)
    first = foremost(listed, total(findings))
    if len(found) < 2 or rows is None or first is None:
        return ""
    place = listed.index(first)
    used = number(part(findings, "prior"), "value")
    shares = [number(each, "share") or 0.0 for each in found]
    rights = [numbers(each, "expected")[place : place + 1] or [None] for each in found]
    precisions = [number(each, "precision") or 0.0 for each in found]
    cuts = [number(each, "cut") or 0.0 for each in found]
    fine = 2 if min(cuts) >= 0.05 else 3
    cells = zip(shares, _percents(shares), _percents(precisions), rights, cuts, strict=True)
    body = "".join(
        f"{USED if share == used else '<tr>'}"
        f'<th scope="row">{supposed}</th><td>{counted(share * rows)}</td><td>{precise}</td>'
        f"<td>{'' if right is None else counted(right)}</td><td>{cut:.{fine}f}</td></tr>\n"
        for share, supposed, precise, (right,), cut in cells
    )
    heads = "".join(
        f'<th scope="col">{escape(words.format(counted(first.k)))}</th>' for words in HEADS
    )
    table = (
        f'<table class="suppositions">\n<thead><tr>{heads}</tr></thead>\n'
        f"<tbody>\n{body}</tbody></table>\n"
    )
    return figure("If the share of positives were another", table, _explained(findings))


def _is_whole(each: Part) -> bool:
    return all(number(each, key) is not None for key in ("share", "precision", "cut"))


def _explained(findings: Part) -> str:
    metrics = {text(each, "name"): each for each in parts(part(findings, "evaluation"), "metrics")}
    recall = number(metrics.get("recall", {}), "value")
    known = "" if recall is None else f" ({percent(recall)})"
    return (
        f"With this very model. Recall{known} and the order of the list do not depend on the "
        "share, precision does. Cut: the score that as many rows reach as would be positive."
    )


def _percents(shares: list[float]) -> list[str]:
    """Shares in percent, all with as many decimals as the smallest deserves."""
    least = min(shares)
    places = digits(least) if least < 0.5 else 0
    return [f"{100 * share:.{places}f}{SPACE}%" for share in shares]
