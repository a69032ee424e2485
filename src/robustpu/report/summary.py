"""A table in sentences: how it compares, how sure that is, and what it cost."""

import math
from collections import Counter
from collections.abc import Iterable
from typing import Final

from robustpu.bench.eta import duration
from robustpu.bench.store import key_of
from robustpu.report.cells import SIGNIFICANT, Cell
from robustpu.report.paired import FEWEST_PAIRS
from robustpu.report.tables import Table
from robustpu.report.wording import selection

TUNE: Final = {
    "cell": "one setting for all trials of a cell, by its mean validation score",
    "trial": "each trial its own, by its validation score",
}


def sentences(table: Table) -> list[str]:
    """Say what the table shows.

    Parameters
    ----------
    table
        The table.

    Returns
    -------
    sentences
        Comparison with the paper, the best methods, trials and tuning, cost.
    """
    return [
        text for text in (_against_paper(table), _best(table), _tuning(table), _cost(table)) if text
    ]


def notes(table: Table) -> list[str]:
    """Name every cell that is not what it seems.

    Parameters
    ----------
    table
        The table.

    Returns
    -------
    notes
        Behind a dagger, the cells that take part in no comparison, one note a data set, prior and
        flaw; then what else is to be known, one a data set.
    """
    flaws: dict[tuple[str, float, str], list[str]] = {}
    remarks: dict[str, None] = {}
    for (dataset, prior, method), cell in table.cells.items():
        if cell.flaw:
            flaws.setdefault((dataset, prior, cell.flaw), []).append(table.label(method))
        if cell.remark:
            remarks[f"{dataset}: {cell.remark}."] = None
    return [
        f"† {dataset}, π = {prior:g}, {', '.join(labels)}: {flaw}."
        for (dataset, prior, flaw), labels in flaws.items()
    ] + list(remarks)


def at_or_below(cells: Iterable[Cell]) -> tuple[int, int]:
    """Count the cells at or below the paper.

    Parameters
    ----------
    cells
        Any cells; those without a figure of the paper, or without all trials, do not count.

    Returns
    -------
    count, total
        At or below, and compared.
    """
    verdicts = [cell.at_or_below for cell in cells if cell.at_or_below is not None]
    return sum(verdicts), len(verdicts)


def seconds(table: Table) -> float:
    """Add up the wall clock of the training, of processes side by side too.

    Parameters
    ----------
    table
        The table.

    Returns
    -------
    seconds
        Of all trials, those that failed too. Methods that share a training count it once.
    """
    return math.fsum(trainings(table).values())


def trainings(table: Table) -> dict[tuple[object, ...], float]:
    """Give the wall clock of each training of a trial, by what tells it from others.

    Parameters
    ----------
    table
        The table.
    """
    return {
        (record.get("training") or key_of(record), record["trial"]): (record.get("seconds") or 0.0)
        for record in table.records
    }


def devices(table: Table) -> list[str]:
    """Name the hardware.

    Parameters
    ----------
    table
        The table.

    Returns
    -------
    devices
        In order of first appearance.
    """
    return _distinct(record.get("device") for record in table.records)


def _against_paper(table: Table) -> str:
    each = []
    for method in table.methods:
        cells = [cell for prior in table.priors for cell in table.row(prior, method.key)]
        below, total = at_or_below(cells)
        each += [f"{method.label} in {below} of {total}"] if total else []
    below, total = at_or_below(table.cells.values())
    if not total:
        return ""
    together = f"; together in {below} of {total} cells" if len(each) > 1 else " cells"
    return f"At or below the paper: {', '.join(each)}{together}."


def _best(table: Table) -> str:
    if not table.duels:
        return ""
    best = Counter(method for (_, _, method), cell in table.cells.items() if cell.best)
    settings = len(table.duels)
    counts = [f"{row.label} in {best[row.key]}" for row in table.methods if best[row.key]]
    text = f"Lowest error: {', '.join(counts)} of {settings} settings."
    if all(duel.p is None for duel in table.duels):
        return f"{text} With fewer than {FEWEST_PAIRS} trials no paired test can tell them apart."
    apart = sum(duel.told_apart for duel in table.duels)
    return (
        f"{text} The best is ahead of its best rival by more than chance in {apart} of {settings} "
        f"(Wilcoxon's signed-rank test over the trials, two-sided, p < {SIGNIFICANT:g}, not "
        "corrected for the number of tests)."
    )


def _tuning(table: Table) -> str:
    trials = sorted({len(cell.errors) for cell in table.cells.values() if cell.errors} or {0})
    count = f"{trials[0]} to {trials[-1]} trials" if len(trials) > 1 else _many(trials[0], "trial")
    tried = [record["candidates"] for record in table.records if record.get("candidates")]
    if not tried or max(tried) == 1:
        return f"{count} a cell, {selection(table)}; nothing was tuned."
    how = TUNE.get(table.tune, table.tune)
    return (
        f"{count} a cell, {selection(table)}; at most {max(tried)} candidate settings a method, "
        f"{how}."
    )


def _cost(table: Table) -> str:
    found: dict[str, dict[str, None]] = {}
    for record in table.records:
        for name, version in (record.get("versions") or {}).items():
            found.setdefault(name, {})[version] = None
    versions = [f"{name} {' and '.join(each)}" for name, each in found.items()]
    where = " and ".join(devices(table)) or "unknown hardware"
    what = f" ({', '.join(versions)})" if versions else ""
    spent = duration(seconds(table))
    return f"{_many(len(table.records), 'trial')} took {spent} of one process on {where}{what}."


def _many(count: int, noun: str) -> str:
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


def _distinct(values: Iterable[str | None]) -> list[str]:
    return list(dict.fromkeys(value for value in values if value))
