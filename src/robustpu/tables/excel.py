"""Excel workbooks (.xlsx): the first visible sheet, batch by batch.

openpyxl takes whatever it is given, so all sizes are checked before it reads anything.
"""

import warnings
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from itertools import chain, islice
from typing import IO, Any, TypeAlias

from robustpu.tables.errors import TableError, many, shown
from robustpu.tables.excel_sizes import MOST_ROWS, check_sizes
from robustpu.tables.names import refuse_data, tidied
from robustpu.tables.objects import column_of
from robustpu.tables.regroup import rows_of
from robustpu.tables.streams import Stream, spooled

# A row of the sheet: its number, from 1, and its cells.
Row: TypeAlias = tuple[int, tuple[Any, ...]]


def excel_batches(
    stream: Stream, rows: int | None, *, header: bool, skip_bad_rows: bool, notes: list[str]
) -> Iterator[dict[str, Any]]:
    """Columns by name, ``rows`` rows at a time; rows without a value are left out.

    Parameters
    ----------
    stream
        The bytes of the workbook.
    rows
        Rows of a batch; by the columns, if None.
    header
        Whether the first row has the names.
    skip_bad_rows
        Whether to leave out rows with more cells than the first.
    notes
        Takes what was noticed.
    """
    with ExitStack() as stack:
        file = spooled(stream, stack)
        check_sizes(file, stream.name)
        found = _rows(file, stream.name, notes, stack)
        first = next(found, None)
        if first is None:
            raise TableError(f"{stream.name}: its first sheet is empty, expected a table.")
        names = [f"column {place}" for place in range(1, len(first[1]) + 1)]
        if header:
            texts = ["" if cell is None else str(cell) for cell in first[1]]
            refuse_data(texts, stream.name)
            names, more = tidied(texts)
            notes += more
        else:
            found = chain([first], found)
        kept = _kept(found, names, stream.name, skip_bad_rows, notes)
        size = rows or rows_of(len(names))
        while batch := list(islice(kept, size)):
            columns = zip(*batch, strict=True)
            yield {name: column_of(cells) for name, cells in zip(names, columns, strict=True)}


def _rows(file: IO[bytes], name: str, notes: list[str], stack: ExitStack) -> Iterator[Row]:
    """Rows with a value, cut after the last one, of the first visible sheet."""
    try:
        from openpyxl import load_workbook
    except ModuleNotFoundError as error:
        raise ModuleNotFoundError(
            "Excel files are read with openpyxl, which is not installed: pip install "
            "'robustpu[excel]'",
            name="openpyxl",
        ) from error
    with _guarded(name):
        book = load_workbook(file, read_only=True, data_only=True, keep_links=False)
        stack.callback(book.close)
        visible = [sheet for sheet in book.worksheets if sheet.sheet_state == "visible"]
        if not visible:
            raise TableError(f"{name} has no visible sheet, expected one with a table.")
        sheet = visible[0]
        # What the file says of its size may be wrong.
        sheet.reset_dimensions()
    if len(visible) > 1:
        notes.append(
            f"the first of {len(visible)} sheets was read, {shown(sheet.title)}; to read another, "
            "save it as a file of its own"
        )
    cells = enumerate(sheet.iter_rows(values_only=True), 1)
    # Its warnings are about formats, and are caught while it reads and not while others work.
    while batch := _next_rows(cells, name):
        for number, row in batch:
            if number > MOST_ROWS:
                raise TableError(
                    f"{name} has more than {MOST_ROWS:,} rows, which Excel cannot hold."
                )
            width = max((place for place, cell in enumerate(row, 1) if cell is not None), default=0)
            if width:
                yield number, row[:width]


def _next_rows(cells: Iterator[Row], name: str) -> list[Row]:
    with _guarded(name):
        return list(islice(cells, 256))


@contextmanager
def _guarded(name: str) -> Iterator[None]:
    """Convert whatever openpyxl raises into a TableError, and leave its warnings out."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            yield
        except (TableError, OSError, MemoryError):
            raise
        except Exception as error:
            raise TableError(
                f"{name} is damaged or no workbook: {shown(str(error) or type(error).__name__)}. "
                "Open it in Excel and save it again, or save the sheet as CSV."
            ) from error


def _kept(
    rows: Iterator[Row], names: list[str], name: str, skip_bad_rows: bool, notes: list[str]
) -> Iterator[tuple[Any, ...]]:
    """Rows with as many cells as there are names; those with more are left out, or refused."""
    n_bad = 0
    for number, row in rows:
        if len(row) <= len(names):
            yield row + (None,) * (len(names) - len(row))
            continue
        n_bad += 1
        if not skip_bad_rows:
            raise TableError(
                f"{name}, row {number:,}: a value in cell {len(row):,}; the first row ends with "
                f"cell {len(names):,}, {shown(names[-1])}. Delete rows above the names of the "
                "columns and cells beside the table, or leave such rows out with bad_rows='skip' "
                "(--skip-bad-rows)."
            )
    if n_bad:
        notes.append(f"{many(n_bad, 'row')} with more cells than the first were left out")
