"""What columns are for: the label, an id, a time, or nothing; the others are to learn from."""

from dataclasses import dataclass, replace
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from robustpu.tables.cells import Cells, cells_of
from robustpu.tables.errors import TableError, listed
from robustpu.tables.kinds import MOST, Kind, force_kind
from robustpu.tables.label import find_labels
from robustpu.tables.table import Table

# What times can be.
KINDS: Final[tuple[Kind, Kind]] = ("date", "number")


@dataclass(frozen=True)
class Roles:
    """Names of columns that are not to be learnt from.

    Attributes
    ----------
    label
        Says which rows are labelled positives.
    positive
        The value of ``label`` that marks them; found out by default.
    negative
        The value of ``label`` that marks known negatives; None if there are none.
    id
        Names the rows.
    time
        Says when each row came about.
    drop
        Columns to leave out.
    propensity
        Says how likely each labelled positive was to be labelled.

    Examples
    --------
    >>> sorted(Roles(label="fraud", id="claim", drop=("note",)).names)
    ['claim', 'fraud', 'note']
    """

    label: str | None = None
    positive: str | None = None
    negative: str | None = None
    id: str | None = None
    time: str | None = None
    drop: tuple[str, ...] = ()
    propensity: str | None = None

    @property
    def names(self) -> set[str]:
        """Columns that have a role."""
        named = (self.label, self.id, self.time, self.propensity, *self.drop)
        return {name for name in named if name is not None}


@dataclass(frozen=True)
class Parts:
    """A table taken apart by the roles of its columns.

    Attributes
    ----------
    table
        The columns to learn from.
    y
        1 for labelled positives, 0 for unlabelled rows, -1 for known negatives, shape (n,); None
        without a label.
    ids
        The id column as it is: a pyarrow.ChunkedArray; None without one.
    times
        Dates, or numbers, shape (n,); None without a time column.
    roles
        The roles, with the positive value that was found.
    notes
        What was noticed.
    propensity
        Numbers, NaN where there is none, (n,); None without a column of them.
    """

    table: Table
    y: NDArray[np.int64] | None
    ids: Any
    times: NDArray[Any] | None
    roles: Roles
    notes: tuple[str, ...]
    propensity: NDArray[np.float64] | None = None


def take_roles(table: Table, roles: Roles, *, for_fit: bool = True) -> Parts:
    """Take a table apart by the roles of its columns.

    Parameters
    ----------
    table
        With all columns.
    roles
        What they are for.
    for_fit
        Whether all of them must be there and the label is read. At prediction a label is left
        alone.

    Examples
    --------
    >>> from robustpu.tables import read_table
    >>> table = read_table({"amount": [1, 2, 3], "fraud": ["yes", None, None]})
    >>> parts = take_roles(table, Roles(label="fraud"))
    >>> parts.y.tolist(), parts.table.names, parts.roles.positive
    ([1, 0, 0], ['amount'], 'yes')
    """
    _check(table, roles, for_fit)
    notes: list[str] = []
    y = None
    if for_fit and roles.label is not None:
        cells = cells_of(table.column(roles.label))
        labels = find_labels(roles.label, cells, roles.positive, roles.negative)
        y = labels.y
        notes += labels.notes
        roles = replace(roles, positive=labels.positive, negative=labels.negative)
    ids = _optional(table, roles.id)
    if ids is not None and for_fit:
        n_different = cells_of(ids).n_different()
        if n_different < table.n_rows:
            notes.append(f"{roles.id!r} has {n_different:,} different ids in {table.n_rows:,} rows")
    time = _optional(table, roles.time)
    times = None if time is None else _times(str(roles.time), cells_of(time), notes)
    propensity = None
    if for_fit and roles.propensity is not None:
        cells = cells_of(table.column(roles.propensity))
        propensity = force_kind(roles.propensity, cells, "number").numbers
    rest = table.without(roles.names)
    if not rest.names:
        raise TableError(
            f"{table.source} has no columns to learn from besides {listed(sorted(roles.names))}."
        )
    return Parts(rest, y, ids, times, roles, tuple(notes), propensity)


def _check(table: Table, roles: Roles, for_fit: bool) -> None:
    given = (roles.label, roles.id, roles.time, roles.propensity, *roles.drop)
    named = [name for name in given if name is not None]
    twice = sorted({name for name in named if named.count(name) > 1})
    if twice:
        raise TableError(
            f"column {listed(twice)} is given two roles, expected one of label, id, time, drop and "
            "propensity."
        )
    if for_fit:
        for name in named:
            table.column(name)


def _optional(table: Table, name: str | None) -> Any:
    return table.column(name) if name is not None and name in table.names else None


def _times(name: str, cells: Cells, notes: list[str]) -> NDArray[Any]:
    """Dates or numbers; either can be put in order."""
    times: NDArray[Any]
    if cells.numbers is not None and cells.family == "number":
        times, is_missing = cells.numbers, np.isnan(cells.numbers)
    else:
        times = _read_times(name, cells)
        is_missing = np.isnat(times) if times.dtype.kind == "M" else np.isnan(times)
    if is_missing.all():
        raise TableError(f"the time column {name!r} has no dates or numbers, expected some.")
    if is_missing.any():
        notes.append(f"{int(is_missing.sum()):,} rows have no time in {name!r}")
    return times


def _read_times(name: str, cells: Cells) -> NDArray[Any]:
    """Dates if nearly all cells are, else what more of them are."""
    if cells.dates is not None:
        return cells.dates
    dates, numbers = (_forced(name, cells, kind) for kind in KINDS)
    n_dates = 0 if dates is None else int((~np.isnat(dates)).sum())
    n_numbers = 0 if numbers is None else int((~np.isnan(numbers)).sum())
    n_cells = int((cells.text.codes >= 0).sum())
    # Minutes since 1970, such as 28010115, look like dates here and there.
    if dates is not None and (n_dates >= MOST * n_cells or n_dates > n_numbers):
        return dates
    if numbers is not None:
        return numbers
    some = listed(cells.text.values.slice(0, 6).to_pylist())
    raise TableError(
        f"the time column {name!r} holds {some}, expected dates or numbers. Name another one as "
        "time (--time-column), or leave it out."
    )


def _forced(name: str, cells: Cells, kind: Kind) -> NDArray[Any] | None:
    try:
        finding = force_kind(name, cells, kind)
    except TableError:
        return None
    return finding.dates if kind == "date" else finding.numbers
