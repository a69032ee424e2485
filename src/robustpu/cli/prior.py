"""``robustpu prior``: how many of the unlabelled rows of a table are positive."""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from robustpu.cli.drawing import WIDTH
from robustpu.cli.drawing import strip as _strip
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
    Positive,
    Quiet,
    Scenario,
    Seed,
    SkipBadRows,
    Time,
)
from robustpu.cli.outputs import check_matplotlib, check_picture
from robustpu.cli.tables import kinds_of, read, roles, tell
from robustpu.study.stages import stages

if TYPE_CHECKING:
    from robustpu.estimation import PriorEstimate


def prior(
    data: Data,
    label: Label,
    positive: Positive = None,
    id_column: Id = None,
    drop: Drop = None,
    kind: Kind = None,
    time_column: Time = None,
    method: Annotated[
        str,
        typer.Option(
            metavar="NAME",
            help="How to estimate it: auto, dedpul, best-bin, alpha-max, elkan-noto, km1, km2, "
            "pearson, penalized-l1, tice, tedn or capu.",
        ),
    ] = "auto",
    scenario: Scenario = "case-control",
    no_header: Header = False,
    skip_bad_rows: SkipBadRows = False,
    seed: Seed = 0,
    picture: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="File to draw the scores and estimates into: .png, .svg, .pdf or .jpg.",
        ),
    ] = None,
    as_json: Json = False,
    quiet: Quiet = False,
    debug: Debug = False,
) -> None:
    """Estimate how many of the unlabelled rows of a table are positive."""
    kinds = kinds_of(kind)
    with clean_errors(debug):
        import warnings

        import torch

        from robustpu.estimation import PriorWarning, estimate_prior
        from robustpu.naming import pick
        from robustpu.priors import JOINT, PRIORS
        from robustpu.scenario import check_scenario
        from robustpu.study.problem import make_problem

        if picture is not None:
            check_picture(picture)
            check_matplotlib()
        check_scenario(scenario)
        pick("prior", method, {**PRIORS, **JOINT})
        torch.set_num_threads(1)
        with stages(quiet or as_json) as progress:
            progress("reading", 0, 0)
            problem = make_problem(
                read(data, no_header, skip_bad_rows),
                roles(label, positive, id_column, drop, time_column),
                kinds,
                seed,
            )
            progress("prior", 0, 0)
            with warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter("always", PriorWarning)
                found = estimate_prior(
                    problem.X,
                    problem.y,
                    method=method,
                    scenario=scenario,
                    random_state=seed,
                    progress=lambda done, total: progress("prior", done, total),
                )
        doubts = [str(own.message) for own in caught if issubclass(own.category, PriorWarning)]
        n_unlabeled = int((problem.y == 0).sum())
        if picture is not None:
            from robustpu.persist.places import whole
            from robustpu.plots import draw_prior

            with whole(picture) as draft:
                draw_prior(found, problem.y == 1, draft)
        if as_json:
            typer.echo(json.dumps(_plain(found, problem.y.sum(), n_unlabeled, doubts)))
            return
        tell(problem.told(), quiet)
        typer.echo("\n".join(_lines(found, n_unlabeled)))
        for doubt in doubts:
            typer.echo(f"Warning: {doubt}", err=True)
        if picture is not None:
            typer.echo(f"Drawn: {picture}")


def _plain(
    found: "PriorEstimate", n_positive: int, n_unlabeled: int, doubts: list[str]
) -> dict[str, object]:
    names = ("value", "low", "high", "level", "population", "method")
    return {
        **{name: getattr(found, name) for name in names},
        "answers": dict(found.answers),
        "n_positive": int(n_positive),
        "n_unlabeled": n_unlabeled,
        "warnings": doubts,
    }


def _lines(found: "PriorEstimate", n_unlabeled: int) -> list[str]:
    """Say it, and draw it: one line a method, from 0 to 1."""
    from robustpu.page.wording import CAVEAT

    counts = [round(own * n_unlabeled) for own in (found.value, found.low, found.high)]
    lines = [
        f"About {found.value:.1%} of the {n_unlabeled:,} unlabelled rows are positive, more likely "
        f"fewer: {counts[0]:,} rows.",
        f"{found.level:.0%} interval: {found.low:.1%} to {found.high:.1%}, "
        f"{counts[1]:,} to {counts[2]:,} rows.",
    ]
    lines.append(f"{CAVEAT.capitalize()}.")
    if found.population != found.value:
        lines.append(f"In the population, labelled rows included: {found.population:.1%}.")
    scale = "".join(f"{tick:<{WIDTH // 5}}" for tick in ("0", "20 %", "40 %", "60 %", "80 %"))
    lines += ["", f"{'':14}{scale}100 %"]
    lines.append(f"{found.method:14}{_strip(found.value, found.low, found.high)}")
    lines += [
        f"{name:14}{_strip(own)} {own:.1%}"
        for name, own in found.answers.items()
        if name != found.method
    ]
    return lines
