"""Batches of any length and type put together."""

from collections.abc import Iterable, Iterator
from typing import Any, Final

import pyarrow as pa

from robustpu.tables.texts import as_text

# Cells of a part, and the rows that it has at least and at most.
CELLS: Final = 1 << 22
ROWS: Final = (256, 32_768)


def rows_of(columns: int) -> int:
    """Rows of a part: fewer where there are many columns.

    Parameters
    ----------
    columns
        How many.

    Examples
    --------
    >>> rows_of(80), rows_of(2_000), rows_of(100_000)
    (32768, 2097, 256)
    """
    least, most = ROWS
    return max(least, min(most, CELLS // max(1, columns)))


def width(kinds: Iterable[Any]) -> int:
    """Number of columns of some Arrow types, fields of objects counted one by one.

    Parameters
    ----------
    kinds
        The types.

    Examples
    --------
    >>> width([pa.int64(), pa.struct({"a": pa.int64(), "b": pa.int64()})])
    3
    """
    return sum(
        width(field.type for field in kind) if pa.types.is_struct(kind) else 1 for kind in kinds
    )


def regrouped(batches: Iterable[Any], rows: int | None = None) -> Iterator[Any]:
    """Arrow tables of ``rows`` rows each, but for the last one; by the columns, if not given.

    Examples
    --------
    >>> parts = [pa.record_batch({"a": list(range(n))}) for n in (1, 4, 2)]
    >>> [part.num_rows for part in regrouped(parts, 3)]
    [3, 3, 1]
    """
    held: list[Any] = []
    count = 0
    for batch in batches:
        # JSON lines come as columns, ``rows`` rows at a time, and may have other ones each time.
        is_json = isinstance(batch, dict)
        rest = pa.record_batch(batch) if is_json else batch
        rows = rows or (rest.num_rows if is_json else rows_of(width(rest.schema.types)))
        while rest.num_rows:
            part = rest.slice(0, rows - count)
            held.append(part)
            count += part.num_rows
            rest = rest.slice(part.num_rows)
            if count == rows:
                yield pa.Table.from_batches(held)
                held, count = [], 0
    if held:
        yield pa.Table.from_batches(held)


def joined(parts: list[Any]) -> tuple[Any, list[str]]:
    """(Arrow table, notes) of parts whose columns may differ, as those of JSON lines do.

    Examples
    --------
    >>> data, notes = joined([pa.table({"a": [1]}), pa.table({"a": ["x"], "b": [2.0]})])
    >>> data.to_pydict(), len(notes)
    ({'a': ['1', 'x'], 'b': [None, 2.0]}, 1)
    """
    if len({tuple(zip(part.column_names, part.schema.types, strict=True)) for part in parts}) == 1:
        return pa.concat_tables(parts), []
    names = list(dict.fromkeys(name for part in parts for name in part.column_names))
    mixed = []
    columns = []
    for name in names:
        pieces = [_piece(part, name) for part in parts]
        column, is_mixed = _one_type(pieces)
        columns.append(column)
        mixed += [name] * is_mixed
    notes = [f"values of several types were made text in: {', '.join(mixed)}"] if mixed else []
    return pa.Table.from_arrays(columns, names=names), notes


def _piece(part: Any, name: str) -> Any:
    return part.column(name) if name in part.column_names else pa.nulls(part.num_rows)


def _one_type(pieces: list[Any]) -> tuple[Any, bool]:
    tables = [pa.table({"x": piece}) for piece in pieces]
    try:
        return pa.concat_tables(tables, promote_options="permissive").column("x"), False
    except pa.ArrowException:
        texts = [pa.table({"x": as_text(piece)}) for piece in pieces]
        return pa.concat_tables(texts).column("x"), True
