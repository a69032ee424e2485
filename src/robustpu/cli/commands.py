"""All commands. Everything heavy is imported by the command that needs it."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import HAS_RICH, TyperGroup

from robustpu import __version__
from robustpu.cli import bench, datasets
from robustpu.cli.compare import compare
from robustpu.cli.errors import EXIT_CODES, clean_errors
from robustpu.cli.fit import fit
from robustpu.cli.inspect import inspect, report
from robustpu.cli.methods import methods
from robustpu.cli.next import next_rows
from robustpu.cli.outputs import check_picture
from robustpu.cli.predict import predict
from robustpu.cli.prior import prior
from robustpu.cli.rank import rank
from robustpu.cli.sample import sample

# Words in backticks stay as they are: they are shown as code.
MARKS = re.compile(r"`[^`]*`|[\\*_\[\]<>]")


def as_written(text: str) -> str:
    """A text that Markdown shows as it is here.

    Parameters
    ----------
    text
        A help text.

    Examples
    --------
    >>> print(as_written("such as mnist/*/0.2/* or plot[0], see `a_b`"))
    such as mnist/\\*/0.2/\\* or plot\\[0\\], see `a_b`
    """
    return MARKS.sub(lambda found: found[0] if found[0][0] == "`" else f"\\{found[0]}", text)


class Group(TyperGroup):
    """A group that shows help texts as they were written."""

    def __init__(self, **given: Any) -> None:
        super().__init__(**given)
        # Without Rich the texts are not read as Markdown.
        for item in _with_help(self) if HAS_RICH else ():
            if getattr(item, "help", None):
                item.help = as_written(item.help)


def _with_help(command: Any) -> Iterator[Any]:
    """A command, its parameters and all commands below it."""
    yield from (command, *command.params)
    for inner in getattr(command, "commands", {}).values():
        yield from _with_help(inner)


app = typer.Typer(
    cls=Group,
    help="Learn from positive and unlabelled data.",
    epilog=EXIT_CODES,
    invoke_without_command=True,
    add_completion=False,
    # Lines of a paragraph flow into one another.
    rich_markup_mode="markdown",
    pretty_exceptions_enable=False,
)
for command in (fit, rank, predict, next_rows, compare, prior, inspect, report, methods, sample):
    app.command("next" if command is next_rows else None)(command)
app.add_typer(bench.app, name="bench")
app.add_typer(datasets.app, name="datasets")


def _show_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"robustpu {__version__}")
        raise typer.Exit


# What most people need, in this order.
FIRST = """\
robustpu finds the positives that hide in a table, from some that are known.

  robustpu fit claims.csv --label fraud --id claim --out model
      learns from the known positives; model/report.html says how well
  robustpu rank model claims.csv --top 100 --out list.csv
      the unlabelled rows that are most likely positive, and why
  robustpu predict model new.csv --out scored.csv
      a score for every row of a table of any length

robustpu sample claims.csv writes a table to try this on.
All commands: robustpu --help"""


@app.callback()
def root(
    context: typer.Context,
    version: Annotated[
        bool,
        typer.Option(
            "--version", metavar="", callback=_show_version, is_eager=True, help="Show the version."
        ),
    ] = False,
) -> None:
    """Learn from positive and unlabelled data."""
    if context.invoked_subcommand is None:
        typer.echo(FIRST)


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
    """Robust-PU, its baselines and the default ensemble on the paper's spambase task."""
    with clean_errors():
        import torch

        from robustpu.bench.demo import run

        # Without matplotlib, which is an extra, the demo runs all the same.
        check_picture(picture)
        # Two threads gain little on networks this small, and lose much next to other programs.
        torch.set_num_threads(1)
        run(prior=prior, trials=trials, seed=seed, picture=picture)
