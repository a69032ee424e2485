"""Locks that tell what is being written to from what a killed process left behind."""

import os
import sys
import time
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
