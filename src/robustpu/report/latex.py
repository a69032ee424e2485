"""Tables -> LaTeX, one float a table; needs the package booktabs and nothing else."""

from collections.abc import Mapping, Sequence
from typing import Final

from robustpu.report.cells import Cell
from robustpu.report.summary import notes, sentences
from robustpu.report.tables import Table
from robustpu.report.wording import number, selection, stems

SPECIAL: Final[Mapping[str, str]] = {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    '"': "''",
    "±": r"$\pm$",
    "≤": r"$\le$",
    "≥": r"$\ge$",
    "≈": r"$\approx$",
    "×": r"$\times$",
    "–": "--",
    "†": r"$^\dagger$",
    **{mark: f"\\{mark}" for mark in "&%$#_{}"},
}


SMALL = "alpha beta gamma delta epsilon zeta eta theta iota kappa lambda mu nu xi pi rho sigma tau"
LARGE = "Gamma Delta Theta Lambda Xi Pi Sigma Upsilon Phi Psi Omega"
GREEK: Final = {
    **dict(zip("αβγδεζηθικλμνξπρστ", SMALL.split(), strict=True)),
    **dict(zip("υφχψω", ["upsilon", "phi", "chi", "psi", "omega"], strict=True)),
    **dict(zip("ΓΔΘΛΞΠΣΥΦΨΩ", LARGE.split(), strict=True)),
}
# Letters up to here are in the fonts that every LaTeX has.
LATIN: Final = 0x180


def latex(tables: Sequence[Table]) -> str:
    r"""Write the tables as floats, to be \input.

    Parameters
    ----------
    tables
        See `robustpu.report.tables.tables`.

    Returns
    -------
    text
        A fragment; its first line names the package that it needs.
    """
    floats = map(_float, tables, stems(tables))
    return "\n\n".join(["% \\usepackage{booktabs}", *floats]) + "\n"


def _float(table: Table, name: str) -> str:
    columns = len(table.datasets) + 1
    body = "\n\\midrule\n".join(_group(table, prior, columns) for prior in table.priors)
    return "\n".join(
        [
            r"\begin{table*}[tbp]",
            r"\centering\footnotesize\setlength{\tabcolsep}{3pt}\renewcommand{\arraystretch}{0.9}",
            r"\def\marked#1{\makebox[1em][l]{#1}}",
            f"\\caption{{{_caption(table)}}}",
            f"\\label{{tab:{name}}}\\par\\smallskip",
            f"\\begin{{tabular}}{{l{'r' * len(table.datasets)}}}",
            r"\toprule",
            " & ".join(["Method", *map(_head, table.datasets)]) + r" \\",
            r"\midrule",
            body,
            r"\bottomrule",
            r"\end{tabular}",
            *(
                rf"\par\smallskip{{\raggedright\scriptsize {escape(line)}\par}}"
                for line in _remarks(table)
            ),
            r"\end{table*}",
        ]
    )


def _caption(table: Table) -> str:
    paper = (
        " Small: the paper's figures, behind ≤ where ours is at or below them."
        if table.reference
        else ""
    )
    return escape(
        f"{table.title}, {selection(table)}. Test error in percent, mean ± deviation over "
        f"{_trials(table)}, both in points. Bold: lowest mean; ≈: a paired test does not tell it "
        f"from the best.{paper}"
    )


def _trials(table: Table) -> str:
    most = max(cell.usual for cell in table.cells.values())
    return f"{most} trial{'' if most == 1 else 's'}"


def _remarks(table: Table) -> list[str]:
    source = [f"Paper: {table.reference.source}."] if table.reference else []
    return [*notes(table), *sentences(table), *source]


def _group(table: Table, prior: float, columns: int) -> str:
    lines = [f"\\multicolumn{{{columns}}}{{l}}{{$\\pi = {prior:g}$}} \\\\"]
    for method in table.methods:
        row = table.row(prior, method.key)
        # The braces keep a label that begins with a bracket or a star from the line break before.
        lines.append(" & ".join(["{}" + escape(method.label), *map(_ours, row)]) + r" \\")
        if any(cell.paper for cell in row):
            lines.append(" & ".join([r"\quad\scriptsize paper", *map(_paper, row)]) + r" \\")
    return "\n".join(lines)


def _head(dataset: str) -> str:
    return escape(dataset) + _room("")


def _ours(cell: Cell) -> str:
    text = escape(number(cell.mean, cell.sd))
    marks = ("≈" if cell.tied else "") + ("†" if cell.flaw else "")
    return (rf"\textbf{{{text}}}" if cell.best else text) + _room(marks)


def _paper(cell: Cell) -> str:
    if cell.paper is None:
        return ""
    sign = {True: "≤ ", False: "> ", None: ""}[cell.at_or_below]
    return rf"\scriptsize {escape(sign + number(*cell.paper, places=1))}" + _room("")


def _room(marks: str) -> str:
    """Room for marks behind every figure, so that the figures stay in line."""
    return rf"\marked{{{escape(marks)}}}"


def escape(text: str) -> str:
    r"""Take the meaning from every character that TeX would read, and write Greek as mathematics.

    Parameters
    ----------
    text
        Any text.

    Returns
    -------
    text
        For LaTeX with UTF-8 input.

    Examples
    --------
    >>> print(escape("50 % of τ_1"))
    50 \% of $\tau$\_1
    """
    return "".join(SPECIAL.get(mark) or _other(mark) for mark in " ".join(text.split()))


def _other(mark: str) -> str:
    """Write Greek by its name, and a question mark for what LaTeX has no letter for."""
    if mark in GREEK:
        return f"$\\{GREEK[mark]}$"
    return mark if mark.isprintable() and ord(mark) < LATIN else "?"
