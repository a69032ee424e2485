"""Tables to files, part by part; a file is there as a whole or not at all."""

import contextlib
import json
import os
import secrets
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any, Final, TypeAlias

import pyarrow as pa
from pyarrow import csv, parquet

Write: TypeAlias = Callable[[Any], None]


@contextmanager
def table_file(path: str | os.PathLike[str]) -> Iterator[Write]:
    """A function that takes Arrow tables of one schema; the file appears when all went well.

    Parameters
    ----------
    path
        Ends in .parquet, .csv, .tsv, .jsonl, .json or .feather; "-" is standard output, as CSV.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     with table_file(f"{folder}/a.csv") as write:
    ...         write(pa.table({"a": [1]}))
    ...     Path(folder, "a.csv").read_text().split()
    ['"a"', '1']
    """
    if str(path) == "-":
        with FORMATS[".csv"](sys.stdout.buffer) as write:
            yield write
        return
    open_writer = FORMATS[check_name(path)]
    with whole(Path(path)) as draft, draft.open("wb") as file, open_writer(file) as write:
        yield write


def refuse_models(path: Path) -> None:
    """Refuse to write into the folder of a model: its files are checked together.

    Raises
    ------
    FileExistsError
        It is one.
    """
    if (path.absolute().parent / "SHA256SUMS").exists():
        raise FileExistsError(f"{path}: the folder holds a model, write to another one.")


def check_name(path: str | os.PathLike[str]) -> str:
    """The ending of a name, if a table can be written there.

    Parameters
    ----------
    path
        The file.

    Raises
    ------
    ValueError
        The format is not known.
    OSError
        There is no such folder, or something else is at this place.

    Examples
    --------
    >>> check_name("scored.csv")
    '.csv'
    """
    own = Path(path)
    if str(path) == "-":
        return "-"
    refuse_models(own)
    if own.suffix.lower() not in FORMATS:
        raise ValueError(
            f"{own}: the format of the file is told by the end of its name, expected "
            f"{', '.join(FORMATS)}, or - for standard output."
        )
    if own.is_dir():
        raise IsADirectoryError(f"{own} is a folder: give the name of a file.")
    if not own.absolute().parent.is_dir():
        raise FileNotFoundError(f"the folder {own.absolute().parent} does not exist: make it.")
    return own.suffix.lower()


@contextmanager
def whole(path: Path) -> Iterator[Path]:
    """A name to write to that becomes ``path`` in the end, and goes if anything goes wrong.

    Parameters
    ----------
    path
        The file.
    """
    draft = path.with_name(f".{path.name}.{secrets.token_hex(4)}.part")
    try:
        yield draft
        draft.replace(path)
    finally:
        with contextlib.suppress(OSError):
            draft.unlink(missing_ok=True)


def _csv(file: Any, schema: Any, delimiter: str) -> Any:
    return csv.CSVWriter(file, schema, write_options=csv.WriteOptions(delimiter=delimiter))


@contextmanager
def _arrow(file: Any, open_writer: Callable[[Any, Any], Any]) -> Iterator[Write]:
    writer: Any = None

    def write(table: Any) -> None:
        nonlocal writer
        if writer is None:
            writer = open_writer(file, table.schema)
        writer.write_table(table)
        file.flush()

    try:
        yield write
    finally:
        # Also after a failure: writers that are left open write when nobody expects it.
        if writer is not None:
            writer.close()


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
