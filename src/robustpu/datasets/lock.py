"""One process at a time."""

import errno
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

# File systems of some clusters know no locks. Then a checksum still stands between two processes
# that fetch at once and a wrong file.
UNSUPPORTED = (errno.ENOLCK, errno.ENOSYS, errno.EOPNOTSUPP)


@contextmanager
def locked(path: Path, on_wait: Callable[[], None]) -> Iterator[None]:
    """Hold the lock of a file; the system gives it back even if the process is killed.

    Parameters
    ----------
    path
        The file; it is made where it is not there, and stays.
    on_wait
        Called once if another process holds the lock.
    """
    with path.open("ab") as stream:
        if not _take(stream):
            on_wait()
            while not _take(stream):
                time.sleep(0.1)
        yield


if sys.platform == "win32":
    import msvcrt

    def _take(stream: IO[bytes]) -> bool:
        stream.seek(0)
        try:
            msvcrt.locking(stream.fileno(), msvcrt.LK_NBLCK, 1)
        except OSError:
            return False
        return True
else:
    import fcntl

    def _take(stream: IO[bytes]) -> bool:
        try:
            fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        except OSError as error:
            if error.errno not in UNSUPPORTED:
                raise
        return True
