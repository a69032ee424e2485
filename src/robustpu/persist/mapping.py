"""Parquet files laid out once as a mapped array, for fits of networks that read rows as they go."""

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from robustpu.persist.places import check_file, whole
from robustpu.tables.errors import TableError, listed

# Numbers of a batch.
BATCH = 1 << 20


def map_parquet(
    source: str | os.PathLike[str],
    target: str | os.PathLike[str],
    *,
    columns: Sequence[str] | None = None,
    drop: Sequence[str] = (),
    dtype: DTypeLike | None = None,
    overwrite: bool = False,
) -> NDArray[Any]:
    """Lay out the numbers of Parquet files as one ``.npy`` file, and map it.

    Files are read batch by batch, and the table is never in memory. The new file is there as a
    whole or not at all. Next time ``numpy.load(target, mmap_mode="r")`` will do.

    Parameters
    ----------
    source
        A file, or a folder whose ``.parquet`` files, in the order of their names, are one table.
    target
        The file to write, ``.npy``.
    columns
        Which columns, in this order; by default all. They hold numbers, or true and false, without
        gaps.
    drop
        Columns to leave out: the label, names of rows.
    dtype
        Of the numbers, real or whole ones; by default what holds those of all columns. Where whole
        numbers stand beside real ones, or ``int64`` beside ``uint64``, that is double precision,
        and those beyond 2 ** 53 are rounded. ``"float32"`` makes a file half as large of what is
        in double precision. What a type cannot hold is refused.
    overwrite
        Whether to replace a file that is there.

    Returns
    -------
    rows
        The mapped array, (n, columns).

    Raises
    ------
    TableError
        A file is no Parquet file, or the columns are not there, not of numbers, or hold numbers
        that ``dtype`` does not.
    FileExistsError
        ``target`` is there, and ``overwrite`` is not given.
    OSError
        Files are missing or cannot be opened, or nothing can be written there.

    Examples
    --------
    >>> import pyarrow as pa
    >>> from pyarrow import parquet
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     table = pa.table({"a": [1, 2], "b": [0.5, 1.5], "label": [1, 0]})
    ...     parquet.write_table(table, f"{folder}/rows.parquet")
    ...     rows = map_parquet(f"{folder}/rows.parquet", f"{folder}/rows.npy", drop=["label"])
    ...     rows.tolist()
    [[1.0, 0.5], [2.0, 1.5]]
    """
    goal = Path(target)
    if goal.suffix != ".npy":
        raise ValueError(f"target must be the name of a .npy file; it is {str(target)!r}.")
    files = _files(Path(source))
    if any(goal.exists() and goal.samefile(file) for file in files):
        raise ValueError(f"{goal} is a file of the source: give another target.")
    check_file(goal)
    if goal.exists() and not overwrite:
        raise FileExistsError(f"{goal} is there already: give another path, or overwrite=True.")
    asked = None if dtype is None else _asked(dtype)
    names, kinds, height = _surveyed(files, columns, drop, asked)
    kind = np.result_type(*kinds) if asked is None else asked
    with whole(goal) as draft, draft.open("wb") as file:
        _write(file, (height, len(names)), kind, _batches(files, names, kind))
    mapped: NDArray[Any] = np.load(goal, mmap_mode="r")
    return mapped


def _files(source: Path) -> list[Path]:
    if not source.is_dir():
        if not source.exists():
            raise FileNotFoundError(f"{source} does not exist: give a Parquet file, or a folder.")
        return [source]
    found = sorted(
        file for file in source.iterdir() if file.suffix == ".parquet" and file.is_file()
    )
    if not found:
        raise FileNotFoundError(f"the folder {source} has no .parquet files: give another one.")
    return found


def _asked(dtype: DTypeLike) -> np.dtype[Any]:
    kind = np.dtype(dtype)
    if kind.kind not in "fiu":
        raise TypeError(f"dtype must be one of numbers, such as 'float32'; it is {dtype!r}.")
    return kind


def _surveyed(
    files: Sequence[Path],
    columns: Sequence[str] | None,
    drop: Sequence[str],
    asked: np.dtype[Any] | None,
) -> tuple[list[str], list[np.dtype[Any]], int]:
    """Look into all files, one after the other: names and kinds of columns, and number of rows."""
    names: list[str] = []
    kinds, height = [], 0
    for path in files:
        with _opened(path) as source:
            schema = source.schema_arrow
            height += source.metadata.num_rows
        names = names or _names(path, schema, columns, drop)
        kinds += _kinds(path, schema, names, asked)
    return names, kinds, height


@contextmanager
def _opened(path: Path) -> Iterator[Any]:
    try:
        import pyarrow as pa
        from pyarrow import parquet
    except ModuleNotFoundError as error:
        raise ModuleNotFoundError(
            "Parquet is read with pyarrow, which is not installed: pip install 'robustpu[tables]'",
            name="pyarrow",
        ) from error
    try:
        # Without the buffer a row group would be read whole before its first batch.
        source = parquet.ParquetFile(path, pre_buffer=False, buffer_size=1 << 20)
    except (pa.ArrowInvalid, OSError) as error:
        # What the system refuses has a number; what pyarrow cannot make out has none.
        if number := getattr(error, "errno", None):
            raise OSError(f"{path} cannot be opened: {os.strerror(number)}.") from None
        raise TableError(f"{path} is no Parquet file that can be read: {error}") from None
    with source:
        yield source


def _names(
    path: Path, schema: Any, columns: Sequence[str] | None, drop: Sequence[str]
) -> list[str]:
    known = schema.names
    if isinstance(columns, str) or isinstance(drop, str):
        raise TypeError("columns and drop are lists of names: give ['label'], not 'label'.")
    unknown = [name for name in [*(columns or ()), *drop] if name not in known]
    if unknown:
        raise TableError(f"{path} has no columns {listed(unknown)}; it has {listed(known)}.")
    names = [name for name in (known if columns is None else columns) if name not in drop]
    if not names or len(set(names)) < len(names):
        raise TableError(f"expected columns with different names, at least one; got {names}.")
    return names


def _kinds(
    path: Path, schema: Any, names: Sequence[str], asked: np.dtype[Any] | None
) -> list[np.dtype[Any]]:
    """Kinds of the numbers of columns, which must be such that those asked for can hold them."""
    from pyarrow import types

    missing = [name for name in names if name not in schema.names]
    if missing:
        raise TableError(f"{path} has no columns {listed(missing)}, which the first file has.")
    column_types = [schema.field(name).type for name in names]
    numbers = types.is_integer, types.is_floating, types.is_boolean
    others = [
        f"{name} ({kind})"
        for name, kind in zip(names, column_types, strict=True)
        if not any(is_one(kind) for is_one in numbers)
    ]
    if others:
        raise TableError(
            f"{path} has columns that are not of numbers: {listed(others)}. Leave them out "
            "(drop=), or make numbers of them first, with robustpu.tables.Vectorizer."
        )
    kinds = [np.dtype(kind.to_pandas_dtype()) for kind in column_types]
    real = [name for name, kind in zip(names, kinds, strict=True) if kind.kind == "f"]
    if asked is not None and asked.kind != "f" and real:
        raise TableError(
            f"{path} has real numbers in {listed(real)}, and dtype={asked.name!r} is one of whole "
            "numbers: give 'float32' or 'float64', or leave these columns out (drop=)."
        )
    return kinds


def _batches(
    files: Sequence[Path], names: Sequence[str], kind: np.dtype[Any]
) -> Iterator[NDArray[Any]]:
    """Rows (some, columns) of one file after the other."""
    import pyarrow as pa

    for path in files:
        start, size = 0, max(1, BATCH // len(names))
        with _opened(path) as source:
            try:
                for batch in source.iter_batches(size, columns=list(names), use_threads=False):
                    block = np.empty((batch.num_rows, len(names)), kind)
                    for place, name in enumerate(names):
                        numbers = _numbers(batch.column(name), f"{path}: {name!r}", start)
                        block[:, place] = _held(numbers, kind, f"{path}: {name!r}")
                    start += batch.num_rows
                    yield block
            except (pa.ArrowInvalid, OSError) as error:
                raise TableError(f"{path} cannot be read to its end: {error}") from None


def _numbers(column: Any, where: str, start: int) -> NDArray[Any]:
    """Numbers of a column of a batch, which begins at row ``start``."""
    if column.null_count:
        row = start + int(np.argmax(column.is_null().to_numpy(zero_copy_only=False)))
        raise TableError(
            f"{where} has a gap in row {row:,}, expected numbers without gaps. Fill them, or leave "
            "the column out (drop=)."
        )
    numbers: NDArray[Any] = column.to_numpy(zero_copy_only=False)
    return numbers


def _held(numbers: NDArray[Any], kind: np.dtype[Any], where: str) -> NDArray[Any]:
    """The numbers in another kind, rounded at most."""
    fits = True
    if kind.kind in "iu" and len(numbers):
        ends = np.iinfo(kind)
        fits = ends.min <= int(numbers.min()) and int(numbers.max()) <= ends.max
    held = None
    with suppress(FloatingPointError), np.errstate(over="raise"):
        held = numbers.astype(kind, copy=False)
    if held is None or not fits:
        low, high = numbers.min(), numbers.max()
        raise TableError(
            f"{where} has numbers from {low} to {high}, which dtype={kind.name!r} does not hold: "
            "give a larger one, or leave the column out (drop=)."
        )
    return held


def _write(
    file: IO[bytes],
    shape: tuple[int, int],
    kind: np.dtype[Any],
    batches: Iterator[NDArray[Any]],
) -> None:
    # Not by a map: where the disk is full, that would end the process.
    header = {"descr": np.lib.format.dtype_to_descr(kind), "fortran_order": False, "shape": shape}
    np.lib.format.write_array_header_2_0(file, header)
    for block in batches:
        file.write(block.data)
