"""The bundled files: whole, small, attributed, and the same as UCI's."""

from pathlib import Path

import numpy as np
import pytest

from robustpu import datasets
from robustpu.datasets import uci

BUNDLED = Path(uci.__file__).parent / "bundled"

# UCI's own files, where a folder beside the checkout has them.
RAW = Path(__file__).parents[3] / "shared" / "data"


def raw(*parts: str, delimiter: str | None = None) -> np.ndarray:
    paths = [RAW / part for part in parts]
    missing = [path.name for path in paths if not path.exists()]
    if missing:
        pytest.skip(f"no raw copy of {', '.join(missing)} beside the checkout")
    return np.vstack([np.loadtxt(path, delimiter=delimiter) for path in paths])


def test_bundled_files_are_under_a_megabyte():
    assert sum(path.stat().st_size for path in BUNDLED.iterdir()) < 1_000_000


def test_licence_names_every_file_and_its_source():
    text = (BUNDLED / "LICENSE.md").read_text(encoding="utf-8")
    for words in (*uci.SHA256, "CC BY 4.0", "10.24432/C53G6X", "10.24432/C5WS31", "Changed:"):
        assert words in text


@pytest.mark.parametrize("file", uci.SHA256)
@pytest.mark.parametrize("damage", [lambda b: b[:-1], lambda b: b"", lambda b: b[:99] + b"\0"])
def test_damaged_file_is_refused(file, damage, tmp_path, monkeypatch):
    (tmp_path / file).write_bytes(damage((BUNDLED / file).read_bytes()))
    monkeypatch.setattr(uci, "FOLDER", tmp_path)
    with pytest.raises(OSError, match=f"{file} is damaged.*reinstall"):
        datasets.load(file.removesuffix(".csv.xz"))


def test_one_flipped_bit_is_refused(tmp_path, monkeypatch):
    packed = bytearray((BUNDLED / "shuttle.csv.xz").read_bytes())
    packed[len(packed) // 2] ^= 1
    (tmp_path / "shuttle.csv.xz").write_bytes(packed)
    monkeypatch.setattr(uci, "FOLDER", tmp_path)
    with pytest.raises(OSError, match="damaged"):
        uci.shuttle()


def test_description_of_spambase():
    bunch = uci.spambase()
    rows = np.column_stack([bunch.data, bunch.target])
    assert len(rows) - len(np.unique(rows, axis=0)) == 391
    assert bunch.data.max() == 15841
    assert bunch.data[:, :54].max() <= 100


def test_shuttle_holds_integers_and_all_seven_classes():
    names, table = uci.read("shuttle.csv.xz")
    assert names[0] == "time"
    assert names[-1] == "class"
    np.testing.assert_array_equal(table, table.round())
    counts = [45586, 50, 171, 8903, 3267, 10, 13]
    assert np.bincount(table[:, -1].astype(int))[1:].tolist() == counts


def test_spambase_is_the_raw_file_row_for_row():
    expected = raw("spambase/spambase.data", delimiter=",")
    np.testing.assert_array_equal(uci.read("spambase.csv.xz")[1], expected)


def test_spambase_has_the_names_of_the_raw_file():
    path = RAW / "spambase" / "spambase.names"
    if not path.exists():
        pytest.skip("no raw copy of spambase.names beside the checkout")
    lines = path.read_text(encoding="utf-8").splitlines()
    expected = [line.rpartition(":")[0] for line in lines if line.endswith("continuous.")]
    assert uci.spambase().feature_names == expected


def test_shuttle_is_the_raw_files_row_for_row():
    expected = raw("shuttle/shuttle.trn", "shuttle/shuttle.tst")
    np.testing.assert_array_equal(uci.read("shuttle.csv.xz")[1], expected)
