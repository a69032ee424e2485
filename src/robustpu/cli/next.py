"""``robustpu next``: rows that are worth a check, to be given to ``fit --checked``."""

from typing import Annotated

import typer

from robustpu.cli.errors import clean_errors
from robustpu.cli.options import (
    Data,
    Debug,
    FillColumns,
    Header,
    Model,
    Quiet,
    ScoredId,
    Seed,
    SkipBadRows,
    SpreadsheetSafe,
)
from robustpu.cli.outputs import check_output
from robustpu.cli.predict import check_order, layout_of
from robustpu.cli.rank import flat
from robustpu.cli.tables import check_model, check_start, print_notes
from robustpu.workflow.progress import show_progress


def next_rows(
    model: Model,
    data: Data,
    out: Annotated[
        str,
        typer.Option(
            metavar="FILE",
            help="File to write and to fill in: .csv, .tsv, .parquet, .jsonl, .json or .feather.",
            show_default=False,
        ),
    ],
    n: Annotated[int, typer.Option("--n", min=1, metavar="N", help="Rows, at most.")] = 30,
    by: Annotated[
        str,
        typer.Option(
            metavar="WHAT",
            help="suspect: the most likely positives. informative: those nearest to the threshold. "
            "random: drawn from all unlabelled rows.",
        ),
    ] = "suspect",
    id_column: ScoredId = None,
    spreadsheet_safe: SpreadsheetSafe = False,
    fill_columns: FillColumns = False,
    no_header: Header = False,
    skip_bad_rows: SkipBadRows = False,
    seed: Seed = 0,
    quiet: Quiet = False,
    debug: Debug = False,
) -> None:
    """Propose unlabelled rows to check.

    The file has an empty column `checked`. Write yes or no for every row that you looked at, the
    misses too, and give it back: `robustpu fit DATA --label COLUMN --checked FILE`. Rows that were
    checked for the model are left out.
    """
    check_output(out, data, as_json=False)
    with clean_errors(debug):
        from robustpu.thresholds import check_pick
        from robustpu.workflow.writing import check_name, table_file

        check_pick(by)
        check_name(out, is_defused=spreadsheet_safe)
        check_order(model, data)
        check_model(model)
        check_start(data, no_header, id_column)
        # Takes seconds, so names are checked first.
        import pyarrow as pa

        from robustpu.tables import Tally
        from robustpu.workflow import open_study, rank_table

        study = open_study(model)
        tally, notes = Tally(), list[str]()
        with show_progress(quiet) as progress:
            rows = rank_table(
                study,
                data,
                n,
                by=by,
                seed=seed,
                id=id_column,
                **layout_of(study.results, no_header, skip_bad_rows),
                fill_columns=fill_columns,
                tally=tally,
                notes=notes,
                progress=progress,
            )
        table = flat(rows, id_column or study.results.data.id)
        place = table.column_names.index("score")
        table = table.add_column(place, "checked", pa.array([""] * len(rows), pa.string()))
        with table_file(out, is_defused=spreadsheet_safe) as write:
            write(table)
        print_notes([*notes, *tally.lines()], quiet)
        if not quiet:
            typer.echo(f"{len(rows):,} rows to check: {out}", err=out == "-")
