"""Columns of the types that all that follows can work with."""

from typing import Any, Final

import pyarrow as pa
import pyarrow.compute as pc

from robustpu.tables.errors import TableError
from robustpu.tables.names import tidied

# Objects in objects.
DEPTH: Final = 5


def plain_table(data: Any) -> tuple[Any, list[str]]:
    """(Arrow table, notes): plain types, and fields of nested objects as columns.

    Examples
    --------
    >>> data, notes = plain_table(pa.table({"address": [{"city": "Bern"}]}))
    >>> data.column_names, len(notes)
    (['address.city'], 1)
    """
    before = set(data.column_names)
    for _ in range(DEPTH):
        if not any(pa.types.is_struct(kind) for kind in data.schema.types):
            break
        data = data.flatten()
    if not data.num_columns:
        raise TableError("the table has no columns, only objects without fields.")
    gone = before - set(data.column_names)
    names, _ = tidied(data.column_names)
    notes = [f"nested columns were spread into one a field: {', '.join(sorted(gone))}"]
    columns = [plain_column(column) for column in data.columns]
    return pa.Table.from_arrays(columns, names=names), notes if gone else []


def plain_column(column: Any) -> Any:
    """Types that only store others in another way, as those others.

    Examples
    --------
    >>> plain_column(pa.chunked_array([["a"]], pa.string_view())).type == pa.large_string()
    True
    """
    kind = column.type
    if isinstance(kind, pa.BaseExtensionType):
        storage = [chunk.storage for chunk in column.chunks]
        return plain_column(pa.chunked_array(storage, kind.storage_type))
    if pa.types.is_run_end_encoded(kind):
        return plain_column(
            pa.chunked_array([pc.run_end_decode(own) for own in column.chunks], kind.value_type)
        )
    if pa.types.is_string_view(kind):
        return column.cast(pa.large_string())
    if _is_bytes(kind):
        try:
            return column.cast(pa.binary()).cast(pa.string())
        except pa.ArrowException:
            return column
    if pa.types.is_time(kind):
        return column.cast(pa.time64("us")).cast(pa.int64())
    if pa.types.is_duration(kind):
        return column.cast(pa.int64())
    return column


def _is_bytes(kind: Any) -> bool:
    return bool(
        pa.types.is_binary(kind)
        or pa.types.is_large_binary(kind)
        or pa.types.is_fixed_size_binary(kind)
        or pa.types.is_binary_view(kind)
    )
