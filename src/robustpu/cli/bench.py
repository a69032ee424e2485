"""``robustpu bench``: experiments as files, run and reported."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NoReturn

import typer

from robustpu.cli.report import report

if TYPE_CHECKING:
    from robustpu.bench.plan import Cell
    from robustpu.bench.screen import Screen
    from robustpu.bench.train import Machine
    from robustpu.bench.workers import Crew

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
    workers: Annotated[
        int | None, typer.Option(min=1, help="Processes to share the cells.", show_default="1")
    ] = None,
    cluster: Annotated[
        str | None,
        typer.Option(
            help="Dask cluster to share the cells, instead of --workers: its address, such as "
            "tcp://host:8786, or local:4 for four processes here. --data-dir and --device are then "
            "those of its workers.",
        ),
    ] = None,
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
    if cluster is not None and workers is not None:
        _fail(
            "--workers are processes of this machine, and --cluster has workers of its own: give "
            "one of the two, or --cluster local:4 for four processes here.",
            2,
        )
    try:
        from robustpu.bench.refusals import absent
        from robustpu.bench.run import missing

        cells = _plan(files, only or [], trials)
        left = missing(cells, folder)
        needed = [cell.dataset for cell in left]
        # Of a cluster, the workers are asked.
        lacking = absent(needed, data_dir) if cluster is None else ""
        if dry_run:
            notes = [lacking]
            if cluster is not None:
                notes = [_check_cluster(cluster), "the time is that of one worker here."]
            # A device of the workers need not be here.
            _preview(cells, left, _device(device if cluster is None else "auto"), workers or 1)
            for note in filter(None, notes):
                typer.echo(f"Note: {note}", err=True)
            return
        if lacking:
            raise OSError(lacking)
        with _crew(cluster, device, data_dir, workers or 1, needed) as (machine, crew):
            failed = _run(cells, left, folder, machine, crew, quiet)
    except KeyboardInterrupt:
        typer.echo("Stopped. What was finished is kept; run again to go on.", err=True)
        raise typer.Exit(130) from None
    except (ValueError, OSError) as error:
        _fail(error, 1)
    raise typer.Exit(1 if failed else 0)


def _plan(files: Sequence[Path], only: Sequence[str], trials: int | None) -> list["Cell"]:
    """Read the files; what is wrong with them is the user's to mend."""
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
    from robustpu.neural import device_of

    try:
        return str(device_of(name))
    except ValueError as error:
        _fail(error, 2)


@contextmanager
def _crew(
    cluster: str | None, device: str, data_dir: Path | None, workers: int, needed: Sequence[str]
) -> Iterator[tuple["Machine", "int | Crew"]]:
    """Open what trains cells, if there are any, and say on what kind of machine."""
    from robustpu.bench.train import Machine

    if cluster is None:
        yield Machine(_device(device), data_dir), workers
        return
    machine = Machine(device, None if data_dir is None else data_dir.absolute())
    if not needed:
        yield machine, 1
        return
    if lacking := _check_cluster(cluster):
        _fail(lacking, 2)
    from robustpu.bench.connect import crew_at

    with crew_at(cluster, machine, needed, lambda line: typer.echo(line, err=True)) as crew:
        yield machine, crew


def _check_cluster(address: str) -> str:
    """Refuse an address that makes no sense; say so if Dask is not there."""
    try:
        from robustpu.bench.connect import processes

        processes(address)
    except ImportError as error:
        return f"--cluster needs Dask: pip install 'robustpu[dask]'. {error}"
    except ValueError as error:
        _fail(error, 2)
    return ""


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
    crew: "int | Crew",
    quiet: bool,
) -> int:
    """Run, sum up, and return the number of cells that failed."""
    from robustpu.bench.cost import loads, work
    from robustpu.bench.eta import many
    from robustpu.bench.run import Outcome, file_of, run
    from robustpu.bench.screen import open_screen

    def screen(left: Sequence["Cell"]) -> "Screen":
        amounts = {cell: work(own) for cell, own in zip(left, loads(left), strict=True)}
        workers = crew if isinstance(crew, int) else len(crew)
        return open_screen(amounts, max(1, workers), quiet)

    # A folder that cannot be written to is fine if there is nothing to write.
    outcome = run(list(left), folder, machine, crew, screen) if left else Outcome(0, 0)
    if not quiet:
        files = ", ".join(str(path) for path in sorted({file_of(cell, folder) for cell in cells}))
        typer.echo(
            f"{many(outcome.finished, 'cell')} finished, {outcome.failed} failed, "
            + (f"{outcome.taken} taken over from other results, " if outcome.taken else "")
            + f"{len(cells) - len(left)} were there already: {files}"
        )
    return outcome.failed


def _fail(error: Exception | str, status: int) -> NoReturn:
    typer.echo(f"Error: {error}", err=True)
    raise typer.Exit(status) from None
