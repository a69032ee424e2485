"""All commands. Everything heavy is imported by the command that needs it."""

from pathlib import Path
from typing import Annotated

import typer

from robustpu import __version__
from robustpu.cli import bench, datasets
from robustpu.cli.compare import compare
from robustpu.cli.errors import EXIT_CODES, clean_errors
from robustpu.cli.fit import fit
from robustpu.cli.inspect import inspect, report
from robustpu.cli.methods import methods
from robustpu.cli.outputs import check_picture
from robustpu.cli.predict import predict
from robustpu.cli.prior import prior
from robustpu.cli.rank import rank

app = typer.Typer(
    help="Learn from positive and unlabelled data.",
    epilog=EXIT_CODES,
    no_args_is_help=True,
    add_completion=False,
    # Lines of a paragraph flow into one another.
    rich_markup_mode="markdown",
    pretty_exceptions_enable=False,
)
for command in (fit, predict, rank, prior, compare, report, inspect, methods):
    app.command()(command)
app.add_typer(bench.app, name="bench")
app.add_typer(datasets.app, name="datasets")


def _show_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"robustpu {__version__}")
        raise typer.Exit


@app.callback()
def root(
    version: Annotated[
        bool,
        typer.Option(
            "--version", metavar="", callback=_show_version, is_eager=True, help="Show the version."
        ),
    ] = False,
) -> None:
    """Learn from positive and unlabelled data."""


@app.command()
def demo(
    prior: Annotated[
        float,
        typer.Option(min=0.05, max=0.75, help="Share of positives among the unlabelled rows."),
    ] = 0.4,
    trials: Annotated[int, typer.Option(min=1, max=100, help="Random splits to average over.")] = 3,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the first split.")] = 0,
    picture: Annotated[
        Path, typer.Option(metavar="FILE", help="Where to draw the weights, round by round.")
    ] = Path("robustpu-demo.png"),
) -> None:
    """Robust-PU against its baselines on the paper's spambase task, and what it does inside."""
    with clean_errors():
        import torch

        from robustpu.demo import run

        check_picture(picture)
        # Two threads gain little on networks this small, and lose much where another program runs.
        torch.set_num_threads(1)
        run(prior=prior, trials=trials, seed=seed, picture=picture)
