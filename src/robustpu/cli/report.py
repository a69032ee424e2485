"""``robustpu bench report``: result files in, tables out."""

import fnmatch
import json
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from robustpu.cli.errors import clean_errors

if TYPE_CHECKING:
    from robustpu.report.tables import Table

# Where results are looked for: those of this project's experiments, or of files in this folder.
PLACES = (Path("experiments/results"), Path("results"))


class Format(StrEnum):
    """What to write into the folder."""

    MARKDOWN = "markdown"
    LATEX = "latex"
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

    A report is made of the result files and nothing else: the same files give the same report.
    """
    if form is not None and out is None:
        raise typer.BadParameter("there is nothing to write into: give --out too.")
    with clean_errors():
        from robustpu.report.tables import tables

        paths = paths or [next((path for path in PLACES if path.is_dir()), PLACES[0])]
        records = [record for path in _files(paths) for record in _records(path)]
        if not records:
            raise ValueError("there are no results to report; `robustpu bench run` makes them.")
        records = _matching(records, only or ["*"])
        if out is None:
            from rich.console import Console

            from robustpu.report.terminal import show

            show(tables(records), Console())
        else:
            # Written before any is named: nobody may be there to read the names.
            for path in list(_write(tables(records), out, form or Format.ALL)):
                typer.echo(path)


def _files(paths: Iterable[Path]) -> list[Path]:
    """Find the result files, each once, those of a folder by name."""
    found: dict[Path, Path] = {}
    for path in paths:
        if not path.exists():
            raise FileNotFoundError(f"no such file or folder: {path}")
        for file in sorted(path.glob("*.jsonl")) if path.is_dir() else [path]:
            found.setdefault(file.resolve(), file)
    return list(found.values())


def _records(path: Path) -> list[dict[str, Any]]:
    from robustpu.bench.store import read
    from robustpu.report.tables import check

    if _foreign(path):
        typer.echo(f"Skipped {path}: its lines are no records of experiments.", err=True)
        return []
    records = read(path)
    for record in records:
        try:
            check(record)
        except ValueError as error:
            raise ValueError(
                f"{path} is damaged: {error}. Mend or remove the line; what it held is then run "
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
            # A run that has just begun has an empty file.
            return False
    return not isinstance(first, dict) or "experiment" not in first


def _write(tables: "list[Table]", out: Path, form: Format) -> Iterator[Path]:
    from robustpu.persist.places import whole
    from robustpu.report.latex import latex
    from robustpu.report.markdown import markdown
    from robustpu.report.page import page

    out.mkdir(parents=True, exist_ok=True)
    texts: dict[Format, tuple[str, Callable[[list[Table]], str]]] = {
        Format.MARKDOWN: ("report.md", markdown),
        Format.LATEX: ("tables.tex", latex),
        Format.HTML: ("report.html", page),
    }
    for kind, (name, render) in texts.items():
        if form in (kind, Format.ALL):
            with whole(out / name) as draft:
                draft.write_text(render(tables), encoding="utf-8", newline="\n")
            yield out / name
    if form in (Format.FIGURES, Format.ALL):
        yield from _draw(tables, out)


def _draw(tables: "list[Table]", out: Path) -> Iterator[Path]:
    from importlib.util import find_spec

    from robustpu.persist.places import whole
    from robustpu.report.figures import draw_comparison, draw_sweep
    from robustpu.report.wording import stems

    if find_spec("matplotlib") is None:
        typer.echo("For the figures: pip install 'robustpu[plot]'", err=True)
        return
    for table, stem in zip(tables, stems(tables), strict=True):
        for kind, draw in (("comparison", draw_comparison), ("sweep", draw_sweep)):
            path = out / f"{stem}-{kind}.png"
            with suppress(_NotDrawnError):
                with whole(path) as draft:
                    if not draw(table, draft):
                        raise _NotDrawnError
                yield path


class _NotDrawnError(Exception):
    """There is no such figure of a table: what is there stays."""
