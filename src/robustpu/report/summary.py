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
from robustpu.report.wording import listed, selection, spread, trials

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
    won = [key for key, cell in table.cells.items() if cell.best]
    if not won:
        return ""
    best = Counter(method for _, _, method in won)
    settings = len({(dataset, prior) for dataset, prior, _ in won})
    counts = [f"{row.label} in {best[row.key]}" for row in table.methods if best[row.key]]
    gaps = any(not cell.was_run for cell in table.cells.values())
    which = "Lowest error of what was run" if gaps else "Lowest error"
    text = f"{which}: {', '.join(counts)} of {settings} settings."
    return " ".join(part for part in (text, _ahead(table), _variants(table)) if part)


def _ahead(table: Table) -> str:
    if not table.duels:
        return ""
    if all(duel.p is None for duel in table.duels):
        return f"With fewer than {FEWEST_PAIRS} trials no paired test can tell them apart."
    apart = sum(duel.told_apart for duel in table.duels)
    return (
        f"The best is ahead of its best rival by more than chance in {apart} of "
        f"{len(table.duels)} (Wilcoxon's signed-rank test over the trials, two-sided, "
        f"p < {SIGNIFICANT:g}, not corrected for the number of tests)."
    )


def _variants(table: Table) -> str:
    families: dict[str, list[str]] = {}
    for method in table.methods:
        families.setdefault(method.family, []).append(f"“{method.label}”")
    variants = [listed(labels) for labels in families.values() if len(labels) > 1]
    return f"Variants are no rivals of each other: {'; '.join(variants)}." if variants else ""


def _tuning(table: Table) -> str:
    count = trials(table)
    tried = [record["candidates"] for record in table.records if record.get("candidates")]
    if not tried or max(tried) == 1:
        return f"{count} a cell, {selection(table)}; nothing was tuned."
    how = TUNE.get(table.tune, table.tune)
    return (
        f"{count} a cell, {selection(table)}; {spread(tried, 'candidate setting')} a method, {how}."
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
    count = spread([len(table.records)], "trial")
    return f"{count} took {spent} of one process on {where}{what}."


def _distinct(values: Iterable[str | None]) -> list[str]:
    return list(dict.fromkeys(value for value in values if value))
