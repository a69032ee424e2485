"""Drafts beside what they will become, and locks that tell them from what a killed process left."""

import contextlib
import os
import re
import secrets
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

if sys.platform != "win32":
    import fcntl

# Seconds after which something counts as left behind, where there are no locks to tell.
OLD: Final = 3600


def lock(path: Path, wait: bool = True) -> int | None:
    """Lock a file or folder until the process ends or unlocks it; None if it may be in use.

    Parameters
    ----------
    path
        What to lock.
    wait
        Whether to wait until others have unlocked it.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     held = lock(Path(folder))
    ...     found = lock(Path(folder), wait=False)
    ...     unlock(held)
    >>> found is None
    True
    """
    try:
        is_old = time.time() - path.stat().st_mtime > OLD
        if sys.platform == "win32":
            return -1 if wait or is_old else None
        handle = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW)
    except OSError:
        return -1 if wait else None
    try:
        fcntl.flock(handle, fcntl.LOCK_EX if wait else fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        # File systems of some clusters know no locks.
        if isinstance(error, BlockingIOError) or not (wait or is_old):
            os.close(handle)
            return None
    return handle


def unlock(held: int | None) -> None:
    """Let others have it.

    Parameters
    ----------
    held
        What ``lock`` answered.
    """
    if held is not None and held >= 0:
        os.close(held)


def draft_of(path: Path, ending: str) -> Path:
    """A new name beside a path: ``.name.01234567.ending``.

    Examples
    --------
    >>> len(draft_of(Path("a.csv"), "part").name)
    20
    """
    return path.with_name(f".{path.name}.{secrets.token_hex(4)}.{ending}")


def beside(path: Path, ending: str) -> list[Path]:
    """Find what bears such a name beside a path.

    Examples
    --------
    >>> beside(Path("no/such/folder/a.csv"), "part")
    []
    """
    wanted = re.compile(rf"\.{re.escape(path.name)}\.[0-9a-f]{{8}}\.{re.escape(ending)}")
    try:
        return sorted(own for own in path.parent.iterdir() if wanted.fullmatch(own.name))
    except OSError:
        return []


@contextmanager
def reserved(path: Path, ending: str, *, is_folder: bool) -> Iterator[Path]:
    """Make an empty draft beside a path, and hold its lock. Whatever is there in the end goes.

    Parameters
    ----------
    path
        What the draft is of.
    ending
        Of its name.
    is_folder
        Whether it is a folder, or a file.

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
        # Another process may have taken it for left behind before it was locked.
        if draft.exists():
            break
        unlock(held)
    try:
        yield draft
    finally:
        remove(draft)
        unlock(held)


def clean(path: Path, ending: str, *, is_folder: bool) -> None:
    """Remove drafts of a path that nobody writes to any more.

    Parameters
    ----------
    path, ending, is_folder
        As they were reserved; a link, or something of the other kind, is somebody else's.
    """
    for left in beside(path, ending):
        if left.is_symlink() or not (left.is_dir() if is_folder else left.is_file()):
            continue
        held = lock(left, wait=False)
        if held is not None:
            remove(left)
            unlock(held)


def remove(path: Path) -> None:
    """Remove a file, or a folder of files; others that remove it at the same time do no harm."""
    with contextlib.suppress(OSError):
        if not path.is_dir():
            path.unlink()
            return
        for entry in list(path.iterdir()):
            with contextlib.suppress(OSError):
                entry.unlink()
        path.rmdir()
