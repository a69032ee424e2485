"""How often each method is lowest, among methods of its kind and on cells that all of them have."""

from dataclasses import dataclass
from typing import TypeAlias

from robustpu.bench.report.kinds import Kind
from robustpu.bench.report.tables import Table
from robustpu.charts.wording import listed

Place: TypeAlias = tuple[str, float]  # data set, prior


@dataclass(frozen=True)
class Lowest:
    """How often each method of a kind has the lowest mean error.

    Parameters
    ----------
    kind
        Of all methods that are counted.
    compared, left_out
        Data sets and priors where all of them have the same trials, and those where not.
    counts
        Method -> number of compared cells where no other has a lower mean. Means are not rounded
        as in print; equal ones count for each.
    """

    kind: Kind
    compared: tuple[Place, ...]
    left_out: tuple[Place, ...]
    counts: dict[str, int]

    @property
    def descending(self) -> list[tuple[str, int]]:
        """Methods and their counts, the highest first."""
        return sorted(self.counts.items(), key=lambda pair: -pair[1])

    @property
    def cells(self) -> str:
        """What was compared."""
        count, total = len(self.compared), len(self.compared) + len(self.left_out)
        of = f"{total}" if count == total else f"{count} of {total}"
        return f"{of} {'cell' if total == 1 else 'cells'} where {self.methods} have the same trials"

    @property
    def methods(self) -> str:
        """Which methods were compared."""
        count = len(self.counts)
        return f"{'both' if count == 2 else f'all {count}'} {self.kind}s"


def lowest(table: Table) -> list[Lowest]:
    """Count how often each method is lowest.

    Parameters
    ----------
    table
        The table.

    Returns
    -------
    counts
        One per kind that has two methods or more.
    """
    found = []
    for kind in Kind:
        names = [method.key for method in table.methods if method.kind is kind]
        if len(names) > 1:
            found.append(_count(table, kind, names))
    return found


def sentences(table: Table) -> list[str]:
    """Say how often each method is lowest, and which cells are left out.

    Parameters
    ----------
    table
        The table.

    Returns
    -------
    sentences
        One per kind that has two methods or more.
    """
    return [_sentence(table, found) for found in lowest(table)]


def left_out(found: Lowest) -> str:
    """Name the cells that are not compared.

    Parameters
    ----------
    found
        The counts of a kind.

    Returns
    -------
    sentence
        Empty where all cells are compared.
    """
    if not found.left_out:
        return ""
    priors: dict[str, list[str]] = {}
    for dataset, prior in found.left_out:
        priors.setdefault(dataset, []).append(f"{prior:g}")
    whole = {dataset for dataset, _ in found.left_out} - {dataset for dataset, _ in found.compared}
    names = [
        dataset if dataset in whole else f"{dataset} at {listed(values)}"
        for dataset, values in priors.items()
    ]
    return f"Left out, because some of them lack trials there: {listed(names)}."


def _count(table: Table, kind: Kind, names: list[str]) -> Lowest:
    compared, missing = [], []
    counts = dict.fromkeys(names, 0)
    for prior in table.priors:
        for dataset in table.datasets:
            cells = {name: table.cells[dataset, prior, name] for name in names}
            if not any(cell.was_run for cell in cells.values()):
                continue
            if not all(cell.complete for cell in cells.values()):
                missing.append((dataset, prior))
                continue
            compared.append((dataset, prior))
            means = {name: round(cell.mean, 6) for name, cell in cells.items()}
            for name, mean in means.items():
                counts[name] += mean == min(means.values())
    return Lowest(kind, tuple(compared), tuple(missing), counts)


def _sentence(table: Table, found: Lowest) -> str:
    if not found.compared:
        return f"Lowest error: not counted; in no cell {found.methods} have the same trials."
    ahead = [f"{table.label(name)} {count}" for name, count in found.descending if count]
    never = [table.label(name) for name, count in found.descending if not count]
    text = f"Lowest error in the {found.cells}: {', '.join(ahead)}"
    text += f"; never {', '.join(never)}." if never else "."
    if sum(found.counts.values()) > len(found.compared):
        text += " A tie counts for each."
    return f"{text} {left_out(found)}".strip()
