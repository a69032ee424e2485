"""``robustpu predict``: scores of a table of any length."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

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
from robustpu.cli.tables import check_model, check_start, print_notes
from robustpu.workflow.progress import show_progress

if TYPE_CHECKING:
    from robustpu.results import Results
    from robustpu.workflow.scoring import Scored


def predict(
    model: Model,
    data: Data,
    out: Annotated[
        str,
        typer.Option(
            metavar="FILE",
            help="File to write: .parquet, .csv, .tsv, .jsonl, .json or .feather; - prints CSV.",
            show_default=False,
        ),
    ],
    id_column: ScoredId = None,
    keep: Annotated[
        list[str] | None,
        typer.Option(metavar="COLUMN", help="Column to write next to the score. Can be repeated."),
    ] = None,
    spreadsheet_safe: SpreadsheetSafe = False,
    fill_columns: FillColumns = False,
    no_header: Header = False,
    skip_bad_rows: SkipBadRows = False,
    as_json: Json = False,
    quiet: Quiet = False,
    debug: Debug = False,
) -> None:
    """Score every row of a table, however long it is.

    Writes the id (or the row number, from 1), the score, which is the probability of being
    positive, and flagged, 1 where the score reaches the threshold of the model, else 0. Labels in
    the table are ignored.
    """
    check_output(out, data, as_json)
    with clean_errors(debug):
        from robustpu.workflow.writing import check_name, table_file

        ending = check_name(out, is_defused=spreadsheet_safe)
        check_order(model, data)
        names = id_column, *(keep or ())
        check_start(data, no_header, names, check_model(model), fill_columns)
        # Takes seconds, so names are checked first.
        from robustpu.tables import Tally
        from robustpu.workflow import open_study, score_parts

        study = open_study(model)
        tally, notes, counts = Tally(), list[str](), {"rows": 0, "flagged": 0}
        layout = layout_of(study.results, no_header, skip_bad_rows)
        with (
            show_progress(quiet or as_json) as progress,
            table_file(out, is_defused=spreadsheet_safe) as write,
        ):
            named: _Named | None = None
            schema: Any = None
            for part in score_parts(
                study,
                data,
                **layout,
                fill_columns=fill_columns,
                tally=tally,
                notes=notes,
                progress=progress,
            ):
                if named is None:
                    usual = study.results.data.id
                    named = _named(part, usual, id_column, keep or ())
                    if usual is not None and named.has_row:
                        notes.append(
                            f"there is no column {usual!r}: rows are named by their numbers"
                        )
                block = _block(part, named, ending)
                schema = schema or block.schema
                write(block if block.schema == schema else _recast(block, schema))
                counts["rows"] += len(part.score)
                counts["flagged"] += int(part.flagged.sum())
        if as_json:
            lines = list(dict.fromkeys([*notes, *tally.lines()]))
            typer.echo(json.dumps({"out": out, **counts, "notes": lines}))
            return
        print_notes([*notes, *tally.lines()], quiet)
        if not quiet:
            typer.echo(
                f"{counts['rows']:,} rows scored, {counts['flagged']:,} flagged: {out}",
                err=out == "-",
            )


def check_order(model: Path, data: str) -> None:
    """Refuse a table and a model in the wrong order.

    Parameters
    ----------
    model, data
        Of the arguments.

    Examples
    --------
    >>> check_order(Path(__file__), str(Path(__file__).parent))
    Traceback (most recent call last):
    ValueError: ...predict.py is a file and ...cli a folder: give the model first.
    """
    if model.is_file() and Path(data).is_dir():
        raise ValueError(f"{model} is a file and {data} a folder: give the model first.")


def layout_of(results: "Results", no_header: bool, skip_bad_rows: bool) -> dict[str, Any]:
    """How to read a table: as the options say, or like the training table.

    Parameters
    ----------
    results
        Of the model.
    no_header, skip_bad_rows
        Of the options.
    """
    options = results.settings.options
    header = options.get("header") is not False and not no_header
    skip = options.get("bad_rows") == "skip" or skip_bad_rows
    return {"header": header, "bad_rows": "skip" if skip else "error"}


def _named(part: "Scored", id: str | None, asked: str | None, keep: Sequence[str]) -> "_Named":
    """Which columns of a table are written, by its first part, and the names of ours."""
    for name in (asked, *keep):
        if name is not None:
            part.table.column(name)
    id = asked or (id if id in part.table.names else None)
    kept = list(dict.fromkeys(name for name in (id, *keep) if name is not None))
    ours = {}
    for name in (*["row"] * (id is None), "score", "flagged"):
        ours[name] = name if name not in kept else f"robustpu {name}"
        if ours[name] in kept:
            raise ValueError(
                f"the table has the columns {name!r} and {ours[name]!r}, so there is no name for "
                f"the {name} of the model. Leave one of them out, or rename it."
            )
    return _Named(kept, ours, has_row=id is None)


class _Named(NamedTuple):
    """Columns of the table that are written, and the names of ours."""

    kept: list[str]
    ours: dict[str, str]
    has_row: bool


def _block(part: "Scored", named: _Named, ending: str) -> Any:
    """What is written of a part: id or row, the columns to keep, score, flagged."""
    import numpy as np
    import pyarrow as pa

    columns: dict[str, Any] = {}
    if named.has_row:
        rows = np.arange(part.first, part.first + part.table.n_rows)
        columns[named.ours["row"]] = pa.array(rows)
    for name in named.kept:
        columns[name] = _plain(part.table, name, ending)
    columns[named.ours["score"]] = pa.array(part.score)
    columns[named.ours["flagged"]] = pa.array(part.flagged)
    return pa.table(columns)


def _plain(table: Any, name: str, ending: str) -> Any:
    """A column that the format can hold; columns of JSON, whose types may change, as text."""
    import pyarrow as pa

    from robustpu.workflow.writing import texts, writable

    if table.is_partial and name not in table.names:
        return pa.nulls(table.n_rows, pa.string())
    column = table.column(name)
    if pa.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    return texts(column) if table.is_partial else writable(column, ending)


def _recast(block: Any, schema: Any) -> Any:
    """A part with the column types of the first part."""
    import pyarrow as pa

    from robustpu.workflow.writing import is_text, texts

    columns = []
    for field, column in zip(schema, block.columns, strict=True):
        try:
            columns.append(column.cast(field.type))
        except pa.ArrowException as error:
            if is_text(field.type):
                # Bytes that were text in the first part.
                columns.append(texts(column).cast(field.type))
                continue
            raise ValueError(
                f"column {field.name!r}, which is written, changes its type within the table: "
                f"{error}. Write it as CSV first, or leave the column out."
            ) from error
    return pa.table(columns, schema=schema)
