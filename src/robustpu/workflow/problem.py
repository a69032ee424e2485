"""From a table to features and labels."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from robustpu.propensity import check
from robustpu.tables import Parts, Roles, Table, Tally, Vectorizer, read_table, take_roles
from robustpu.workflow.answers import add_checked


@dataclass(frozen=True)
class Problem:
    """A table as features and labels.

    Attributes
    ----------
    X
        The features, shape (n, d).
    y
        1 for labelled positives, 0 for unlabelled rows, -1 for known negatives, shape (n,).
    checked
        Which rows owe their label to a check, shape (n,).
    table
        The columns that the features come from.
    roles
        What the other columns are for, with the positive value that was found.
    ids, times, propensity
        Of the rows, or None; see :class:`robustpu.tables.Parts`.
    vectorizer
        What made the features.
    n_columns
        Number of columns of the whole table.
    notes
        What the user should know about the file.
    """

    X: NDArray[np.float32]
    y: NDArray[np.int64]
    checked: NDArray[np.bool_]
    table: Table
    roles: Roles
    ids: Any
    times: NDArray[Any] | None
    vectorizer: Vectorizer
    n_columns: int
    notes: tuple[str, ...]
    propensity: NDArray[np.float64] | None = None

    @property
    def n_positive(self) -> int:
        """Number of labelled positives."""
        return int((self.y == 1).sum())

    @property
    def n_unlabeled(self) -> int:
        """Number of unlabelled rows."""
        return int((self.y == 0).sum())

    @property
    def y_before(self) -> NDArray[np.int64]:
        """``y`` as it was before any row was checked, (n,)."""
        return np.where(self.checked, 0, self.y)

    @property
    def is_labeled(self) -> NDArray[np.bool_]:
        """Which rows are labelled positive, other than by a check, (n,)."""
        labeled: NDArray[np.bool_] = (self.y == 1) & ~self.checked
        return labeled

    @property
    def was_unlabeled(self) -> NDArray[np.bool_]:
        """Which rows were unlabelled before any was checked, (n,)."""
        unlabeled: NDArray[np.bool_] = (self.y == 0) | self.checked
        return unlabeled

    def all_notes(self) -> list[str]:
        """Notes on the table and on single columns."""
        return [
            *self.notes,
            *(
                f"{column.name}: {note}"
                for column in self.vectorizer.columns_
                for note in (*column.notes, *([column.alarm] if column.alarm else []))
            ),
        ]


def make_problem(
    data: Any,
    roles: Roles,
    kinds: Mapping[str, Any] | None = None,
    seed: int = 0,
    checked: Sequence[Any] = (),
) -> Problem:
    """Read a table, find its labels, and turn its columns into features.

    Parameters
    ----------
    data
        A :class:`robustpu.tables.Table`, or whatever :func:`robustpu.tables.read_table` reads.
    roles
        What columns are for; a label is needed.
    kinds
        Kinds of columns that are not to be detected.
    seed
        Of the decomposition of texts.
    checked
        Files with rows that were checked, see :func:`robustpu.workflow.answers.add_checked`.

    Raises
    ------
    TableError
        Whatever is wrong with the table.

    Examples
    --------
    >>> made = make_problem({"x": [1.0, 2.0, 3.0], "y": ["a", "", ""]}, Roles(label="y"))
    >>> made.X.shape, made.y.tolist(), made.roles.positive
    ((3, 1), [1, 0, 0], 'a')
    """
    table = data if isinstance(data, Table) else read_table(data)
    if roles.label is None:
        raise ValueError("a label is needed: name the column that marks the known positives.")
    parts: Parts = take_roles(table, roles)
    assert parts.y is not None
    y, is_checked, notes = add_checked(parts.y, checked, parts.roles, parts.ids)
    if not (y == 0).any():
        raise ValueError("no row is left unlabelled: all others were checked. Add new rows.")
    propensity = parts.propensity
    if propensity is not None:
        # A check, not its propensity, brought the label of these rows. Refused before the work.
        propensity = check(np.where(is_checked, np.nan, propensity), (y == 1) & ~is_checked)
    vectorizer = Vectorizer(kinds=kinds or None, random_state=seed).fit(parts.table, y == 1)
    return Problem(
        # Odd cells are already in the notes of their columns.
        X=vectorizer.encode(parts.table, tally=Tally()),
        y=y,
        checked=is_checked,
        table=parts.table,
        roles=parts.roles,
        ids=parts.ids,
        times=parts.times,
        vectorizer=vectorizer,
        n_columns=len(table.names),
        notes=(*table.notes, *parts.notes, *notes),
        propensity=propensity,
    )
