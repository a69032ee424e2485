"""A sweep: methods that differ in one number, as lines of error against that number."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

from robustpu.bench.paper import MeanSD
from robustpu.bench.report.tables import Table


class Point(NamedTuple):
    """The error at one value of the number."""

    x: float
    error: MeanSD


@dataclass(frozen=True)
class Sweep:
    """Error against a number.

    Parameters
    ----------
    axis
        What the number is.
    symbol
        How it is written, if the labels of the methods are as ``"τ = 0.2"``.
    logarithmic
        Whether its axis is.
    panels
        Data set -> prior -> points from left to right.
    """

    axis: str
    symbol: str
    logarithmic: bool
    panels: Mapping[str, Mapping[float, tuple[Point, ...]]]

    @property
    def label(self) -> str:
        """The label of the axis."""
        return self.symbol or self.axis

    @property
    def name(self) -> str:
        """The name of the number in a sentence."""
        return f"{self.axis} {self.symbol}".strip() if self.axis != "x" else self.label


def sweep(table: Table) -> Sweep | None:
    """Read a table as lines.

    Incomplete cells are left out.

    Parameters
    ----------
    table
        One whose methods have an `x`.

    Returns
    -------
    sweep
        None if fewer than two methods have an `x`, or two have the same.
    """
    methods = {row.x: row.key for row in table.methods if row.x is not None}
    if len(methods) < 2 or len(methods) < sum(row.x is not None for row in table.methods):
        return None
    panels = {}
    for dataset in table.datasets:
        panels[dataset] = {
            prior: tuple(
                Point(x, cell.ours)
                for x, method in sorted(methods.items())
                if (cell := table.cells[dataset, prior, method]).complete
            )
            for prior in table.priors
        }
    low, high = min(methods), max(methods)
    return Sweep(_axis(table), _symbol(table), low > 0 and high / low >= 20, panels)


def _symbol(table: Table) -> str:
    """Find what stands before the equals sign in the label of every method with an `x`."""
    labels = [method.label for method in table.methods if method.x is not None]
    symbols = {label.partition(" = ")[0] for label in labels if " = " in label}
    alike = len(symbols) == 1 and all(" = " in label for label in labels)
    return symbols.pop() if alike else ""


def _axis(table: Table) -> str:
    """Name the settings that equal `x` in every record, without the part and side they are of."""
    records = [r for r in table.records if r.get("x") is not None and not r.get("failure")]
    settings = [record.get("settings") or {} for record in records]
    names = [
        name
        for name in (settings[0] if settings else {})
        if all(each.get(name) == r["x"] for each, r in zip(settings, records, strict=True))
    ]
    plain = [
        name.removeprefix("curriculum__").removesuffix("_positive").removesuffix("_unlabeled")
        for name in names
    ]
    return ", ".join(dict.fromkeys(plain)).replace("__", " ").replace("_", " ") or "x"
