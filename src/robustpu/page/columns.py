"""The columns: which of them count, what they hold, and what was done with them."""

from collections import Counter
from html import escape
from typing import Final

from robustpu.page.axes import figure
from robustpu.page.bars import Bar, bars
from robustpu.page.reading import Part, number, part, parts, text, texts
from robustpu.page.wording import counted, listed, percent
from robustpu.page.wording import number as written

FIRST: Final = 12
OPEN: Final = 14


def importance(findings: Part) -> str:
    """Draw how much the most important columns count; the rest in a table.

    Parameters
    ----------
    findings
        See :func:`robustpu.page.render`.

    Returns
    -------
    html
        A card; empty if nothing is known.
    """
    found = [
        Bar(text(each, "column"), value, number(each, "deviation"))
        for each in parts(findings, "importance")
        if (value := number(each, "value")) is not None
    ]
    if not found:
        return ""
    most = max(bar.value + (bar.deviation or 0) for bar in found)
    halves = found[:FIRST], found[FIRST : 2 * FIRST]
    titles = "Most important" if halves[1] else "All columns", "The next, on the same scale"
    cards = "".join(
        figure(title, bars(half, f"{title}: {_leaders(half)}", most))
        for title, half in zip(titles, halves, strict=True)
    )
    return (
        '<p class="how">How far the score moves when the values of a column are shuffled: in '
        "log-odds, with one deviation. That is what the model uses; whether it does well to, the "
        "data do not tell. Columns that say the same share what they are worth.</p>\n"
        f'<div class="panels pair">\n{cards}</div>\n{_further(found[2 * FIRST :])}'
    )


def notes(findings: Part) -> str:
    """Write what was read, and what became of each column.

    Parameters
    ----------
    findings
        See :func:`robustpu.page.render`.

    Returns
    -------
    html
        Notes and a table; empty if nothing is known.
    """
    found = parts(findings, "columns")
    lines = [*_roles(part(findings, "data")), *texts(findings, "notes")]
    listed_notes = "".join(f"<li>{escape(line)}</li>\n" for line in lines)
    head = f'<ul class="notes">\n{listed_notes}</ul>\n' if lines else ""
    if not found:
        return head
    if len(found) <= OPEN:
        return head + _table(found, "Columns")
    noted = [each for each in found if text(each, "alarm") or texts(each, "notes")]
    first = _table(noted, "Columns with remarks") if noted else ""
    inside = _table(found, "All columns")
    return f"{head}{first}<details><summary>{escape(_kinds(found))}</summary>\n{inside}</details>\n"


def _table(found: list[Part], name: str) -> str:
    heads = ("column", "kind", "missing", "distinct", "what was done", "remarks")
    titles = "".join(f'<th scope="col">{words}</th>' for words in heads)
    return (
        f'<div class="scroll" tabindex="0" role="region" aria-label="{name}">'
        f'<table class="columns">\n<thead><tr>{titles}</tr></thead>\n'
        f"<tbody>\n{''.join(map(_column, found))}</tbody></table></div>\n"
    )


def _further(rest: list[Bar]) -> str:
    if not rest:
        return ""
    lines = "".join(
        f"<li>{escape(bar.name)} <span>{written(bar.value)}</span></li>\n" for bar in rest
    )
    return (
        f"<details><summary>{counted(len(rest), 'further column')}</summary>\n"
        f'<ul class="flow">\n{lines}</ul></details>\n'
    )


def _leaders(found: list[Bar]) -> str:
    return listed([bar.name for bar in found[:3]]) if found else ""


def _roles(data: Part) -> list[str]:
    rows, columns = number(data, "rows"), number(data, "columns")
    lines = []
    if rows is not None and columns is not None:
        lines.append(f"{counted(rows, 'row')} and {counted(columns, 'column')} were read.")
    for key, words in (("id", "names the rows"), ("time", "orders them in time")):
        if text(data, key):
            lines.append(f"{text(data, key)} {words}, and is not learnt from.")
    dropped = texts(data, "dropped")
    if dropped:
        lines.append(f"Left out, as asked: {listed(dropped)}.")
    return lines


def _column(each: Part) -> str:
    missing, distinct = number(each, "missing"), number(each, "distinct")
    share = min(max(missing or 0, 0), 1)
    bar = f'<i class="n{max(1, round(20 * share))}"></i>' if share else ""
    gaps = "" if missing is None else percent(share) if share else "–"
    alarm = text(each, "alarm")
    words = "".join(f"<p>{escape(line)}</p>" for line in texts(each, "notes"))
    warning = f"<p><strong>{escape(alarm)}</strong></p>" if alarm else ""
    kind = ' class="warned"' if alarm else ""
    return (
        f"<tr{kind}>"
        f'<th scope="row">{escape(text(each, "name"))}</th><td>{escape(text(each, "kind"))}</td>'
        f"<td>{bar}{gaps}</td><td>{'' if distinct is None else counted(distinct)}</td>"
        f"<td>{escape(text(each, 'done'))}</td><td>{warning}{words}</td></tr>\n"
    )


def _kinds(found: list[Part]) -> str:
    kinds = Counter(text(each, "kind") or "unknown" for each in found)
    each = [f"{count:,} {kind}" for kind, count in kinds.most_common()]
    return f"All {counted(len(found), 'column')}: {', '.join(each)}"
