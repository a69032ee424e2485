"""Results: one JSON line per record, in files that are only appended to.

A record is safe once its line is complete. A program that is killed leaves at most an incomplete
line at the end of the file: readers skip it, and the next writer removes it.
"""

import json
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeAlias

from robustpu.files.locks import acquire

Record: TypeAlias = dict[str, Any]

# Identity of a record; of two with the same identity the later one is valid.
KEY = ("experiment", "dataset", "method", "prior", "selection", "trial")
# First bytes of a record.
BEGINNING = b'{"experiment": '


def key_of(record: Mapping[str, Any]) -> tuple[Any, ...]:
    """Identity of a record.

    Examples
    --------
    >>> key_of(dict.fromkeys(KEY, 1))
    (1, 1, 1, 1, 1, 1)
    """
    return tuple(record[name] for name in KEY)


def read(path: Path) -> list[Record]:
    """Read the records of a file, the latest of each key; empty if there is no such file.

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
    for number, line in enumerate(_complete_lines(content).splitlines(), start=1):
        try:
            record = json.loads(line, parse_constant=_refuse)
            key = key_of(record)
            # In the order of the latest lines.
            latest.pop(key, None)
            latest[key] = record
        except (ValueError, TypeError, KeyError, RecursionError):
            raise ValueError(
                f"{path}, line {number}, is not a record of this program: expected a JSON object "
                f"with {', '.join(KEY)}. Repair or remove the line; its trial is then run again."
            ) from None
    return list(latest.values())


@contextmanager
def writer(path: Path) -> Iterator[Callable[[Sequence[Record]], None]]:
    """Lock a file, remove an incomplete last line, and give a function that appends records.

    Parameters
    ----------
    path
        The file; it and its folder are created if they do not exist.

    Raises
    ------
    OSError
        Another process has locked the file, or it cannot be written to.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND | getattr(os, "O_BINARY", 0), 0o666)
    try:
        if acquire(file) is False:
            raise BlockingIOError(
                f"{path} is being written to by another run. Wait for it, or give another --out."
            )
        _repair(file, path)
        yield lambda records: _write(file, path, records)
    finally:
        os.close(file)


def _refuse(constant: str) -> None:
    raise ValueError(constant)


def _complete_lines(content: bytes) -> bytes:
    """Leave out the last line if it is incomplete."""
    content = content[: len(content.rstrip(b"\n")) + 1]
    start = content[:-1].rfind(b"\n") + 1
    try:
        json.loads(content[start:] or b"{}")
    except (ValueError, RecursionError):
        return content[:start]
    return content


def _repair(file: int, path: Path) -> None:
    """Remove an incomplete record, and end the last line; other files are not touched."""
    content = path.read_bytes()
    if content[: len(BEGINNING)] != BEGINNING[: len(content)]:
        raise OSError(f"{path} is not a file of records and was not changed. Give another --out.")
    complete = _complete_lines(content)
    os.ftruncate(file, len(complete))
    if complete and not complete.endswith(b"\n"):
        os.write(file, b"\n")


def _write(file: int, path: Path, records: Sequence[Record]) -> None:
    """Write all lines, or none: what a full disk accepted of them is removed."""
    if not (path.exists() and os.path.samestat(os.fstat(file), path.stat())):
        raise OSError(
            f"{path} was removed or replaced during this run. Later results are not stored; run "
            "again to continue."
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
            f"{path}: {error.strerror}. What was finished before is kept; free some space, and run "
            "again."
        ) from error
