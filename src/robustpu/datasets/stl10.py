"""The labelled part of STL-10, from its binary files."""

from pathlib import Path
from typing import Final

import numpy as np
from sklearn.utils import Bunch

from robustpu.datasets import pictures
from robustpu.datasets.catalogue import SOURCES
from robustpu.datasets.reading import explained, read

STL10: Final = """\
STL-10, labelled part: 13,000 colour pictures, 96 x 96 pixels, 6,500 positive (classes 0, 2, 3, 8
and 9), 6,500 negative.

The first 5,000 are the official training part, the other 8,000 the test part. `label` is the class
from 0, one less than in the files: 0 airplane, 1 bird, 2 car, 3 cat, 4 deer, 5 dog, 6 horse,
7 monkey, 8 ship, 9 truck. The positive classes are those of the paper of Robust-PU: the four
vehicles, and the cat.

Creators: Adam Coates, Honglak Lee, Andrew Y. Ng.
Source: https://cs.stanford.edu/~acoates/stl10/, for research use; the pictures are from ImageNet.
"""


def stl10(folder: Path) -> Bunch:
    """Vehicles and cats against other animals, 13,000 pictures of shape (3, 96, 96).

    Parameters
    ----------
    folder
        The folder that holds stl10_binary.

    Returns
    -------
    bunch
        As of `robustpu.datasets.load`, with pixels as bytes.
    """
    source = SOURCES["stl10"]
    train_x, train_y, test_x, test_y = source.files
    train = train_y.size
    data = np.empty((train + test_y.size, *source.shape), dtype=np.uint8)
    label = np.empty(len(data), dtype=np.uint8)
    parts = ((slice(train), train_x, train_y), (slice(train, None), test_x, test_y))
    for rows, x, y in parts:
        # A channel is written column by column.
        columns = np.frombuffer(read(source, folder, x), np.uint8).reshape(-1, *source.shape)
        data[rows] = columns.swapaxes(2, 3)
        # Classes are 1 to 10 in the file; a 0 becomes 255, which no class is.
        label[rows] = np.frombuffer(read(source, folder, y), np.uint8) - np.uint8(1)
        with explained(source, folder, folder / y.path):
            pictures.check_labels(label[rows], 10)
    is_test = np.arange(len(data)) >= train
    return pictures.bunch(source, data, label, is_test, (0, 2, 3, 8, 9), STL10)
