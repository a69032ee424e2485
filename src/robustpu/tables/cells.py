"""A column of any type as one of few kinds of cells."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final, Literal, TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from robustpu.tables.texts import Coded, as_text, coded

NOT_A_TIME: Final = np.iinfo(np.int64).min
# The starts of the years 1 and 10000, in microseconds since 1970.
FIRST: Final = -62_135_596_800_000_000
LAST: Final = 253_402_300_800_000_000
Family: TypeAlias = Literal["text", "number", "boolean", "date", "empty", "other"]


@dataclass(frozen=True)
class Cells:
    """The cells of a column.

    Attributes
    ----------
    family
        What they are: text, numbers, booleans, dates, all missing, or something else.
    n_rows
        How many.
    numbers
        Of numbers and booleans: NaN where missing, shape (n,).
    dates
        Of dates: NaT where missing, in microseconds, shape (n,).
    what
        The type in words, for messages.
    column
        The pyarrow.ChunkedArray that they came from.
    """

    family: Family
    n_rows: int
    column: Any
    numbers: NDArray[np.float64] | None = None
    dates: NDArray[np.datetime64] | None = None
    what: str = ""

    @cached_property
    def text(self) -> Coded:
        """The cells as text, whatever they are."""
        if self.family in ("empty", "other"):
            return Coded(np.full(self.n_rows, -1, np.int32), pa.array([], pa.string()))
        return coded(as_text(self.column) if self.family == "text" else self.column)

    @cached_property
    def plain_numbers(self) -> NDArray[np.float64] | None:
        """The numbers of a text in which every cell is a plain one or empty, else None.

        Many times as fast as to look for numbers that are written in some other way.
        """
        if self.family != "text" or pa.types.is_dictionary(self.column.type):
            return None
        try:
            # A cell that is far from a number is most often among the first.
            _emptied(self.column.slice(0, 100)).cast(pa.float64())
            return _floats(_emptied(self.column).cast(pa.float64()))
        except pa.ArrowInvalid:
            return None

    def n_different(self) -> int:
        """How many different values there are."""
        if self.numbers is not None:
            return len(np.unique(self.numbers[~np.isnan(self.numbers)]))
        return len(self.text.values)


def cells_of(column: Any) -> Cells:
    """The cells of a pyarrow.ChunkedArray.

    Examples
    --------
    >>> cells_of(pa.chunked_array([[1, None, 3]])).numbers.tolist()
    [1.0, nan, 3.0]
    >>> cells_of(pa.chunked_array([["a", "b"]])).family
    'text'
    """
    kind, n = column.type, len(column)
    what = str(kind)
    if pa.types.is_null(kind):
        return Cells("empty", n, column, what=what)
    if pa.types.is_boolean(kind):
        return Cells("boolean", n, column, numbers=_floats(column.cast(pa.uint8())), what="boolean")
    if _is_number(kind):
        return Cells("number", n, column, numbers=_floats(column), what="number")
    if pa.types.is_timestamp(kind) or pa.types.is_date(kind):
        return Cells("date", n, column, dates=_microseconds(column), what="date")
    if pa.types.is_dictionary(kind):
        inner = kind.value_type
        if not (pa.types.is_string(inner) or pa.types.is_large_string(inner)):
            return cells_of(column.cast(inner))
        return Cells("text", n, column, what="text")
    if pa.types.is_string(kind) or pa.types.is_large_string(kind):
        return Cells("text", n, column, what="text")
    return Cells("other", n, column, what=what)


def _emptied(column: Any) -> Any:
    return pc.if_else(pc.equal(column, ""), pa.scalar(None, column.type), column)


def _is_number(kind: Any) -> bool:
    return bool(
        pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind)
    )


def _floats(column: Any) -> NDArray[np.float64]:
    """Numbers in double precision; what is infinite is missing."""
    plain = column.cast(pa.float64(), safe=False)
    numbers = np.array(plain.to_numpy(), dtype=np.float64)
    numbers[~np.isfinite(numbers)] = np.nan
    return numbers


def _microseconds(column: Any) -> NDArray[np.datetime64]:
    """Dates in microseconds, in universal time; what has no year of four digits is missing."""
    kind = pa.timestamp("us", getattr(column.type, "tz", None))
    plain = column.cast(kind, safe=False).cast(pa.int64())
    numbers = np.array(plain.fill_null(NOT_A_TIME).to_numpy(), dtype=np.int64)
    numbers[(numbers < FIRST) | (numbers >= LAST)] = NOT_A_TIME
    return numbers.astype("datetime64[us]")
