"""Where data sets lie on this machine."""

import os
import sys
import tempfile
from pathlib import Path

VARIABLE = "ROBUSTPU_DATA"


def data_folder(data_dir: str | os.PathLike[str] | None = None) -> Path:
    """The folder that has one folder a data set.

    Parameters
    ----------
    data_dir
        The folder; by default what the environment variable ROBUSTPU_DATA says, else a folder in
        the user's cache. It need not exist.

    Examples
    --------
    >>> from robustpu.datasets.folder import data_folder
    >>> data_folder("data").name
    'data'
    """
    given = data_dir or os.environ.get(VARIABLE)
    if not given:
        return _cache() / "robustpu"
    try:
        return Path(given).expanduser().absolute()
    except RuntimeError:
        raise ValueError(f"the data folder {given} names a user who does not exist here.") from None


def _cache() -> Path:
    try:
        home = Path.home()
    except RuntimeError:
        # The user of a container may have no home.
        home = Path(tempfile.gettempdir())
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA") or home / "AppData" / "Local")
    if sys.platform == "darwin":
        return home / "Library" / "Caches"
    # The XDG standard asks to ignore a relative path.
    cache = Path(os.environ.get("XDG_CACHE_HOME", ""))
    return cache if cache.is_absolute() else home / ".cache"
