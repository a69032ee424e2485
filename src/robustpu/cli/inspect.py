"""``robustpu inspect`` and ``robustpu report``: what is in a model folder, and its page."""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from robustpu.cli.errors import clean_errors
from robustpu.cli.options import Debug, Json, Model, Quiet
from robustpu.cli.summary import summary
from robustpu.cli.tables import check_model
from robustpu.validation.sanitize import shown

if TYPE_CHECKING:
    from robustpu.results import Results


def inspect(model: Model, as_json: Json = False, debug: Debug = False) -> None:
    """Show what a model folder holds, after checking all of it."""
    with clean_errors(debug):
        check_model(model)
        # Takes seconds, so a wrong name is answered first.
        from dataclasses import asdict

        from robustpu.persist import describe
        from robustpu.workflow import open_study

        study, folder = open_study(model), asdict(describe(model))
        if as_json:
            typer.echo(json.dumps({"folder": folder, "results": study.results.to_json()}))
            return
        typer.echo("\n".join(map(shown, _lines(study.results, folder))))


def report(
    model: Model,
    out: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="File to write the page to; - prints it.",
            show_default="the one in the folder",
        ),
    ] = None,
    quiet: Quiet = False,
    debug: Debug = False,
) -> None:
    """Draw the page of a model again.

    The whole model folder is written with the new page, since its files are checked together.
    """
    with clean_errors(debug):
        check_model(model)
        from robustpu.persist.places import check_file, check_folder, whole
        from robustpu.report import render
        from robustpu.workflow import open_study

        if out is None:
            check_folder(model)
        elif str(out) != "-":
            check_file(out)
        study = open_study(model)
        page = render(study.results)
        if str(out) == "-":
            typer.echo(page, nl=False)
            return
        if out is None:
            study.save(model, overwrite=True)
        else:
            with whole(out) as draft:
                draft.write_text(page, encoding="utf-8", newline="\n")
        if not quiet:
            typer.echo(f"Page: {out or model / 'report.html'}")


def _lines(results: "Results", folder: dict[str, Any]) -> list[str]:
    method, data = results.method, results.data
    size = sum(folder["files"].values())
    changed = ", ".join(f"{name} {value}" for name, value in method.parameters.items())
    written = ", ".join(f"{name} {version}" for name, version in folder["written_by"].items())
    return [
        f"{method.title} ({method.class_name}), fitted in {method.seconds:,.0f} s on "
        f"{results.made[:10]}",
        f"  parameters   {changed or 'the defaults'}",
        f"  scenario     {results.scenario}",
        f"  threshold    {results.threshold:.3g}: {results.flagged:.1%} of the unlabelled rows are "
        "flagged",
        f"  label        {data.label}, {data.positive} for positives",
        *([f"  id           {data.id}"] if data.id else []),
        *([f"  time         {data.time}"] if data.time else []),
        f"  files        {', '.join(folder['files'])}: {size / 1e6:,.1f} MB",
        f"  written by   {written}",
        f"  checksum     {folder['checksum']}",
        "",
        *summary(results),
        "",
        *_columns(results),
    ]


def _columns(results: "Results") -> list[str]:
    """Each column in a line, the most important first."""
    order = {each.column: place for place, each in enumerate(results.importance)}
    columns = sorted(results.columns, key=lambda column: order.get(column.name, len(order)))
    wide = min(28, max((len(column.name) for column in columns), default=6))
    lines = [f"{'column':{wide}}  kind       missing  what was done"]
    for column in columns:
        name = column.name if len(column.name) <= wide else column.name[: wide - 1] + "…"
        lines.append(f"{name:{wide}}  {column.kind:9}{column.missing:>8.0%}   {column.done}")
    return lines
