"""``robustpu compare``: methods side by side, without negatives."""

import json
import time
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
from robustpu.cli.scenario import settle_scenario
from robustpu.cli.summary import wrapped
from robustpu.cli.tables import kinds_of, print_notes, read_labelled
from robustpu.scenario import check_scenario
from robustpu.validation.sanitize import shown
from robustpu.workflow.config import BASELINES, COMPARED, parse_prior
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
            help="Names from `robustpu methods`, and boosting and logistic, which take unlabelled "
            "rows as negatives: --methods auto boosting.",
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
    scenario: Scenario = None,
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
        named = _separate([*(methods or ()), *(more or ())]) or COMPARED
        _check_options(named, prior, scenario)
        started, is_silent = time.monotonic(), quiet or as_json
        with show_progress(is_silent) as progress:
            progress("reading", 0, 0)
            others = id_column, time_column, *(drop or ())
            table, is_positive = read_labelled(
                data, label, (positive, None), others, kinds, no_header, skip_bad_rows
            )
        settled, notes = settle_scenario(scenario, is_positive, data, is_silent)
        with show_progress(is_silent, started) as progress:
            import torch

            from robustpu.workflow import compare_table

            torch.set_num_threads(1)
            found = compare_table(
                table,
                methods=named,
                label=label,
                positive=positive,
                id=id_column,
                time=time_column,
                drop=drop or (),
                kinds=kinds,
                prior=prior,
                scenario=settled,
                by=by.value,
                folds=folds,
                seed=seed,
                members=members,
                progress=progress,
            )
        _print(found, notes, out, as_json, quiet)


def _check_options(methods: Sequence[str], prior: str, scenario: str | None) -> None:
    """Refuse wrong values before anything heavy is imported."""
    from robustpu.workflow.checks import check_method

    parse_prior(prior)
    if scenario is not None:
        check_scenario(scenario)
    for name in methods:
        check_method(name, BASELINES)


def _print(
    found: "Comparison", notes: list[str], out: str | None, as_json: bool, quiet: bool
) -> None:
    if out is not None:
        from robustpu.workflow.writing import table_file

        with table_file(out) as write:
            write(flat(found))
    if as_json:
        from robustpu.validation.schema import to_json

        typer.echo(json.dumps(to_json(found)))
        return
    print_notes([*notes, *found.notes], quiet)
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
    ends = ("value", "low", "high")
    columns: dict[str, Any] = {"method": pa.array([row.method for row in rows], pa.string())}
    for name in names:
        for end in ends:
            values = [row.metrics and getattr(row.metrics[name], end) for row in rows]
            columns[name if end == "value" else f"{name} {end}"] = pa.array(values, pa.float64())
    for end in ends:
        values = [row.difference and getattr(row.difference, end) for row in rows]
        columns[f"difference {end}".removesuffix(" value")] = pa.array(values, pa.float64())
    columns["seconds"] = pa.array([row.seconds for row in rows], pa.float64())
    columns["error"] = pa.array([row.error for row in rows], pa.string())
    return pa.table(columns)


def _show(found: "Comparison") -> None:
    from rich.console import Console

    console = Console(highlight=False)
    console.print(_table(_free(found)))
    typer.echo("\n" + "\n".join(wrapped(_explained(found))))
    if found.prior.is_known:
        typer.echo(f"\nWith {found.prior.value:.1%} positives among the unlabelled rows:")
        console.print(_table(_with_prior(found)))
    else:
        typer.echo("Precision needs the share of positives, which these rows do not tell: --prior.")
    for row in found.methods:
        if row.error:
            typer.echo(shown(f"{row.method}: {row.error}"))


def _table(rows: list[tuple[str, ...]]) -> Any:
    """A table for the terminal; the first row has the headings."""
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, padding=(0, 2, 0, 0), pad_edge=False, header_style="bold")
    for heading in rows[0]:
        table.add_column(heading, no_wrap=True, justify="left" if heading == "method" else "right")
    for row in rows[1:]:
        table.add_row(*map(Text, row))
    return table


def _free(found: "Comparison") -> list[tuple[str, ...]]:
    """What needs no share of positives: how known positives rank among unlabelled rows."""
    rows: list[tuple[str, ...]] = [
        ("method", "AUC of known", "difference to the first", "in first 10 %", "a fit")
    ]
    for each in found.methods:
        if each.metrics is None or each.seconds is None:
            rows.append((each.method, *"----"))
            continue
        auc, tenth = each.metrics["auc_of_labeled"], each.metrics["found_in_tenth"]
        less = each.difference
        rows.append(
            (
                each.method,
                f"{auc.value:.3f}",
                f"{less.value:+.3f} ({less.low:+.3f} to {less.high:+.3f})" if less else "",
                f"{100 * tenth.value:.0f} %",
                f"{each.seconds:.1f} s",
            )
        )
    return rows


def _with_prior(found: "Comparison") -> list[tuple[str, ...]]:
    rows = [("method", *SHOWN.values())]
    for each in found.methods:
        if each.metrics is not None:
            metrics = [each.metrics[name] for name in SHOWN]
            cells = (f"{one.value:.2f} {one.low:.2f}–{one.high:.2f}" for one in metrics)
            rows.append((each.method, *cells))
    return rows


def _explained(found: "Comparison") -> str:
    from robustpu.charts.wording import listed

    differences = {
        each.method: each.difference for each in found.methods if each.difference is not None
    }
    first = found.methods[0].method
    worse = [name for name, less in differences.items() if less.high < 0]
    alike = [name for name, less in differences.items() if less.low <= 0 <= less.high]
    verdict = f" {first} is better than {listed(worse)}." if worse else ""
    if alike:
        verdict += f" These rows do not tell {first} from {listed(alike)}."
    return (
        "AUC of known: the chance that a known positive outranks an unlabelled row. In first 10 %: "
        f"known positives among that share of the rows. Both on {found.folds} folds that were not "
        f"trained on, with {100 * found.prior.level:.0f} % intervals of the differences; neither "
        f"needs the share of positives.{verdict}"
    )


def _separate(names: Sequence[str]) -> list[str]:
    """Names that are separated by spaces or commas."""
    return [part for name in names for part in name.split(",") if part]
