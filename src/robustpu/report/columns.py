"""The columns: how important they are, what they hold, and what was done with them."""

from collections import Counter
from collections.abc import Sequence
from html import escape
from typing import Final

from robustpu.charts.axes import figure
from robustpu.charts.wording import counted, listed, number, percent
from robustpu.report.bars import Bar, bars
from robustpu.results import Column, Data, Results

FIRST: Final = 12
OPEN: Final = 14
HEADS: Final = ("column", "kind", "missing", "distinct", "what was done", "remarks")


def importance(results: Results) -> str:
    """Draw the importance of the first columns; the rest is a list.

    Parameters
    ----------
    results
        See :func:`robustpu.report.render`.

    Returns
    -------
    html
        A card; empty if no column matters.
    """
    found = [Bar(each.column, each.value, each.deviation) for each in results.importance]
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
        "log-odds, with one standard deviation. This shows what the model uses, not what causes a "
        "label. Columns that carry the same information share their importance.</p>\n"
        f'<div class="panels pair">\n{cards}</div>\n{_further(found[2 * FIRST :])}'
    )


def notes(results: Results) -> str:
    """Write what was read, and what was done with each column.

    Parameters
    ----------
    results
        See :func:`robustpu.report.render`.

    Returns
    -------
    html
        Notes and a table.
    """
    columns = results.columns
    lines = [*_roles(results.data), *results.notes]
    items = "".join(f"<li>{escape(line)}</li>\n" for line in lines)
    head = f'<ul class="notes">\n{items}</ul>\n'
    if not columns:
        return head
    if len(columns) <= OPEN:
        return head + _table(columns, "Columns")
    noted = [column for column in columns if column.alarm or column.notes]
    first = _table(noted, "Columns with remarks") if noted else ""
    summary = escape(_kinds(columns))
    inside = _table(columns, "All columns")
    return f"{head}{first}<details><summary>{summary}</summary>\n{inside}</details>\n"


def _table(columns: Sequence[Column], name: str) -> str:
    titles = "".join(f'<th scope="col">{words}</th>' for words in HEADS)
    return (
        f'<div class="scroll" tabindex="0" role="region" aria-label="{name}">'
        f'<table class="columns">\n<thead><tr>{titles}</tr></thead>\n'
        f"<tbody>\n{''.join(map(_row, columns))}</tbody></table></div>\n"
    )


def _further(rest: list[Bar]) -> str:
    if not rest:
        return ""
    lines = "".join(
        f"<li>{escape(bar.name)} <span>{number(bar.value)}</span></li>\n" for bar in rest
    )
    return (
        f"<details><summary>{counted(len(rest), 'further column')}</summary>\n"
        f'<ul class="flow">\n{lines}</ul></details>\n'
    )


def _leaders(found: list[Bar]) -> str:
    return listed([bar.name for bar in found[:3]]) if found else ""


def _roles(data: Data) -> list[str]:
    lines = [f"{counted(data.rows, 'row')} and {counted(data.columns, 'column')} were read."]
    for column, words in ((data.id, "names the rows"), (data.time, "orders them in time")):
        if column:
            lines.append(f"{column} {words}, and is not learnt from.")
    if data.dropped:
        lines.append(f"Left out, as asked: {listed(data.dropped)}.")
    return lines


def _row(column: Column) -> str:
    share = min(max(column.missing, 0), 1)
    bar = f'<i class="n{max(1, round(20 * share))}"></i>' if share else ""
    words = "".join(f"<p>{escape(line)}</p>" for line in column.notes)
    warning = f"<p><strong>{escape(column.alarm)}</strong></p>" if column.alarm else ""
    kind = ' class="warned"' if column.alarm else ""
    return (
        f"<tr{kind}>"
        f'<th scope="row">{escape(column.name)}</th><td>{escape(column.kind)}</td>'
        f"<td>{bar}{percent(share) if share else '–'}</td><td>{counted(column.distinct)}</td>"
        f"<td>{escape(column.done)}</td><td>{warning}{words}</td></tr>\n"
    )


def _kinds(columns: Sequence[Column]) -> str:
    kinds = Counter(column.kind for column in columns)
    counts = [f"{count:,} {kind}" for kind, count in kinds.most_common()]
    return f"All {counted(len(columns), 'column')}: {', '.join(counts)}"
