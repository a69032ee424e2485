"""``robustpu compare``: methods side by side, without negatives."""

import json
from collections.abc import Sequence
from enum import StrEnum
from typing import Annotated, Any

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
from robustpu.cli.tables import kinds_of, read, tell
from robustpu.study.stages import stages

SHOWN = {
    "auc": "AUC",
    "average_precision": "avg. precision",
    "precision": "precision",
    "recall": "recall",
}
DEFAULT = ("robust-pu", "nnpu", "puet", "elkan-noto", "pn")


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
            help="Methods, as `robustpu methods` lists them: --methods puet nnpu.",
            show_default=" ".join(DEFAULT),
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
        int, typer.Option(min=2, max=20, metavar="N", help="Folds to judge on, 2 to 20.")
    ] = 5,
    members: Members = None,
    no_header: Header = False,
    skip_bad_rows: SkipBadRows = False,
    seed: Seed = 0,
    out: Annotated[
        str | None,
        typer.Option(
            metavar="FILE",
            help="File to write, too: .csv, .tsv, .parquet, .jsonl, .json or .feather; - prints "
            "CSV, and no other table.",
        ),
    ] = None,
    as_json: Json = False,
    quiet: Quiet = False,
    debug: Debug = False,
) -> None:
    """Compare methods on a table: all on the same folds, judged without negatives.

    Each method is fitted as often as there are folds, and judged on the rows that it was not
    fitted on.
    """
    kinds = kinds_of(kind)
    check_output(out, data, as_json)
    with clean_errors(debug):
        import torch

        from robustpu.study import compare_table
        from robustpu.study.writing import check_name, table_file

        if out is not None:
            check_name(out)
        torch.set_num_threads(1)
        with stages(quiet or as_json) as progress:
            progress("reading", 0, 0)
            found = compare_table(
                read(data, no_header, skip_bad_rows),
                methods=_separate([*(methods or ()), *(more or ())]) or DEFAULT,
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
        if out is not None:
            with table_file(out) as write:
                write(flat(found))
        if as_json:
            typer.echo(json.dumps(found))
            return
        tell(found["notes"], quiet)
        if out != "-":
            _show(found)
        if out not in (None, "-"):
            typer.echo(f"Written: {out}")


def flat(found: dict[str, Any]) -> Any:
    """One row a method, as an Arrow table; each metric with its interval.

    Parameters
    ----------
    found
        The comparison.
    """
    import pyarrow as pa

    rows = found["rows"]
    names = next((list(own["metrics"]) for own in rows if own["metrics"]), [])
    columns: dict[str, Any] = {"method": pa.array([own["method"] for own in rows], pa.string())}
    for name in names:
        for end in ("value", "low", "high"):
            values = [own["metrics"] and own["metrics"][name][end] for own in rows]
            columns[name if end == "value" else f"{name} {end}"] = pa.array(values, pa.float64())
    columns["seconds"] = pa.array([own["seconds"] for own in rows], pa.float64())
    columns["error"] = pa.array([own["error"] for own in rows], pa.string())
    return pa.table(columns)


def _show(found: dict[str, Any]) -> None:
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, padding=(0, 1, 0, 0), pad_edge=False, header_style="bold")
    table.add_column("method", no_wrap=True)
    for title in SHOWN.values():
        table.add_column(title, no_wrap=True)
    table.add_column("a fit", justify="right")
    for own in found["rows"]:
        if own["metrics"] is None:
            table.add_row(Text(own["method"]), *[Text("-")] * (len(SHOWN) + 1))
            continue
        cells = []
        for name in SHOWN:
            metric = own["metrics"][name]
            cells.append("{value:.2f} {low:.2f}–{high:.2f}".format(**metric))
        table.add_row(*map(Text, (own["method"], *cells, f"{own['seconds']:.1f} s")))
    console = Console(highlight=False)
    console.print(table)
    prior = found["prior"]
    known = "" if prior["low"] is None else f" ({prior['low']:.3f} to {prior['high']:.3f})"
    console.print(
        f"\nThe best first, by {SHOWN.get(found['by'], found['by'])}. Estimates without negatives "
        f"from {found['folds']} folds of {found['n_positive']:,} labelled and "
        f"{found['n_unlabeled']:,} unlabelled rows, with {found['level']:.0%} intervals. "
        f"Prior: {prior['value']:.3f}{known}, for all of them: what is wrong about it "
        "moves all precisions alike, and not their order.",
        soft_wrap=not console.is_terminal,
    )
    for own in found["rows"]:
        if own["error"]:
            console.print(f"{own['method']}: {own['error']}", markup=False)


def _separate(names: Sequence[str]) -> list[str]:
    """Names that are separated by spaces, or by commas."""
    return [own for name in names for own in name.split(",") if own]
