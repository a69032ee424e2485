"""Drafts: written next to a file or folder, and then put in its place.

A lock tells a draft that is being written from one that a killed process left behind.
"""

import contextlib
import re
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from robustpu.files.locks import lock, unlock


def draft_of(path: Path, ending: str) -> Path:
    """A new name next to a path: ``.name.01234567.ending``.

    Examples
    --------
    >>> len(draft_of(Path("a.csv"), "part").name)
    20
    """
    return path.with_name(f".{path.name}.{secrets.token_hex(4)}.{ending}")


def drafts_of(path: Path, ending: str) -> list[Path]:
    """All drafts of a path, by their names.

    Examples
    --------
    >>> drafts_of(Path("no/such/folder/a.csv"), "part")
    []
    """
    wanted = re.compile(rf"\.{re.escape(path.name)}\.[0-9a-f]{{8}}\.{re.escape(ending)}")
    try:
        return sorted(file for file in path.parent.iterdir() if wanted.fullmatch(file.name))
    except OSError:
        return []


@contextmanager
def reserved(path: Path, ending: str, *, is_folder: bool) -> Iterator[Path]:
    """Create an empty draft next to a path, and hold its lock. It is removed in the end.

    Parameters
    ----------
    path
        What the draft is of.
    ending
        Of the name of the draft.
    is_folder
        Whether the draft is a folder, rather than a file.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     with reserved(Path(folder, "a.csv"), "part", is_folder=False) as draft:
    ...         was_there = draft.is_file()
    ...     was_there, draft.exists()
    (True, False)
    """
    while True:
        draft = draft_of(path, ending)
        if is_folder:
            draft.mkdir()
        else:
            draft.touch(exist_ok=False)
        held = lock(draft)
        # Another process may have removed it before it was locked.
        if draft.exists():
            break
        unlock(held)
    try:
        yield draft
    finally:
        remove(draft)
        unlock(held)


@contextmanager
def naming(place: object) -> Iterator[None]:
    """Name the place in errors of the system that do not, such as that of a full disk.

    Parameters
    ----------
    place
        What is written.

    Examples
    --------
    >>> with naming("a.csv"):
    ...     raise OSError(28, "No space left on device")
    Traceback (most recent call last):
    OSError: [Errno 28] No space left on device: 'a.csv'
    """
    try:
        yield
    except OSError as error:
        # A closed pipe is no error of the place.
        if error.errno is None or error.filename is not None or isinstance(error, BrokenPipeError):
            raise
        raise type(error)(error.errno, error.strerror, str(place)) from error


def clean(path: Path, ending: str, *, is_folder: bool) -> None:
    """Remove the drafts of a path that no process writes to any more.

    Parameters
    ----------
    path, ending, is_folder
        As they were reserved. Links, and files where folders are expected, are left alone.
    """
    for left in drafts_of(path, ending):
        if left.is_symlink() or not (left.is_dir() if is_folder else left.is_file()):
            continue
        held = lock(left, wait=False)
        if held is not None:
            remove(left)
            unlock(held)


def remove(path: Path) -> None:
    """Remove a file, or a folder of files; another process may remove it at the same time."""
    with contextlib.suppress(OSError):
        if not path.is_dir():
            path.unlink()
            return
        for entry in list(path.iterdir()):
            with contextlib.suppress(OSError):
                entry.unlink()
        path.rmdir()
