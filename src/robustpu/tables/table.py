"""A table in memory: columns of equal length, where they came from, what was noticed."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from difflib import get_close_matches
from typing import Any

from robustpu.tables.errors import TableError, listed, shown


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
    has_more
        Whether it is a part of a table, and not the last one.

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
    has_more: bool = False

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
        # By hash: a list of the names for each of thousands of columns would take minutes.
        place = self.data.schema.get_field_index(name)
        if place < 0:
            alone = ""
            if len(self.names) == 1 and not self.names[0].isidentifier():
                alone = " If that is a whole row, delimit its cells by ',', ';', '|' or tabs."
            raise TableError(
                f"{self.source} has no column {shown(name)}.{_meant(name, self.names)} It has "
                f"{listed(self.names, 20)}.{alone}"
            )
        return self.data.column(place)

    def without(self, names: set[str]) -> "Table":
        """The other columns.

        Parameters
        ----------
        names
            Columns to leave out, whether they are there or not.
        """
        kept = [name for name in self.names if name not in names]
        return replace(self, data=self.data.select(kept))

    def lacking(self, needed: Sequence[str], *, fill: bool) -> list[str]:
        """Columns of a model that are not there.

        Parameters
        ----------
        needed
            What the model was fitted with.
        fill
            Whether some may be missing; all of them never may.

        Raises
        ------
        TableError
            Some are missing and must not be.
        """
        there = set(self.names)
        absent = [name for name in needed if name not in there]
        if absent and (len(absent) == len(needed) or not (fill or self.is_partial)):
            known = (
                f"It has {listed(self.names, 10)}." if self.names else "It has no other columns."
            )
            raise TableError(
                f"{self.source} has no column {listed(absent)}, which the model was fitted with. "
                f"{known} Add the missing ones, or have them filled with fill_columns=True "
                "(--fill-columns)."
            )
        return absent

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
    if str(name).strip() in known:
        return f" Did you mean {shown(str(name).strip())}?"
    plain = {name.casefold(): name for name in known}
    close = get_close_matches(str(name).casefold(), plain, n=1)
    return f" Did you mean {shown(plain[close[0]])}?" if close else ""
