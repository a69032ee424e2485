"""The reader of STL-10, on files written here."""

import numpy as np
import pytest

from robustpu import datasets
from robustpu.datasets.catalogue import SOURCES

RNG = np.random.default_rng(0)
PIXELS = RNG.integers(256, size=(5, 3, 96, 96), dtype=np.uint8)
LABELS = np.array([0, 1, 2, 3, 9], dtype=np.uint8)


def columns_first(pictures):
    """The official form: channel after channel, each column by column."""
    return b"".join(
        picture[channel, :, column].tobytes()
        for picture in pictures
        for channel in range(3)
        for column in range(96)
    )


FILES = {
    "stl10_binary/train_X.bin": columns_first(PIXELS[:2]),
    "stl10_binary/train_y.bin": (LABELS[:2] + 1).tobytes(),
    "stl10_binary/test_X.bin": columns_first(PIXELS[2:]),
    "stl10_binary/test_y.bin": (LABELS[2:] + 1).tobytes(),
}


def test_reads_what_was_written(lay_out):
    bunch = datasets.load("stl10", data_dir=lay_out("stl10", FILES), raw=True)
    np.testing.assert_array_equal(bunch.data, PIXELS)
    assert bunch.data.flags.c_contiguous
    assert bunch.label.tolist() == LABELS.tolist()
    assert bunch.target.tolist() == [1, 0, 1, 1, 1]
    assert bunch.is_test.tolist() == [False, False, True, True, True]


@pytest.mark.parametrize("wrong", [0, 11])
def test_a_class_that_is_none_is_named(wrong, lay_out):
    root = lay_out("stl10", FILES | {"stl10_binary/train_y.bin": bytes([3, wrong])})
    with pytest.raises(OSError, match=r"train_y.bin is damaged: it has a row of class"):
        datasets.load("stl10", data_dir=root)


@pytest.mark.parametrize("name", FILES)
def test_a_file_of_wrong_size_is_named(name, lay_out):
    root = lay_out("stl10", FILES)
    (root / "stl10" / name).write_bytes(FILES[name][:-1])
    with pytest.raises(OSError, match=f"{name} is damaged.*fetch stl10"):
        datasets.load("stl10", data_dir=root)


def test_official_sizes():
    assert [file.size for file in SOURCES["stl10"].files] == [
        5000 * 27648,
        5000,
        8000 * 27648,
        8000,
    ]
