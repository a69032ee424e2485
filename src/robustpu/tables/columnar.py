"""Parquet, Feather and Arrow files, batch by batch."""

from collections.abc import Iterator
from contextlib import ExitStack
from typing import Any

import pyarrow as pa

from robustpu.tables.errors import TableError
from robustpu.tables.regroup import rows_of, width
from robustpu.tables.streams import Stream, spooled


def parquet_batches(stream: Stream, rows: int | None) -> Iterator[Any]:
    """Record batches of a Parquet file.

    Parameters
    ----------
    stream
        Its bytes.
    rows
        Rows of a batch; by the columns, if None.
    """
    from pyarrow import parquet

    with ExitStack() as stack:
        file = spooled(stream, stack)
        # Without the buffer a row group would be read whole before its first batch.
        source = parquet.ParquetFile(file, pre_buffer=False, buffer_size=1 << 20)
        _refuse_no_columns(source.schema_arrow, stream.name)
        size = rows or rows_of(width(source.schema_arrow.types))
        for batch in source.iter_batches(batch_size=size, use_threads=False):
            batch.validate(full=True)
            yield batch


def feather_batches(stream: Stream, rows: int | None) -> Iterator[Any]:
    """Record batches of a Feather file, which is an Arrow file.

    Parameters
    ----------
    stream
        Its bytes.
    rows
        Not heeded: a batch is as long as it was written.
    """
    with ExitStack() as stack:
        if stream.path is not None:
            file = stack.enter_context(pa.memory_map(str(stream.path)))
        else:
            file = spooled(stream, stack)
        source = stack.enter_context(pa.ipc.open_file(file))
        _refuse_no_columns(source.schema, stream.name)
        for place in range(source.num_record_batches):
            batch = source.get_batch(place)
            # Offsets in the file are taken as they are: a wrong one would be read out of bounds.
            batch.validate(full=True)
            yield batch


def arrow_stream_batches(stream: Stream, rows: int | None) -> Iterator[Any]:
    """Record batches of an Arrow stream.

    Parameters
    ----------
    stream
        Its bytes.
    rows
        Not heeded: a batch is as long as it was written.
    """
    with pa.ipc.open_stream(pa.PythonFile(stream, mode="r")) as source:
        _refuse_no_columns(source.schema, stream.name)
        for batch in source:
            batch.validate(full=True)
            yield batch


def _refuse_no_columns(schema: Any, source: str) -> None:
    if not len(schema):
        raise TableError(f"{source} has no columns, expected a table with some.")
