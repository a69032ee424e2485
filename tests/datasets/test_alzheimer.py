"""The reader of Kaggle's folders of pictures, on pictures written here."""

import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from robustpu import datasets
from robustpu.datasets.catalogue import SOURCES
from robustpu.datasets.integrity import state, verify

Image = pytest.importorskip("PIL.Image")

COUNTS = {name: 2 if "/train/" in name else 1 for name in SOURCES["alzheimer"].pictures}


@pytest.fixture
def root(tmp_path, monkeypatch) -> Path:
    """Twelve even pictures, each with a grey of its own."""
    monkeypatch.setitem(SOURCES, "alzheimer", replace(SOURCES["alzheimer"], pictures=COUNTS))
    grey = 0
    for name, count in COUNTS.items():
        folder = tmp_path / "alzheimer" / name
        folder.mkdir(parents=True)
        for number in range(count):
            pixels = np.full((208, 176), grey, dtype=np.uint8)
            Image.fromarray(pixels).save(folder / f"{number} (1).jpg")
            grey += 20
    return tmp_path


def a_picture(root):
    return root / "alzheimer" / "Alzheimer_s Dataset" / "train" / "MildDemented" / "1 (1).jpg"


def test_reads_what_was_written(root):
    bunch = datasets.load("alzheimer", data_dir=root, raw=True)
    assert bunch.data.shape == (12, 1, 208, 176)
    assert bunch.data[:, 0, 100, 100].tolist() == list(range(0, 240, 20))
    assert bunch.label.tolist() == [0, 0, 1, 1, 2, 2, 3, 3, 0, 1, 2, 3]
    assert bunch.target.tolist() == [0, 0, 0, 0, 1, 1, 1, 1, 0, 0, 1, 1]
    assert bunch.is_test.tolist() == [False] * 8 + [True] * 4
    assert state(SOURCES["alzheimer"], root) == "present"
    assert {finding.verdict for finding in verify(SOURCES["alzheimer"], root)} == {"good"}


def test_pictures_are_in_the_order_of_their_names(root, monkeypatch):
    once = datasets.load("alzheimer", data_dir=root, raw=True)
    unordered = Path.iterdir
    monkeypatch.setattr(Path, "iterdir", lambda path: sorted(unordered(path), reverse=True))
    np.testing.assert_array_equal(
        once.data, datasets.load("alzheimer", data_dir=root, raw=True).data
    )


def test_hidden_and_other_files_are_passed_over(root):
    folder = a_picture(root).parent
    (folder / "._1 (1).jpg").write_bytes(b"x")
    (folder / "Thumbs.db").write_bytes(b"x")
    assert len(datasets.load("alzheimer", data_dir=root).data) == 12


def damage_by_cutting(path):
    path.write_bytes(path.read_bytes()[:-200])


def damage_by_emptying(path):
    path.write_bytes(b"")


def damage_by_another_size(path):
    Image.fromarray(np.zeros((10, 10), dtype=np.uint8)).save(path)


@pytest.mark.parametrize("damage", [damage_by_cutting, damage_by_emptying, damage_by_another_size])
def test_a_damaged_picture_is_named(damage, root):
    damage(a_picture(root))
    with pytest.raises(OSError, match=r"1 \(1\)\.jpg is damaged: it .*fetch alzheimer"):
        datasets.load("alzheimer", data_dir=root)
    findings = verify(SOURCES["alzheimer"], root)
    bad = [finding for finding in findings if finding.verdict != "good"]
    assert [finding.verdict for finding in bad] == ["damaged"]
    assert "1 (1).jpg" in bad[0].why


def test_a_folder_that_lacks_pictures_is_named(root):
    a_picture(root).unlink()
    with pytest.raises(OSError, match="MildDemented is damaged: it holds 1 pictures, not 2"):
        datasets.load("alzheimer", data_dir=root)
    assert state(SOURCES["alzheimer"], root) == "damaged"


def test_without_pillow_it_says_what_to_install(root, monkeypatch):
    monkeypatch.setitem(sys.modules, "PIL", None)
    with pytest.raises(ImportError, match=r"pip install 'robustpu\[images\]'"):
        datasets.load("alzheimer", data_dir=root)
