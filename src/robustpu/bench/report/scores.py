"""A table against the paper at a glance: a coloured square per cell, a count per method."""

from html import escape

from robustpu.bench.report.cells import Cell
from robustpu.bench.report.summary import at_or_below
from robustpu.bench.report.tables import Table
from robustpu.charts.wording import listed


def scores(table: Table) -> str:
    """Write one row of squares per method, and explain them.

    Parameters
    ----------
    table
        The table.

    Returns
    -------
    html
        A table and its key; empty where the paper has no such table.
    """
    if table.reference is None:
        return ""
    rows = []
    for method in table.methods:
        by_prior = [table.row(prior, method.key) for prior in table.priors]
        below, total = at_or_below(cell for row in by_prior for cell in row)
        squares = "".join(_squares(table, row) for row in by_prior)
        rows.append(
            f'<tr><th scope="row">{escape(method.label)}</th>{squares}'
            f"<td>{below} of {total}</td></tr>\n"
        )
    priors = "".join(f'<td aria-hidden="true">π = {prior:g}</td>' for prior in table.priors)
    return (
        f'{_words(table)}<div class="scroll"><table class="scores">\n'
        "<caption>Our mean errors against the paper’s</caption>\n"
        f'<thead><tr><th scope="col">method</th>{priors}'
        '<th scope="col">at or below</th></tr></thead>\n'
        f"<tbody>\n{''.join(rows)}</tbody>\n</table></div>\n"
    )


def level(cell: Cell) -> str:
    """Class of the colour: below (b) or above (w) the paper, in the paper's standard deviations.

    Parameters
    ----------
    cell
        Any cell.

    Returns
    -------
    level
        ``b1`` to ``b3``, ``w1`` to ``w3``, or empty if it cannot be compared.
    """
    if cell.difference is None or cell.paper is None:
        return ""
    # The paper prints deviations in steps of a tenth; some are zero.
    deviations = abs(cell.difference) / max(cell.paper.sd, 0.1)
    return ("b" if cell.difference <= 0 else "w") + str(min(3, 1 + int(deviations)))


def _squares(table: Table, row: list[Cell]) -> str:
    inside = "".join(
        f'<i class="{level(cell)}" title="{escape(dataset)}"></i>'
        for dataset, cell in zip(table.datasets, row, strict=True)
    )
    return f'<td class="squares" aria-hidden="true">{inside}</td>'


def _words(table: Table) -> str:
    """Explain places and colours of the squares."""
    where = f"is {table.datasets[0]} at one prior"
    if len(table.datasets) > 1:
        where = f"is one data set at one prior; from left to right: {listed(table.datasets)}"
    shades = [
        '<i class="b1"></i> at or below the paper’s mean, <i class="b2"></i> by one or more of the '
        'paper’s standard deviations, <i class="b3"></i> by two or more',
        '<i class="w1"></i> above it, <i class="w2"></i> by one or more, <i class="w3"></i> by two '
        "or more",
        "<i></i> not run, or not in the paper",
    ]
    return (
        f'<p class="key">Our mean errors against the paper’s. A square {escape(where)}.</p>\n'
        f'<p class="legend">{" ".join(f"<span>{shade}</span>" for shade in shades)}</p>\n'
    )
