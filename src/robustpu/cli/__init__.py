"""The command line. Everything heavy is imported by the command that needs it."""

import io
import sys
from pathlib import Path
from typing import Annotated

import typer

from robustpu import __version__
from robustpu.cli import bench, datasets
from robustpu.cli.compare import compare
from robustpu.cli.fit import fit
from robustpu.cli.inspect import inspect, report
from robustpu.cli.methods import methods
from robustpu.cli.predict import predict
from robustpu.cli.prior import prior
from robustpu.cli.rank import rank
from robustpu.cli.tables import EXIT_CODES

app = typer.Typer(
    help="Learn from positive and unlabelled data.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)
for command in (fit, predict, rank, prior, compare, report, inspect):
    app.command(epilog=EXIT_CODES)(command)
app.command()(methods)
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
        typer.Option("--version", callback=_show_version, is_eager=True, help="Show the version."),
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
        Path, typer.Option(dir_okay=False, help="Where to draw the weights, round by round.")
    ] = Path("robustpu-demo.png"),
) -> None:
    """Robust-PU against its baselines on the paper's spambase task, and what it does inside."""
    import torch

    from robustpu.demo import run

    # Two threads gain little on networks this small, and lose much where another program runs.
    torch.set_num_threads(1)
    try:
        run(prior=prior, trials=trials, seed=seed, picture=picture)
    except KeyboardInterrupt:
        typer.echo("Stopped.", err=True)
        raise typer.Exit(130) from None
    except (ValueError, OSError) as error:
        typer.echo(f"Error: {error}", err=True)
        raise typer.Exit(1) from None


def main() -> None:
    """Run the command line."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            # A terminal or pipe that cannot show a sign gets a question mark, not an error.
            stream.reconfigure(errors="replace")
    app()
