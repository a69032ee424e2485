"""robustpu datasets: list, verify and fetch data sets."""

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from robustpu.datasets.download import Report
    from robustpu.datasets.integrity import Finding
    from robustpu.datasets.sources import Source

app = typer.Typer(
    help="List, fetch and check data sets.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
)

DataDir = Annotated[
    Path | None,
    typer.Option(
        envvar="ROBUSTPU_DATA",
        show_envvar=True,
        file_okay=False,
        help="The folder with one folder per data set. Default: a folder in your cache.",
    ),
]


@app.command("list")
def list_(data_dir: DataDir = None) -> None:
    """Show every data set: its size, its positives, its licence, and whether it is here.

    Only file sizes are checked; `verify` compares checksums.
    """
    from rich import box
    from rich.console import Console
    from rich.table import Table

    from robustpu.datasets.catalogue import SOURCES
    from robustpu.datasets.folder import data_folder
    from robustpu.datasets.integrity import state

    root = data_folder(data_dir)
    table = Table(box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0), pad_edge=False)
    table.add_column("name", no_wrap=True)
    table.add_column("rows", justify="right", no_wrap=True)
    table.add_column("shape", justify="right", no_wrap=True)
    table.add_column("positives")
    table.add_column("licence")
    table.add_column("state")
    for source in SOURCES.values():
        table.add_row(
            source.name,
            f"{source.rows:,}",
            "x".join(map(str, source.shape)),
            f"{source.positives:,} {source.classes[1]}",
            source.licence,
            state(source, root),
        )
    Console().print(table)
    typer.echo(f"Data folder: {root}")


@app.command()
def fetch(
    names: Annotated[list[str], typer.Argument(metavar="NAME", help="Names from `list`.")],
    data_dir: DataDir = None,
    force: Annotated[
        bool, typer.Option("--force", metavar="", help="Fetch files again that are already here.")
    ] = False,
) -> None:
    """Download data sets from their official sources.

    Files are verified before they get their names; a stopped fetch is resumed.
    """
    from robustpu.datasets.folder import data_folder

    root = data_folder(data_dir)
    good = True
    for source in _find(names):
        with _errors(f"{source.name}: ") as trouble:
            good &= _fetch(source, root, force)
        good &= not trouble
    raise typer.Exit(0 if good else 1)


@app.command()
def verify(
    names: Annotated[
        list[str] | None,
        typer.Argument(metavar="NAME", help="Names from `list`; default: all that are here."),
    ] = None,
    data_dir: DataDir = None,
) -> None:
    """Compare every file with the official checksum; pictures without one are decoded.

    Ends with 1 if a file is missing, damaged, or differs from the official one.
    """
    from robustpu.datasets.catalogue import SOURCES
    from robustpu.datasets.folder import data_folder
    from robustpu.datasets.integrity import state
    from robustpu.datasets.integrity import verify as verify_set

    root = data_folder(data_dir)
    sources = _find(names or list(SOURCES))
    good, verdicts = True, Counter[str]()
    for source in sources:
        if not names and state(source, root) == "missing":
            continue
        with _errors(f"{source.name}: ") as trouble:
            for finding in verify_set(source, root):
                _show(source, finding)
                verdicts[finding.verdict] += 1
                good &= finding.verdict == "good"
        good &= not trouble
    counts = ", ".join(f"{count} {verdict}" for verdict, count in verdicts.items())
    typer.echo(f"{counts or 'No data set is here'}: {root}")
    raise typer.Exit(0 if good else 1)


@app.command()
def path(
    name: Annotated[str | None, typer.Argument(metavar="NAME", help="A name from `list`.")] = None,
    data_dir: DataDir = None,
) -> None:
    """Print the data folder, or the folder where a data set is looked for."""
    from robustpu.datasets.folder import data_folder

    root = data_folder(data_dir)
    if name is None:
        typer.echo(root)
        return
    (source,) = _find([name])
    if not source.folder:
        typer.echo(f"Error: {name} is part of {source.bundled} and has no folder", err=True)
        raise typer.Exit(1)
    typer.echo(root / source.folder)


def _find(names: list[str]) -> list["Source"]:
    from robustpu.datasets.catalogue import find

    try:
        return [find(name) for name in dict.fromkeys(names)]
    except ValueError as error:
        raise typer.BadParameter(str(error)) from None


def _fetch(source: "Source", root: Path, force: bool) -> bool:
    """Fetch a data set, and return whether it is here."""
    from robustpu.datasets.fetching import fetch
    from robustpu.datasets.integrity import state

    folder = root / source.folder
    if source.bundled:
        typer.echo(f"{source.name} comes with {source.bundled}: there is nothing to fetch.")
        return True
    if source.manual:
        found = state(source, root)
        if found == "present":
            typer.echo(f"{source.name} is in {folder}.")
            return True
        typer.echo(f"{source.name} is {found}. {source.manual.format(folder=folder, root=root)}")
        return False
    with _bar(source.name) as report:
        came = fetch(source, root, report=report, force=force)
    what = f"{len(came)} of {len(source.files)} files came" if came else "nothing to do"
    typer.echo(f"{source.name} is in {folder}: {what}.")
    return True


def _show(source: "Source", finding: "Finding") -> None:
    why = f": {finding.why}" if finding.why else ""
    typer.echo(f"{finding.verdict:8} {source.name:16} {finding.path}{why}")


@contextmanager
def _bar(title: str) -> Iterator["Report"]:
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        DownloadColumn,
        Progress,
        TextColumn,
        TimeRemainingColumn,
        TransferSpeedColumn,
    )

    with Progress(
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        DownloadColumn(),
        TransferSpeedColumn(),
        TimeRemainingColumn(),
        console=Console(stderr=True),
        transient=True,
    ) as progress:
        tasks = {}

        def report(what: str, done: int, total: int) -> None:
            if what not in tasks:
                tasks[what] = progress.add_task(f"{title}: {what}", total=total)
            progress.update(tasks[what], completed=done)

        yield report


@contextmanager
def _errors(prefix: str) -> Iterator[list[Exception]]:
    """Print errors in one line; the list collects them."""
    trouble: list[Exception] = []
    try:
        yield trouble
    except KeyboardInterrupt:
        typer.echo("Stopped.", err=True)
        raise typer.Exit(130) from None
    except BrokenPipeError:
        # The output was closed, which is not an error of the data set.
        raise
    except (OSError, ImportError) as error:
        trouble.append(error)
        typer.echo(f"Error: {prefix}{error}", err=True)
