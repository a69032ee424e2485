"""Data notes: what was read, and what was done with each column."""

from collections import Counter
from collections.abc import Sequence
from typing import Final

from markupsafe import Markup

from robustpu.charts.wording import counted, listed, percent
from robustpu.report.markup import element, joined, strip
from robustpu.results import Column, Data, Results

HEADS: Final = ("column", "kind", "missing", "distinct", "what was done", "remarks")


def notes(results: Results) -> Markup:
    """Write what was read, and what was done with each column.

    Parameters
    ----------
    results
        See :func:`robustpu.report.render`.
    """
    columns = results.columns
    lines = [element("li", line) for line in (*_roles(results.data), *results.notes)]
    head = element("ul", lines, class_="notes")
    if not columns:
        return head
    noted = [column for column in columns if column.alarm or column.notes]
    first = _table(noted, "Columns with remarks") if noted else None
    all_columns = element("summary", _kinds(columns)), _table(columns, "All columns")
    return joined(head, first, element("details", all_columns))


def _table(columns: Sequence[Column], name: str) -> Markup:
    heads = [element("th", words, scope="col") for words in HEADS]
    inside = element("thead", element("tr", heads)), element("tbody", map(_row, columns))
    listed = element("table", *inside, class_="columns")
    return element("div", listed, class_="scroll", tabindex="0", role="region", aria_label=name)


def _roles(data: Data) -> list[str]:
    lines = [f"{counted(data.rows, 'row')} and {counted(data.columns, 'column')} were read."]
    for column, words in ((data.id, "names the rows"), (data.time, "orders them in time")):
        if column:
            lines.append(f"{column} {words}, and is not learnt from.")
    if data.dropped:
        lines.append(f"Left out, as asked: {listed(data.dropped)}.")
    return lines


def _row(column: Column) -> Markup:
    share = min(max(column.missing, 0), 1)
    bar = strip(share) if share else None
    # Its text stands above, where it cannot be missed.
    warning = element("p", element("strong", "See the warning above.")) if column.alarm else None
    return element(
        "tr",
        element("th", column.name, scope="row"),
        element("td", column.kind),
        element("td", bar, percent(share) if share else "–"),
        element("td", counted(column.distinct)),
        element("td", column.done),
        element("td", warning, [element("p", line) for line in column.notes]),
        class_="warned" if column.alarm else None,
    )


def _kinds(columns: Sequence[Column]) -> str:
    kinds = Counter(column.kind for column in columns)
    counts = [f"{count:,} {kind}" for kind, count in kinds.most_common()]
    return f"All {counted(len(columns), 'column')}: {', '.join(counts)}"
