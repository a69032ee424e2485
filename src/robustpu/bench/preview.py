"""The plan and its cost, printed before anything is trained."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from itertools import chain

from rich.box import SIMPLE
from rich.console import Console
from rich.table import Table
from rich.text import Text

from robustpu.base.neural import NeuralPUClassifier
from robustpu.bench.cost import Load, loads, seconds
from robustpu.bench.machine import device_name
from robustpu.bench.plan import Cell, in_parts
from robustpu.charts.wording import counted, duration


def show(
    cells: Sequence[Cell],
    left: Mapping[Cell, frozenset[int]],
    device: str,
    workers: int,
    console: Console,
) -> None:
    """Print one row per data set and method, and the total cost.

    Parameters
    ----------
    cells
        The plan.
    left
        Its unfinished cells, and their missing trials.
    device
        Where the time is measured.
    workers
        Processes that share the work.
    console
        Where to print.
    """
    # A training that several cells share is counted with the first of them.
    shared = in_parts(left, device)
    unclaimed: defaultdict[str, list[Load]] = defaultdict(list)
    for part, costs in zip(shared, loads(shared), strict=True):
        unclaimed[part.training] += costs
    fleets = {cell: unclaimed.pop(cell.training, []) for cell in left}
    took = {cell: seconds(costs, device) for cell, costs in fleets.items()}
    for name in dict.fromkeys(cell.experiment for cell in cells):
        of_experiment = [cell for cell in cells if cell.experiment == name]
        console.print(_table(of_experiment, fleets, took))
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
        row = [cell for cell in cells if (cell.dataset, cell.method) == (dataset, method)]
        to_do = [cell for cell in row if cell in fleets]
        load = list(chain.from_iterable(fleets[cell] for cell in to_do))
        # The cost of a method without networks is unknown.
        is_neural = isinstance(row[0].blank(), NeuralPUClassifier) or bool(load)
        table.add_row(
            dataset,
            Text(method),
            str(len(row)),
            str(len(row) - len(to_do)),
            str(len(row[0].candidates)),
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
        f"{counted(len(cells), 'cell')}, {len(cells) - len(fleets)} of them finished. To do: "
        f"{counted(len(fleets), 'cell')}, {counted(networks, 'network')} in "
        f"{counted(len(load), 'fleet')}, "
        f"{sum(fleet.epochs for fleet in load):,} epochs of single networks over {rows:,} "
        "rows in total."
    )
