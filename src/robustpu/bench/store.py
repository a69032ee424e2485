"""Results: one JSON line a record, in files that are only ever appended to.

A record is safe from the moment its line ends. A program that is killed leaves at most half a line
at the end of the file: readers pass over it, and the next writer cuts it off.
"""

import errno
import json
import os
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeAlias

Record: TypeAlias = dict[str, Any]

# What tells one record from another; of two that agree in these, the later one holds.
KEY = ("experiment", "dataset", "method", "prior", "selection", "trial")
# How the line of a record begins.
BEGINNING = b'{"experiment": '
# File systems of some clusters know no locks.
UNSUPPORTED = (errno.ENOLCK, errno.ENOSYS, errno.EOPNOTSUPP)


def key_of(record: Mapping[str, Any]) -> tuple[Any, ...]:
    """Give what tells a record from others.

    Examples
    --------
    >>> key_of(dict.fromkeys(KEY, 1))
    (1, 1, 1, 1, 1, 1)
    """
    return tuple(record[name] for name in KEY)


def read(path: Path) -> list[Record]:
    """Read the records of a file, the latest of each key; none if there is no such file.

    Parameters
    ----------
    path
        A file that ``writer`` wrote.

    Raises
    ------
    ValueError
        A line other than the last is not a record.
    """
    content = path.read_bytes() if path.exists() else b""
    latest: dict[tuple[Any, ...], Record] = {}
    for number, line in enumerate(_whole(content).splitlines(), start=1):
        try:
            record = json.loads(line, parse_constant=_refuse)
            key = key_of(record)
            # The later one comes later.
            latest.pop(key, None)
            latest[key] = record
        except (ValueError, TypeError, KeyError, RecursionError):
            raise ValueError(
                f"{path}, line {number}, is not a record of this program: expected a JSON object "
                f"with {', '.join(KEY)}. Mend or remove the line; what it held is then run again."
            ) from None
    return list(latest.values())


@contextmanager
def writer(path: Path) -> Iterator[Callable[[Sequence[Record]], None]]:
    """Hold a file against all other writers, cut off what is torn, and give a function to append.

    Parameters
    ----------
    path
        The file; it and its folder are made if need be.

    Raises
    ------
    OSError
        Another process holds the file, or it cannot be written to.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND | getattr(os, "O_BINARY", 0), 0o666)
    try:
        _lock(file, path)
        _mend(file, path)
        yield lambda records: _write(file, path, records)
    finally:
        os.close(file)


def _refuse(constant: str) -> None:
    raise ValueError(constant)


def _whole(content: bytes) -> bytes:
    """Leave out the last line if it was torn, so that it is not JSON."""
    content = content[: len(content.rstrip(b"\n")) + 1]
    start = content[:-1].rfind(b"\n") + 1
    try:
        json.loads(content[start:] or b"{}")
    except (ValueError, RecursionError):
        return content[:start]
    return content


def _mend(file: int, path: Path) -> None:
    """Cut off a torn record, and end the last line; a file of something else is not touched."""
    content = path.read_bytes()
    if content[: len(BEGINNING)] != BEGINNING[: len(content)]:
        raise OSError(f"{path} is not a file of records; it is left as it is. Give another --out.")
    whole = _whole(content)
    os.ftruncate(file, len(whole))
    if whole and not whole.endswith(b"\n"):
        os.write(file, b"\n")


def _write(file: int, path: Path, records: Sequence[Record]) -> None:
    """Write whole lines, or nothing: what a full disk took of them is taken back."""
    if not (path.exists() and os.path.samestat(os.fstat(file), path.stat())):
        raise OSError(
            f"{path} was removed or replaced while this run was writing to it. What came after "
            "that is not stored; run again to go on."
        )
    lines = "".join(json.dumps(record, allow_nan=False) + "\n" for record in records).encode()
    before = os.fstat(file).st_size
    try:
        while lines:
            lines = lines[os.write(file, lines) :]
        os.fsync(file)
    except OSError as error:
        os.ftruncate(file, before)
        raise OSError(
            f"{path}: {error.strerror}. What was finished before is kept; make room, and run again."
        ) from error


def _lock(file: int, path: Path) -> None:
    """Lock until the file is closed, by whatever end of the process."""
    try:
        if sys.platform == "win32":
            import msvcrt

            # A byte far beyond the end, so that others can still read.
            os.lseek(file, 1 << 40, os.SEEK_SET)
            msvcrt.locking(file, msvcrt.LK_NBLCK, 1)
        else:
            import fcntl

            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except (BlockingIOError, PermissionError):
        raise BlockingIOError(
            f"{path} is being written to by another run. Wait for it, or give another --out."
        ) from None
    except OSError as error:
        if error.errno not in UNSUPPORTED:
            raise
