"""Batches of any length and type put together."""

from collections.abc import Iterable, Iterator
from typing import Any

import pyarrow as pa

from robustpu.tables.texts import as_text


def regrouped(batches: Iterable[Any], rows: int) -> Iterator[Any]:
    """Arrow tables of ``rows`` rows each, but for the last one.

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
        rest = pa.record_batch(batch) if isinstance(batch, dict) else batch
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
