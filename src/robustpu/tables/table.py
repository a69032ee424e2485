"""A table in memory: columns of equal length, where they came from, what was noticed."""

from dataclasses import dataclass, replace
from difflib import get_close_matches
from typing import Any

from robustpu.tables.errors import TableError, listed


@dataclass(frozen=True)
class Table:
    """Columns by name.

    Attributes
    ----------
    data
        A pyarrow.Table whose names are unique.
    source
        Where it came from, for messages.
    notes
        What was noticed while it was read.
    is_partial
        Whether a column that is not there only lacks values, as in JSON lines.

    Examples
    --------
    >>> import pyarrow as pa
    >>> Table(pa.table({"a": [1, 2]}), "example").n_rows
    2
    """

    data: Any
    source: str
    notes: tuple[str, ...] = ()
    is_partial: bool = False

    @property
    def names(self) -> list[str]:
        """Names of the columns, in their order."""
        names: list[str] = self.data.column_names
        return names

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return int(self.data.num_rows)

    def column(self, name: str) -> Any:
        """A column as a pyarrow.ChunkedArray.

        Parameters
        ----------
        name
            Its name.
        """
        if name not in self.data.column_names:
            raise TableError(
                f"{self.source} has no column {name!r}.{_meant(name, self.names)} It has "
                f"{listed(self.names, 20)}."
            )
        return self.data.column(name)

    def without(self, names: set[str]) -> "Table":
        """The other columns.

        Parameters
        ----------
        names
            Columns to leave out, whether they are there or not.
        """
        kept = [name for name in self.names if name not in names]
        return replace(self, data=self.data.select(kept))

    def rows(self, start: int, count: int) -> "Table":
        """Some rows, without a copy.

        Parameters
        ----------
        start
            The first.
        count
            How many.
        """
        return replace(self, data=self.data.slice(start, count))


def _meant(name: str, known: list[str]) -> str:
    """Whatever the capitals, the column that was most likely meant."""
    plain = {own.casefold(): own for own in known}
    close = get_close_matches(str(name).casefold(), plain, n=1)
    return f" Did you mean {plain[close[0]]!r}?" if close else ""
