"""How much of a file has been read."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any, Final

# Formats that are not read from start to end: their rows are counted instead.
PLACED: Final = (b"PAR1", b"ARROW1", b"PK\x03\x04")


class Counted:
    """A binary file that knows how much of it was read.

    Parameters
    ----------
    file
        Open.
    name
        For messages.
    """

    def __init__(self, file: IO[bytes], name: str) -> None:
        self._file, self.name, self.done = file, name, 0

    def read(self, size: int = -1) -> bytes:
        """The next bytes."""
        content = self._file.read(size)
        self.done += len(content)
        return content


@contextmanager
def counted(source: Any) -> Iterator[tuple[Any, Callable[[int], tuple[int, int]]]]:
    """What to read a table from, and a function from rows so far to (done, total).

    Text files count bytes, compressed or not; Parquet files count rows. A total of 0 is unknown.

    Parameters
    ----------
    source
        As for :func:`robustpu.tables.iter_table`.

    Examples
    --------
    >>> with counted({"a": [1, 2]}) as (source, far):
    ...     far(2)
    (2, 0)
    """
    path = Path(source) if isinstance(source, str | Path) and source != "-" else None
    if path is None or not path.is_file():
        # If something is wrong with it, the reader says so.
        yield source, lambda rows: (rows, 0)
        return
    try:
        with path.open("rb") as file:
            head = file.read(8)
    except OSError:
        head = PLACED[0]
    if head.startswith(PLACED):
        total = _rows(path) if head.startswith(b"PAR1") else 0
        yield source, lambda rows: (rows, total)
        return
    with path.open("rb") as file:
        size, counted_file = path.stat().st_size, Counted(file, str(path))
        yield counted_file, lambda rows: (min(counted_file.done, size), size)


def _rows(path: Path) -> int:
    from pyarrow import ArrowException, parquet

    try:
        return int(parquet.read_metadata(path).num_rows)
    except (ArrowException, OSError, ValueError):
        return 0
