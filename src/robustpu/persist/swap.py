"""Two folders change places in one step, where the system can do that."""

import ctypes
import errno
import os
import sys
from pathlib import Path
from typing import Final

# Of Linux and of macOS, as their headers have them.
HERE: Final = -100
EXCHANGE: Final = 2
UNSUPPORTED: Final = (errno.ENOSYS, errno.EINVAL, errno.ENOTSUP, errno.EOPNOTSUPP)


def swapped(one: Path, other: Path) -> bool:
    """Exchange two folders, and tell whether that could be done.

    Parameters
    ----------
    one, other
        Both are there, on one file system.

    Raises
    ------
    OSError
        The system can do it, and did not.
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
