"""Data sets with true labels, to try a method on; none needs a network."""

from collections.abc import Callable, Mapping
from typing import Final

from sklearn.utils import Bunch

from robustpu.datasets import from_sklearn, uci
from robustpu.naming import pick

__all__ = ["load", "names"]

LOADERS: Final[Mapping[str, Callable[[], Bunch]]] = {
    "spambase": uci.spambase,
    "shuttle": uci.shuttle,
    "digits": from_sklearn.digits,
    "breast_cancer": from_sklearn.breast_cancer,
}


def names() -> list[str]:
    """Names that `load` takes.

    Returns
    -------
    names
        The bundled ones first.

    Examples
    --------
    >>> from robustpu import datasets
    >>> len(datasets.names())
    4
    """
    return list(LOADERS)


def load(name: str | Callable[[], Bunch], *, as_frame: bool = False) -> Bunch:
    """Load a data set by name.

    Parameters
    ----------
    name
        One of `names`, or a function without arguments that returns a bunch like theirs.
    as_frame
        Whether `data` and `target` are pandas objects, and `frame` both side by side.

    Returns
    -------
    bunch
        `data`, floats of shape (rows, features); `target`, of shape (rows,), 1 for positive and
        0 for negative; `feature_names`; `target_names`, so that `target_names[target]` is readable;
        `DESCR`, what the rows are, which class is positive, source and licence; `frame`, None
        unless `as_frame`.

    Raises
    ------
    ValueError
        There is no data set of that name.
    OSError
        A bundled file is damaged.
    ImportError
        `as_frame` without pandas.

    Examples
    --------
    >>> from robustpu import datasets
    >>> spambase = datasets.load("spambase")
    >>> spambase.data.shape
    (4601, 57)
    >>> round(float(spambase.target.mean()), 3)
    0.394
    """
    bunch = pick("data set", name, LOADERS)()
    return _with_frame(bunch) if as_frame else bunch


def _with_frame(bunch: Bunch) -> Bunch:
    try:
        import pandas as pd
    except ImportError as error:
        raise ImportError("as_frame=True needs pandas: pip install pandas") from error
    data = pd.DataFrame(bunch.data, columns=bunch.feature_names)
    target = pd.Series(bunch.target, name="target")
    return Bunch(**{**bunch, "data": data, "target": target, "frame": data.assign(target=target)})
