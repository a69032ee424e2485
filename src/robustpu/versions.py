"""Versions of what results depend on."""

import platform
from functools import cache
from importlib.metadata import PackageNotFoundError, version

from robustpu import __version__

LIBRARIES = ("torch", "numpy", "scikit-learn")


@cache
def _version(name: str) -> str | None:
    try:
        return version(name)
    except PackageNotFoundError:
        return None


def versions(*more: str) -> dict[str, str]:
    """Versions of this library, of Python and of installed packages.

    Parameters
    ----------
    *more
        Names of packages in addition to those that every fit uses.

    Examples
    --------
    >>> list(versions())
    ['robustpu', 'python', 'torch', 'numpy', 'scikit-learn']
    """
    found = {name: _version(name) for name in (*LIBRARIES, *more)}
    installed = {name: number for name, number in found.items() if number is not None}
    return {"robustpu": __version__, "python": platform.python_version(), **installed}
