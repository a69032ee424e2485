"""``robustpu prior``: the share of positives among the unlabelled rows of a table."""

import json
import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

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
from robustpu.cli.scenario import settle_scenario
from robustpu.cli.tables import kinds_of, print_notes, read_labelled, roles
from robustpu.scenario import check_scenario, from_to
from robustpu.validation.names import suggest
from robustpu.workflow.progress import show_progress

if TYPE_CHECKING:
    from robustpu.priors.estimation import PriorEstimate
    from robustpu.tables import Roles, Table
    from robustpu.workflow.problem import Problem
    from robustpu.workflow.progress import Progress


# Those of robustpu.priors, which takes seconds to import.
METHODS = (
    *("auto", "dedpul", "best-bin", "alpha-max", "elkan-noto", "km1", "km2", "pearson"),
    *("penalized-l1", "tice", "tedn", "capu", "pretrained"),
)


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
            help=f"Method of estimation: {', '.join(METHODS)}.",
        ),
    ] = "auto",
    scenario: Scenario = None,
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
        if method not in METHODS:
            raise ValueError(f"unknown prior {method!r}{suggest(method, METHODS)}")
        if scenario is not None:
            check_scenario(scenario)
        if picture is not None:
            check_picture(picture)
            check_matplotlib()
        started, is_silent = time.monotonic(), quiet or as_json
        with show_progress(is_silent) as progress:
            progress("reading", 0, 0)
            others = id_column, time_column, *(drop or ())
            table, is_positive = read_labelled(
                data, label, (positive, None), others, kinds, no_header, skip_bad_rows
            )
        settled, notes = settle_scenario(scenario, is_positive, data, is_silent)
        columns = roles(label, positive, id_column, drop, time_column)
        with show_progress(is_silent, started) as progress:
            problem, found, texts = _estimate(
                table, columns, kinds, method, settled, seed, progress
            )
        if picture is not None:
            from robustpu.charts.plots import draw_prior
            from robustpu.persist.places import whole

            with whole(picture) as draft:
                draw_prior(found, problem.y == 1, draft)
        if as_json:
            plain = _plain(found, problem.n_positive, problem.n_unlabeled, texts)
            typer.echo(json.dumps(plain))
            return
        print_notes([*notes, *problem.all_notes()], quiet)
        typer.echo("\n".join(_lines(found, problem.n_unlabeled)))
        for text in texts:
            typer.echo(f"Warning: {text}", err=True)
        if picture is not None:
            typer.echo(f"Drawn: {picture}")


def _estimate(
    table: "Table",
    columns: "Roles",
    kinds: dict[str, Any],
    method: str,
    scenario: str,
    seed: int,
    progress: "Progress",
) -> "tuple[Problem, PriorEstimate, list[str]]":
    """The problem, the estimate, and its warnings."""
    import warnings

    import torch

    from robustpu.priors.estimation import PriorWarning, estimate_prior
    from robustpu.workflow.problem import make_problem

    torch.set_num_threads(1)
    problem = make_problem(table, columns, kinds, seed)
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
    texts = [str(each.message) for each in caught if issubclass(each.category, PriorWarning)]
    return problem, found, texts


def _plain(
    found: "PriorEstimate", n_positive: int, n_unlabeled: int, texts: list[str]
) -> dict[str, object]:
    names = ("value", "low", "high", "level", "population", "method")
    return {
        **{name: getattr(found, name) for name in names},
        "estimates": dict(found.answers),
        "n_positive": n_positive,
        "n_unlabeled": n_unlabeled,
        "warnings": texts,
    }


def _lines(found: "PriorEstimate", n_unlabeled: int) -> list[str]:
    """The estimate in words, and one line per method from 0 to 1."""
    from robustpu.charts.wording import CAVEAT

    ends = found.low, found.high
    shares = from_to(found.low, *(f"{end:.1%}" for end in ends))
    counts = from_to(found.low, *(f"{round(end * n_unlabeled):,}" for end in ends))
    lines = [
        f"About {found.value:.1%} of the {n_unlabeled:,} unlabelled rows are positive: "
        f"{round(found.value * n_unlabeled):,} rows.",
        f"{found.level:.0%} interval: {shares}, {counts} rows.",
    ]
    lines.append(f"{CAVEAT.capitalize()}.")
    if found.population != found.value:
        lines.append(f"In the population, labelled rows included: {found.population:.1%}.")
    scale = "".join(f"{tick:<{WIDTH // 5}}" for tick in ("0", "20 %", "40 %", "60 %", "80 %"))
    lines += ["", f"{'':14}{scale}100 %"]
    lines.append(f"{found.method:14}{_strip(found.value, found.low, found.high)}")
    lines += [
        f"{name:14}{_strip(share)} {share:.1%}"
        for name, share in found.answers.items()
        if name != found.method
    ]
    return lines
