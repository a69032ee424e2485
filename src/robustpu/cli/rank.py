"""``robustpu rank``: the rows that are most likely positive, and why."""

import json
from collections.abc import Sequence
from typing import Annotated, Any

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
from robustpu.cli.tables import tell
from robustpu.study.stages import stages
from robustpu.unseen import shown


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
    """List the rows that are most likely positive, and the columns that drove them.

    Rows that the table itself labels as positive are left out. A driver is a column that makes the
    row more suspect than it would be with that column of other rows; its effect is a difference of
    log-odds: + is up to 1, ++ up to 2. Rows are counted from 1, the header not counted; in Python,
    frame.iloc counts from 0.
    """
    check_output(out, data, as_json)
    if spreadsheet_safe and out is None:
        raise typer.BadParameter("--spreadsheet-safe is for files: give --out, too.")
    with clean_errors(debug):
        from robustpu.study import open_study, rank_table
        from robustpu.study.writing import check_name, table_file
        from robustpu.tables import Tally

        if out is not None:
            check_name(out, is_defused=spreadsheet_safe)
        check_order(model, data)
        study = open_study(model)
        tally, notes = Tally(), list[str]()
        with stages(quiet or as_json) as progress:
            rows = rank_table(
                study,
                data,
                top,
                id=id_column,
                **layout_of(study.findings, no_header, skip_bad_rows),
                fill_columns=fill_columns,
                tally=tally,
                notes=notes,
                progress=progress,
            )
        if out is not None:
            with table_file(out, is_defused=spreadsheet_safe) as write:
                write(flat(rows, id_column or study.findings["data"]["id"]))
        tell([*notes, *tally.lines()], quiet or as_json)
        if as_json:
            typer.echo(json.dumps(rows))
        elif out is None:
            _show(rows)
        elif not quiet:
            typer.echo(f"{len(rows):,} rows: {out}", err=out == "-")


def flat(rows: Sequence[dict[str, Any]], id: str | None) -> Any:
    """One row a suspect, as an Arrow table: rank, row, id, score, drivers in columns of their own.

    Parameters
    ----------
    rows
        The list.
    id
        Column that names the rows, if there is one.
    """
    import pyarrow as pa

    columns: dict[str, Any] = {
        "rank": pa.array([own["rank"] for own in rows], pa.int64()),
        "row": pa.array([own["row"] for own in rows], pa.int64()),
    }
    if id is not None:
        columns["id"] = pa.array([own["id"] for own in rows], pa.string())
    columns["score"] = pa.array([own["score"] for own in rows], pa.float64())
    for place in range(3):
        drivers = [own["drivers"][place] if place < len(own["drivers"]) else {} for own in rows]
        for name, kind in (("column", pa.string()), ("value", pa.string()), ("effect", None)):
            values = [own.get(name) for own in drivers]
            title = f"driver {place + 1}" + ("" if name == "column" else f" {name}")
            columns[title] = pa.array(values, kind or pa.float64())
    return pa.table(columns)


def _show(rows: Sequence[dict[str, Any]]) -> None:
    """A table for the terminal; bars show the size of an effect."""
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, padding=(0, 2, 0, 0), pad_edge=False, header_style="bold")
    has_id = any(own["id"] for own in rows)
    table.add_column("", justify="right")
    table.add_column("id" if has_id else "row, from 1", justify="left" if has_id else "right")
    table.add_column("score", justify="right")
    table.add_column("driven by", overflow="fold")
    for own in rows:
        name = str(own["id"]) if has_id else f"{own['row']:,}"
        told = "  ".join(
            f"{driver['column']} = {_short(driver['value'])} {mark(driver['effect'])}"
            for driver in own["drivers"]
        )
        cells = str(own["rank"]), shown(name), f"{own['score']:.3f}", shown(told)
        table.add_row(*map(Text, cells))
    Console(highlight=False).print(table)


def mark(effect: float) -> str:
    """One + for each log-odds of 1 that is begun, at most four.

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
