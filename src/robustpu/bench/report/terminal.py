"""Tables -> the terminal."""

from collections.abc import Iterable, Sequence

from rich import box
from rich.console import Console
from rich.table import Table as Grid
from rich.text import Text

from robustpu.bench.report import lowest
from robustpu.bench.report.cells import Cell
from robustpu.bench.report.notes import notes
from robustpu.bench.report.summary import sentences
from robustpu.bench.report.tables import Table
from robustpu.bench.report.wording import number, selection

CELL = 17  # width of the widest cell and the space before it


def show(tables: Iterable[Table], console: Console) -> None:
    """Print the tables; those too wide for the terminal in pieces.

    Parameters
    ----------
    tables
        See `robustpu.bench.report.tables.tables`.
    console
        Where to print.
    """
    for table in tables:
        words = f", {selection(table)}"
        console.print(Text.assemble((table.title, "bold"), words), soft_wrap=True)
        label = max(len(method.label) for method in table.methods)
        fit = max(1, (console.width - label - 4) // CELL)
        for start in range(0, len(table.datasets), fit):
            console.print(_grid(table, range(len(table.datasets))[start : start + fit]))
        _print(notes(table), console)
        _print(lowest.sentences(table), console)
        _print(sentences(table), console)
    console.print(
        Text(
            "Test error in percent, mean ± standard deviation; below it the paper's, marked ≤ "
            "where ours is at or below. *: lowest mean among methods of its kind (single networks, "
            "ensembles, network-free methods); ≈: not significantly different from it; †: "
            "incomplete and not compared, see the notes.",
            style="dim",
        )
    )


def _print(lines: Iterable[str], console: Console) -> None:
    for line in lines:
        console.print(Text(line))
    console.print()


def _grid(table: Table, columns: Sequence[int]) -> Grid:
    grid = Grid(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False)
    grid.add_column("method", no_wrap=True)
    for column in columns:
        grid.add_column(Text(table.datasets[column]), justify="right", no_wrap=True)
    for prior in table.priors:
        grid.add_row(Text(f"π = {prior:g}", style="bold"))
        for method in table.methods:
            row = table.row(prior, method.key)
            grid.add_row(Text(method.label), *(_cell(row[column]) for column in columns))
        grid.add_section()
    return grid


def _cell(cell: Cell) -> Text:
    # In front, so that the numbers are aligned; the star is for terminals without bold.
    marks = ("*" if cell.best else "≈" if cell.tied else "") + ("†" if cell.flaw else "")
    ours = f"{marks} {number(cell.ours)}".strip()
    text = Text(ours, style="bold" if cell.best else "")
    if cell.paper:
        sign = {True: "≤ ", False: "> ", None: ""}[cell.at_or_below]
        text.append(f"\n{sign}{number(cell.paper, places=1)}", style="not bold dim")
    return text
