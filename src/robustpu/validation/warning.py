"""Warnings that point at the line of the user."""

import sys
import warnings
from pathlib import Path
from typing import Final

import joblib
import sklearn

import robustpu

# Frames of these packages are not the user's.
PACKAGES: Final = (robustpu, sklearn, joblib)
INSIDE: Final = tuple(str(Path(str(package.__file__)).parent) for package in PACKAGES)


def warn(message: str, category: type[Warning] = UserWarning) -> None:
    """Warn, and name the line outside of this library that led here.

    Parameters
    ----------
    message, category
        As for :func:`warnings.warn`.

    Examples
    --------
    >>> import warnings
    >>> with warnings.catch_warnings(record=True) as caught:
    ...     warnings.simplefilter("always")
    ...     warn("labels are few")
    >>> str(caught[0].message)
    'labels are few'
    """
    level, frame = 1, sys._getframe()
    while frame.f_back is not None and frame.f_code.co_filename.startswith(INSIDE):
        level, frame = level + 1, frame.f_back
    warnings.warn(message, category, stacklevel=level)
