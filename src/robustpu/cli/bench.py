"""``robustpu bench``: run experiments and report their results."""

from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NoReturn

import typer

from robustpu.cli.report import report

if TYPE_CHECKING:
    from robustpu.bench.plan import Cell
    from robustpu.bench.screen import Screen
    from robustpu.bench.train import Machine

app = typer.Typer(help="Run experiments, and report their results.", no_args_is_help=True)
app.command()(report)


@app.command()
def run(
    files: Annotated[
        list[Path],
        typer.Argument(exists=True, dir_okay=False, help="Experiment files, TOML; one per table."),
    ],
    out: Annotated[
        Path | None,
        typer.Option(
            file_okay=False,
            help="Folder for the records.",
            show_default="results, next to the first file",
        ),
    ] = None,
    data_dir: Annotated[
        Path | None,
        typer.Option(file_okay=False, help="Folder of the data sets that are not bundled."),
    ] = None,
    device: Annotated[str, typer.Option(help="cpu, cuda, cuda:1..., or auto.")] = "auto",
    workers: Annotated[int, typer.Option(min=1, help="Processes that share the cells.")] = 1,
    only: Annotated[
        list[str] | None,
        typer.Option(
            help="Run the cells that this matches: dataset/method/prior/selection, such as "
            "'mnist/*/0.2/*'. May be given several times."
        ),
    ] = None,
    trials: Annotated[
        int | None,
        typer.Option(
            min=1,
            max=10_000,
            help="Number of trials, instead of the file's; use another --out then.",
        ),
    ] = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Print the plan and its cost without running it.")
    ] = False,
    quiet: Annotated[bool, typer.Option("--quiet", help="Show failures only.")] = False,
) -> None:
    """Run the unfinished cells of experiments.

    Each trial is appended as a JSON line to the file of its experiment. A run that was stopped or
    killed continues where it was when it is started again.
    """
    folder = out or files[0].parent / "results"
    try:
        from robustpu.bench.refusals import absent
        from robustpu.bench.run import missing
        from robustpu.bench.train import Machine

        cells = _plan(files, only or [], trials)
        left = missing(cells, folder)
        machine = Machine(_device(device), data_dir)
        lacking = absent([cell.dataset for cell in left], data_dir)
        if dry_run:
            _preview(cells, left, machine.device, workers)
            if lacking:
                typer.echo(f"Note: {lacking}", err=True)
            return
        if lacking:
            raise OSError(lacking)
        failed = _run(cells, left, folder, machine, workers, quiet)
    except KeyboardInterrupt:
        typer.echo("Stopped. What was finished is kept; run again to continue.", err=True)
        raise typer.Exit(130) from None
    except (ValueError, OSError) as error:
        _fail(error, 1)
    raise typer.Exit(1 if failed else 0)


def _plan(files: Sequence[Path], only: Sequence[str], trials: int | None) -> list["Cell"]:
    """Read the files; mistakes in them are usage errors."""
    from robustpu.bench.plan import load, matching

    try:
        stems = [path.stem for path in files]
        for place, stem in enumerate(stems):
            if stem in stems[:place]:
                raise ValueError(f"two files are named {stem!r}: their records would mix.")
        return matching([cell for path in files for cell in load(path, trials)], only)
    except (ValueError, OSError) as error:
        _fail(error, 2)


def _device(name: str) -> str:
    """Find a device of this machine."""
    from robustpu.base.neural import device_of

    try:
        return str(device_of(name))
    except ValueError as error:
        _fail(error, 2)


def _preview(
    cells: Sequence["Cell"], left: Mapping["Cell", frozenset[int]], device: str, workers: int
) -> None:
    import torch
    from rich.console import Console

    from robustpu.bench.preview import show

    if device == "cpu":
        torch.set_num_threads(1)
    show(cells, left, device, workers, Console())


def _run(
    cells: Sequence["Cell"],
    left: Collection["Cell"],
    folder: Path,
    machine: "Machine",
    workers: int,
    quiet: bool,
) -> int:
    """Run, sum up, and return the number of cells that failed."""
    from robustpu.bench.cost import loads, work
    from robustpu.bench.run import Outcome, file_of, run
    from robustpu.bench.screen import open_screen
    from robustpu.charts.wording import counted

    def screen(left: Sequence["Cell"]) -> "Screen":
        amounts = {cell: work(fleets) for cell, fleets in zip(left, loads(left), strict=True)}
        return open_screen(amounts, workers, quiet)

    # Without anything to write the folder may be read-only.
    outcome = run(list(left), folder, machine, workers, screen) if left else Outcome(0, 0)
    if not quiet:
        files = ", ".join(str(path) for path in sorted({file_of(cell, folder) for cell in cells}))
        typer.echo(
            f"{counted(outcome.finished, 'cell')} finished, {outcome.failed} failed, "
            + (f"{outcome.taken} taken over from other results, " if outcome.taken else "")
            + f"{len(cells) - len(left)} finished before: {files}"
        )
    return outcome.failed


def _fail(error: Exception | str, status: int) -> NoReturn:
    typer.echo(f"Error: {error}", err=True)
    raise typer.Exit(status) from None
