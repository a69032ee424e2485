"""``robustpu predict``: scores of a table of any length."""

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Any

import typer

from robustpu.cli.stages import stages
from robustpu.cli.tables import (
    Data,
    Debug,
    FillColumns,
    Header,
    Id,
    Json,
    Model,
    Quiet,
    SkipBadRows,
    clean_errors,
    tell,
)

if TYPE_CHECKING:
    from robustpu.study.scoring import Scored


def predict(
    model: Model,
    data: Data,
    out: Annotated[
        str,
        typer.Option(
            help="File to write: .parquet, .csv, .tsv, .jsonl, .json or .feather; - prints CSV.",
            show_default=False,
        ),
    ],
    id_column: Id = None,
    keep: Annotated[
        list[str] | None,
        typer.Option(help="Column to write beside the score. May be given several times."),
    ] = None,
    fill_columns: FillColumns = False,
    no_header: Header = False,
    skip_bad_rows: SkipBadRows = False,
    as_json: Json = False,
    quiet: Quiet = False,
    debug: Debug = False,
) -> None:
    """Score every row of a table, however long it is.

    Writes the id (or the row's number, from 1), the score, which is the probability of being
    positive, and the answer, 1 or 0. Labels in the table are not looked at.
    """
    with clean_errors(debug):
        from robustpu.study import open_study, score_parts
        from robustpu.study.writing import check_name, table_file
        from robustpu.tables import Tally

        check_name(out)
        study = open_study(model)
        tally, notes, counts = Tally(), list[str](), {"rows": 0, "positive": 0}
        layout = layout_of(study.findings, no_header, skip_bad_rows)
        with stages(quiet or as_json) as progress, table_file(out) as write:
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
                block = _block(part, id_column or study.findings["data"]["id"], keep or (), notes)
                schema = schema or block.schema
                write(block if block.schema == schema else _recast(block, schema))
                counts["rows"] += len(part.score)
                counts["positive"] += int(part.answer.sum())
        if as_json:
            told = {"out": out, **counts, "notes": [*notes, *tally.lines()]}
            typer.echo(json.dumps(told), err=out == "-")
            return
        tell([*notes, *tally.lines()], quiet)
        if not quiet:
            typer.echo(
                f"{counts['rows']:,} rows scored, {counts['positive']:,} answered positive: {out}",
                err=out == "-",
            )


def layout_of(findings: Mapping[str, Any], no_header: bool, skip_bad_rows: bool) -> dict[str, Any]:
    """How to read a table: as the options say, or as the one that was fitted.

    Parameters
    ----------
    findings
        Of the model.
    no_header, skip_bad_rows
        Of the options.
    """
    options = findings["settings"]["options"]
    header = options.get("header") is not False and not no_header
    skip = options.get("bad_rows") == "skip" or skip_bad_rows
    return {"header": header, "bad_rows": "skip" if skip else "error"}


def _block(part: "Scored", id: str | None, keep: Any, notes: list[str]) -> Any:
    """What is written of a part: id or row, the columns to keep, score, answer."""
    import numpy as np
    import pyarrow as pa

    table = part.table
    columns: dict[str, Any] = {}
    if id is not None and id in table.names:
        columns[id] = _plain(table, id)
    else:
        if id is not None:
            notes.append(f"there is no column {id!r}: rows are named by their numbers")
        columns["row"] = pa.array(np.arange(part.first, part.first + table.n_rows))
    for name in keep:
        columns[name] = _plain(table, name)
    for name, values in (("score", part.score), ("answer", part.answer)):
        columns[name if name not in columns else f"robustpu {name}"] = pa.array(values)
    return pa.table(columns)


def _plain(table: Any, name: str) -> Any:
    """A column as it is; of JSON, where types change from row to row, as text."""
    import pyarrow as pa

    column = table.column(name)
    if not table.is_partial:
        return column
    return pa.array([None if own is None else str(own) for own in column.to_pylist()], pa.string())


def _recast(block: Any, schema: Any) -> Any:
    """A part whose columns are of other types than those of the first."""
    import pyarrow as pa

    try:
        return block.cast(schema)
    except pa.ArrowException as error:
        raise ValueError(
            f"a column that is written changes its type within the table: {error}. Write it as "
            "CSV first, or leave the column out."
        ) from error
