"""Exchange two folders in one step, where the system can do that."""

import ctypes
import errno
import os
import sys
from pathlib import Path
from typing import Final

# From the headers of Linux and macOS.
HERE: Final = -100
EXCHANGE: Final = 2
UNSUPPORTED: Final = (errno.ENOSYS, errno.EINVAL, errno.ENOTSUP, errno.EOPNOTSUPP)


def swapped(one: Path, other: Path) -> bool:
    """Exchange two folders; False if the system cannot.

    Parameters
    ----------
    one, other
        Both exist, on one file system.

    Raises
    ------
    OSError
        The system can do it, and failed.
    """
    if os.name != "posix":
        return False
    library = ctypes.CDLL(None, use_errno=True)
    names = os.fsencode(one), os.fsencode(other)
    if sys.platform == "linux" and hasattr(library, "renameat2"):
        failed = library.renameat2(HERE, names[0], HERE, names[1], EXCHANGE)
    elif sys.platform == "darwin" and hasattr(library, "renamex_np"):
        failed = library.renamex_np(*names, EXCHANGE)
    else:
        return False
    if not failed:
        return True
    number = ctypes.get_errno()
    if number in UNSUPPORTED:
        return False
    raise OSError(number, os.strerror(number), str(one), None, str(other))
