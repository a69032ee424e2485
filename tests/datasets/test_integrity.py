"""What is said about files that are missing, damaged, or other than the official ones."""

import os
from dataclasses import replace

import pytest

from robustpu.datasets import uci
from robustpu.datasets.catalogue import SOURCES
from robustpu.datasets.integrity import Finding, inspect, state, verify

FILES = {
    "train-images-idx3-ubyte.gz": b"one",
    "train-labels-idx1-ubyte.gz": b"two",
    "t10k-images-idx3-ubyte.gz": b"three",
    "t10k-labels-idx1-ubyte.gz": b"four",
}


def verdicts(root, name="mnist", checksums=True):
    return [finding.verdict for finding in inspect(SOURCES[name], root, checksums=checksums)]


def test_whole(lay_out):
    root = lay_out("mnist", FILES)
    assert verdicts(root) == verdicts(root, checksums=False) == ["good"] * 4
    assert state(SOURCES["mnist"], root) == "present"


def test_missing(lay_out):
    root = lay_out("mnist", FILES)
    (root / "mnist" / "t10k-labels-idx1-ubyte.gz").unlink()
    assert verdicts(root) == ["good"] * 3 + ["missing"]
    assert state(SOURCES["mnist"], root) == "missing (3/4)"
    assert state(SOURCES["mnist"], root / "elsewhere") == "missing"
    (root / "file").touch()
    assert state(SOURCES["mnist"], root / "file") == "missing"


def test_wrong_size(lay_out):
    root = lay_out("mnist", FILES)
    (root / "mnist" / "train-labels-idx1-ubyte.gz").write_bytes(b"tw")
    finding = inspect(SOURCES["mnist"], root, checksums=False)[1]
    assert finding == Finding("train-labels-idx1-ubyte.gz", "damaged", "it has 2 bytes, not 3")
    assert state(SOURCES["mnist"], root) == "damaged"


def test_right_size_with_other_bytes(lay_out):
    root = lay_out("mnist", FILES)
    (root / "mnist" / "train-labels-idx1-ubyte.gz").write_bytes(b"owt")
    assert verdicts(root, checksums=False) == ["good"] * 4
    assert verdicts(root) == ["good", "differs", "good", "good"]
    finding = inspect(SOURCES["mnist"], root, checksums=True)[1]
    assert "differs from the official file: md5:" in finding.why


def test_a_folder_in_the_place_of_a_file(lay_out):
    root = lay_out("mnist", FILES)
    path = root / "mnist" / "train-labels-idx1-ubyte.gz"
    path.unlink()
    path.mkdir()
    assert verdicts(root)[1] == "damaged"


@pytest.mark.skipif(os.name == "nt" or os.geteuid() == 0, reason="root may read everything")
def test_a_file_that_may_not_be_read(lay_out):
    root = lay_out("mnist", FILES)
    (root / "mnist" / "train-labels-idx1-ubyte.gz").chmod(0)
    assert "cannot be read" in inspect(SOURCES["mnist"], root, checksums=True)[1].why


@pytest.mark.skipif(os.name == "nt" or os.geteuid() == 0, reason="root may read everything")
def test_a_folder_that_may_not_be_read_hides_no_bundled_set(tmp_path):
    folder = tmp_path / "spambase"
    folder.mkdir(mode=0)
    assert state(SOURCES["spambase"], tmp_path) == "bundled"
    assert [finding.verdict for finding in verify(SOURCES["spambase"], tmp_path)] == ["good"]
    assert len(uci.spambase(folder).data) == 4601


def test_some_batches_of_cifar10_may_be_left_out(lay_out):
    folder = "cifar-10-batches-bin"
    batches = {f"{folder}/{batch}.bin": b"x" for batch in ("data_batch_1", "test_batch")}
    root = lay_out("cifar10", batches)
    assert state(SOURCES["cifar10"], root) == "present (2/6)"
    (root / "cifar10" / folder / "data_batch_1.bin").unlink()
    assert state(SOURCES["cifar10"], root) == "missing (1/6)"


def test_bundled_sets_are_verified_where_they_are(tmp_path, monkeypatch):
    for name in ("spambase", "shuttle", "shuttle-minority", "digits", "breast_cancer"):
        assert state(SOURCES[name], tmp_path) == "bundled"
        (finding,) = verify(SOURCES[name], tmp_path)
        assert finding.verdict == "good"
    (tmp_path / "spambase.csv.xz").write_bytes(b"x")
    monkeypatch.setattr(uci, "FOLDER", tmp_path)
    (finding,) = verify(SOURCES["spambase"], tmp_path)
    assert finding.verdict == "damaged"


def test_half_of_a_bundled_set_is_not_read(lay_out):
    root = lay_out("shuttle", {"shuttle.trn": b"x"})
    assert state(SOURCES["shuttle"], root) == "bundled"
    assert len(uci.shuttle(root / "shuttle").data) == 58_000
    root = lay_out("shuttle", {"shuttle.trn": b"x", "shuttle.tst": b"1 2 3\n"})
    assert state(SOURCES["shuttle"], root) == "present"
    with pytest.raises(OSError, match=r"shuttle\.trn is damaged.*delete it to read the bundled"):
        uci.shuttle(root / "shuttle")


def test_other_checksums_than_md5(lay_out):
    root = lay_out("mnist", FILES)
    source = SOURCES["mnist"]
    sha = "sha256:7692c3ad3540bb803c020b3aee66cd8887123234ea0c6e7143c0add73ff431ed"
    source = replace(source, files=(replace(source.files[0], checksum=sha),))
    assert [f.verdict for f in inspect(source, root, checksums=True)] == ["good"]
