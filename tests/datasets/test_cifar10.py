"""The reader of CIFAR-10, on batches written here."""

import numpy as np
import pytest

from robustpu import datasets
from robustpu.datasets.catalogue import SOURCES

RNG = np.random.default_rng(0)


def path(batch):
    return f"cifar-10-batches-bin/{batch}.bin"


def batch(labels, pixels):
    """The official form: a row is its class, then the red, the green and the blue pixels."""
    rows = [
        bytes([label]) + picture.tobytes() for label, picture in zip(labels, pixels, strict=True)
    ]
    return b"".join(rows)


PIXELS = RNG.integers(256, size=(6, 3, 32, 32), dtype=np.uint8)
LABELS = [0, 1, 2, 8, 9, 7]
BATCHES = {
    path("data_batch_1"): batch(LABELS[:2], PIXELS[:2]),
    path("data_batch_3"): batch(LABELS[2:4], PIXELS[2:4]),
    path("test_batch"): batch(LABELS[4:], PIXELS[4:]),
}


def test_reads_the_batches_that_are_there(lay_out):
    bunch = datasets.load("cifar10", data_dir=lay_out("cifar10", BATCHES), raw=True)
    np.testing.assert_array_equal(bunch.data, PIXELS)
    assert bunch.label.tolist() == LABELS
    assert bunch.target.tolist() == [1, 1, 0, 1, 1, 0]
    assert bunch.is_test.tolist() == [False] * 4 + [True] * 2
    assert "6 colour pictures" in bunch.DESCR
    assert "4 positive" in bunch.DESCR
    assert "2 of its 5 training batches" in bunch.DESCR


@pytest.mark.parametrize("needed", ["data_batch_1", "test_batch"])
def test_the_first_and_the_test_batch_must_be_there(needed, lay_out):
    root = lay_out("cifar10", BATCHES)
    (root / "cifar10" / path(needed)).unlink()
    with pytest.raises(FileNotFoundError, match=f"{needed}.bin is missing; run `robustpu datasets"):
        datasets.load("cifar10", data_dir=root)


def test_a_batch_of_wrong_size_is_named(lay_out):
    root = lay_out("cifar10", BATCHES)
    short = root / "cifar10" / path("data_batch_3")
    short.write_bytes(short.read_bytes()[:-1])
    with pytest.raises(
        OSError, match=r"data_batch_3.bin is damaged: it has 6,145 bytes, not 6,146"
    ):
        datasets.load("cifar10", data_dir=root)


def test_a_class_that_is_none_is_named(lay_out):
    root = lay_out("cifar10", BATCHES | {path("test_batch"): batch([3, 10], PIXELS[:2])})
    with pytest.raises(OSError, match=r"test_batch.bin is damaged: it has a row of class 10"):
        datasets.load("cifar10", data_dir=root)


def test_official_batches_have_ten_thousand_rows():
    assert {file.size for file in SOURCES["cifar10"].files} == {10_000 * 3073}
