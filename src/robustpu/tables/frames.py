"""Frames of pandas and polars, Arrow tables, dictionaries and arrays as one kind of table."""

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
import pyarrow as pa

from robustpu.tables.errors import TableError
from robustpu.tables.names import tidied
from robustpu.tables.objects import column_of


def is_frame(source: Any) -> bool:
    """Whether something is a table in memory and not the name of a file."""
    return (
        isinstance(source, Mapping | np.ndarray | pa.Table | pa.RecordBatch)
        or _home(source) in ("pandas", "polars")
        or hasattr(source, "__arrow_c_stream__")
    )


def arrow_of(source: Any) -> tuple[Any, str, list[str]]:
    """(Arrow table, what it was, notes) of a frame.

    Examples
    --------
    >>> table, name, notes = arrow_of({"a": [1, 2], "b": ["x", None]})
    >>> table.num_rows, name
    (2, 'a dictionary')
    """
    if isinstance(source, pa.RecordBatch):
        source = pa.Table.from_batches([source])
    if isinstance(source, pa.Table):
        return _table(source.column_names, source.columns, "an Arrow table")
    if isinstance(source, Mapping):
        return _table(list(source), list(map(_column, source.values())), "a dictionary")
    if isinstance(source, np.ndarray):
        return _of_array(source)
    what = f"{_home(source)}.{type(source).__name__}"
    if what == "polars.LazyFrame":
        raise TableError("the table is a polars LazyFrame, expected a frame. Call collect() on it.")
    if type(source).__name__ == "Series":
        raise TableError(f"the table is a {what}, expected a frame. Call to_frame() on it.")
    if _home(source) == "pandas" and hasattr(source, "iloc"):
        columns = [_column(source.iloc[:, place]) for place in range(source.shape[1])]
        return _table(list(source.columns), columns, f"a {what}")
    if _home(source) == "polars" and hasattr(source, "get_columns"):
        return _table(source.columns, list(map(_column, source.get_columns())), f"a {what}")
    try:
        table = pa.table(source)
    except Exception as error:
        raise TableError(f"the table is a {what}, which cannot be read: {error}.") from error
    return _table(table.column_names, table.columns, f"a {what}")


def _table(names: Iterable[Any], columns: list[Any], what: str) -> tuple[Any, str, list[str]]:
    tidy, notes = tidied(list(names))
    lengths = {len(column) for column in columns}
    if len(lengths) > 1:
        raise TableError(f"the columns of {what} have different lengths: {sorted(lengths)}.")
    if not columns:
        raise TableError(f"{what} has no columns, expected a table with some.")
    return pa.Table.from_arrays(columns, names=tidy), what, notes


def _column(values: Any) -> Any:
    """One column, which may hold anything."""
    if isinstance(values, pa.Array | pa.ChunkedArray):
        return values
    if isinstance(values, str | bytes | Mapping) or not hasattr(values, "__len__"):
        raise TableError(
            f"a column is a {type(values).__name__}, expected a list, an array or a series."
        )
    try:
        # Of Python objects polars would hand out addresses.
        if _home(values) == "polars" and str(values.dtype) != "Object":
            return values.to_arrow()
        if _home(values) == "pandas" and values.dtype != object:
            return pa.Array.from_pandas(values)
    except Exception:
        # Objects that Arrow does not know, or of several types.
        pass
    try:
        if isinstance(values, np.ndarray):
            return column_of(values)
        plain = values.tolist() if hasattr(values, "tolist") else list(values)
    except Exception as error:
        raise TableError(f"a column cannot be read: {type(error).__name__}: {error}.") from error
    return column_of(plain)


def _of_array(array: Any) -> tuple[Any, str, list[str]]:
    if array.dtype.names:
        return _table(
            array.dtype.names, [_column(array[name]) for name in array.dtype.names], "an array"
        )
    if array.ndim != 2:
        raise TableError(
            f"the table is an array of shape {array.shape}, expected rows and columns. Give a "
            "frame, such as pandas.DataFrame(values, columns=names)."
        )
    # The names that scikit-learn gives to columns without one.
    names = [f"x{place}" for place in range(array.shape[1])]
    return _table(names, [_column(array[:, place]) for place in range(array.shape[1])], "an array")


def _home(value: Any) -> str:
    return type(value).__module__.partition(".")[0]
