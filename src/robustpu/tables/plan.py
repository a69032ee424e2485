"""What all ways to turn a column into numbers have in common."""

from typing import Any, NoReturn, Protocol

import numpy as np
from numpy.typing import NDArray

from robustpu.tables.cells import Cells
from robustpu.tables.errors import TableError, listed
from robustpu.tables.tally import Tally


class Plan(Protocol):
    """How a column becomes features; learnt once, and never changed."""

    @property
    def kind(self) -> str:
        """What the column holds."""

    def endings(self) -> list[str]:
        """What is added to the column's name to make the names of its features."""

    def encode(self, name: str, cells: Cells, tally: Tally) -> NDArray[np.float32]:
        """The features of some rows, shape (n, number of endings).

        Parameters
        ----------
        name
            Of the column, for messages.
        cells
            Its cells.
        tally
            Takes what differs from the fitted table.
        """

    def state(self) -> dict[str, Any]:
        """Plain values and NumPy arrays, all that there is to know."""


def refuse_type(name: str, kind: str, cells: Cells, examples: list[str]) -> NoReturn:
    """Raise the error of a column that cannot be read as what it was when fitted.

    Parameters
    ----------
    name
        Of the column.
    kind
        What it was.
    cells
        What it is.
    examples
        Some of its cells.
    """
    holds = f"holds {listed(examples)}" if examples else f"is of type {cells.what}"
    raise TableError(
        f"column {name!r} {holds}; it was of kind {kind} when the model was fitted, and none of "
        f"its cells can be read as that. Check that the right column has this name."
    )


def count_unread(
    name: str, kind: str, cells: Cells, is_unread: NDArray[np.bool_], tally: Tally
) -> None:
    """Count cells that cannot be read as the kind of their column, or refuse if none can.

    Parameters
    ----------
    name, kind
        Of the column.
    cells
        Its cells: text.
    is_unread
        Which rows have a value that could not be read, shape (n,).
    tally
        Takes the count.
    """
    if not is_unread.any():
        return
    places = np.unique(cells.text.codes[is_unread])[:3]
    examples = cells.text.values.take(places).to_pylist()
    if is_unread.sum() == (cells.text.codes >= 0).sum():
        refuse_type(name, kind, cells, examples)
    tally.add(name, f"cells are no {kind} and count as missing", int(is_unread.sum()), examples)


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
