"""Kaggle's pictures of brains, Alzheimer's Dataset (4 class of images)."""

from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import Bunch

from robustpu.datasets import pictures
from robustpu.datasets.catalogue import SOURCES
from robustpu.datasets.reading import explained
from robustpu.datasets.sources import Source

# In the order of `label`.
CLASSES: Final = ("NonDemented", "VeryMildDemented", "MildDemented", "ModerateDemented")

ALZHEIMER: Final = """\
Alzheimer: 6,400 grey pictures of brains (MRI), 208 x 176 pixels, 960 positive (mild or moderate
dementia), 5,440 negative (none or very mild).

The first 5,121 are the official training part, the other 1,279 the test part. `label` is the class:
0 none, 1 very mild, 2 mild, 3 moderate. The paper of Robust-PU gives the size as 3 x 224 x 224: its
pictures are resized and their one channel is repeated. Here they are as in the files.

Creator: tourist55 on Kaggle.
Source: https://www.kaggle.com/datasets/tourist55/alzheimers-dataset-4-class-of-images, licence ODbL
as given there.
"""


def alzheimer(folder: Path) -> Bunch:
    """Mild or moderate dementia against less, 6,400 pictures of shape (1, 208, 176).

    Parameters
    ----------
    folder
        The folder that holds "Alzheimer_s Dataset".

    Returns
    -------
    bunch
        As of `robustpu.datasets.load`, with pixels as bytes.

    Raises
    ------
    ImportError
        Pillow is not installed.
    """
    source = SOURCES["alzheimer"]
    files = {name: picture_files(source, folder, name) for name in source.pictures}
    paths = [path for group in files.values() for path in group]
    data = np.empty((len(paths), *source.shape), dtype=np.uint8)
    for row, path in enumerate(paths):
        with explained(source, folder, path):
            data[row, 0] = read_picture(path, source.shape[1:])
    label = [CLASSES.index(Path(name).name) for name, group in files.items() for _ in group]
    is_test = [Path(name).parent.name == "test" for name, group in files.items() for _ in group]
    return pictures.bunch(
        source, data, np.array(label, dtype=np.uint8), np.array(is_test), (2, 3), ALZHEIMER
    )


def picture_files(source: Source, folder: Path, name: str) -> list[Path]:
    """The pictures of one class of one part, in the order of their names.

    Parameters
    ----------
    source
        The set.
    folder
        The folder of the set.
    name
        A key of `source.pictures`.

    Raises
    ------
    OSError
        There are more or fewer of them than there should be.
    """
    path = folder / name
    with explained(source, folder, path):
        found = sorted(
            file
            for file in path.iterdir()
            # Some file managers leave hidden files such as ._1.jpg.
            if file.suffix.lower() == ".jpg" and not file.name.startswith(".")
        )
        if len(found) != source.pictures[name]:
            raise ValueError(f"it holds {len(found):,} pictures, not {source.pictures[name]:,}")
        return found


def read_picture(path: Path, shape: tuple[int, ...]) -> NDArray[np.uint8]:
    """Read a grey picture.

    Parameters
    ----------
    path
        A JPEG file.
    shape
        The height and width that it must have.

    Raises
    ------
    ValueError
        It is not such a picture.
    ImportError
        Pillow is not installed.
    """
    try:
        from PIL import Image, UnidentifiedImageError
    except ImportError as error:
        raise ImportError("JPEG pictures need Pillow: pip install 'robustpu[images]'") from error
    with path.open("rb") as stream:
        try:
            with Image.open(stream) as image:
                pixels = np.asarray(image.convert("L"))
        except (UnidentifiedImageError, OSError, SyntaxError) as error:
            raise ValueError(f"it is not a whole picture ({error})") from error
    if pixels.shape != shape:
        raise ValueError(f"it has {pixels.shape} pixels, not {shape}")
    return pixels
