"""What the sets of pictures have in common."""

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import Bunch

from robustpu.datasets.sources import Source


def bunch(
    source: Source,
    data: NDArray[np.uint8],
    label: NDArray[np.uint8],
    is_test: NDArray[np.bool_],
    positive: tuple[int, ...],
    description: str,
) -> Bunch:
    """Pictures with the numbers of their classes -> positives against negatives.

    Parameters
    ----------
    source
        The set.
    data
        Shape (n, channels, height, width).
    label
        The class of each picture, shape (n,).
    is_test
        Whether a picture is of the official test part, shape (n,).
    positive
        The classes that are positive.
    description
        For `DESCR`.

    Returns
    -------
    bunch
        As of `robustpu.datasets.load`, with pixels as bytes.
    """
    return Bunch(
        data=data,
        target=np.isin(label, positive).astype(np.int64),
        label=label.astype(np.int64),
        is_test=is_test,
        feature_names=None,
        target_names=np.array(source.classes),
        DESCR=description,
        frame=None,
    )


def check_labels(label: NDArray[np.uint8], classes: int) -> None:
    """Refuse a class that the set does not have.

    Parameters
    ----------
    label
        Classes from 0, shape (n,).
    classes
        How many there are.

    Raises
    ------
    ValueError
        A class is too large.

    Examples
    --------
    >>> import numpy as np
    >>> check_labels(np.array([3, 10], dtype=np.uint8), 10)
    Traceback (most recent call last):
    ValueError: it has a row of class 10, and classes are 0 to 9
    """
    if label.max(initial=0) >= classes:
        raise ValueError(f"it has a row of class {label.max()}, and classes are 0 to {classes - 1}")
