"""``robustpu compare``: methods side by side, without negatives."""

import json
from collections.abc import Sequence
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Any

import typer

from robustpu.cli.errors import clean_errors
from robustpu.cli.options import (
    Data,
    Debug,
    Drop,
    Header,
    Id,
    Json,
    Kind,
    Label,
    Members,
    Positive,
    Prior,
    Quiet,
    Scenario,
    Seed,
    SkipBadRows,
    Time,
)
from robustpu.cli.outputs import check_output
from robustpu.cli.tables import check_columns, kinds_of, print_notes, read
from robustpu.workflow.config import COMPARED
from robustpu.workflow.progress import show_progress

if TYPE_CHECKING:
    from robustpu.workflow.comparison import Comparison

SHOWN = {
    "auc": "AUC",
    "average_precision": "avg. precision",
    "precision": "precision",
    "recall": "recall",
}


class By(StrEnum):
    """What decides the order."""

    AUC = "auc"
    AVERAGE_PRECISION = "average_precision"
    ACCURACY = "accuracy"
    F1 = "f1"
    PRECISION_AT_K = "precision_at_k"


def compare(
    data: Data,
    label: Label,
    methods: Annotated[
        list[str] | None,
        typer.Option(
            metavar="METHOD...",
            help="Names from `robustpu methods`: --methods puet nnpu.",
            show_default=" ".join(COMPARED),
        ),
    ] = None,
    more: Annotated[
        list[str] | None,
        typer.Argument(metavar="METHOD", hidden=True, show_default=False),
    ] = None,
    positive: Positive = None,
    id_column: Id = None,
    drop: Drop = None,
    kind: Kind = None,
    time_column: Time = None,
    prior: Prior = "auto",
    scenario: Scenario = "case-control",
    by: Annotated[
        By,
        typer.Option(metavar="METRIC", help=f"What decides the order: {', '.join(By)}."),
    ] = By.AUC,
    folds: Annotated[
        int, typer.Option(min=2, max=20, metavar="N", help="Folds to evaluate on, 2 to 20.")
    ] = 5,
    members: Members = None,
    no_header: Header = False,
    skip_bad_rows: SkipBadRows = False,
    seed: Seed = 0,
    out: Annotated[
        str | None,
        typer.Option(
            metavar="FILE",
            help="File to write as well: .csv, .tsv, .parquet, .jsonl, .json or .feather; - prints "
            "CSV instead of the table.",
        ),
    ] = None,
    as_json: Json = False,
    quiet: Quiet = False,
    debug: Debug = False,
) -> None:
    """Compare methods on a table: all on the same folds, evaluated without negatives.

    Each method is fitted once per fold, and evaluated on the rows that it was not fitted on.
    """
    kinds = kinds_of(kind)
    check_output(out, data, as_json)
    with clean_errors(debug):
        if out is not None:
            from robustpu.workflow.writing import check_name

            check_name(out)
        with show_progress(quiet or as_json) as progress:
            progress("reading", 0, 0)
            table = read(data, no_header, skip_bad_rows)
            check_columns(table, label, id_column, time_column, *(drop or ()), *kinds)
            import torch

            from robustpu.workflow import compare_table

            torch.set_num_threads(1)
            found = compare_table(
                table,
                methods=_separate([*(methods or ()), *(more or ())]) or COMPARED,
                label=label,
                positive=positive,
                id=id_column,
                time=time_column,
                drop=drop or (),
                kinds=kinds,
                prior=prior,
                scenario=scenario,
                by=by.value,
                folds=folds,
                seed=seed,
                members=members,
                progress=progress,
            )
        _print(found, out, as_json, quiet)


def _print(found: "Comparison", out: str | None, as_json: bool, quiet: bool) -> None:
    if out is not None:
        from robustpu.workflow.writing import table_file

        with table_file(out) as write:
            write(flat(found))
    if as_json:
        from robustpu.validation.schema import to_json

        typer.echo(json.dumps(to_json(found)))
        return
    print_notes(found.notes, quiet)
    if out != "-":
        _show(found)
    if out not in (None, "-"):
        typer.echo(f"Written: {out}")


def flat(found: "Comparison") -> Any:
    """One row per method, as an Arrow table; each metric with its interval.

    Parameters
    ----------
    found
        The comparison.
    """
    import pyarrow as pa

    rows = found.methods
    names = next((list(row.metrics) for row in rows if row.metrics), [])
    columns: dict[str, Any] = {"method": pa.array([row.method for row in rows], pa.string())}
    for name in names:
        for end in ("value", "low", "high"):
            values = [row.metrics and getattr(row.metrics[name], end) for row in rows]
            columns[name if end == "value" else f"{name} {end}"] = pa.array(values, pa.float64())
    columns["seconds"] = pa.array([row.seconds for row in rows], pa.float64())
    columns["error"] = pa.array([row.error for row in rows], pa.string())
    return pa.table(columns)


def _show(found: "Comparison") -> None:
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, padding=(0, 1, 0, 0), pad_edge=False, header_style="bold")
    table.add_column("method", no_wrap=True)
    for title in SHOWN.values():
        table.add_column(title, no_wrap=True)
    table.add_column("a fit", justify="right")
    for row in found.methods:
        cells = ["-"] * (len(SHOWN) + 1)
        if row.metrics is not None:
            metrics = [row.metrics[name] for name in SHOWN]
            cells = [f"{each.value:.2f} {each.low:.2f}–{each.high:.2f}" for each in metrics]
            cells.append(f"{row.seconds:.1f} s")
        table.add_row(*map(Text, (row.method, *cells)))
    console = Console(highlight=False)
    console.print(table)
    console.print(f"\n{_explained(found)}", soft_wrap=not console.is_terminal)
    for row in found.methods:
        if row.error:
            console.print(f"{row.method}: {row.error}", markup=False)


def _explained(found: "Comparison") -> str:
    prior = found.prior
    interval = "" if prior.low is None else f" ({prior.low:.3f} to {prior.high:.3f})"
    return (
        f"The best first, by {SHOWN.get(found.by, found.by)}. Estimates without negatives from "
        f"{found.folds} folds of {found.n_positive:,} labelled and {found.n_unlabeled:,} "
        f"unlabelled rows, with {prior.level:.0%} intervals. Prior: {prior.value:.3f}{interval}, "
        "for all methods: if it is wrong, all precisions are wrong by the same factor, and their "
        "order stays."
    )


def _separate(names: Sequence[str]) -> list[str]:
    """Names that are separated by spaces or commas."""
    return [part for name in names for part in name.split(",") if part]
