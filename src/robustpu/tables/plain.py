"""Arrow columns reduced to the types that the rest of the package handles."""

from typing import Any, Final

import pyarrow as pa
import pyarrow.compute as pc

from robustpu.tables.cells import FIRST, LAST
from robustpu.tables.errors import TableError
from robustpu.tables.names import tidied

# Objects in objects.
DEPTH: Final = 5
MICROSECONDS: Final = {"D": 86_400_000_000, "s": 1_000_000, "ms": 1000, "us": 1}


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
    notes = []
    if gone:
        notes = [f"nested columns were spread into one a field: {', '.join(sorted(gone))}"]
    columns = []
    for name, column in zip(names, data.columns, strict=True):
        column, is_beyond = within_calendar(plain_column(column))
        columns.append(column)
        if is_beyond:
            notes.append(
                f"column {name!r}: dates beyond the years 1 to 9999 cannot be read, and are taken "
                "as missing"
            )
    return pa.Table.from_arrays(columns, names=names), notes


def within_calendar(column: Any) -> tuple[Any, bool]:
    """(column, whether there were any): dates that Python cannot hold are missing.

    Examples
    --------
    >>> column = pa.chunked_array([[0, 10_000_000]], pa.date32())
    >>> within_calendar(column)[0].null_count, within_calendar(column)[1]
    (1, True)
    """
    kind = column.type
    if pa.types.is_date32(kind):
        per_unit, numbers = MICROSECONDS["D"], column.cast(pa.int32()).cast(pa.int64())
    elif pa.types.is_date64(kind) or (pa.types.is_timestamp(kind) and kind.unit != "ns"):
        per_unit, numbers = MICROSECONDS[getattr(kind, "unit", "ms")], column.cast(pa.int64())
    else:
        return column, False
    # Python converts to local time, which may lie on the day before or after.
    margin = MICROSECONDS["D"] if getattr(kind, "tz", None) else 0
    # In the unit of the column: in microseconds, enormous numbers would overflow.
    first, last = (FIRST + margin) // per_unit, (LAST - margin) // per_unit
    is_beyond = pc.or_(pc.less(numbers, first), pc.greater_equal(numbers, last))
    if not pc.any(is_beyond).as_py():
        return column, False
    return pc.if_else(is_beyond, pa.scalar(None, kind), column), True


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
            pa.chunked_array([pc.run_end_decode(chunk) for chunk in column.chunks], kind.value_type)
        )
    if pa.types.is_dictionary(kind) and (
        pa.types.is_date(kind.value_type) or pa.types.is_timestamp(kind.value_type)
    ):
        return column.cast(kind.value_type)
    if pa.types.is_nested(kind):
        return column.cast(_dates_as_text(kind))
    if pa.types.is_string_view(kind):
        return column.cast(pa.large_string())
    # pyarrow up to 24 cannot compare or count half precision.
    if pa.types.is_float16(kind):
        return column.cast(pa.float32())
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


def _dates_as_text(kind: Any) -> Any:
    """A nested type with text for dates: no model learns from them, and Python lacks some."""
    if pa.types.is_date(kind) or pa.types.is_timestamp(kind):
        return pa.string()
    if pa.types.is_struct(kind):
        return pa.struct([field.with_type(_dates_as_text(field.type)) for field in kind])
    if pa.types.is_map(kind):
        return pa.map_(_dates_as_text(kind.key_type), _dates_as_text(kind.item_type))
    if pa.types.is_fixed_size_list(kind):
        return pa.list_(_dates_as_text(kind.value_type), kind.list_size)
    if pa.types.is_large_list(kind):
        return pa.large_list(_dates_as_text(kind.value_type))
    if pa.types.is_list(kind):
        return pa.list_(_dates_as_text(kind.value_type))
    return kind


def _is_bytes(kind: Any) -> bool:
    return bool(
        pa.types.is_binary(kind)
        or pa.types.is_large_binary(kind)
        or pa.types.is_fixed_size_binary(kind)
        or pa.types.is_binary_view(kind)
    )
