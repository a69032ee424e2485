"""Delimited text, batch by batch; every cell stays the text that it was.

Types are found later, from all rows at once: a type found in the first rows may not hold in the
last ones, and codes such as 00123 would lose their zeros.
"""

from collections.abc import Iterator
from typing import Any, Final

import pyarrow as pa
import pyarrow.csv

from robustpu.tables.errors import TableError, shown
from robustpu.tables.layout import Layout, describe_ragged
from robustpu.tables.records import blocks
from robustpu.tables.streams import Stream

SKIP: Final = "bad_rows='skip' (--skip-bad-rows)"


def delimited_batches(
    stream: Stream, layout: Layout, *, skip_bad_rows: bool, notes: list[str]
) -> Iterator[Any]:
    """Record batches of text columns.

    Parameters
    ----------
    stream
        UTF-8 text.
    layout
        Its delimiter and column names.
    skip_bad_rows
        Whether rows of another length than the first one are left out.
    notes
        Takes what is to be said when all is read.
    """
    n_rows = n_bad = 0
    first_bad = ""
    for block in blocks(stream, layout.delimiter, layout.newline):
        bad: list[Any] = []
        has_header = layout.has_header and not n_rows
        table = _read(block, layout, has_header, bad)
        if bad and not skip_bad_rows:
            row = bad[0]
            before = table.slice(0, row.number - 1 - has_header)
            yield from before.rename_columns(list(layout.names)).to_batches()
            raise TableError(
                describe_ragged(
                    stream.name, layout, n_rows + row.number, row.actual_columns, row.text, SKIP
                )
            )
        if bad and not n_bad:
            first_bad = f"row {n_rows + bad[0].number:,}: {shown(bad[0].text)}"
        n_bad += len(bad)
        n_rows += table.num_rows + len(bad) + has_header
        yield from table.rename_columns(list(layout.names)).to_batches()
    if n_bad:
        notes.append(
            f"{n_bad:,} rows without {len(layout.names)} cells were left out, the first of them "
            f"{first_bad}"
        )


def _read(block: bytes, layout: Layout, has_header: bool, bad: list[Any]) -> Any:
    """The rows of a block as an Arrow table; those of another length go to ``bad``."""

    def handle(row: Any) -> str:
        bad.append(row)
        return "skip"

    # Arrow wants different names.
    places = [str(place) for place in range(len(layout.names))]
    return pa.csv.read_csv(
        pa.py_buffer(block),
        read_options=pa.csv.ReadOptions(
            use_threads=False,
            block_size=len(block) + 1,
            column_names=places,
            skip_rows_after_names=int(has_header),
        ),
        parse_options=pa.csv.ParseOptions(
            delimiter=layout.delimiter, newlines_in_values=True, invalid_row_handler=handle
        ),
        convert_options=pa.csv.ConvertOptions(
            column_types={place: pa.string() for place in places}, strings_can_be_null=False
        ),
    )
