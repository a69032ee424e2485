"""One table as blocks of the HTML page: scores, figures, pictures, tests, small print."""

from collections.abc import Sequence
from html import escape

from robustpu.report.cells import Cell
from robustpu.report.curves import curves
from robustpu.report.dotplot import dotplot, key
from robustpu.report.notes import notes
from robustpu.report.panels import panels
from robustpu.report.scores import level, scores
from robustpu.report.summary import sentences
from robustpu.report.sweeps import sweep
from robustpu.report.tables import Method, Table
from robustpu.report.wording import number, p_value, selection


def blocks(table: Table) -> str:
    """Write all blocks of a table.

    Parameters
    ----------
    table
        The table.

    Returns
    -------
    html
        Everything below its heading; what comes from files is escaped.
    """
    drawn = sweep(table)
    swept = [curves(drawn, dataset) for dataset in table.datasets] if drawn else []
    compared = [dotplot(table, dataset) for dataset in table.datasets]
    against = f"Error against {drawn.name}" if drawn else ""
    source = [f"Paper: {table.reference.source}."] if table.reference else []
    return "".join(
        [
            scores(table),
            _panels(table, against, "Mean over the trials; bands of one deviation.", swept),
            _legend(table),
            _figures(table),
            _notes(table),
            _panels(table, "Ours and the paper’s", key(table), compared),
            _duels(table),
            *(f'<p class="fine">{escape(line)}</p>\n' for line in [*sentences(table), *source]),
        ]
    )


def _figures(table: Table) -> str:
    columns = "".join(f'<th scope="col">{escape(dataset)}</th>' for dataset in table.datasets)
    groups = []
    for prior in table.priors:
        rows = "".join(_row(table, prior, method) for method in table.methods)
        name = f"<span>π = {prior:g}</span>"
        head = f'<th scope="rowgroup" colspan="{len(table.datasets) + 1}">{name}</th>'
        groups.append(
            f'<tbody data-prior="{prior:g}">\n<tr class="prior">{head}</tr>\n{rows}</tbody>\n'
        )
    wide = " wide" if len(table.datasets) > 8 else ""
    return (
        f'<div class="scroll{wide}" tabindex="0" role="region" aria-label="Errors">'
        f'<table class="figures">\n<caption>{escape(table.title)}, {escape(selection(table))}: '
        "test error in percent</caption>\n"
        f'<thead><tr><th scope="col">method</th>{columns}</tr></thead>\n'
        f"{''.join(groups)}</table></div>\n"
    )


def _row(table: Table, prior: float, method: Method) -> str:
    cells = "".join(_cell(table, dataset, prior, method.key) for dataset in table.datasets)
    return f'<tr><th scope="row">{escape(method.label)}</th>{cells}</tr>\n'


def _cell(table: Table, dataset: str, prior: float, method: str) -> str:
    cell = table.cells[dataset, prior, method]
    mean, _, sd = number(cell.mean, cell.sd).partition(" ")
    tag = "strong" if cell.best else "span"
    marks = ("≈" if cell.tied else "") + ("†" if cell.flaw else "")
    ours = f"<{tag}>{mean}</{tag}> <small>{sd}</small>" + (f"<sup>{marks}</sup>" if marks else "")
    paper = ""
    if cell.paper:
        sign = {True: "≤ ", False: "&gt; ", None: ""}[cell.at_or_below]
        text = number(*cell.paper, places=1)
        paper = f'<span class="paper"><span class="aside">paper: </span>{sign}{text}</span>'
    return f'<td class="{level(cell)}"{_details(table, dataset, prior, method)}>{ours}{paper}</td>'


def _details(table: Table, dataset: str, prior: float, method: str) -> str:
    """What the card of a cell shows, for the script; the best is set against its rival."""
    cell = table.cells[dataset, prior, method]
    duel = next((d for d in table.duels if (d.dataset, d.prior) == (dataset, prior)), None)
    details = {"trials": _trials(cell), "flaw": cell.flaw}
    if cell.paper:
        details["paper"] = f"{cell.paper.mean:g} {cell.paper.sd:g}"
    if duel and cell.complete:
        other = duel.rival if method == duel.best else duel.best
        p = duel.p if method == duel.best else cell.p
        details["rival"] = table.label(other)
        details["theirs"] = _trials(table.cells[dataset, prior, other])
        details["p"] = "" if p is None else p_value(p)
    return "".join(f' data-{key}="{escape(text)}"' for key, text in details.items() if text)


def _trials(cell: Cell) -> str:
    return " ".join(f"{trial}:{error:g}" for trial, error in cell.errors.items())


def _legend(table: Table) -> str:
    cells = table.cells.values()
    dagger = "<span>† in no comparison, see the notes</span> " if any(c.flaw for c in cells) else ""
    gap = "<span>– not run</span> " if not all(c.was_run for c in cells) else ""
    colours = "<span>colours as above</span>" if table.reference else ""
    return (
        '<p class="legend"><span><strong>0.00</strong> lowest mean</span> <span>≈ a paired test '
        f"does not tell it from the best</span> {dagger}{gap}{colours}</p>\n"
    )


def _notes(table: Table) -> str:
    listed = "".join(f"<li>{escape(note)}</li>\n" for note in notes(table))
    return f'<ul class="notes">\n{listed}</ul>\n' if listed else ""


def _panels(table: Table, title: str, words: str, pictures: Sequence[str]) -> str:
    alone = {dataset for dataset, panel in panels(table).items() if panel.alone}
    named = [
        f"<figure><figcaption>{escape(dataset)}{' (ours alone)' if dataset in alone else ''}"
        f"</figcaption>{picture}</figure>\n"
        for dataset, picture in zip(table.datasets, pictures, strict=False)
        if picture
    ]
    if not named:
        return ""
    head = f'<h3>{escape(title)}</h3>\n<p class="key">{words}</p>\n'
    inside = "".join(named)
    return f'{head}<div class="panels">\n{inside}</div>\n'


def _duels(table: Table) -> str:
    if not table.duels:
        return ""
    rows = "".join(
        f'<tr><th scope="row">{escape(duel.dataset)}</th><td>{duel.prior:g}</td>'
        f'<td class="text">{escape(table.label(duel.best))}</td>'
        f'<td class="text">{escape(table.label(duel.rival))}</td>'
        f"<td>{duel.difference:.2f}</td><td>{duel.wins}–{duel.losses}</td>"
        f"<td>{_strong(p_value(duel.p), duel.told_apart)}</td></tr>\n"
        for duel in table.duels
    )
    heads = "".join(
        f'<th scope="col">{text}</th>'
        for text in ("data set", "π", "best", "best rival", "behind by", "won–lost", "p")
    )
    return (
        "<details>\n<summary>Paired tests: the best against its best rival</summary>\n"
        f'<div class="scroll"><table class="duels">\n<thead><tr>{heads}</tr></thead>\n'
        f"<tbody>\n{rows}</tbody>\n</table></div>\n</details>\n"
    )


def _strong(text: str, wanted: bool) -> str:
    return f"<strong>{escape(text)}</strong>" if wanted else escape(text)
