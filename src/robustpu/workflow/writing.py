"""Write tables to files part by part; a file appears only when it is complete."""

import json
import os
import re
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from functools import cache, partial
from io import BytesIO
from pathlib import Path
from typing import Any, Final, TypeAlias

import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import csv, parquet

from robustpu.files.drafts import naming
from robustpu.persist.places import check_file, whole

Write: TypeAlias = Callable[[Any], None]

DELIMITED: Final = (".csv", ".tsv")
# What spreadsheets read as the start of a formula, full-width characters included.
FORMULA: Final = "^\\s*[=+@＝＋－＠-]|^[\t\r\n]"
# Control characters, which text formats cannot hold.
CONTROL: Final = re.compile("[\x00-\x08\x0b-\x1f\x7f]")
NUMBER: Final = r"^[+-]?[0-9.,]*[0-9][0-9.,]*(?:[eE][+-]?[0-9]{1,3})?\s?%?$"


@contextmanager
def table_file(path: str | os.PathLike[str], *, is_defused: bool = False) -> Iterator[Write]:
    """A function that takes Arrow tables of one schema; the file appears when all went well.

    Parameters
    ----------
    path
        Ends in .parquet, .csv, .tsv, .jsonl, .json or .feather; "-" is standard output, as CSV.
    is_defused
        Whether texts are written so that spreadsheets do not run them, see ``defused``.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     with table_file(f"{folder}/a.csv") as write:
    ...         write(pa.table({"a": [1]}))
    ...     Path(folder, "a.csv").read_text().split()
    ['"a"', '1']
    """
    ending = check_name(path, is_defused=is_defused)
    with ExitStack() as stack:
        if ending == "-":
            stack.enter_context(naming("standard output"))
            file: Any = sys.stdout.buffer
        else:
            file = stack.enter_context(stack.enter_context(whole(Path(path))).open("wb"))
        write = stack.enter_context(FORMATS[".csv" if ending == "-" else ending](file))
        yield (lambda table: write(defused(table))) if is_defused else write


def defused(table: Any) -> Any:
    """A table with ' before each text that a spreadsheet would run as a formula; numbers stay.

    Parameters
    ----------
    table
        A pyarrow.Table.

    Examples
    --------
    >>> defused(pa.table({"a": ["=1+1", "-5", "a=b"]})).column("a").to_pylist()
    ["'=1+1", '-5', 'a=b']
    """
    plain = [_decoded(column) for column in table.columns]
    columns = [_defused(column) if is_text(column.type) else column for column in plain]
    return pa.table(columns, _defused(pa.array(table.column_names, pa.string())).to_pylist())


def is_text(kind: Any) -> bool:
    """Whether an Arrow type is one of texts."""
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind))


def _decoded(column: Any) -> Any:
    kind = column.type
    return column.cast(kind.value_type) if pa.types.is_dictionary(kind) else column


def _defused(texts: Any) -> Any:
    is_formula = pc.and_not(
        pc.match_substring_regex(texts, FORMULA), pc.match_substring_regex(texts, NUMBER)
    )
    # Scalars of the column's type: Arrow does not join large strings with strings.
    mark, between = pa.scalar("'", texts.type), pa.scalar("", texts.type)
    return pc.if_else(is_formula, pc.binary_join_element_wise(mark, texts, between), texts)


def check_name(path: str | os.PathLike[str], *, is_defused: bool = False) -> str:
    """The ending of a name, if a table can be written there.

    Parameters
    ----------
    path
        The file.
    is_defused
        Whether it is to be safe in a spreadsheet, which is for delimited texts alone.

    Raises
    ------
    ValueError
        The format is not known, or not for spreadsheets.
    OSError
        Nothing can be written there, see :func:`robustpu.persist.places.check_file`.

    Examples
    --------
    >>> check_name("scored.csv")
    '.csv'
    """
    if str(path) == "-":
        return "-"
    file = Path(path)
    ending = file.suffix.lower()
    if ending not in FORMATS:
        raise ValueError(
            f"{file}: unknown format. The name must end in {', '.join(FORMATS)}, or be - for "
            "standard output."
        )
    if is_defused and ending not in DELIMITED:
        raise ValueError(
            f"{file}: only {' and '.join(DELIMITED)} files are written for spreadsheets: give such "
            "a name, or leave --spreadsheet-safe out."
        )
    check_file(file)
    return ending


def writable(column: Any, ending: str) -> Any:
    """A column as it is, or as text where a format cannot hold its type.

    Parameters
    ----------
    column
        A pyarrow.ChunkedArray.
    ending
        Of the file's name, or "-".

    Examples
    --------
    >>> writable(pa.chunked_array([[b"\\xff", b"a"]]), ".csv").to_pylist()
    ['\\\\xff', 'a']
    >>> writable(pa.chunked_array([[1, 2]]), ".csv").type == pa.int64()
    True
    """
    return column if _takes(".csv" if ending == "-" else ending, column.type) else texts(column)


def texts(column: Any) -> Any:
    """Cells of any type as text; bytes that are no letters as ``\\xff``.

    Parameters
    ----------
    column
        A pyarrow.ChunkedArray.
    """
    return pa.array([_text(value) for value in column.to_pylist()], pa.string())


def _text(value: Any) -> str | None:
    if isinstance(value, bytes):
        return CONTROL.sub(_escaped, value.decode("utf-8", "backslashreplace"))
    return None if value is None else str(value)


def _escaped(letter: re.Match[str]) -> str:
    return f"\\x{ord(letter[0]):02x}"


@cache
def _takes(ending: str, kind: Any) -> bool:
    """Whether a format can hold a type, by trying it."""
    is_bytes = pa.types.is_binary(kind) or pa.types.is_large_binary(kind)
    if is_bytes or pa.types.is_fixed_size_binary(kind):
        return ending not in (*DELIMITED, ".jsonl", ".json")
    try:
        with FORMATS[ending](BytesIO()) as write:
            write(pa.table({"column": pa.nulls(1, kind)}))
    except (pa.ArrowException, ValueError):
        return False
    return True


def _csv(file: Any, schema: Any, delimiter: str) -> Any:
    return csv.CSVWriter(file, schema, write_options=csv.WriteOptions(delimiter=delimiter))


@contextmanager
def _arrow(file: Any, open_writer: Callable[[Any, Any], Any]) -> Iterator[Write]:
    writer: Any = None

    def write(table: Any) -> None:
        nonlocal writer
        if writer is None:
            writer = open_writer(file, table.schema)
        try:
            writer.write_table(table)
        except pa.ArrowException as error:
            name = _culprit(table, open_writer)
            raise ValueError(
                f"column {name!r} cannot be written: {error}. Leave it out, or choose another "
                "format."
            ) from error
        file.flush()

    try:
        yield write
    finally:
        # Also after a failure: open writers would write when they are collected.
        if writer is not None:
            writer.close()


def _culprit(table: Any, open_writer: Callable[[Any, Any], Any]) -> str:
    """The first column that cannot be written even alone."""
    for name in table.column_names:
        alone = table.select([name])
        try:
            with open_writer(BytesIO(), alone.schema) as writer:
                writer.write_table(alone)
        except pa.ArrowException:
            return str(name)
    return str(table.column_names[0])


@contextmanager
def _json(file: Any, start: str, between: str, end: str) -> Iterator[Write]:
    before = start

    def write(table: Any) -> None:
        nonlocal before
        for row in table.to_pylist():
            file.write((before + json.dumps(row, ensure_ascii=False, default=str)).encode())
            before = between

    yield write
    file.write(end.encode())


FORMATS: Final[dict[str, Callable[[Any], Any]]] = {
    ".parquet": lambda file: _arrow(file, parquet.ParquetWriter),
    ".csv": lambda file: _arrow(file, partial(_csv, delimiter=",")),
    ".tsv": lambda file: _arrow(file, partial(_csv, delimiter="\t")),
    ".jsonl": lambda file: _json(file, "", "\n", "\n"),
    ".json": lambda file: _json(file, "[", ",\n", "]\n"),
    ".feather": lambda file: _arrow(file, pa.ipc.new_file),
}
