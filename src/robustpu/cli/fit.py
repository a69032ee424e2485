"""``robustpu fit``: from a table to a model folder and a page."""

import json
import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from robustpu.cli.drawing import strip
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
from robustpu.cli.tables import (
    check_columns,
    check_start,
    effort_of,
    kinds_of,
    print_notes,
    read,
    threshold_of,
)
from robustpu.tables.errors import many
from robustpu.validation.sanitize import shown
from robustpu.workflow.config import DEFAULT_METHOD
from robustpu.workflow.progress import show_progress

if TYPE_CHECKING:
    from robustpu import results
    from robustpu.workflow import Study

# Of the files of --checked.
CHECKED = "checked"
# Long parts of the results; `robustpu inspect --json` prints them.
LONG = ("suspects", "scores", "rounds", "columns", "top")
METRICS = {
    "precision": "precision",
    "recall": "recall",
    "auc": "AUC",
    "auc_of_labeled": "AUC, known",
}
SCENARIOS = {"single-set": "found among these rows", "case-control": "added to these rows"}
LISTS = (10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10_000)


def fit(
    data: Data,
    label: Label,
    out: Annotated[
        Path,
        typer.Option(
            metavar="FOLDER", help="Model folder to write, with report.html.", show_default=False
        ),
    ],
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
    scenario: Scenario = "case-control",
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
        _check_method(method)
        _check_out(out, overwrite)
        with show_progress(quiet or as_json) as progress:
            progress("reading", 0, 0)
            named = label, id_column, time_column, propensity, *(drop or ()), *kinds
            check_start(data, no_header, *named)
            for file in checked or ():
                check_start(file, False, CHECKED)
            table = read(data, no_header, skip_bad_rows)
            check_columns(table, *named)
            # Takes seconds, so names are checked first.
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
                scenario=scenario,
                threshold=threshold_of(threshold),
                seed=seed,
                members=members,
                effort=effort_of(effort),
                command=shlex.join(["robustpu", *sys.argv[1:]]),
                options={"header": not no_header, "bad_rows": "skip" if skip_bad_rows else "error"},
                progress=progress,
            )
            study.save(out, overwrite=overwrite)
        _print(study, data, out, as_json, quiet)


def _print(study: "Study", data: str, out: Path, as_json: bool, quiet: bool) -> None:
    results, page = study.results, out / "report.html"
    if as_json:
        short = {name: part for name, part in results.to_json().items() if name not in LONG}
        typer.echo(json.dumps({"model": str(out), "report": str(page), **short}))
        return
    notes = [f"{column.name}: {note}" for column in results.columns for note in column.notes]
    print_notes([*results.notes, *notes], quiet)
    typer.echo("\n".join(map(shown, summary(results))))
    typer.echo(f"\nModel:  {out}\nPage:   {page}")
    if not quiet:
        where = shlex.quote(str(out)), shlex.quote(data)
        typer.echo(f"List:   robustpu rank {' '.join(where)} --top 20")


def summary(results: "results.Results") -> list[str]:
    """The results in some lines, for the terminal.

    Parameters
    ----------
    results
        Of a fit.
    """
    data, evaluation = results.data, results.evaluation
    used = sum(column.features > 0 for column in results.columns)
    features = sum(column.features for column in results.columns)
    lines = [
        f"{data.name}: {many(data.n_positive, 'labelled positive')}, "
        f"{many(data.n_unlabeled, 'unlabelled row')}{_known(data)}; "
        f"{many(used, 'column')} to learn from, "
        f"{many(features, 'feature')}.",
        f"Known positives were {SCENARIOS[results.scenario]} (--scenario {results.scenario}).",
        "",
        *_share_lines(results),
    ]
    if evaluation is not None:
        metrics = {title: evaluation.metric(name) for name, title in METRICS.items()}
        known = {title: metric for title, metric in metrics.items() if metric is not None}
        is_starred = any(metric.clipped for metric in known.values())
        lines += ["", f"{'':12}0{'':18}0.5{'':18}1"]
        lines += [_metric_line(title, metric) for title, metric in known.items()]
        lines += ["", *_lists(results)] if results.beats_chance else []
        lines += ["", *_footnotes(evaluation, is_starred)]
    if results.scar is not None and not results.scar.is_refuted:
        # What is refuted is an alarm.
        lines += ["", results.scar.text]
    return [*lines, *(f"Alarm: {alarm.text}" for alarm in results.alarms)]


def _known(data: "results.Data") -> str:
    """Known negatives and checked rows, if there are any."""
    words = f", {many(data.n_negative, 'known negative')}" if data.n_negative else ""
    return words + (f" ({data.n_checked:,} rows were checked)" if data.n_checked else "")


def _metric_line(title: str, metric: "results.Metric") -> str:
    drawn = strip(metric.value, metric.low, metric.high, width=40)
    star = " *" if metric.clipped else ""
    return f"{title:12}{drawn}  {metric.value:.2f}   {metric.low:.2f} to {metric.high:.2f}{star}"


def _share_lines(results: "results.Results") -> list[str]:
    from robustpu.charts.wording import CAVEAT

    prior, n_unlabeled = results.prior, results.data.n_unlabeled
    if not results.beats_chance:
        return [
            f"No ranking of the {n_unlabeled:,} unlabelled rows that is shown to beat chance: "
            "nothing is promised of the list.",
        ]
    count = round(results.expected)
    if prior.low is None or prior.high is None:
        return [f"Positives among the unlabelled rows, as given: {prior.value:.2%}, {count:,}."]
    ends = f"{round(prior.low * n_unlabeled):,} to {round(prior.high * n_unlabeled):,}"
    if not prior.is_known:
        return [
            f"These rows do not tell how many of the {n_unlabeled:,} unlabelled ones are positive: "
            f"{ends} are possible.",
            "The ranking does not depend on it. Give --prior if you know the share roughly.",
        ]
    if prior.source == "range":
        return [f"Positives among the unlabelled rows: {ends}, from the range that you gave."]
    return [
        f"Positives among the unlabelled rows: about {count:,}, {prior.value:.1%} ({ends}).",
        f"{CAVEAT.capitalize()}.",
    ]


def _lists(results: "results.Results") -> list[str]:
    most = max(20, 2 * results.expected)
    rows = [top for top in results.top if top.k in LISTS and top.k <= most][:5]
    if not results.is_list_known:
        return _sensitivity(results, [top.k for top in rows][-2:])
    return [
        f"Of the {top.k:>6,} most suspect rows about {top.expected:>7,.0f} are positive "
        f"({top.low:,.0f} to {top.high:,.0f})."
        for top in rows
    ]


def _sensitivity(results: "results.Results", ks: list[int]) -> list[str]:
    """What some shares would mean, if the share is not known."""
    places = [[top.k for top in results.top].index(k) for k in ks]
    lines = ["How many of the most suspect rows are positive depends on the share:"]
    for point in results.sensitivity:
        hits = ", ".join(
            f"{point.expected[place]:>5,.0f} of the first {k:,}"
            for k, place in zip(ks, places, strict=True)
        )
        precision = f"; precision {point.precision:.2f}" if results.flagged else ""
        lines.append(f"{point.share:>7.1%}: about {hits}{precision}")
    return lines


def _footnotes(evaluation: "results.EvaluationSummary", is_starred: bool) -> list[str]:
    # The star may be that of a metric that is not shown here.
    remarks = [line for line in evaluation.remarks if is_starred or not line.startswith("*")]
    return [
        f"Estimates without negatives, {evaluation.level:.0%} intervals; they hold if positives "
        "were labelled completely at",
        "random, and if the share of positives is right. Give --prior if you know it better.",
        *remarks,
    ]


def _check_method(method: str) -> None:
    """Refuse an unknown method, or one that a folder cannot hold, before the work."""
    from robustpu.methods import METHODS
    from robustpu.validation.names import suggest

    if method not in METHODS:
        raise ValueError(f"unknown method {method!r}{suggest(method, METHODS)}")
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
