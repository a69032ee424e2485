"""The unlabelled rows with the highest scores, and the columns that drive them."""

import datetime
import re
from collections.abc import Sequence
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from robustpu.results import Driver, Suspect
from robustpu.tables.texts import as_text
from robustpu.workflow.effects import Rows, Scorer, drivers
from robustpu.workflow.progress import Progress, silent

DRIVERS: Final = 3
# Columns that speak against a row, if they count this share of the strongest one.
AGAINST: Final = 2
NOTABLE: Final = 0.1
LEAST: Final = 0.05
# Columns whose cells are listed with a suspect.
SHOWN: Final = 5
LONGEST: Final = 120
# The end of a time that carries no information: no fraction of a second; midnight.
IDLE: Final = re.compile(r"(?: 00:00:00)?\.0+$| 00:00:00$|\.0+(?=[Z+-])")


def list_suspects(
    score: Scorer,
    X: Rows,
    probability: NDArray[np.float64],
    background: Rows,
    sources: Sequence[str],
    cells: Sequence[dict[str, str]],
    numbers: Sequence[int],
    ids: Sequence[str | None],
    shown: Sequence[str],
    progress: Progress = silent,
    cost: int = 1,
) -> tuple[Suspect, ...]:
    """Explain the rows of a list.

    Parameters
    ----------
    score
        Rows -> probabilities of being positive.
    X, probability
        The rows, the highest first, (k, d), and their probabilities, (k,).
    background, sources, cost
        See :func:`robustpu.workflow.effects.drivers`.
    cells
        The cells of each row as text, by column.
    numbers
        Of the rows in the file, from 1.
    ids
        Of the rows, or None.
    shown
        Columns whose cells are listed.
    progress
        Callback for each row.
    """
    if not len(X):
        return ()
    columns, effects = drivers(score, X, background, sources, progress, cost)
    return tuple(
        Suspect(
            rank=place + 1,
            row=int(numbers[place]),
            id=ids[place],
            score=float(probability[place]),
            drivers=_raising(columns, effects[place], cells[place]),
            shown={name: cells[place].get(name, "") for name in shown},
            against=_lowering(columns, effects[place], cells[place]),
        )
        for place in range(len(X))
    )


def _raising(
    columns: Sequence[str], effects: NDArray[np.float64], cells: dict[str, str]
) -> tuple[Driver, ...]:
    """The columns that raise the log-odds most."""
    order = np.argsort(-effects, kind="stable")[:DRIVERS].tolist()
    return _drivers(columns, effects, cells, [place for place in order if effects[place] > 0])


def _lowering(
    columns: Sequence[str], effects: NDArray[np.float64], cells: dict[str, str]
) -> tuple[Driver, ...]:
    """The columns that lower the log-odds most."""
    least = max(LEAST, NOTABLE * np.abs(effects).max(initial=0))
    order = np.argsort(effects, kind="stable")[:AGAINST].tolist()
    return _drivers(columns, effects, cells, [place for place in order if effects[place] < -least])


def _drivers(
    columns: Sequence[str],
    effects: NDArray[np.float64],
    cells: dict[str, str],
    order: Sequence[int],
) -> tuple[Driver, ...]:
    return tuple(
        Driver(columns[place], cells.get(columns[place], ""), float(effects[place]))
        for place in order
    )


def texts_of(data: Any, rows: NDArray[np.intp], names: Sequence[str]) -> list[dict[str, str]]:
    """Cells of some rows of an Arrow table as text, by column; missing columns are left out.

    Parameters
    ----------
    data
        A pyarrow.Table.
    rows
        Their numbers, from 0.
    names
        Columns.

    Examples
    --------
    >>> import pyarrow as pa
    >>> texts_of(pa.table({"a": [1.0, None, 2.5]}), np.array([2, 1]), ["a", "b"])
    [{'a': '2.5'}, {'a': ''}]
    """
    # By a set, made once: Arrow makes a new list of the names each time.
    there = set(data.column_names)
    known = [name for name in dict.fromkeys(names) if name in there]
    taken = {name: data.column(name).take(rows).to_pylist() for name in known}
    return [{name: text_of(taken[name][place]) for name in known} for place in range(len(rows))]


def ids_of(column: Any, rows: NDArray[np.intp]) -> list[str]:
    """Ids of some rows as text, never shortened: users join other tables by them.

    Parameters
    ----------
    column
        A pyarrow.ChunkedArray.
    rows
        Their numbers, from 0.

    Examples
    --------
    >>> import pyarrow as pa
    >>> ids_of(pa.chunked_array([[0.123456789, 7.0, None]]), np.array([1, 0, 2]))
    ['7', '0.123456789', '']
    """
    import pyarrow as pa

    taken = column.take(rows)
    kind = taken.type
    # Double precision, by which numbers are made text elsewhere, has too few digits for these.
    texts = taken.cast(pa.string()) if pa.types.is_decimal(kind) else as_text(taken)
    ids = [text or "" for text in texts.to_pylist()]
    if pa.types.is_timestamp(kind):
        return [IDLE.sub("", id) for id in ids]
    return ["" if pa.types.is_floating(kind) and id == "nan" else id for id in ids]


def text_of(value: Any) -> str:
    """A cell as a person would write it.

    Examples
    --------
    >>> text_of(3.0), text_of(None), text_of(datetime.datetime(2024, 1, 31)), text_of(0.123456789)
    ('3', '', '2024-01-31', '0.123457')
    """
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        if value != value:
            return ""
        return f"{value:.0f}" if value.is_integer() and abs(value) < 1e15 else f"{value:.6g}"
    if isinstance(value, datetime.datetime) and value.time() == datetime.time():
        return value.date().isoformat()
    if isinstance(value, datetime.datetime):
        return value.isoformat(sep=" ", timespec="seconds")
    text = str(value)
    return text if len(text) <= LONGEST else text[:LONGEST] + "…"
