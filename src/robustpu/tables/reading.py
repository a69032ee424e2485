"""From a file, standard input or a frame to a table, whole or in parts."""

import json
import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any, Final, Literal

from robustpu.tables.columnar import arrow_stream_batches, feather_batches, parquet_batches
from robustpu.tables.delimited import delimited_batches
from robustpu.tables.encodings import Recoded
from robustpu.tables.errors import TableError
from robustpu.tables.excel import excel_batches
from robustpu.tables.frames import arrow_of, is_frame
from robustpu.tables.json_lines import json_batches
from robustpu.tables.layout import find_layout, refuse_noise
from robustpu.tables.names import tidied
from robustpu.tables.plain import plain_table
from robustpu.tables.regroup import joined, regrouped, rows_of
from robustpu.tables.streams import Stream, guarded, opened
from robustpu.tables.table import Table
from robustpu.validation.numbers import check_number

SAMPLE: Final = 256 << 10
# No two rows of a table are as long as this.
LARGEST: Final = 64 << 20
BINARY: Final[dict[bytes, Callable[[Stream, int | None], Iterator[Any]]]] = {
    b"PAR1": parquet_batches,
    b"ARROW1": feather_batches,
    b"\xff\xff\xff\xff": arrow_stream_batches,
}
# An object or a list of objects, of which the first line is a part only.
JSON: Final = re.compile(r'\{\s*"|\[\s*\{|[\[{]\s*$', re.MULTILINE)
FOREIGN: Final = {
    b"\xd0\xcf\x11\xe0": "an old or encrypted Excel workbook. Save it as .xlsx, without a "
    "password, or the sheet as CSV",
    b"FEA1": "a Feather file of version 1. Write it again, as version 2",
    b"%PDF": "a PDF document. Give the table itself, as CSV",
    b"SQLite format 3": "a SQLite database. Export the table as CSV",
    b"\x89HDF": "an HDF5 file. Write the table as Parquet",
    b"\x80\x04\x95": "a pickle, which is not read because it could run code. Write Parquet",
    b"PARE": "an encrypted Parquet file. Decrypt it first",
}


def read_table(
    source: Any,
    *,
    delimiter: str | None = None,
    encoding: str | None = None,
    header: bool = True,
    bad_rows: Literal["error", "skip"] = "error",
) -> Table:
    """A table, whole in memory.

    Parameters
    ----------
    source
        A path; "-" for standard input; a binary file; a frame of pandas or polars, an Arrow table,
        a dictionary of columns or a NumPy array. Files hold CSV, TSV or other delimited text, JSON
        lines, Parquet, Feather, Arrow or, with the extra ``excel``, a workbook of Excel, and may be
        packed by gzip, bzip2, xz, zstd, lz4 or zip.
    delimiter
        Of a delimited text; found out by default.
    encoding
        Of a text; found out by default.
    header
        Whether the first row of a delimited text or workbook has the column names.
    bad_rows
        What to do with rows of a delimited text that have more or fewer cells than the first.

    Returns
    -------
    table
        Cells of a delimited text stay text; their types are found by `Vectorizer`.

    Raises
    ------
    TableError
        Whatever is wrong with the file.

    Examples
    --------
    >>> import io
    >>> table = read_table(io.BytesIO(b"amount;label\\n1,5;1\\n2,5;\\n"))
    >>> table.names, table.n_rows, table.notes
    (['amount', 'label'], 2, ("delimiter: ';'",))
    """
    parts = list(
        iter_table(
            source,
            rows=1 << 20,
            delimiter=delimiter,
            encoding=encoding,
            header=header,
            bad_rows=bad_rows,
        )
    )
    notes = tuple(note for part in parts for note in part.notes)
    with guarded(parts[0].source):
        data, more = joined([part.data for part in parts])
    return Table(data, parts[0].source, notes + tuple(more), parts[0].is_partial)


def iter_table(
    source: Any,
    *,
    rows: int | None = None,
    delimiter: str | None = None,
    encoding: str | None = None,
    header: bool = True,
    bad_rows: Literal["error", "skip"] = "error",
) -> Iterator[Table]:
    """A table in parts, for files larger than the memory.

    Parameters
    ----------
    source, delimiter, encoding, header, bad_rows
        As in `read_table`.
    rows
        Rows of a part; by default as many as have 4 million cells, 256 to 32,768.

    Yields
    ------
    part
        A table; its notes are those that the parts before did not have.

    Examples
    --------
    >>> [part.n_rows for part in iter_table({"a": range(5)}, rows=2)]
    [2, 2, 1]
    """
    if rows is not None:
        check_number("rows", rows, least=1, whole=True)
    if bad_rows not in ("error", "skip"):
        raise TableError(f"bad_rows={bad_rows!r} is not known; give 'error' or 'skip'.")
    if isinstance(source, Table):
        yield from _parts(source, rows)
    elif is_frame(source):
        yield from _of_frame(source, rows)
    elif isinstance(source, str) or hasattr(source, "__fspath__") or hasattr(source, "read"):
        text = {"delimiter": delimiter, "encoding": encoding, "header": header}
        with opened(source) as stream:
            yield from _of_stream(stream, rows, text, skip_bad_rows=bad_rows == "skip")
    else:
        raise TableError(
            f"the table is of type {type(source).__name__}, expected the path of a file, '-' for "
            "standard input, or a frame of pandas or polars."
        )


def _parts(table: Table, rows: int | None) -> Iterator[Table]:
    size = rows or rows_of(len(table.names))
    for at in range(0, max(table.n_rows, 1), size):
        has_more = table.has_more or at + size < table.n_rows
        notes = table.notes if not at else ()
        yield replace(table.rows(at, size), notes=notes, has_more=has_more)


def _of_frame(source: Any, rows: int | None) -> Iterator[Table]:
    data, what, notes = arrow_of(source)
    if not data.num_rows:
        raise TableError(f"{what} has no rows, expected at least one.")
    data, more = plain_table(data)
    yield from _parts(Table(data, what, (*notes, *more)), rows)


def _of_stream(
    stream: Stream, rows: int | None, text: dict[str, Any], *, skip_bad_rows: bool
) -> Iterator[Table]:
    head = stream.peek(16)
    if not head.strip():
        raise TableError(f"{stream.name} is empty, expected a table with a header and rows.")
    for magic, what in FOREIGN.items():
        if head.startswith(magic):
            raise TableError(f"{stream.name} is {what}.")
    notes: list[str] = []
    reader = next((read for magic, read in BINARY.items() if head.startswith(magic)), None)
    is_json = False
    if stream.file is not None:
        batches = excel_batches(
            stream, rows, header=text["header"], skip_bad_rows=skip_bad_rows, notes=notes
        )
    elif reader is not None:
        batches = reader(stream, rows)
    else:
        recoded = Recoded(stream, text["encoding"])
        plain = Stream(recoded.read, stream.name)
        sample = _sampled(plain)
        notes = recoded.notes  # more may come with later bytes
        start = sample.decode("utf-8", "ignore")  # the last letter may be cut
        is_whole = len(plain.peek(len(sample) + 1)) == len(sample)
        refuse_noise(start, stream.name)
        is_json = _is_json(start, stream.name)
        if is_json:
            batches = json_batches(plain, rows)
        else:
            layout = find_layout(
                _after_hint(start, plain, text),
                stream.name,
                is_whole=is_whole,
                delimiter=text["delimiter"],
                header=text["header"],
            )
            notes += layout.notes
            batches = delimited_batches(plain, layout, skip_bad_rows=skip_bad_rows, notes=notes)
    held, told = None, set[str]()
    try:
        for data in regrouped(batches, rows):
            names, renamed = tidied(data.column_names)
            data, spread = plain_table(data.rename_columns(names))
            # One behind: what is noticed at the end has to go with the last part.
            if held is not None:
                yield Table(held, stream.name, tuple(notes), is_partial=is_json, has_more=True)
                notes.clear()
            notes += [note for note in (*renamed, *spread) if note not in told]
            told.update(renamed, spread)
            held = data
    except Exception:
        # The part before the error is whole.
        if held is not None:
            yield Table(held, stream.name, tuple(notes), is_partial=is_json, has_more=True)
        raise
    if held is None:
        raise TableError(f"{stream.name} has a header but no rows, expected at least one row.")
    yield Table(held, stream.name, tuple(notes), is_partial=is_json)


def _sampled(stream: Stream) -> bytes:
    """The start of a text, with some whole lines in it, however long they are."""
    size = SAMPLE
    sample = stream.peek(size)
    while len(sample) == size < LARGEST and len(sample.splitlines()) < 4:
        size *= 4
        sample = stream.peek(size)
    return sample


def _is_json(sample: str, source: str) -> bool:
    first = sample.lstrip()
    if not first.startswith(("{", "[")):
        return False
    if ".json" in source.lower() or ".ndjson" in source.lower():
        return True
    # A header may start with a bracket as well.
    try:
        return isinstance(json.loads(first.splitlines()[0]), dict | list)
    except (ValueError, RecursionError):
        return JSON.match(first) is not None


def _after_hint(sample: str, stream: Stream, text: dict[str, Any]) -> str:
    """Excel's first line ``sep=;`` says the delimiter and is no row."""
    line, _, rest = sample.partition("\n")
    hint = line.strip("\r")
    if len(hint) != 5 or not hint.lower().startswith("sep="):
        return sample
    stream.read(len(line.encode()) + 1)
    text["delimiter"] = text["delimiter"] or hint[-1]
    return rest
