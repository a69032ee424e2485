"""``robustpu bench report``: result files in, tables out."""

import fnmatch
import json
from collections.abc import Iterable, Iterator
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from robustpu.cli.errors import clean_errors

if TYPE_CHECKING:
    from robustpu.bench.report.tables import Table

# Where results are looked for: those of this project's experiments, or of files in this folder.
PLACES = (Path("experiments/results"), Path("results"))


class Format(StrEnum):
    """What to write into the folder."""

    MARKDOWN = "markdown"
    HTML = "html"
    FIGURES = "figures"
    ALL = "all"


def report(
    paths: Annotated[
        list[Path] | None,
        typer.Argument(
            help="Result files (.jsonl), or folders of them.",
            show_default=" or ".join(map(str, PLACES)),
        ),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(
            file_okay=False, help="Folder to write the report into.", show_default="print it"
        ),
    ] = None,
    form: Annotated[
        Format | None,
        typer.Option("--format", help="What to write into --out.", show_default="all"),
    ] = None,
    only: Annotated[
        list[str] | None,
        typer.Option(
            help="Experiments to report, by name; * stands for anything. May be given more than "
            "once.",
            show_default="all",
        ),
    ] = None,
) -> None:
    """Report results: ours and the paper's side by side.

    The report depends on the result files only: the same files give the same report.
    """
    if form is not None and out is None:
        raise typer.BadParameter("there is nothing to write into: give --out too.")
    with clean_errors():
        from robustpu.bench.report.tables import tables

        paths = paths or [next((path for path in PLACES if path.is_dir()), PLACES[0])]
        records = [record for path in _files(paths) for record in _records(path)]
        if not records:
            raise ValueError("there are no results to report; `robustpu bench run` makes them.")
        records = _matching(records, only or ["*"])
        if out is None:
            from rich.console import Console

            from robustpu.bench.report.terminal import show

            show(tables(records), Console())
        else:
            # All files are written before any is printed: the reader of a pipe may have gone.
            for path in list(_write(tables(records), out, form or Format.ALL)):
                typer.echo(path)


def _files(paths: Iterable[Path]) -> list[Path]:
    """Find the result files, each once, sorted within a folder."""
    found: dict[Path, Path] = {}
    for path in paths:
        if not path.exists():
            raise FileNotFoundError(f"no such file or folder: {path}")
        for file in sorted(path.glob("*.jsonl")) if path.is_dir() else [path]:
            found.setdefault(file.resolve(), file)
    return list(found.values())


def _records(path: Path) -> list[dict[str, Any]]:
    from robustpu.bench.report.records import check
    from robustpu.bench.store import read

    if _foreign(path):
        typer.echo(f"Skipped {path}: its lines are not records of experiments.", err=True)
        return []
    records = read(path)
    for record in records:
        try:
            check(record)
        except ValueError as error:
            raise ValueError(
                f"{path} is damaged: {error}. Repair or remove the line; its trial is then run "
                "again."
            ) from None
    return records


def _matching(records: list[dict[str, Any]], patterns: Iterable[str]) -> list[dict[str, Any]]:
    """Keep the records of some experiments."""
    names = sorted({record["experiment"] for record in records})
    kept: set[str] = set()
    for pattern in patterns:
        found = fnmatch.filter(names, pattern)
        if not found:
            raise ValueError(f"no experiment matches {pattern!r}; there are {', '.join(names)}.")
        kept.update(found)
    return [record for record in records if record["experiment"] in kept]


def _foreign(path: Path) -> bool:
    """Whether the file holds JSON lines of something else; a damaged one is not foreign."""
    with path.open("rb") as file:
        line = file.readline()
        try:
            first = json.loads(line)
        except (ValueError, RecursionError):
            # The file of a run that has just started is empty.
            return False
    return not isinstance(first, dict) or "experiment" not in first


def _write(tables: "list[Table]", out: Path, form: Format) -> Iterator[Path]:
    from robustpu.bench.report.markdown import markdown
    from robustpu.bench.report.page import page

    if form in (Format.MARKDOWN, Format.ALL):
        yield _save(out / "report.md", markdown(tables))
    if form in (Format.HTML, Format.ALL):
        yield _save(out / "report.html", page(tables))
    if form in (Format.FIGURES, Format.ALL):
        yield from _draw(tables, out)


def _draw(tables: "list[Table]", out: Path) -> Iterator[Path]:
    from robustpu.bench.report.figures import comparison, sweep_curves
    from robustpu.bench.report.wording import stems

    for table, stem in zip(tables, stems(tables), strict=True):
        for kind, figure in (("comparison", comparison(table)), ("sweep", sweep_curves(table))):
            if figure:
                yield _save(out / f"{stem}-{kind}.svg", figure)


def _save(path: Path, text: str) -> Path:
    from robustpu.persist.places import whole

    path.parent.mkdir(parents=True, exist_ok=True)
    with whole(path) as draft:
        draft.write_text(text, encoding="utf-8", newline="\n")
    return path
