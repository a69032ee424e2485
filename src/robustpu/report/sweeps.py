"""A sweep: methods that differ in one number, as lines of error against that number."""

from collections.abc import Mapping
from dataclasses import dataclass

from robustpu.report.tables import Table


@dataclass(frozen=True)
class Point:
    """Mean and deviation of the error at one place, in points."""

    x: float
    mean: float
    sd: float


@dataclass(frozen=True)
class Sweep:
    """Error against a number.

    Parameters
    ----------
    axis
        What the number is.
    logarithmic
        Whether its axis is better drawn so.
    panels
        Data set -> prior -> points from left to right.
    """

    axis: str
    logarithmic: bool
    panels: Mapping[str, Mapping[float, tuple[Point, ...]]]


def sweep(table: Table) -> Sweep | None:
    """Read a table as lines.

    Cells without all trials are left out.

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
                Point(x, cell.mean, cell.sd)
                for x, method in sorted(methods.items())
                if (cell := table.cells[dataset, prior, method]).complete
            )
            for prior in table.priors
        }
    low, high = min(methods), max(methods)
    return Sweep(_axis(table), low > 0 and high / low >= 20, panels)


def _axis(table: Table) -> str:
    """Name the settings that have the value of `x` in every record, their sides left out."""
    records = [r for r in table.records if r.get("x") is not None and not r.get("failure")]
    settings = [record.get("settings") or {} for record in records]
    names = [
        name
        for name in (settings[0] if settings else {})
        if all(each.get(name) == r["x"] for each, r in zip(settings, records, strict=True))
    ]
    plain = [name.removesuffix("_positive").removesuffix("_unlabeled") for name in names]
    return ", ".join(dict.fromkeys(plain)).replace("__", " ").replace("_", " ") or "x"
