"""Rows that a person has checked: read from files, by the ids or numbers of the rows."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from robustpu.tables import Roles, Table, TableError, read_table
from robustpu.tables.errors import many, shown
from robustpu.tables.label import label_key
from robustpu.tables.texts import FALSE, TRUE
from robustpu.workflow.suspects import ids_of

# The column that a person fills in, and those that name the rows where the id column is not there.
CHECKED: Final = "checked"
NAMES: Final = ("id", "row")
YES: Final = frozenset({*TRUE, "positive"})
NO: Final = frozenset({*FALSE, "negative"})


def add_checked(
    y: NDArray[np.int64], files: Sequence[Any], roles: Roles, ids: Any
) -> tuple[NDArray[np.int64], NDArray[np.bool_], list[str]]:
    """Labels with the answers of checks, which rows were checked, (n,), and notes.

    Parameters
    ----------
    y
        1 for labelled positives, 0 for unlabelled rows, -1 for known negatives, (n,).
    files
        Tables with the ids of some rows, or their numbers from 1, and a column ``checked``; empty
        cells are rows that nobody looked at.
    roles
        With the id column, and the labels of positives and negatives: these are answers as well.
    ids
        Of the rows, or None.

    Examples
    --------
    >>> table = {"row": [2, 3, 4], "checked": ["yes", "no", ""]}
    >>> y, checked, notes = add_checked(np.array([1, 0, 0, 0]), [table], Roles(), None)
    >>> y.tolist(), checked.tolist()
    ([1, 1, -1, 0], [False, True, True, False])
    """
    answers: dict[int, bool] = {}
    for file in files:
        table = file if isinstance(file, Table) else read_table(file)
        for row, answer in _answers(table, len(y), roles, ids).items():
            if answers.setdefault(row, answer) != answer:
                raise TableError(f"row {row + 1:,} was checked twice, with different answers.")
    found, is_checked = y.copy(), np.zeros(len(y), dtype=np.bool_)
    for row, answer in answers.items():
        label = 1 if answer else -1
        if y[row] not in (0, label):
            raise TableError(
                f"row {row + 1:,} has the answer {'yes' if answer else 'no'} of a check, and the "
                "label says the opposite: correct one of them."
            )
        found[row], is_checked[row] = label, True
    if not answers:
        return found, is_checked, []
    right, count = sum(answers.values()), many(len(answers), "checked row")
    return found, is_checked, [f"{count}: {right:,} positive, {len(answers) - right:,} negative"]


def _answers(table: Table, n: int, roles: Roles, ids: Any) -> dict[int, bool]:
    """The answer for each row that has one, by the number of the row from 0."""
    if CHECKED not in table.names:
        raise TableError(
            f"{table.source} has no column {CHECKED!r}, expected one with yes or no for each row "
            f"that was checked; its columns are {', '.join(map(shown, table.names[:8]))}."
        )
    name = next((name for name in (roles.id, *NAMES) if name in table.names), None)
    if name is None:
        raise TableError(
            f"{table.source} does not say which rows were checked: it needs a column "
            f"{shown(roles.id or 'row')} with the {'ids' if roles.id else 'numbers, from 1,'} of "
            "the rows."
        )
    everything = np.arange(table.n_rows)
    names = ids_of(table.column(name), everything)
    by_name = _rows_by_name(n, None if name == "row" else ids)
    found: dict[int, bool] = {}
    for place, text in enumerate(ids_of(table.column(CHECKED), everything)):
        answer = _answer(text, place, table, roles)
        if answer is None:
            continue
        row = by_name.get(names[place])
        if row is None:
            raise TableError(
                f"{table.source} says that {shown(name)} {shown(names[place])} was checked, and "
                "exactly one row of the table must have it."
            )
        if found.setdefault(row, answer) != answer:
            raise TableError(f"{table.source} has two answers for {shown(names[place])}.")
    return found


def _rows_by_name(n: int, ids: Any) -> Mapping[str, int | None]:
    """The row of each id, or of each number from 1; None for ids of several rows."""
    if ids is None:
        return {str(row + 1): row for row in range(n)}
    rows: dict[str, int | None] = {}
    for row, name in enumerate(ids_of(ids, np.arange(n))):
        rows[name] = None if name in rows else row
    return rows


def _answer(text: str, place: int, table: Table, roles: Roles) -> bool | None:
    key = label_key(text)
    if key == "":
        return None
    for words, label, answer in ((YES, roles.positive, True), (NO, roles.negative, False)):
        if key in words or (label is not None and key == label_key(label)):
            return answer
    raise TableError(
        f"{table.source}: the answer in row {place + 1:,} is {shown(text)}, expected yes, no, or "
        "nothing where nobody looked."
    )
