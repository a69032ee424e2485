"""Tables -> LaTeX that fits a page; needs the package booktabs and nothing else."""

import math
from collections.abc import Sequence
from typing import Final, NamedTuple

from robustpu.report.cells import Cell
from robustpu.report.notes import notes
from robustpu.report.summary import sentences
from robustpu.report.tables import Table
from robustpu.report.tex import escape
from robustpu.report.wording import number, selection, stems, trials

# Lines and data sets that a page of an article has room for, with caption and remarks.
TALLEST: Final = 36
WIDEST: Final = 5
HEAD: Final = r"""% Needs \usepackage{booktabs} and nothing else.
% \fitted sets a table in the largest type, \lesser in the next smaller one, that \textwidth takes.
\def\marked#1{\makebox[0.85em][l]{#1}}
\def\tried#1#2#3{\def\lesser{#2}\sbox0{#1#3}}
\long\def\fitted#1{%
  \tried{\footnotesize\tabcolsep=4pt}{\scriptsize}{#1}%
  \ifdim\wd0>\textwidth\tried{\scriptsize\tabcolsep=3pt}{\fontsize{6}{7}\selectfont}{#1}\fi
  \ifdim\wd0>\textwidth\tried{\fontsize{6}{7}\selectfont\tabcolsep=2pt}{\tiny}{#1}\fi
  \ifdim\wd0>\textwidth\tried{\tiny\tabcolsep=1pt}{\tiny}{#1}\fi
  \usebox0}"""


class Piece(NamedTuple):
    """What one float holds of a table, and what its label and its caption say of that."""

    priors: Sequence[float]
    datasets: Sequence[str]
    name: str
    words: str


def latex(tables: Sequence[Table]) -> str:
    r"""Write the tables as floats, to be \input.

    Parameters
    ----------
    tables
        See `robustpu.report.tables.tables`.

    Returns
    -------
    text
        A fragment; its first line names the package that it needs. A table that is too tall for a
        page has one float a prior, and one that is too wide several floats side by side; what is
        to be said of it all is below the last.
    """
    floats = []
    for table, stem in zip(tables, stems(tables), strict=True):
        pieces = _pieces(table, stem)
        floats += [_float(table, piece, pieces[-1]) for piece in pieces]
    return "\n\n".join([HEAD, *floats]) + "\n"


def _pieces(table: Table, stem: str) -> list[Piece]:
    lines = sum(len(_group(table, prior, table.datasets)) for prior in table.priors)
    rows: list[tuple[Sequence[float], str, str]] = [(table.priors, "", "")]
    if lines > TALLEST and len(table.priors) > 1:
        rows = [((prior,), f":{prior:g}", f", π = {prior:g}") for prior in table.priors]
    count = math.ceil(len(table.datasets) / WIDEST)
    size = math.ceil(len(table.datasets) / count)
    pieces = []
    for priors, name, words in rows:
        for i in range(count):
            part = (f":{i + 1}", f", part {i + 1} of {count}") if count > 1 else ("", "")
            datasets = table.datasets[i * size : (i + 1) * size]
            pieces.append(Piece(priors, datasets, stem + name + part[0], words + part[1]))
    return pieces


def _float(table: Table, piece: Piece, last: Piece) -> str:
    groups = ["\n".join(_group(table, prior, piece.datasets)) for prior in piece.priors]
    remarks = [rf"Notes: see Table~\ref{{tab:{last.name}}}."]
    if piece == last:
        remarks = [escape(line) for line in _remarks(table)]
    return "\n".join(
        [
            r"\begin{table*}[tbp]",
            r"\centering\renewcommand{\arraystretch}{0.9}",
            f"\\caption{{{_caption(table, piece.words)}}}",
            f"\\label{{tab:{piece.name}}}\\par\\smallskip",
            f"\\fitted{{\\begin{{tabular}}{{@{{}}l{'r' * len(piece.datasets)}@{{}}}}",
            r"\toprule",
            " & ".join(["Method", *map(_head, piece.datasets)]) + r" \\",
            r"\midrule",
            "\n\\midrule\n".join(groups),
            r"\bottomrule",
            r"\end{tabular}}",
            *(rf"\par\smallskip{{\raggedright\scriptsize {line}\par}}" for line in remarks),
            r"\end{table*}",
        ]
    )


def _caption(table: Table, words: str) -> str:
    paper = (
        " Small: the paper's figures, behind ≤ where ours is at or below them."
        if table.reference
        else ""
    )
    return escape(
        f"{table.title}{words}, {selection(table)}. Test error in percent, mean ± deviation over "
        f"{trials(table)}, both in points. Bold: lowest mean; ≈: a paired test does not tell it "
        f"from the best.{paper}"
    )


def _remarks(table: Table) -> list[str]:
    source = [f"Paper: {table.reference.source}."] if table.reference else []
    return [*notes(table), *sentences(table), *source]


def _group(table: Table, prior: float, datasets: Sequence[str]) -> list[str]:
    lines = [f"\\multicolumn{{{len(datasets) + 1}}}{{l}}{{$\\pi = {prior:g}$}} \\\\"]
    for method in table.methods:
        row = [table.cells[dataset, prior, method.key] for dataset in datasets]
        # The braces keep a label that begins with a bracket or a star from the line break before.
        lines.append(" & ".join(["{}" + escape(method.label), *map(_ours, row)]) + r" \\")
        if any(cell.paper for cell in row):
            lines.append(" & ".join([r"\quad\lesser paper", *map(_paper, row)]) + r" \\")
    return lines


def _head(dataset: str) -> str:
    return escape(dataset) + _room("")


def _ours(cell: Cell) -> str:
    text = _narrow(number(cell.mean, cell.sd))
    marks = ("≈" if cell.tied else "") + ("†" if cell.flaw else "")
    return (rf"\textbf{{{text}}}" if cell.best else text) + _room(marks)


def _paper(cell: Cell) -> str:
    if cell.paper is None:
        return ""
    sign = {True: "≤", False: ">", None: ""}[cell.at_or_below]
    return rf"\lesser {_narrow(sign + number(*cell.paper, places=1))}" + _room("")


def _narrow(text: str) -> str:
    """Leave no spaces around signs."""
    return escape(text.replace(" ± ", "±"))


def _room(marks: str) -> str:
    """Room for marks behind every figure, so that the figures stay in line."""
    return rf"\marked{{{escape(marks)}}}"
