"""How errors, selections and file names are written, the same in every format."""

import math
import re
from collections.abc import Iterable, Sequence
from itertools import count
from typing import Final

from robustpu.bench.paper import MeanSD
from robustpu.bench.report.tables import Table

SELECTION: Final = {
    "oracle": "selected by labelled validation (oracle)",
    "pu": "selected without negatives (PU-only)",
}
VALIDATION: Final = {
    "disjoint": "",
    "overlapping": "validation rows overlap with training rows",
}


def selection(table: Table) -> str:
    """Say how settings, epochs and rounds were selected.

    Parameters
    ----------
    table
        The table.

    Returns
    -------
    words
        To follow the title.
    """
    words = SELECTION.get(table.selection, f"selected by {table.selection}")
    overlap = VALIDATION.get(table.validation, f"{table.validation} validation")
    return f"{words}; {overlap}" if overlap else words


def stems(tables: Sequence[Table]) -> list[str]:
    """Name files after tables.

    Parameters
    ----------
    tables
        Any tables.

    Returns
    -------
    stems
        One per table, all different, of letters that every file system takes.
    """
    short = [f"{table.experiment}-{table.selection}" for table in tables]
    long = [
        f"{name}-{table.validation}-{table.tune}" if short.count(name) > 1 else name
        for name, table in zip(short, tables, strict=True)
    ]
    names: list[str] = []
    for name in (re.sub(r"[^A-Za-z0-9_-]+", "-", name) for name in long):
        numbered = (f"{name}-{i}" for i in count(2))
        names.append(name if name not in names else next(n for n in numbered if n not in names))
    return names


def number(error: MeanSD, places: int = 2) -> str:
    """Write a mean error and its standard deviation.

    Parameters
    ----------
    error
        In percent. A mean of NaN is written as a dash, a deviation of NaN is left out.
    places
        Decimals of the deviation; the paper prints one.

    Examples
    --------
    >>> number(MeanSD(7.58, 0.4), places=1)
    '7.58 ± 0.4'
    """
    if math.isnan(error.mean):
        return "–"
    if math.isnan(error.sd):
        return f"{error.mean:.2f}"
    return f"{error.mean:.2f} ± {error.sd:.{places}f}"


def spread(counts: Iterable[int], noun: str) -> str:
    """Write a range of counts.

    Parameters
    ----------
    counts
        Any; without any it is 0.
    noun
        What is counted.

    Examples
    --------
    >>> spread([10, 3, 5], "trial"), spread([1], "trial")
    ('3 to 10 trials', '1 trial')
    """
    found = sorted({*counts} or {0})
    plural = noun if found == [1] else f"{noun}s"
    few, most = found[0], found[-1]
    return f"{few:,} {plural}" if few == most else f"{few:,} to {most:,} {plural}"


def trials(table: Table) -> str:
    """Say how many trials a cell has.

    Parameters
    ----------
    table
        The table; cells without a result are not counted.
    """
    return spread((len(cell.errors) for cell in table.cells.values() if cell.errors), "trial")


def paper(tables: Iterable[Table]) -> str:
    """Name the paper whose errors are set beside ours.

    Parameters
    ----------
    tables
        Any tables.

    Returns
    -------
    words
        Without the number of a table; empty where there is no paper.
    """
    sources = (table.reference.source for table in tables if table.reference)
    return next((source.partition(" of ")[2] or source for source in sources), "")


def difference(mean: float, interval: tuple[float, float]) -> str:
    """Write a difference of mean errors with its interval.

    Parameters
    ----------
    mean, interval
        In percentage points; an interval of NaN is left out.

    Examples
    --------
    >>> difference(0.654, (0.1, 1.2))
    '0.65 (0.10 to 1.20)'
    """
    low, high = interval
    return f"{mean:.2f}" if math.isnan(low) else f"{mean:.2f} ({low:.2f} to {high:.2f})"


def p_value(p: float | None) -> str:
    """Write a p value.

    Parameters
    ----------
    p
        None without a test.

    Returns
    -------
    text
        With three decimals.

    Examples
    --------
    >>> p_value(0.0001), p_value(0.04321)
    ('< 0.001', '0.043')
    """
    if p is None:
        return "–"
    return "< 0.001" if p < 0.001 else f"{p:.3f}"
