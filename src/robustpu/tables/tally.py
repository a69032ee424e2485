"""What differs, at prediction, from the table that was fitted: counted, part after part."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Final

from robustpu.tables.errors import TableError, listed

# Columns that are told of one by one; if it is the same in more of them, the first are named.
MANY: Final = 3


@dataclass
class Tally:
    """Counts by column and by what was found.

    Examples
    --------
    >>> tally = Tally()
    >>> tally.add("city", "rows have new values", 2, ["Oslo"])
    >>> tally.add("city", "rows have new values", 3, ["Bern"])
    >>> tally.lines()
    ["column 'city': 5 rows have new values, such as 'Oslo', 'Bern'"]
    """

    counts: dict[tuple[str, str], int] = field(default_factory=dict)
    examples: dict[tuple[str, str], list[str]] = field(default_factory=dict)
    _read: set[str] = field(default_factory=set, init=False, repr=False)
    _unread: dict[str, str] = field(default_factory=dict, init=False, repr=False)

    def add(self, column: str, what: str, count: int, examples: Iterable[str] = ()) -> None:
        """Count what was found in a column.

        Parameters
        ----------
        column
            Its name.
        what
            In words, as they follow a number.
        count
            How often; nothing is noted if never.
        examples
            Some of the cells.
        """
        if not count:
            return
        key = (column, what)
        self.counts[key] = self.counts.get(key, 0) + count
        known = self.examples.setdefault(key, [])
        known += [example for example in examples if example not in known][: 3 - len(known)]

    def say(self, column: str, what: str) -> None:
        """Note something that has no count, once.

        Parameters
        ----------
        column
            Its name.
        what
            In words.
        """
        self.counts[(column, what)] = 0

    def read(self, column: str) -> None:
        """Note that a cell of a column could be read.

        Parameters
        ----------
        column
            Its name.
        """
        self._read.add(column)

    def unread(self, column: str, refusal: str) -> None:
        """Note that a cell of a column could not be read.

        Parameters
        ----------
        column
            Its name.
        refusal
            What to say if none of its cells can.
        """
        self._unread.setdefault(column, refusal)

    def check(self) -> None:
        """Refuse a table of which a column had cells, but none that could be read; after all parts.

        What is known of cells that were read is forgotten: another table may come.

        Raises
        ------
        TableError
            There is such a column.

        Examples
        --------
        >>> tally = Tally()
        >>> tally.unread("age", "column 'age' holds 'old'.")
        >>> tally.read("age")
        >>> tally.check() is None
        True
        """
        refusals = [words for column, words in self._unread.items() if column not in self._read]
        self._read, self._unread = set(), {}
        if refusals:
            raise TableError(refusals[0])

    def lines(self) -> list[str]:
        """One line for each thing that was found; one for all columns, if it is in many."""
        alike: dict[tuple[str, int, str], list[str]] = {}
        for (column, what), count in self.counts.items():
            # Columns with examples are reported one by one.
            shown_alone = column if self.examples.get((column, what)) else ""
            alike.setdefault((what, count, shown_alone), []).append(column)
        lines = []
        for (what, count, _), columns in alike.items():
            if len(columns) > MANY:
                words = f"{count:,} {what}" if count else what
                names = listed(columns, most=MANY)
                lines.append(f"each of {len(columns):,} columns, {names}: {words}")
            else:
                lines += [self._line(column, what, count) for column in columns]
        return lines

    def _line(self, column: str, what: str, count: int) -> str:
        words = f"{count:,} {what}" if count else what
        some = self.examples.get((column, what))
        return f"column {column!r}: {words}" + (f", such as {listed(some)}" if some else "")
