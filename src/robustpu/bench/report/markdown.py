"""Tables -> Markdown, for a README or an issue."""

import re
from collections.abc import Iterable, Sequence
from typing import Final

from robustpu.bench.report.cells import Cell
from robustpu.bench.report.lowest import lowest
from robustpu.bench.report.lowest import sentences as lines
from robustpu.bench.report.notes import notes
from robustpu.bench.report.summary import sentences
from robustpu.bench.report.tables import Table
from robustpu.bench.report.wording import difference, number, p_value, paper, selection

LEGEND: Final = (
    "Test error in percent, mean ± standard deviation over the trials; lower is better. "
    "First line: ours. Second line: the paper's, marked ≤ where ours is at or below it. "
    "**Bold**: lowest mean among methods of its kind (single networks, ensembles, network-free "
    "methods). ≈: not significantly different from it in a paired test. †: incomplete and not "
    "compared, see the notes."
)


def markdown(tables: Iterable[Table]) -> str:
    """Write the tables one below the other.

    Parameters
    ----------
    tables
        See `robustpu.bench.report.tables.tables`.

    Returns
    -------
    text
        A whole document.
    """
    tables = list(tables)
    source = paper(tables)
    intro = f"Our errors beside those of {_escape(source)}. " if source else ""
    sections = [_section(table) for table in tables]
    return "\n\n".join(["# robustpu: benchmark", intro + LEGEND, *sections]) + "\n"


def _section(table: Table) -> str:
    header = ["π", "method", *map(_escape, table.datasets)]
    rows = [
        [f"{prior:g}", _escape(method.label), *map(_cell, table.row(prior, method.key))]
        for prior in table.priors
        for method in table.methods
    ]
    parts = [
        f"## {_escape(table.title)}, {_escape(selection(table))}",
        _grid(header, rows, "rl" + "r" * len(table.datasets)),
        _list(notes(table)),
        _lowest(table),
        _list(sentences(table)),
        _paired_tests(table),
        f"Paper: {_escape(table.reference.source)}." if table.reference else "",
    ]
    return "\n\n".join(part for part in parts if part)


def _cell(cell: Cell) -> str:
    text = number(cell.ours)
    ours = f"**{text}**" if cell.best else text
    ours += (" ≈" if cell.tied else "") + (" †" if cell.flaw else "")
    if cell.paper is None:
        return ours
    sign = {True: "≤ ", False: "\\> ", None: ""}[cell.at_or_below]
    return f"{ours}<br><sub>{sign}{number(cell.paper, places=1)}</sub>"


def _lowest(table: Table) -> str:
    counts = lowest(table)
    if not counts:
        return ""
    header = ["method", "kind", "lowest error in", "cells compared"]
    rows = [
        [_escape(table.label(name)), found.kind, str(count), str(len(found.compared))]
        for found in counts
        for name, count in found.descending
    ]
    return "\n\n".join(
        ["### How often each method is lowest", _list(lines(table)), _grid(header, rows, "llrr")]
    )


def _paired_tests(table: Table) -> str:
    if not table.paired_tests:
        return ""
    header = ["data set", "π", "best", "best rival", "behind by (95 %)", "won–lost", "p"]
    rows = [
        [
            _escape(test.dataset),
            f"{test.prior:g}",
            _escape(table.label(test.best)),
            _escape(table.label(test.rival)),
            difference(test.difference, test.interval),
            f"{test.wins}–{test.losses}",
            f"**{p_value(test.p)}**" if test.significant else p_value(test.p),
        ]
        for test in table.paired_tests
    ]
    return "Paired tests, the best against its best rival:\n\n" + _grid(header, rows, "lrllrrr")


def _grid(header: Sequence[str], rows: Iterable[Sequence[str]], sides: str) -> str:
    rule = ["---:" if side == "r" else "---" for side in sides]
    return "\n".join(f"| {' | '.join(row)} |" for row in [header, rule, *rows])


def _list(lines: Iterable[str]) -> str:
    return "\n".join(f"- {_escape(line)}" for line in lines)


def _escape(text: str) -> str:
    """Escape every character that has a meaning in Markdown or HTML."""
    flat = re.sub(r"([\\`*_{}\[\]|#~$])", r"\\\1", " ".join(text.split()))
    return flat.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
