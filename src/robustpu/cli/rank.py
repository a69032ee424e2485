"""``robustpu rank``: the unlabelled rows with the highest scores, and why."""

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Any

import typer

from robustpu.cli.errors import clean_errors
from robustpu.cli.options import (
    Data,
    Debug,
    FillColumns,
    Header,
    Json,
    Model,
    Quiet,
    ScoredId,
    SkipBadRows,
    SpreadsheetSafe,
)
from robustpu.cli.outputs import check_output
from robustpu.cli.predict import check_order, layout_of
from robustpu.cli.tables import check_model, check_start, print_notes
from robustpu.validation.sanitize import shown
from robustpu.workflow.progress import show_progress

if TYPE_CHECKING:
    from robustpu.results import Suspect


def rank(
    model: Model,
    data: Data,
    top: Annotated[int, typer.Option(min=1, metavar="N", help="Rows on the list, at most.")] = 20,
    out: Annotated[
        str | None,
        typer.Option(
            metavar="FILE",
            help="File to write: .csv, .tsv, .parquet, .jsonl, .json or .feather; - prints CSV.",
            show_default="a table in the terminal",
        ),
    ] = None,
    id_column: ScoredId = None,
    spreadsheet_safe: SpreadsheetSafe = False,
    fill_columns: FillColumns = False,
    no_header: Header = False,
    skip_bad_rows: SkipBadRows = False,
    as_json: Json = False,
    quiet: Quiet = False,
    debug: Debug = False,
) -> None:
    """List the unlabelled rows that are most likely positive, and the columns that drive them.

    Rows that are labelled positive in the table are left out. A driver is a column that raises the
    score of the row, compared with the values of other rows; its effect is a difference of
    log-odds: + is up to 1, ++ up to 2. Rows are counted from 1, without the header; frame.iloc in
    Python counts from 0.
    """
    check_output(out, data, as_json)
    if spreadsheet_safe and out is None:
        raise typer.BadParameter("--spreadsheet-safe is for files: also give --out.")
    with clean_errors(debug):
        from robustpu.workflow.writing import check_name, table_file

        if out is not None:
            check_name(out, is_defused=spreadsheet_safe)
        check_order(model, data)
        check_start(data, no_header, [id_column], check_model(model), fill_columns)
        # Takes seconds, so names are checked first.
        from robustpu.tables import Tally
        from robustpu.validation.schema import to_json
        from robustpu.workflow import open_study, rank_table

        study = open_study(model)
        tally, notes = Tally(), list[str]()
        with show_progress(quiet or as_json) as progress:
            rows = rank_table(
                study,
                data,
                top,
                id=id_column,
                **layout_of(study.results, no_header, skip_bad_rows),
                fill_columns=fill_columns,
                tally=tally,
                notes=notes,
                progress=progress,
            )
        if out is not None:
            with table_file(out, is_defused=spreadsheet_safe) as write:
                write(flat(rows, id_column or study.results.data.id))
        print_notes([*notes, *tally.lines()], quiet or as_json)
        if as_json:
            typer.echo(json.dumps(to_json(rows)))
        elif out is None:
            _show(rows)
        elif not quiet:
            typer.echo(f"{len(rows):,} rows: {out}", err=out == "-")


def flat(rows: "Sequence[Suspect]", id: str | None) -> Any:
    """One row per suspect, as an Arrow table: rank, row, id, score, and columns for the drivers.

    Parameters
    ----------
    rows
        The list.
    id
        Column that names the rows, if there is one.
    """
    import pyarrow as pa

    columns: dict[str, Any] = {
        "rank": pa.array([suspect.rank for suspect in rows], pa.int64()),
        "row": pa.array([suspect.row for suspect in rows], pa.int64()),
    }
    if id is not None:
        columns["id"] = pa.array([suspect.id for suspect in rows], pa.string())
    columns["score"] = pa.array([suspect.score for suspect in rows], pa.float64())
    for place in range(3):
        drivers = [(*suspect.drivers, None, None, None)[place] for suspect in rows]
        for name, kind in (
            ("column", pa.string()),
            ("value", pa.string()),
            ("effect", pa.float64()),
        ):
            values = [driver and getattr(driver, name) for driver in drivers]
            title = f"driver {place + 1}" + ("" if name == "column" else f" {name}")
            columns[title] = pa.array(values, kind)
    return pa.table(columns)


def _show(rows: "Sequence[Suspect]") -> None:
    """A table for the terminal; signs show the size of an effect."""
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, padding=(0, 2, 0, 0), pad_edge=False, header_style="bold")
    has_ids = any(suspect.id for suspect in rows)
    table.add_column("", justify="right")
    table.add_column("id" if has_ids else "row, from 1", justify="left" if has_ids else "right")
    table.add_column("score", justify="right")
    table.add_column("driven by", overflow="fold")
    for suspect in rows:
        name = str(suspect.id) if has_ids else f"{suspect.row:,}"
        drivers = "  ".join(
            f"{driver.column} = {_short(driver.value)} {mark(driver.effect)}"
            for driver in suspect.drivers
        )
        cells = str(suspect.rank), shown(name), f"{suspect.score:.3f}", shown(drivers)
        table.add_row(*map(Text, cells))
    Console(highlight=False).print(table)


def mark(effect: float) -> str:
    """One + for each started unit of log-odds, at most four.

    Examples
    --------
    >>> mark(0.4), mark(1.5), mark(9)
    ('+', '++', '++++')
    """
    return "+" * min(4, max(1, int(-(-effect // 1))))


def _short(value: str) -> str:
    if value == "":
        return "missing"
    return value if len(value) <= 24 else value[:23] + "…"
