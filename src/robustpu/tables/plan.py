"""The interface of plans, which encode a column as numbers."""

from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from robustpu.tables.cells import Cells
from robustpu.tables.errors import listed
from robustpu.tables.tally import Tally


class Plan(Protocol):
    """How a column is encoded as features; immutable."""

    @property
    def kind(self) -> str:
        """What the column holds."""

    def endings(self) -> list[str]:
        """Suffixes of the names of the features."""

    def encode(self, name: str, cells: Cells, tally: Tally) -> NDArray[np.float32]:
        """The features of some rows, shape (n, number of endings).

        Parameters
        ----------
        name
            Of the column, for messages.
        cells
            Its cells.
        tally
            Collects what differs from the fitted table.
        """


def count_read(
    name: str,
    kind: str,
    cells: Cells,
    is_read: NDArray[np.bool_],
    is_unread: NDArray[np.bool_],
    tally: Tally,
) -> None:
    """Count cells that cannot be read as the kind of their column.

    `Tally.check` refuses a column of which no cell can be read, after the whole table.

    Parameters
    ----------
    name, kind
        Of the column.
    cells
        Its cells.
    is_read, is_unread
        Which rows have a value that could be read, or could not, shape (n,).
    tally
        Takes the count.
    """
    if is_read.any():
        tally.read(name)
    if not is_unread.any():
        return
    text = cells.text
    places = np.unique(text.codes[is_unread])[:3]
    examples = text.values.take(places[places >= 0]).to_pylist()
    holds = f"holds {listed(examples)}" if examples else f"is of type {cells.what}"
    tally.unread(
        name,
        f"column {name!r} {holds}; it was of kind {kind} when the model was fitted, and none of "
        f"its cells can be read as that. Check that the right column has this name.",
    )
    tally.add(name, f"cells are no {kind} and count as missing", int(is_unread.sum()), examples)


def count_unread(name: str, kind: str, cells: Cells, tally: Tally) -> None:
    """Count the cells of a column of a type that cannot be read as its kind.

    Parameters
    ----------
    name, kind, cells, tally
        As in `count_read`.
    """
    is_unread = np.asarray(cells.column.is_valid())
    count_read(name, kind, cells, np.zeros_like(is_unread), is_unread, tally)


def count_missing(name: str, is_missing: NDArray[np.bool_], fill: str, tally: Tally) -> None:
    """Count cells that are missing where none was when the model was fitted.

    Parameters
    ----------
    name
        Of the column.
    is_missing
        Which rows, shape (n,).
    fill
        What is taken in their place.
    tally
        Takes the count.
    """
    what = f"cells are missing, none was in training; {fill} is taken"
    tally.add(name, what, int(is_missing.sum()))
