"""Locks between processes; the system releases them even if a process is killed."""

import errno
import os
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

# Errors of file systems without locks, as on some clusters.
UNSUPPORTED: Final = (errno.ENOLCK, errno.ENOSYS, errno.EOPNOTSUPP)
# Seconds after which a file counts as abandoned where there are no locks.
OLD: Final = 3600

if sys.platform == "win32":
    import msvcrt

    def acquire(file: int, *, wait: bool = False) -> bool | None:
        """Lock an open file until it is closed; False if another process holds it."""
        # A byte far beyond the end, so that others can still read.
        os.lseek(file, 1 << 40, os.SEEK_SET)
        try:
            msvcrt.locking(file, msvcrt.LK_LOCK if wait else msvcrt.LK_NBLCK, 1)
        except OSError:
            return False
        return True
else:
    import fcntl

    def acquire(file: int, *, wait: bool = False) -> bool | None:
        """Lock an open file or folder until it is closed.

        Parameters
        ----------
        file
            Its descriptor.
        wait
            Whether to wait for another process that holds it.

        Returns
        -------
        acquired
            False if another process holds it, None if its file system has no locks.
        """
        try:
            fcntl.flock(file, fcntl.LOCK_EX if wait else fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        except OSError as error:
            if error.errno not in UNSUPPORTED:
                raise
            return None
        return True


@contextmanager
def locked(path: Path, on_wait: Callable[[], None]) -> Iterator[None]:
    """Hold the lock of a file. Where there are no locks, go on without one.

    Parameters
    ----------
    path
        The file; it is created if it is missing, and stays.
    on_wait
        Called once if another process holds the lock.
    """
    with path.open("ab") as stream:
        if acquire(stream.fileno()) is False:
            on_wait()
            while acquire(stream.fileno()) is False:
                time.sleep(0.1)
        yield


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
        file = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW)
    except OSError:
        return -1 if wait else None
    acquired = acquire(file, wait=wait)
    if acquired is False or (acquired is None and not (wait or is_old)):
        os.close(file)
        return None
    return file


def unlock(held: int | None) -> None:
    """Release what :func:`lock` returned."""
    if held is not None and held >= 0:
        os.close(held)
