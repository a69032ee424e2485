"""``robustpu fit``: from a table to a model folder and a page."""

import json
import shlex
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from robustpu.cli.errors import clean_errors
from robustpu.cli.options import (
    Checked,
    Data,
    Debug,
    Drop,
    Effort,
    Header,
    Id,
    Json,
    Kind,
    Label,
    Members,
    Negative,
    Positive,
    Prior,
    Propensity,
    Quiet,
    Scenario,
    Seed,
    SkipBadRows,
    Threshold,
    Time,
)
from robustpu.cli.scenario import GUESS, settle_scenario
from robustpu.cli.summary import summary
from robustpu.cli.tables import (
    check_start,
    effort_of,
    kinds_of,
    print_notes,
    read,
    read_labelled,
    threshold_of,
)
from robustpu.validation.sanitize import shown
from robustpu.workflow.config import DEFAULT_METHOD, FitConfig, parse_prior
from robustpu.workflow.progress import show_progress

if TYPE_CHECKING:
    from robustpu.workflow import Study

# Of the files of --checked.
CHECKED = "checked"
# Long parts of the results; `robustpu inspect --json` prints them.
LONG = ("suspects", "scores", "rounds", "columns", "top")
# Notes that are printed.
NOTES = 6


def fit(
    data: Data,
    label: Label,
    out: Annotated[
        Path, typer.Option(metavar="FOLDER", help="Model folder to write, with report.html.")
    ] = Path("model"),
    positive: Positive = None,
    negative: Negative = None,
    checked: Checked = None,
    id_column: Id = None,
    drop: Drop = None,
    kind: Kind = None,
    time_column: Time = None,
    method: Annotated[
        str,
        typer.Option(
            metavar="NAME",
            help="A name from `robustpu methods`, such as nnpu or puet. robust-pu-meta is only for "
            "Python: a folder cannot hold its learner.",
        ),
    ] = DEFAULT_METHOD,
    prior: Prior = "auto",
    propensity: Propensity = None,
    scenario: Scenario = None,
    threshold: Threshold = "0.5",
    members: Members = None,
    effort: Effort = "default",
    no_header: Header = False,
    skip_bad_rows: SkipBadRows = False,
    seed: Seed = 0,
    overwrite: Annotated[
        bool, typer.Option("--overwrite", metavar="", help="Replace a model that is there.")
    ] = False,
    as_json: Json = False,
    quiet: Quiet = False,
    debug: Debug = False,
) -> None:
    """Train on a table, and write a model folder with a page about it.

    With --time-column, a model of the older rows is also evaluated on the newest.
    """
    kinds = kinds_of(kind)
    with clean_errors(debug):
        limit, level = threshold_of(threshold), effort_of(effort)
        _check_options(FitConfig(method, scenario or GUESS, limit, effort=level), prior)
        _check_out(out, overwrite)
        started, is_silent = time.monotonic(), quiet or as_json
        with show_progress(is_silent) as progress:
            progress("reading", 0, 0)
            for file in checked or ():
                check_start(file, False, [CHECKED])
            others = id_column, time_column, propensity, *(drop or ())
            table, is_positive = read_labelled(
                data, label, (positive, negative), others, kinds, no_header, skip_bad_rows
            )
        settled, notes = settle_scenario(scenario, is_positive, data, is_silent)
        command = [
            "robustpu",
            *sys.argv[1:],
            *(["--scenario", settled] if scenario is None else []),
        ]
        with show_progress(is_silent, started) as progress:
            # Takes seconds, so all that can be wrong is checked first.
            import torch

            from robustpu.workflow import fit_table

            # Two threads gain little on networks this small, and lose much next to other programs.
            torch.set_num_threads(1)
            study = fit_table(
                table,
                label=label,
                positive=positive,
                negative=negative,
                checked=[read(file) for file in checked or ()],
                id=id_column,
                time=time_column,
                drop=drop or (),
                kinds=kinds,
                method=method,
                prior=prior,
                propensity=propensity,
                scenario=settled,
                threshold=limit,
                seed=seed,
                members=members,
                effort=level,
                command=shlex.join(command),
                options={"header": not no_header, "bad_rows": "skip" if skip_bad_rows else "error"},
                progress=progress,
            )
            study.save(out, overwrite=overwrite)
        _print(study, data, out, notes, as_json, quiet)


def _print(
    study: "Study", data: str, out: Path, notes: list[str], as_json: bool, quiet: bool
) -> None:
    results, page = study.results, out / "report.html"
    if as_json:
        short = {name: part for name, part in results.to_json().items() if name not in LONG}
        typer.echo(json.dumps({"model": str(out), "report": str(page), **short}))
        return
    typer.echo("\n".join(map(shown, summary(results))) + "\n")
    of_columns = [f"{column.name}: {note}" for column in results.columns for note in column.notes]
    print_notes(_shortened([*notes, *results.notes, *of_columns], out), quiet)
    model, table = shlex.quote(str(out)), shlex.quote(data)
    typer.echo(f"Page   {page}")
    if not quiet:
        typer.echo(f"List   robustpu rank {model} {table} --top 100 --out list.csv")
        typer.echo(f"New    robustpu predict {model} new.csv --out scored.csv")


def _shortened(notes: list[str], out: Path) -> list[str]:
    """The first notes, so that the results stay in sight; all of them are on the page."""
    notes = list(dict.fromkeys(notes))
    if len(notes) <= NOTES:
        return notes
    more = len(notes) - NOTES
    return [
        *notes[:NOTES],
        f"{more:,} more: on the page, or robustpu inspect {shlex.quote(str(out))}",
    ]


def _check_options(config: FitConfig, prior: str) -> None:
    """Refuse wrong values, and a method that a folder cannot hold, before the work."""
    from robustpu.methods import METHODS
    from robustpu.workflow.checks import check_config

    parse_prior(prior)
    check_config(config)
    method = config.method
    if METHODS[method].learner != "any":
        return
    from robustpu.methods import all_methods
    from robustpu.persist.learners import LEARNERS

    kind = all_methods()[method]
    learner = type(getattr(kind, "_default", None)).__name__
    if hasattr(kind, "_default") and learner not in LEARNERS:
        raise ValueError(
            f"{method} trains a {learner}, which a model folder cannot hold. Use --method "
            f"{DEFAULT_METHOD}; or in Python, {kind.__name__}(estimator=RandomForestClassifier()), "
            "which can be saved."
        )


def _check_out(out: Path, overwrite: bool) -> None:
    """Refuse a folder that cannot be written, before the work."""
    from robustpu.persist.places import check_folder
    from robustpu.persist.writing import check_target

    check_folder(out)
    try:
        check_target(out.absolute(), overwrite)
    except FileExistsError as error:
        raise FileExistsError(str(error).replace("overwrite=True", "--overwrite")) from None
