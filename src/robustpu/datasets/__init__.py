"""Data sets with true labels, to try a method on; loading never needs a network."""

import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final

import numpy as np
from sklearn.utils import Bunch

from robustpu.datasets import from_sklearn, uci
from robustpu.datasets.alzheimer import alzheimer
from robustpu.datasets.catalogue import SOURCES
from robustpu.datasets.cifar10 import cifar10
from robustpu.datasets.folder import data_folder
from robustpu.datasets.mnist import fashion_mnist, mnist
from robustpu.datasets.mushrooms import mushrooms
from robustpu.datasets.stl10 import stl10
from robustpu.validation.names import pick

__all__ = ["load", "names"]

# Each takes the folder of its set.
LOADERS: Final[Mapping[str, Callable[[Path], Bunch]]] = {
    "spambase": uci.spambase,
    "shuttle": uci.shuttle,
    "shuttle-minority": uci.shuttle_minority,
    "digits": lambda _: from_sklearn.digits(),
    "breast_cancer": lambda _: from_sklearn.breast_cancer(),
    "mushrooms": mushrooms,
    "mnist": mnist,
    "fashion-mnist": fashion_mnist,
    "cifar10": cifar10,
    "stl10": stl10,
    "alzheimer": alzheimer,
}


def names() -> list[str]:
    """Names that `load` takes.

    Returns
    -------
    names
        First those that need no files.

    Examples
    --------
    >>> from robustpu import datasets
    >>> len(datasets.names())
    11
    """
    return list(LOADERS)


def load(
    name: str | Callable[[], Bunch],
    *,
    data_dir: str | os.PathLike[str] | None = None,
    raw: bool = False,
    as_frame: bool = False,
) -> Bunch:
    """Load a data set by name.

    Parameters
    ----------
    name
        One of `names`, or a function without arguments that returns a bunch like theirs.
    data_dir
        The folder that has one folder a data set; by default what the environment variable
        ROBUSTPU_DATA says, else a folder in the user's cache. Bundled sets need none.
    raw
        Whether pixels stay bytes, as in the files. Tables are as in their files anyway.
    as_frame
        Whether `data` and `target` are pandas objects, and `frame` both side by side. For tables.

    Returns
    -------
    bunch
        `data`, of a table floats of shape (rows, features), of pictures float32 in [0, 1] (with
        `raw`, bytes) of shape (rows, channels, height, width); `target`, of shape (rows,), 1 for
        positive and 0 for negative; `feature_names`, None for pictures; `target_names`, so that
        `target_names[target]` is readable; `DESCR`, what the rows are, which class is positive,
        source and licence; `frame`, None unless `as_frame`. Where there are several classes,
        `label`, the class of each row; where the source has a test part, `is_test`, of type bool,
        and the training part comes first.

    Raises
    ------
    ValueError
        There is no data set of that name, or `as_frame` is asked of pictures.
    OSError
        A file is missing or damaged; the error names it and says what to do.
    ImportError
        `as_frame` without pandas, or JPEG pictures without Pillow.

    Examples
    --------
    >>> from robustpu import datasets
    >>> spambase = datasets.load("spambase")
    >>> spambase.data.shape
    (4601, 57)
    >>> round(float(spambase.target.mean()), 3)
    0.394
    """
    if callable(name):
        bunch = name()
    else:
        loader = pick("data set", name, LOADERS)
        bunch = loader(data_folder(data_dir) / SOURCES[name].folder)
        if bunch.data.dtype == np.uint8 and not raw:
            bunch.data = bunch.data.astype(np.float32)
            bunch.data /= 255
    return _with_frame(bunch) if as_frame else bunch


def _with_frame(bunch: Bunch) -> Bunch:
    if bunch.data.ndim != 2:
        raise ValueError(
            f"as_frame=True is for tables, and this is pictures of shape {bunch.data.shape[1:]}; "
            "leave it out"
        )
    try:
        import pandas as pd
    except ImportError as error:
        raise ImportError("as_frame=True needs pandas: pip install pandas") from error
    data = pd.DataFrame(bunch.data, columns=bunch.feature_names)
    target = pd.Series(bunch.target, name="target")
    return Bunch(**{**bunch, "data": data, "target": target, "frame": data.assign(target=target)})
