"""``robustpu fit``: from a table to a model folder and a page."""

import json
import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from robustpu.cli.drawing import strip
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
    Threshold,
    Time,
)
from robustpu.cli.tables import kinds_of, read, tell, threshold_of
from robustpu.study.stages import stages
from robustpu.unseen import shown

if TYPE_CHECKING:
    from robustpu.study import Study

# Parts of the findings that are long; `robustpu inspect --json` has them.
LONG = ("suspects", "scores", "rounds", "columns", "top")
NAMED = {"precision": "precision", "recall": "recall", "auc": "AUC"}
SCENARIOS = {"single-set": "found among these rows", "case-control": "put beside these rows"}
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
    id_column: Id = None,
    drop: Drop = None,
    kind: Kind = None,
    time_column: Time = None,
    method: Annotated[
        str,
        typer.Option(
            metavar="NAME",
            help="What `robustpu methods` lists, such as nnpu or puet; robust-pu-meta in Python "
            "alone, for a folder cannot hold its learner.",
        ),
    ] = "robust-pu",
    prior: Prior = "auto",
    scenario: Scenario = "case-control",
    threshold: Threshold = "0.5",
    members: Members = None,
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

    With --time-column, a model of the older rows is also judged on the newest.
    """
    kinds = kinds_of(kind)
    with clean_errors(debug):
        import torch

        from robustpu.study import fit_table

        _check_out(out, overwrite)
        _check_stored(method)
        # Two threads gain little on networks this small, and lose much beside other programs.
        torch.set_num_threads(1)
        with stages(quiet or as_json) as progress:
            progress("reading", 0, 0)
            table = read(data, no_header, skip_bad_rows)
            study = fit_table(
                table,
                label=label,
                positive=positive,
                id=id_column,
                time=time_column,
                drop=drop or (),
                kinds=kinds,
                method=method,
                prior=prior,
                scenario=scenario,
                threshold=threshold_of(threshold),
                seed=seed,
                members=members,
                command=shlex.join(["robustpu", *sys.argv[1:]]),
                options={"header": not no_header, "bad_rows": "skip" if skip_bad_rows else "error"},
                progress=progress,
            )
            study.save(out, overwrite=overwrite)
        _conclude(study, data, out, as_json, quiet)


def _conclude(study: "Study", data: str, out: Path, as_json: bool, quiet: bool) -> None:
    found = study.findings
    page = out / "report.html"
    if as_json:
        short = {name: own for name, own in found.items() if name not in LONG}
        typer.echo(json.dumps({"model": str(out), "report": str(page), **short}))
        return
    told = [f"{own['name']}: {note}" for own in found["columns"] for note in own["notes"]]
    tell([*found["notes"], *told], quiet)
    typer.echo("\n".join(map(shown, summary(found))))
    typer.echo(f"\nModel:  {out}\nPage:   {page}")
    if not quiet:
        where = shlex.quote(str(out)), shlex.quote(data)
        typer.echo(f"List:   robustpu rank {' '.join(where)} --top 20")


def summary(found: dict[str, Any]) -> list[str]:
    """What was found, for the terminal.

    Parameters
    ----------
    found
        The findings.
    """
    data, prior = found["data"], found["prior"]
    used = sum(own["features"] > 0 for own in found["columns"])
    made = sum(own["features"] for own in found["columns"])
    lines = [
        f"{data['name']}: {data['n_positive']:,} labelled positives, {data['n_unlabeled']:,} "
        f"unlabelled rows; {used} columns to learn from, {made:,} numbers a row.",
        f"Known positives were {SCENARIOS[found['scenario']]} (--scenario {found['scenario']}).",
        "",
        *_prior_lines(prior, data["n_unlabeled"]),
    ]
    if found["evaluation"] is not None:
        told = {own["name"]: own for own in found["evaluation"]["metrics"]}
        metrics = {title: told[name] for name, title in NAMED.items() if name in told}
        lines += ["", f"{'':12}0{'':18}0.5{'':18}1"]
        for title, own in metrics.items():
            mark = " *" if own["clipped"] else ""
            numbers = own["value"], own["low"], own["high"]
            written = "{:.2f}   {:.2f} to {:.2f}".format(*numbers)
            lines.append(f"{title:12}{strip(*numbers, width=40)}  {written}{mark}")
        lines += ["", *_lists(found)]
        is_starred = any(own["clipped"] for own in metrics.values())
        lines += ["", *_footnotes(found["evaluation"], is_starred)]
    lines += [f"Alarm: {own['text']}" for own in found["alarms"]]
    return lines


def _prior_lines(prior: dict[str, Any], n_unlabeled: int) -> list[str]:
    from robustpu.page.wording import CAVEAT

    count = round(prior["value"] * n_unlabeled)
    if prior["low"] is None:
        return [f"Positives among the unlabelled rows, as given: {prior['value']:.2%}, {count:,}."]
    ends = [round(prior[end] * n_unlabeled) for end in ("low", "high")]
    if prior["how"] == "range":
        return [
            f"Positives among the unlabelled rows: {ends[0]:,} to {ends[1]:,}, by the range that "
            "you gave."
        ]
    return [
        f"Positives among the unlabelled rows: about {count:,}, {prior['value']:.1%}, more likely "
        f"fewer ({ends[0]:,} to {ends[1]:,}).",
        f"{CAVEAT.capitalize()}.",
    ]


def _lists(found: dict[str, Any]) -> list[str]:
    expected = found["prior"]["value"] * found["data"]["n_unlabeled"]
    rows = [own for own in found["top"] if own["k"] in LISTS and own["k"] <= max(20, 2 * expected)]
    # Models of before have none.
    if found["prior"]["low"] == 0 and found.get("suppositions"):
        return _supposed(found, [own["k"] for own in rows[:5]][-2:])
    return [
        f"Of the {own['k']:>6,} most suspect rows about {own['expected']:>7,.0f} are positive "
        f"({own['low']:,.0f} to {own['high']:,.0f})."
        for own in rows[:5]
    ]


def _supposed(found: dict[str, Any], ks: list[int]) -> list[str]:
    """What some shares would mean, where the share may be anything below the estimate."""
    places = [[own["k"] for own in found["top"]].index(k) for k in ks]
    lines = ["How many of the most suspect rows are positive depends on the share:"]
    for own in found["suppositions"]:
        told = [
            f"{own['expected'][place]:>5,.0f} of the first {k:,}"
            for k, place in zip(ks, places, strict=True)
        ]
        lines.append(
            f"{own['share']:>7.1%}: about {', '.join(told)}; precision {own['precision']:.2f}"
        )
    return lines


def _footnotes(evaluation: dict[str, Any], is_starred: bool) -> list[str]:
    # The star may be that of a metric that is not shown here.
    remarks = [own for own in evaluation["remarks"] if is_starred or not own.startswith("*")]
    return [
        f"Estimates without negatives, {evaluation['level']:.0%} intervals; they hold if labelled "
        "positives are a fair sample of all,",
        "and if the share of positives is right. Give --prior if you know it better.",
        *remarks,
    ]


def _check_stored(method: str) -> None:
    """Say now, not after the training, that a folder cannot hold what is trained."""
    from robustpu.methods import METHODS, all_methods
    from robustpu.persist.learners import LEARNERS

    kind = all_methods()[method] if method in METHODS else None
    learner = type(getattr(kind, "_default", None)).__name__
    if not hasattr(kind, "_default") or learner in LEARNERS:
        return
    assert kind is not None
    raise ValueError(
        f"{method} trains a {learner}, which a model folder cannot hold. Take --method robust-pu; "
        f"or in Python, {kind.__name__}(estimator=RandomForestClassifier()), which can be saved."
    )


def _check_out(out: Path, overwrite: bool) -> None:
    """Say now, not after the training, that the folder cannot be written."""
    from robustpu.persist.places import check_folder
    from robustpu.persist.writing import check_target

    check_folder(out)
    try:
        check_target(out.absolute(), overwrite)
    except FileExistsError as error:
        raise FileExistsError(str(error).replace("overwrite=True", "--overwrite")) from None
