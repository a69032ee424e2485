"""How numbers and ways of selecting are written, the same in every format."""

import math
import re
from collections.abc import Iterable, Sequence
from itertools import count
from typing import Final

from robustpu.report.tables import Table

SELECTION: Final = {
    "oracle": "selected by labelled validation (oracle)",
    "pu": "selected without negatives (PU-only)",
}
VALIDATION: Final = {
    "disjoint": "",
    "overlapping": "validation rows drawn from the training pool again",
}


def selection(table: Table) -> str:
    """How settings, epochs and rounds were selected, in words.

    Parameters
    ----------
    table
        The table.

    Returns
    -------
    words
        To stand behind the title.
    """
    words = SELECTION.get(table.selection, f"selected by {table.selection}")
    overlap = VALIDATION.get(table.validation, f"{table.validation} validation")
    return f"{words}; {overlap}" if overlap else words


def stems(tables: Sequence[Table]) -> list[str]:
    """Name files and labels after tables.

    Parameters
    ----------
    tables
        Any tables.

    Returns
    -------
    stems
        One a table, all different, of letters that every file system takes.
    """
    short = [f"{table.experiment}-{table.selection}" for table in tables]
    long = [
        f"{name}-{table.validation}-{table.tune}" if short.count(name) > 1 else name
        for name, table in zip(short, tables, strict=True)
    ]
    return distinct(long)


def distinct(names: Sequence[str]) -> list[str]:
    """Write names in letters that files, addresses and TeX take, and number those that clash.

    Parameters
    ----------
    names
        Any.

    Examples
    --------
    >>> distinct(["lr 1", "lr.1", "λ"])
    ['lr-1', 'lr-1-2', '-']
    """
    plain = [re.sub(r"[^A-Za-z0-9_-]+", "-", name) for name in names]
    answer: list[str] = []
    for name in plain:
        numbered = (f"{name}-{number}" for number in count(2))
        answer.append(name if name not in answer else next(n for n in numbered if n not in answer))
    return answer


def number(mean: float, sd: float, places: int = 2) -> str:
    """Write a mean and its deviation.

    Parameters
    ----------
    mean
        In points; NaN is written as a dash.
    sd
        In points; NaN is left out.
    places
        Decimals of the deviation; the paper prints one.

    Returns
    -------
    text
        Both, or the mean alone.

    Examples
    --------
    >>> number(7.58, 0.4, places=1)
    '7.58 ± 0.4'
    """
    if math.isnan(mean):
        return "–"
    return f"{mean:.2f}" if math.isnan(sd) else f"{mean:.2f} ± {sd:.{places}f}"


def listed(names: Sequence[str]) -> str:
    """Write names one after the other.

    Parameters
    ----------
    names
        At least one.

    Examples
    --------
    >>> listed(["mnist", "shuttle", "spambase"])
    'mnist, shuttle and spambase'
    """
    *first, last = names
    return f"{', '.join(first)} and {last}" if first else last


def spread(counts: Iterable[int], noun: str) -> str:
    """Write how many there are, from the least to the most.

    Parameters
    ----------
    counts
        Any; none is as good as a zero.
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
    """How many trials a cell has, in words.

    Parameters
    ----------
    table
        The table; cells without a result do not count.
    """
    return spread((len(cell.errors) for cell in table.cells.values() if cell.errors), "trial")


def paper(tables: Iterable[Table]) -> str:
    """Name the paper whose figures stand beside ours.

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


def p_value(p: float | None) -> str:
    """Write a p value.

    Parameters
    ----------
    p
        None where no test was made.

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
