"""UCI's mushrooms (CC BY 4.0)."""

from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import Bunch

from robustpu.datasets.catalogue import SOURCES
from robustpu.datasets.reading import explained, read

ATTRIBUTES: Final = (
    "cap-shape",
    "cap-surface",
    "cap-color",
    "bruises",
    "odor",
    "gill-attachment",
    "gill-spacing",
    "gill-size",
    "gill-color",
    "stalk-shape",
    "stalk-root",
    "stalk-surface-above-ring",
    "stalk-surface-below-ring",
    "stalk-color-above-ring",
    "stalk-color-below-ring",
    "veil-type",
    "veil-color",
    "ring-number",
    "ring-type",
    "spore-print-color",
    "population",
    "habitat",
)

MUSHROOMS: Final = """\
Mushrooms: 8,124 samples of 23 species, {columns} columns of 0 and 1, 3,916 positive (poisonous),
4,208 negative (edible).

The 22 attributes are letters; a column such as "odor=f" is 1 where the attribute has that letter.
{stalk_root} veil-type has one letter only, so its column is constant. The classes are all but
linearly separable.

Provided by Jeff Schlimmer, from The Audubon Society Field Guide to North American Mushrooms (1981).
Source: UCI Machine Learning Repository, https://doi.org/10.24432/C5959T, licence CC BY 4.0.
"""


def mushrooms(folder: Path, stalk_root: bool = False) -> Bunch:
    """Poisonous against edible mushrooms, 8,124 rows of 112 columns of 0 and 1.

    Parameters
    ----------
    folder
        The folder that holds UCI's agaricus-lepiota.data.
    stalk_root
        Whether to keep the attribute that lacks 2,480 values; then there are 117 columns. LIBSVM's
        copy, which most papers read, has 112.

    Returns
    -------
    bunch
        As of `robustpu.datasets.load`.
    """
    letters = _letters(folder)
    columns, names = [], []
    for attribute, column in zip(ATTRIBUTES, letters.T[1:], strict=True):
        if attribute != "stalk-root" or stalk_root:
            values = np.unique(column)
            columns.append(column[:, None] == values)
            names += [f"{attribute}={chr(value)}" for value in values]
    note = "stalk-root, which lacks 2,480 values, is " + (
        'kept; its column "stalk-root=?" marks them.'
        if stalk_root
        else "left out, as in LIBSVM's copy."
    )
    return Bunch(
        data=np.concatenate(columns, axis=1).astype(np.float64),
        target=(letters[:, 0] == ord("p")).astype(np.int64),
        feature_names=names,
        target_names=np.array(SOURCES["mushrooms"].classes),
        DESCR=MUSHROOMS.format(columns=len(names), stalk_root=note),
        frame=None,
    )


def _letters(folder: Path) -> NDArray[np.uint8]:
    """The class and the attributes of each row, shape (n, 23)."""
    source = SOURCES["mushrooms"]
    (file,) = source.files
    content = np.frombuffer(read(source, folder, file), np.uint8)
    with explained(source, folder, folder / file.path):
        # Every line is 23 letters, with a comma after each and a line's end after the last.
        lines = content.reshape(-1, 2 * (1 + len(ATTRIBUTES)))
        after = lines[:, 1::2]
        if (after[:, :-1] != ord(",")).any() or (after[:, -1] != ord("\n")).any():
            raise ValueError("its lines are not 23 letters with commas between them")
        if not np.isin(lines[:, 0], (ord("e"), ord("p"))).all():
            raise ValueError("a line begins with neither e nor p")
        return lines[:, ::2]
