"""CIFAR-10, from its batches in binary form."""

from pathlib import Path
from typing import Final

import numpy as np
from sklearn.utils import Bunch

from robustpu.datasets import pictures
from robustpu.datasets.catalogue import SOURCES
from robustpu.datasets.reading import explained, read

VEHICLES: Final = (0, 1, 8, 9)

CIFAR10: Final = """\
CIFAR-10: {rows:,} colour pictures, 32 x 32 pixels, {positives:,} positive (classes 0, 1, 8 and 9:
vehicles), {negatives:,} negative (animals).

Here are {batches} of its 5 training batches, then the test batch. `label` is the class: 0 airplane,
1 automobile, 2 bird, 3 cat, 4 deer, 5 dog, 6 frog, 7 horse, 8 ship, 9 truck.

Creators: Alex Krizhevsky, Vinod Nair, Geoffrey Hinton.
Source: https://www.cs.toronto.edu/~kriz/cifar.html, for research use; cite Krizhevsky, "Learning
Multiple Layers of Features from Tiny Images", 2009.
"""


def cifar10(folder: Path) -> Bunch:
    """Vehicles against animals, 60,000 pictures of shape (3, 32, 32).

    Parameters
    ----------
    folder
        The folder that holds cifar-10-batches-bin. Of the training batches, 2 to 5 may be missing;
        `DESCR` says how many there are.

    Returns
    -------
    bunch
        As of `robustpu.datasets.load`, with pixels as bytes.
    """
    source = SOURCES["cifar10"]
    files = [file for file in source.files if not file.optional or (folder / file.path).exists()]
    record = 1 + int(np.prod(source.shape))
    counts = [file.size // record for file in files]
    data = np.empty((sum(counts), *source.shape), dtype=np.uint8)
    label = np.empty(len(data), dtype=np.uint8)
    start = 0
    for file, count in zip(files, counts, strict=True):
        rows = slice(start, start + count)
        start += count
        # A row is its class, then the red, the green and the blue pixels.
        records = np.frombuffer(read(source, folder, file), np.uint8).reshape(count, record)
        label[rows] = records[:, 0]
        data[rows] = records[:, 1:].reshape(count, *source.shape)
        with explained(source, folder, folder / file.path):
            pictures.check_labels(label[rows], 10)
    positives = int(np.isin(label, VEHICLES).sum())
    description = CIFAR10.format(
        rows=len(data),
        positives=positives,
        negatives=len(data) - positives,
        batches=len(files) - 1,
    )
    is_test = np.arange(len(data)) >= len(data) - counts[-1]
    return pictures.bunch(source, data, label, is_test, VEHICLES, description)
