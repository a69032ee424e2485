"""``robustpu inspect`` and ``robustpu report``: what is in a model folder, and its page anew."""

import json
from pathlib import Path
from typing import Annotated, Any

import typer

from robustpu.cli.errors import clean_errors
from robustpu.cli.fit import summary
from robustpu.cli.options import Debug, Json, Model, Quiet
from robustpu.unseen import shown


def inspect(model: Model, as_json: Json = False, debug: Debug = False) -> None:
    """Tell what a model folder holds, after all of it was checked."""
    with clean_errors(debug):
        from dataclasses import asdict

        from robustpu.persist import describe
        from robustpu.study import open_study
        from robustpu.study.folder import damage_told

        study, folder = open_study(model), describe(model)
        if as_json:
            typer.echo(json.dumps({"folder": asdict(folder), "findings": study.findings}))
            return
        with damage_told(model):
            lines = _lines(study.findings, asdict(folder))
        typer.echo("\n".join(map(shown, lines)))


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
    """Draw the page of a model anew.

    The model folder is written as a whole with the new page, as its files are checked together.
    """
    with clean_errors(debug):
        from robustpu.page import render
        from robustpu.persist.places import check_file, check_folder, whole
        from robustpu.study import open_study
        from robustpu.study.folder import damage_told

        if out is None:
            check_folder(model)
        elif str(out) != "-":
            check_file(out)
        study = open_study(model)
        with damage_told(model):
            page = render(study.findings)
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


def _lines(found: dict[str, Any], folder: dict[str, Any]) -> list[str]:
    method, data = found["method"], found["data"]
    size = sum(folder["files"].values())
    changed = ", ".join(f"{name} {own}" for name, own in method["parameters"].items())
    written = ", ".join(f"{name} {own}" for name, own in folder["written_by"].items())
    return [
        f"{method['title']} ({method['class']}), fitted in {method['seconds']:,.0f} s on "
        f"{found['made'][:10]}",
        f"  parameters   {changed or 'the defaults'}",
        f"  scenario     {found['scenario']}",
        f"  threshold    {found['threshold']:.3g}: {found['answered_positive']:.1%} of the "
        "unlabelled rows are answered positive",
        f"  label        {data['label']}, {data['positive']} for positives",
        *([f"  id           {data['id']}"] if data["id"] else []),
        *([f"  time         {data['time']}"] if data["time"] else []),
        f"  files        {', '.join(folder['files'])}: {size / 1e6:,.1f} MB",
        f"  written by   {written}",
        f"  checksum     {folder['checksum']}",
        "",
        *summary(found),
        "",
        *_columns(found),
    ]


def _columns(found: dict[str, Any]) -> list[str]:
    """Each column in a line, the most important first."""
    order = {own["column"]: place for place, own in enumerate(found["importance"])}
    columns = sorted(found["columns"], key=lambda own: order.get(own["name"], len(order)))
    wide = min(28, max(len(own["name"]) for own in columns))
    lines = [f"{'column':{wide}}  kind       missing  what was done"]
    for own in columns:
        name = own["name"] if len(own["name"]) <= wide else own["name"][: wide - 1] + "…"
        lines.append(f"{name:{wide}}  {own['kind']:9}{own['missing']:>8.0%}   {own['done']}")
    return lines
