"""One table as blocks of the HTML page: scores, errors, pictures, counts, tests."""

from collections.abc import Sequence
from html import escape

from robustpu.bench.report import lowest
from robustpu.bench.report.cells import Cell
from robustpu.bench.report.curves import curves
from robustpu.bench.report.dotplot import dotplot, key
from robustpu.bench.report.notes import notes
from robustpu.bench.report.paired_tests import PairedTest
from robustpu.bench.report.panels import panels
from robustpu.bench.report.scores import level, scores
from robustpu.bench.report.summary import sentences
from robustpu.bench.report.sweeps import sweep
from robustpu.bench.report.tables import Method, Table
from robustpu.bench.report.wording import difference, number, p_value, selection


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
            _panels(table, against, "Mean and a band of one standard deviation.", swept),
            _legend(table),
            _errors(table),
            _notes(table),
            _lowest(table),
            _panels(table, "Ours and the paper’s", key(table), compared),
            _paired_tests(table),
            *(f'<p class="fine">{escape(line)}</p>\n' for line in [*sentences(table), *source]),
        ]
    )


def _errors(table: Table) -> str:
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
    mean, _, sd = number(cell.ours).partition(" ")
    tag = "strong" if cell.best else "span"
    marks = ("≈" if cell.tied else "") + ("†" if cell.flaw else "")
    ours = f"<{tag}>{mean}</{tag}> <small>{sd}</small>" + (f"<sup>{marks}</sup>" if marks else "")
    paper = ""
    if cell.paper:
        sign = {True: "≤ ", False: "&gt; ", None: ""}[cell.at_or_below]
        text = number(cell.paper, places=1)
        paper = f'<span class="paper"><span class="aside">paper: </span>{sign}{text}</span>'
    return f'<td class="{level(cell)}"{_details(table, dataset, prior, method)}>{ours}{paper}</td>'


def _details(table: Table, dataset: str, prior: float, method: str) -> str:
    """What the card of a cell shows: the best against its rival, others against the best."""
    cell = table.cells[dataset, prior, method]
    test = _test(table, dataset, prior, method)
    details = {"trials": _trials(cell), "flaw": cell.flaw}
    if cell.paper:
        details["paper"] = f"{cell.paper.mean:g} {cell.paper.sd:g}"
    if test and cell.complete:
        other = test.rival if method == test.best else test.best
        p = test.p if method == test.best else cell.p
        details["rival"] = table.label(other)
        details["theirs"] = _trials(table.cells[dataset, prior, other])
        details["p"] = "" if p is None else p_value(p)
    return "".join(f' data-{key}="{escape(text)}"' for key, text in details.items() if text)


def _test(table: Table, dataset: str, prior: float, method: str) -> PairedTest | None:
    """Find the paired test of the method's kind on a data set and prior."""
    kinds = {row.key: row.kind for row in table.methods}
    return next(
        (
            test
            for test in table.paired_tests
            if (test.dataset, test.prior) == (dataset, prior) and kinds[test.best] is kinds[method]
        ),
        None,
    )


def _trials(cell: Cell) -> str:
    return " ".join(f"{trial}:{error:g}" for trial, error in cell.errors.items())


def _legend(table: Table) -> str:
    cells = table.cells.values()
    dagger = "<span>† not compared, see the notes</span> " if any(c.flaw for c in cells) else ""
    gap = "<span>– not run</span> " if not all(c.was_run for c in cells) else ""
    colours = "<span>colours as above</span>" if table.reference else ""
    return (
        '<p class="legend"><span><strong>0.00</strong> lowest mean of its kind</span> <span>≈ not '
        f"significantly different from it</span> {dagger}{gap}{colours}</p>\n"
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


def _lowest(table: Table) -> str:
    """How often each method is lowest: a sentence and a table per kind."""
    parts = ["<h3>How often each method is lowest</h3>\n"]
    for found, words in zip(lowest.lowest(table), lowest.sentences(table), strict=True):
        rows = "".join(
            f'<tr><th scope="row">{escape(table.label(name))}</th><td>{count}</td></tr>\n'
            for name, count in found.descending
        )
        head = f'<th scope="col">{found.kind}</th><th scope="col">of {len(found.compared)}</th>'
        parts.append(f'<p class="key">{escape(words)}</p>\n')
        if found.compared:
            parts.append(f'<table class="lowest">\n<thead><tr>{head}</tr></thead>\n')
            parts.append(f"<tbody>\n{rows}</tbody></table>\n")
    return "".join(parts) if len(parts) > 1 else ""


def _paired_tests(table: Table) -> str:
    if not table.paired_tests:
        return ""
    rows = "".join(
        f'<tr><th scope="row">{escape(test.dataset)}</th><td>{test.prior:g}</td>'
        f'<td class="text">{escape(table.label(test.best))}</td>'
        f'<td class="text">{escape(table.label(test.rival))}</td>'
        f"<td>{difference(test.difference, test.interval)}</td>"
        f"<td>{test.wins}–{test.losses}</td>"
        f"<td>{_strong(p_value(test.p), test.significant)}</td></tr>\n"
        for test in table.paired_tests
    )
    heads = "".join(
        f'<th scope="col">{text}</th>'
        for text in ("data set", "π", "best", "best rival", "behind by (95 %)", "won–lost", "p")
    )
    return (
        "<details>\n<summary>Paired tests: the best against its best rival</summary>\n"
        f'<div class="scroll"><table class="tests">\n<thead><tr>{heads}</tr></thead>\n'
        f"<tbody>\n{rows}</tbody>\n</table></div>\n</details>\n"
    )


def _strong(text: str, wanted: bool) -> str:
    return f"<strong>{escape(text)}</strong>" if wanted else escape(text)
