"""The plan and its cost, for people, before anything is trained."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from itertools import chain

from rich.box import SIMPLE
from rich.console import Console
from rich.table import Table
from rich.text import Text

from robustpu.bench.cost import Load, loads, seconds
from robustpu.bench.eta import duration, many
from robustpu.bench.machine import device_name
from robustpu.bench.plan import Cell, in_parts
from robustpu.neural import NeuralPUClassifier


def show(
    cells: Sequence[Cell],
    left: Mapping[Cell, frozenset[int]],
    device: str,
    workers: int,
    console: Console,
) -> None:
    """Print a row a data set and method, and what all of them cost together.

    Parameters
    ----------
    cells
        The plan.
    left
        Those of its cells that are not finished, and their trials that are missing.
    device
        Where the time is measured.
    workers
        Processes that share the work.
    console
        Where to print.
    """
    # Cells that share a training cost it once: the first of them gets it.
    shared = in_parts(left)
    unclaimed: defaultdict[str, list[Load]] = defaultdict(list)
    for part, costs in zip(shared, loads(shared), strict=True):
        unclaimed[part.training] += costs
    fleets = {cell: unclaimed.pop(cell.training, []) for cell in left}
    took = {cell: seconds(own, device) for cell, own in fleets.items()}
    for name in dict.fromkeys(cell.experiment for cell in cells):
        own = [cell for cell in cells if cell.experiment == name]
        console.print(_table(own, fleets, took))
    console.print(_totals(cells, fleets), soft_wrap=True, highlight=False)
    if took:
        # No run is shorter than its longest cell.
        wall = max(sum(took.values()) / workers, *took.values())
        console.print(
            f"About {duration(wall)} on this {device_name(device)}"
            + (f" with {workers} workers" if workers > 1 else "")
            + ", if no network stops early. An estimate, from a few steps of such fleets.",
            soft_wrap=True,
            highlight=False,
        )


def _table(
    cells: Sequence[Cell], fleets: Mapping[Cell, list[Load]], took: Mapping[Cell, float]
) -> Table:
    table = Table(title=Text(cells[0].title), title_justify="left", box=SIMPLE, pad_edge=False)
    table.padding = (0, 0, 0, 1)
    for heading in ("data set", "method"):
        table.add_column(heading)
    headings = ("cells", "done", "settings", "networks", "epochs", "time")
    for heading in headings:
        table.add_column(heading, justify="right")
    for dataset, method in dict.fromkeys((cell.dataset, cell.method) for cell in cells):
        own = [cell for cell in cells if (cell.dataset, cell.method) == (dataset, method)]
        to_do = [cell for cell in own if cell in fleets]
        load = list(chain.from_iterable(fleets[cell] for cell in to_do))
        # What a method without networks costs is not known beforehand.
        is_neural = isinstance(own[0].blank(), NeuralPUClassifier)
        table.add_row(
            dataset,
            Text(method),
            str(len(own)),
            str(len(own) - len(to_do)),
            str(len(own[0].candidates)),
            f"{sum(fleet.networks for fleet in load):,}",
            f"{sum(fleet.epochs for fleet in load):,}",
            duration(sum(took[cell] for cell in to_do)) if is_neural or not to_do else "?",
        )
    return table


def _totals(cells: Sequence[Cell], fleets: Mapping[Cell, list[Load]]) -> str:
    load = list(chain.from_iterable(fleets.values()))
    rows = sum(fleet.epochs * fleet.rows for fleet in load)
    networks = sum(fleet.networks for fleet in load)
    return (
        f"{many(len(cells), 'cell')}, {len(cells) - len(fleets)} of them finished. To do: "
        f"{many(len(fleets), 'cell')}, {many(networks, 'network')} in {many(len(load), 'fleet')}, "
        f"{sum(fleet.epochs for fleet in load):,} epochs of single networks, {rows:,} rows in all "
        "these epochs."
    )
