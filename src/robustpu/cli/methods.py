"""The list of methods."""

import json
from typing import Annotated

import typer

from robustpu.cli.errors import clean_errors


def methods(
    as_json: Annotated[
        bool, typer.Option("--json", metavar="", help="Print JSON, for programs.")
    ] = False,
) -> None:
    """List the methods: where they come from, what they need, and the time of a fit.

    The time is a multiple of that of pn.
    """
    with clean_errors():
        _list(as_json)


def _list(as_json: bool) -> None:
    from robustpu.methods import METHODS, fit_times

    times = fit_times()
    if as_json:
        rows = {
            name: {**method._asdict(), "file": f"{method.file}.py", "time": times.get(name)}
            for name, method in METHODS.items()
        }
        typer.echo(json.dumps(rows, indent=2))
        return
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, padding=(0, 1, 0, 0), pad_edge=False, header_style="bold")
    for heading in ("method", "class", "paper", "prior", "SCAR", "learner", "time"):
        table.add_column(heading, no_wrap=True, justify="right" if heading == "time" else "left")
    for name, method in METHODS.items():
        scar = "no" if method.labels == "biased" else "yes"
        time = f"{times[name]:g}x" if name in times else "-"
        # A terminal of 80 columns has no room for the ending that all classes share.
        kind = method.kind.removesuffix("Classifier")
        cells = (name, kind, method.paper, method.prior, scar, method.learner, time)
        table.add_row(*map(Text, cells))
    console = Console()
    console.print(table)
    console.print(
        "class: in robustpu, with the ending Classifier.\n"
        "prior: whether training needs the share of positives among the unlabelled rows; if you do "
        "not give it, it is estimated.\n"
        "SCAR: whether positives must be labelled completely at random.\n"
        "learner: what is trained; any stands for any scikit-learn classifier.\n"
        "time: of a fit of 1,200 rows with the defaults; 2x is twice that of pn.",
        highlight=False,
    )
