"""MNIST and Fashion-MNIST, from their four gzip files in IDX form."""

import gzip
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import Bunch

from robustpu.datasets import pictures
from robustpu.datasets.catalogue import SOURCES
from robustpu.datasets.reading import explained, read
from robustpu.datasets.sources import File, Source

MNIST: Final = """\
MNIST: 70,000 pictures of handwritten digits, 28 x 28 pixels, 34,418 positive (even digits), 35,582
negative (odd digits).

The first 60,000 are the official training part, the other 10,000 the test part. `label` is the
digit.

Creators: Yann LeCun, Corinna Cortes, Christopher J. C. Burges.
Source: http://yann.lecun.com/exdb/mnist/, licence CC BY-SA 3.0 as commonly given.
"""

FASHION_MNIST: Final = """\
Fashion-MNIST: 70,000 pictures of clothes, 28 x 28 pixels, 28,000 positive (classes 0, 2, 4 and 6:
tops), 42,000 negative.

The first 60,000 are the official training part, the other 10,000 the test part. `label` is the
class: 0 T-shirt/top, 1 trouser, 2 pullover, 3 dress, 4 coat, 5 sandal, 6 shirt, 7 sneaker, 8 bag,
9 ankle boot.

Creators: Han Xiao, Kashif Rasul, Roland Vollgraf (Zalando SE).
Source: https://github.com/zalandoresearch/fashion-mnist, licence MIT.
"""


def mnist(folder: Path) -> Bunch:
    """Even against odd digits, 70,000 pictures of shape (1, 28, 28).

    Parameters
    ----------
    folder
        The folder that holds the four official files.

    Returns
    -------
    bunch
        As of `robustpu.datasets.load`, with pixels as bytes.
    """
    return _bunch("mnist", folder, (0, 2, 4, 6, 8), MNIST)


def fashion_mnist(folder: Path) -> Bunch:
    """Tops against other clothes, 70,000 pictures of shape (1, 28, 28).

    Parameters
    ----------
    folder
        The folder that holds the four official files.

    Returns
    -------
    bunch
        As of `robustpu.datasets.load`, with pixels as bytes.
    """
    return _bunch("fashion-mnist", folder, (0, 2, 4, 6), FASHION_MNIST)


def parse_idx(content: bytes, shape: tuple[int, ...]) -> NDArray[np.uint8]:
    """The array of bytes in the content of an IDX file.

    Parameters
    ----------
    content
        The file's bytes, unpacked.
    shape
        The shape that the array must have, but for the first axis.

    Returns
    -------
    array
        Shape (n, *shape).

    Raises
    ------
    ValueError
        It is not such a file.

    Examples
    --------
    >>> parse_idx(bytes([0, 0, 8, 1, 0, 0, 0, 2, 7, 5]), ())
    array([7, 5], dtype=uint8)
    """
    axes = 1 + len(shape)
    # Two zeros, 8 for bytes, the number of axes; then their lengths, four bytes each.
    if content[:4] != bytes([0, 0, 8, axes]) or len(content) < 4 * (1 + axes):
        raise ValueError(f"it does not begin as an IDX file of bytes with {axes} axes")
    found = tuple(int(length) for length in np.frombuffer(content, ">u4", axes, 4))
    array = np.frombuffer(content, np.uint8, offset=4 * (1 + axes))
    if found[1:] != shape or array.size != np.prod(found, dtype=np.int64):
        raise ValueError(f"it has {array.size:,} bytes for the shape {found}")
    return array.reshape(found)


def _bunch(name: str, folder: Path, positive: tuple[int, ...], description: str) -> Bunch:
    source = SOURCES[name]
    train, train_label, test, test_label = source.files
    images = [_read(source, folder, file, source.shape[1:]) for file in (train, test)]
    labels = [_read(source, folder, file, ()) for file in (train_label, test_label)]
    for image, label, file in zip(images, labels, (train_label, test_label), strict=True):
        with explained(source, folder, folder / file.path):
            pictures.check_labels(label, 10)
            if len(label) != len(image):
                raise ValueError(f"it has {len(label):,} labels for {len(image):,} pictures")
    data = np.concatenate(images)[:, None]
    is_test = np.arange(len(data)) >= len(images[0])
    return pictures.bunch(source, data, np.concatenate(labels), is_test, positive, description)


def _read(source: Source, folder: Path, file: File, shape: tuple[int, ...]) -> NDArray[np.uint8]:
    packed = read(source, folder, file)
    with explained(source, folder, folder / file.path):
        return parse_idx(gzip.decompress(packed), shape)
