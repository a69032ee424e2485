"""``robustpu prior``: how many of the unlabelled rows of a table are positive."""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from robustpu.cli.tables import (
    Data,
    Drop,
    Id,
    Json,
    Label,
    Positive,
    Quiet,
    Scenario,
    Seed,
    Time,
    clean_errors,
    read_problem,
)

if TYPE_CHECKING:
    from robustpu.estimation import PriorEstimate

# Letters between 0 and 1 in the drawing.
WIDTH = 50


def prior(
    data: Data,
    label: Label,
    positive: Positive = None,
    id_column: Id = None,
    drop: Drop = None,
    time_column: Time = None,
    method: Annotated[
        str, typer.Option(help="auto, dedpul, best-bin, km1... (see docs/priors.md).")
    ] = "auto",
    scenario: Scenario = "case-control",
    seed: Seed = 0,
    picture: Annotated[
        Path | None,
        typer.Option(dir_okay=False, help="File to draw the scores and estimates into (PNG, SVG)."),
    ] = None,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Estimate how many of the unlabelled rows of a table are positive."""
    with clean_errors():
        import warnings

        import torch

        from robustpu.estimation import PriorWarning, estimate_prior

        torch.set_num_threads(1)
        problem = read_problem(data, label, positive, id_column, drop, time_column)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always", PriorWarning)
            found = estimate_prior(
                problem.X, problem.y, method=method, scenario=scenario, random_state=seed
            )
        doubts = [str(own.message) for own in caught if issubclass(own.category, PriorWarning)]
        n_unlabeled = int((problem.y == 0).sum())
        if picture is not None:
            from robustpu.plots import draw_prior

            draw_prior(found, problem.y == 1, picture)
        if as_json:
            typer.echo(json.dumps(_plain(found, problem.y.sum(), n_unlabeled, doubts)))
            return
        if not quiet:
            for note in problem.notes:
                typer.echo(f"Note: {note}", err=True)
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
    counts = [round(own * n_unlabeled) for own in (found.value, found.low, found.high)]
    lines = [
        f"About {found.value:.1%} of the {n_unlabeled:,} unlabelled rows are positive: "
        f"{counts[0]:,} rows.",
        f"{found.level:.0%} interval: {found.low:.1%} to {found.high:.1%}, "
        f"{counts[1]:,} to {counts[2]:,} rows.",
    ]
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


def _strip(value: float, low: float | None = None, high: float | None = None) -> str:
    """Draw a number and its interval on a line from 0 to 1."""
    place = round(value * WIDTH)
    line = ["·"] * (WIDTH + 1)
    if low is not None and high is not None:
        first, last = round(low * WIDTH), round(high * WIDTH)
        line[first : last + 1] = "─" * (last + 1 - first)
    line[place] = "●" if low is not None else "○"
    return "".join(line)
