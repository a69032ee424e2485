"""Tables -> Markdown, for a README or an issue."""

import re
from collections.abc import Iterable, Sequence
from typing import Final

from robustpu.report.cells import Cell
from robustpu.report.notes import notes
from robustpu.report.summary import sentences
from robustpu.report.tables import Table
from robustpu.report.wording import number, p_value, paper, selection

LEGEND: Final = (
    "Test error in percent, mean ± deviation over the trials, both in points; lower is better. "
    "First line: ours. Second line: the paper's, behind ≤ where ours is at or below it. "
    "**Bold**: lowest mean. ≈: a paired test does not tell it from the best. "
    "†: takes part in no comparison, see the notes."
)


def markdown(tables: Iterable[Table]) -> str:
    """Write the tables one below the other.

    Parameters
    ----------
    tables
        See `robustpu.report.tables.tables`.

    Returns
    -------
    text
        A whole document.
    """
    tables = list(tables)
    source = paper(tables)
    beside = f"Our figures beside those of {_escape(source)}. " if source else ""
    sections = [_section(table) for table in tables]
    return "\n\n".join(["# robustpu: benchmark", beside + LEGEND, *sections]) + "\n"


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
        _list(sentences(table)),
        _duels(table),
        f"Paper: {_escape(table.reference.source)}." if table.reference else "",
    ]
    return "\n\n".join(part for part in parts if part)


def _cell(cell: Cell) -> str:
    text = number(cell.mean, cell.sd)
    ours = f"**{text}**" if cell.best else text
    ours += (" ≈" if cell.tied else "") + (" †" if cell.flaw else "")
    if cell.paper is None:
        return ours
    sign = {True: "≤ ", False: "\\> ", None: ""}[cell.at_or_below]
    return f"{ours}<br><sub>{sign}{number(*cell.paper, places=1)}</sub>"


def _duels(table: Table) -> str:
    if not table.duels:
        return ""
    header = ["data set", "π", "best", "best rival", "behind by", "won–lost", "p"]
    rows = [
        [
            _escape(duel.dataset),
            f"{duel.prior:g}",
            _escape(table.label(duel.best)),
            _escape(table.label(duel.rival)),
            f"{duel.difference:.2f}",
            f"{duel.wins}–{duel.losses}",
            f"**{p_value(duel.p)}**" if duel.told_apart else p_value(duel.p),
        ]
        for duel in table.duels
    ]
    return "Paired tests, the best against its best rival:\n\n" + _grid(header, rows, "lrllrrr")


def _grid(header: Sequence[str], rows: Iterable[Sequence[str]], sides: str) -> str:
    rule = ["---:" if side == "r" else "---" for side in sides]
    return "\n".join(f"| {' | '.join(row)} |" for row in [header, rule, *rows])


def _list(lines: Iterable[str]) -> str:
    return "\n".join(f"- {_escape(line)}" for line in lines)


def _escape(text: str) -> str:
    """Take the meaning from every character that Markdown or HTML would read."""
    flat = re.sub(r"([\\`*_{}\[\]|#~$])", r"\\\1", " ".join(text.split()))
    return flat.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
