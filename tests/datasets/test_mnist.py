"""The reader of the IDX form, on files written here."""

import gzip
import struct

import numpy as np
import pytest

from robustpu import datasets

RNG = np.random.default_rng(0)
PIXELS = RNG.integers(256, size=(7, 28, 28), dtype=np.uint8)
LABELS = np.array([0, 1, 2, 6, 8, 9, 4], dtype=np.uint8)


def idx(array, kind=8):
    return struct.pack(f">4B{array.ndim}I", 0, 0, kind, array.ndim, *array.shape) + array.tobytes()


def four_files(**changed):
    files = {
        "train-images-idx3-ubyte.gz": idx(PIXELS[:5]),
        "train-labels-idx1-ubyte.gz": idx(LABELS[:5]),
        "t10k-images-idx3-ubyte.gz": idx(PIXELS[5:]),
        "t10k-labels-idx1-ubyte.gz": idx(LABELS[5:]),
    }
    return {name: gzip.compress(content, mtime=0) for name, content in files.items()} | changed


@pytest.mark.parametrize(
    ("name", "positive"),
    [("mnist", [1, 0, 1, 1, 1, 0, 1]), ("fashion-mnist", [1, 0, 1, 1, 0, 0, 1])],
)
def test_reads_what_was_written(name, positive, lay_out):
    bunch = datasets.load(name, data_dir=lay_out(name, four_files()), raw=True)
    np.testing.assert_array_equal(bunch.data, PIXELS[:, None])
    assert bunch.label.tolist() == LABELS.tolist()
    assert bunch.target.tolist() == positive
    assert bunch.is_test.tolist() == [False] * 5 + [True] * 2
    assert bunch.data.flags.writeable
    assert bunch.feature_names is None


GOOD = four_files()["train-images-idx3-ubyte.gz"]
BAD_CHECK = bytearray(GOOD)
BAD_CHECK[-6] ^= 1  # The last eight bytes are gzip's own check and length.


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (GOOD[:-9], "end-of-stream|ended"),
        (GOOD[:4], "end-of-stream|ended"),
        (b"", "0 bytes|does not begin|ended"),
        (b"not gzip at all", "gzip"),
        (bytes(BAD_CHECK), "CRC"),
        (GOOD[:20] + bytes(20) + GOOD[40:], "."),
        (gzip.compress(b"", mtime=0), "does not begin as an IDX file"),
        (gzip.compress(idx(PIXELS[:5])[:10], mtime=0), "does not begin as an IDX file"),
        (gzip.compress(idx(PIXELS[:5], kind=9), mtime=0), "does not begin as an IDX file"),
        (gzip.compress(idx(LABELS), mtime=0), "does not begin as an IDX file"),
        (gzip.compress(idx(PIXELS[:5])[:-1], mtime=0), "3,919 bytes"),
        (gzip.compress(idx(PIXELS[:5, :20]), mtime=0), r"\(5, 20, 28\)"),
    ],
)
def test_a_damaged_file_is_named(content, problem, lay_out):
    damaged = {"train-images-idx3-ubyte.gz": content}
    root = lay_out("mnist", four_files() | damaged)
    with pytest.raises(OSError, match=f"train-images-idx3-ubyte.gz is damaged: .*({problem})"):
        datasets.load("mnist", data_dir=root)


@pytest.mark.parametrize(
    ("labels", "problem"), [(LABELS[:4], "4 labels for 5 pictures"), (LABELS[:5] + 2, "class 10")]
)
def test_wrong_labels_are_named(labels, problem, lay_out):
    damaged = {"train-labels-idx1-ubyte.gz": gzip.compress(idx(labels), mtime=0)}
    root = lay_out("mnist", four_files() | damaged)
    with pytest.raises(OSError, match=f"train-labels-idx1-ubyte.gz is damaged: .*{problem}"):
        datasets.load("mnist", data_dir=root)


def test_another_size_is_refused_before_it_is_read(lay_out):
    root = lay_out("mnist", four_files())
    path = root / "mnist" / "t10k-labels-idx1-ubyte.gz"
    path.write_bytes(path.read_bytes() + b"\0")
    with pytest.raises(OSError, match=r"t10k-labels-idx1-ubyte.gz is damaged: it has \d+ bytes"):
        datasets.load("mnist", data_dir=root)


def test_a_folder_in_the_place_of_a_file_is_named(lay_out):
    root = lay_out("mnist", four_files())
    path = root / "mnist" / "t10k-labels-idx1-ubyte.gz"
    path.unlink()
    path.mkdir()
    with pytest.raises(OSError, match=r"ubyte.gz is damaged: it is a folder, not a file"):
        datasets.load("mnist", data_dir=root)
