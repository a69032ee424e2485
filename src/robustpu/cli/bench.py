"""``robustpu bench``: experiments as files, run and reported."""

import shlex
from collections.abc import Collection, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NoReturn

import typer

from robustpu.cli.report import report

if TYPE_CHECKING:
    from robustpu.bench.plan import Cell
    from robustpu.bench.screen import Screen
    from robustpu.bench.train import Machine

app = typer.Typer(help="Run experiments, and report what came out.", no_args_is_help=True)
app.command()(report)


@app.command()
def run(
    files: Annotated[
        list[Path],
        typer.Argument(exists=True, dir_okay=False, help="Experiment files, TOML; one a table."),
    ],
    out: Annotated[
        Path | None,
        typer.Option(
            file_okay=False,
            help="Folder for the records.",
            show_default="results, beside the first file",
        ),
    ] = None,
    data_dir: Annotated[
        Path | None,
        typer.Option(file_okay=False, help="Folder of the data sets that are not bundled."),
    ] = None,
    device: Annotated[str, typer.Option(help="cpu, cuda, cuda:1..., or auto.")] = "auto",
    workers: Annotated[int, typer.Option(min=1, help="Processes to share the cells.")] = 1,
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
            help="So many trials instead of the file's; take another --out then.",
        ),
    ] = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Print the plan and its cost, and run nothing.")
    ] = False,
    quiet: Annotated[bool, typer.Option("--quiet", help="Show failures only.")] = False,
) -> None:
    """Run what is not finished of experiments.

    One JSON line a trial is appended to a file an experiment. A run that was stopped, in whatever
    way, goes on where it was when it is started again.
    """
    folder = out or files[0].parent / "results"
    try:
        from robustpu.bench.run import missing
        from robustpu.bench.train import Machine

        cells, place = _plan(files, only or [], trials, device)
        left = missing(cells, folder)
        absent = _absent(left, data_dir)
        if dry_run:
            _preview(cells, left, place, workers)
            if absent:
                typer.echo(f"Note: {absent}", err=True)
            return
        if absent:
            raise OSError(absent)
        failed = _run(cells, left, folder, Machine(place, data_dir), workers, quiet)
    except KeyboardInterrupt:
        typer.echo("Stopped. What was finished is kept; run again to go on.", err=True)
        raise typer.Exit(130) from None
    except (ValueError, OSError) as error:
        _fail(error, 1)
    raise typer.Exit(1 if failed else 0)


def _plan(
    files: Sequence[Path], only: Sequence[str], trials: int | None, device: str
) -> tuple[list["Cell"], str]:
    """Read the files, and find the device; what is wrong with either is the user's to mend."""
    from robustpu.bench.plan import load, matching
    from robustpu.neural import device_of

    try:
        stems = [path.stem for path in files]
        for place, stem in enumerate(stems):
            if stem in stems[:place]:
                raise ValueError(f"two files are named {stem!r}: their records would mix.")
        cells = [cell for path in files for cell in load(path, trials)]
        return matching(cells, only), str(device_of(device))
    except (ValueError, OSError) as error:
        _fail(error, 2)


def _absent(left: Iterable["Cell"], data_dir: Path | None) -> str:
    """Say which data sets are still needed and not there, before anything is trained."""
    from robustpu.datasets.catalogue import SOURCES
    from robustpu.datasets.folder import data_folder
    from robustpu.datasets.integrity import state

    root = data_folder(data_dir)
    needed = dict.fromkeys(cell.dataset for cell in left)
    states = {name: state(SOURCES[name], root) for name in needed}
    absent = {name: own for name, own in states.items() if own.startswith(("missing", "damaged"))}
    if not absent:
        return ""
    listed = [name if own == "missing" else f"{name} ({own})" for name, own in absent.items()]
    where = "" if data_dir is None else f" --data-dir {shlex.quote(str(data_dir))}"
    return (
        f"not in {root}: {', '.join(listed)}. Get them by `robustpu datasets fetch "
        f"{' '.join(absent)}{where}`, say where they are by --data-dir, or leave them out by "
        "--only."
    )


def _preview(
    cells: Sequence["Cell"], left: Mapping["Cell", object], device: str, workers: int
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
    from robustpu.bench.eta import many
    from robustpu.bench.run import Outcome, file_of, run
    from robustpu.bench.screen import open_screen

    def screen(left: Sequence["Cell"]) -> "Screen":
        amounts = {cell: work(own) for cell, own in zip(left, loads(left), strict=True)}
        return open_screen(amounts, workers, quiet)

    # A folder that cannot be written to is fine if there is nothing to write.
    outcome = run(list(left), folder, machine, workers, screen) if left else Outcome(0, 0)
    if not quiet:
        files = ", ".join(str(path) for path in sorted({file_of(cell, folder) for cell in cells}))
        typer.echo(
            f"{many(outcome.finished, 'cell')} finished, {outcome.failed} failed, "
            + (f"{outcome.taken} taken over from other results, " if outcome.taken else "")
            + f"{len(cells) - len(left)} were there already: {files}"
        )
    return outcome.failed


def _fail(error: Exception, status: int) -> NoReturn:
    typer.echo(f"Error: {error}", err=True)
    raise typer.Exit(status) from None
