"""Parquet files as a mapped array: the numbers, the order, and what is refused."""

import datetime
import os
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import parquet

import robustpu
from robustpu import NNPUClassifier
from robustpu.persist import mapping
from robustpu.persist.mapping import map_parquet
from robustpu.tables import TableError


@pytest.fixture(autouse=True)
def _small_batches(monkeypatch):
    monkeypatch.setattr(mapping, "BATCH", 20)


def columns(n=53, start=0):
    number = np.arange(start, start + n)
    return {
        "whole": number,
        "real": number / 7,
        "single": (number / 3).astype(np.float32),
        "is": number % 2 == 0,
        "label": number % 3,
    }


@pytest.fixture
def file(tmp_path):
    parquet.write_table(pa.table(columns()), tmp_path / "rows.parquet", row_group_size=17)
    return tmp_path / "rows.parquet"


def test_numbers_in_the_order_of_the_file(file, tmp_path):
    rows = map_parquet(file, tmp_path / "rows.npy", drop=("label",))
    assert isinstance(rows, np.memmap)
    assert rows.dtype == np.float64
    given = columns()
    names = ("whole", "real", "single", "is")
    np.testing.assert_array_equal(rows, np.column_stack([given[name] for name in names]))
    np.testing.assert_array_equal(np.load(tmp_path / "rows.npy"), rows)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["rows.npy", "rows.parquet"]


def test_columns_as_they_are_asked_for(file, tmp_path):
    rows = map_parquet(file, tmp_path / "a.npy", columns=["is", "label", "whole"], drop=["label"])
    np.testing.assert_array_equal(rows, np.column_stack([columns()["is"], columns()["whole"]]))


@pytest.mark.parametrize(
    ("names", "found"),
    [
        (["single"], "float32"),
        (["single", "is"], "float32"),
        (["whole", "is"], "int64"),
        (["is"], "bool"),
        (["single", "whole"], "float64"),
    ],
)
def test_the_type_that_holds_all(file, tmp_path, names, found):
    rows = map_parquet(file, tmp_path / "a.npy", columns=names)
    assert rows.dtype == found
    np.testing.assert_array_equal(rows, np.column_stack([columns()[name] for name in names]))


def test_a_type_that_is_asked_for(file, tmp_path):
    rows = map_parquet(file, tmp_path / "a.npy", columns=["real", "whole"], dtype="float32")
    assert rows.dtype == np.float32
    np.testing.assert_array_equal(rows[:, 0], columns()["real"].astype(np.float32))


@pytest.mark.parametrize("kind", ["uint8", "int16", "uint64", ">i4"])
def test_whole_numbers_that_fit(file, tmp_path, kind):
    rows = map_parquet(file, tmp_path / "a.npy", columns=["whole", "is"], dtype=kind)
    assert rows.dtype == kind
    np.testing.assert_array_equal(rows, np.column_stack([columns()["whole"], columns()["is"]]))


def test_infinity_is_no_number_too_large(tmp_path):
    parquet.write_table(pa.table({"x": [np.inf, -np.inf, np.nan, 2.5]}), tmp_path / "a.parquet")
    rows = map_parquet(tmp_path / "a.parquet", tmp_path / "a.npy", dtype="float16")
    np.testing.assert_array_equal(rows[:, 0], [np.inf, -np.inf, np.nan, 2.5])


@pytest.mark.skipif(os.name == "nt", reason="limits of POSIX")
def test_a_folder_of_more_files_than_may_be_open(tmp_path):
    import resource

    folder = tmp_path / "rows"
    folder.mkdir()
    for place in range(60):
        parquet.write_table(pa.table({"x": [place]}), folder / f"{place:03}.parquet")
    limits = resource.getrlimit(resource.RLIMIT_NOFILE)
    many = len(list(Path("/dev/fd").iterdir())) + 20
    resource.setrlimit(resource.RLIMIT_NOFILE, (many, limits[1]))
    try:
        rows = map_parquet(folder, tmp_path / "rows.npy")
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, limits)
    np.testing.assert_array_equal(rows[:, 0], np.arange(60))


def test_a_folder_is_one_table(tmp_path):
    folder = tmp_path / "rows"
    folder.mkdir()
    for place, name in ((30, "b.parquet"), (0, "a.parquet"), (40, "c.parquet")):
        size = {0: 30, 30: 10, 40: 0}[place]
        # Columns may come in another order.
        part = dict(reversed(columns(size, place).items())) if place else columns(size, place)
        parquet.write_table(pa.table(part), folder / name)
    (folder / "notes.txt").write_text("not a table")
    rows = map_parquet(folder, tmp_path / "rows.npy", columns=["whole", "real"])
    np.testing.assert_array_equal(rows[:, 0], np.arange(40))
    np.testing.assert_array_equal(rows[:, 1], np.arange(40) / 7)


def test_the_widest_type_of_all_files(tmp_path):
    for name, kind in (("a", pa.int8()), ("b", pa.float32())):
        table = pa.table({"x": pa.array([1, 2], kind)})
        parquet.write_table(table, tmp_path / f"{name}.parquet")
    assert map_parquet(tmp_path, tmp_path / "rows.npy").dtype == np.float32


def test_a_file_that_is_there_is_replaced_only_if_asked(file, tmp_path):
    target = tmp_path / "a.npy"
    target.write_bytes(b"before")
    with pytest.raises(FileExistsError, match=r"a\.npy is there already: .*overwrite=True"):
        map_parquet(file, target)
    assert target.read_bytes() == b"before"
    rows = map_parquet(file, target, columns=["whole"], overwrite=True)
    np.testing.assert_array_equal(rows[:, 0], columns()["whole"])


def test_a_fit_from_it(tmp_path):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 3)) + (np.arange(80) < 40)[:, None]
    y = np.arange(80) < 20
    named = {f"x{place}": column for place, column in enumerate(X.T)}
    parquet.write_table(pa.table({**named, "label": y}), tmp_path / "rows.parquet")
    rows = robustpu.map_parquet(tmp_path / "rows.parquet", tmp_path / "rows.npy", drop=["label"])
    models = [
        NNPUClassifier(prior=0.3, epochs=2, threshold="prior", random_state=0).fit(table, y)
        for table in (X, rows)
    ]
    np.testing.assert_array_equal(models[0].probability_, models[1].probability_)


class TestRefusals:
    def fails(self, tmp_path, source, error, match, **given):
        """The error says what is wrong, and nothing is left behind."""
        (tmp_path / "rows.npy").write_bytes(b"before")
        listed = sorted(tmp_path.iterdir())
        with pytest.raises(error, match=match):
            map_parquet(source, tmp_path / "rows.npy", overwrite=True, **given)
        assert sorted(tmp_path.iterdir()) == listed
        assert (tmp_path / "rows.npy").read_bytes() == b"before"

    @pytest.mark.parametrize(
        ("given", "match"),
        [
            ({"columns": ["whole", "age"]}, "has no columns 'age'; it has 'whole', 'real'"),
            ({"drop": ["lable"]}, "has no columns 'lable'"),
            ({"columns": ["whole"], "drop": ["whole"]}, "at least one"),
            ({"columns": ["whole", "whole"]}, "different names"),
            ({"columns": []}, "at least one"),
        ],
    )
    def test_columns(self, file, tmp_path, given, match):
        self.fails(tmp_path, file, TableError, match, **given)

    @pytest.mark.parametrize("given", [{"columns": "whole"}, {"drop": "label"}])
    def test_a_name_instead_of_a_list(self, file, tmp_path, given):
        self.fails(tmp_path, file, TypeError, "lists of names", **given)

    @pytest.mark.parametrize(
        "values", [["a", "b"], [datetime.date(2020, 1, 1)] * 2, [[1.0], [2.0]], [None, None]]
    )
    def test_what_are_no_numbers(self, tmp_path, values):
        source = tmp_path / "odd.parquet"
        parquet.write_table(pa.table({"x": [1, 2], "odd": values}), source)
        self.fails(tmp_path, source, TableError, r"not of numbers: 'odd \(.*drop=")

    def test_gaps(self, tmp_path):
        source = tmp_path / "odd.parquet"
        values = [*range(45), None, 7]
        parquet.write_table(pa.table({"x": values}), source)
        self.fails(tmp_path, source, TableError, "'x' has a gap in row 45")

    @pytest.mark.parametrize("kind", ["bool", "complex64", "M8[s]", "U8", object])
    def test_types_that_are_none_of_numbers(self, file, tmp_path, kind):
        self.fails(tmp_path, file, TypeError, "dtype must be one of numbers, such as", dtype=kind)

    def test_whole_numbers_of_real_ones(self, file, tmp_path):
        match = r"real numbers in 'real', 'single', and dtype='int32' is one of whole"
        self.fails(tmp_path, file, TableError, match, dtype="int32")

    @pytest.mark.parametrize(
        ("values", "kind", "ends"),
        [
            ([*range(50), 256], "uint8", "0 to 256"),
            ([*range(50), -1], "uint64", "-1 to 49"),
            ([0] * 50 + [1 << 31], "int32", "0 to 2147483648"),
            ([0.0] * 50 + [1e39], "float32", r"0\.0 to 1e\+39"),
            ([0.0] * 50 + [-1e39], "float32", r"-1e\+39 to 0\.0"),
            ([0] * 50 + [70_000], "float16", "0 to 70000"),
        ],
    )
    def test_numbers_that_a_type_does_not_hold(self, tmp_path, values, kind, ends):
        source = tmp_path / "odd.parquet"
        parquet.write_table(pa.table({"well": [1] * len(values), "x": values}), source)
        match = rf"odd\.parquet: 'x' has numbers from .*{ends}.*dtype='{kind}' does not hold"
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(mapping, "BATCH", 1000)
            self.fails(tmp_path, source, TableError, match, dtype=kind)

    def test_a_file_that_the_system_refuses(self, file, tmp_path, monkeypatch):
        def refuse(*_, **__):
            raise PermissionError(13, "Failed to open local file")

        monkeypatch.setattr(parquet, "ParquetFile", refuse)
        match = r"rows\.parquet cannot be opened: Permission denied\.$"
        self.fails(tmp_path, file, OSError, match)

    def test_a_foot_that_is_damaged(self, file, tmp_path):
        content = bytearray(file.read_bytes())
        size = int.from_bytes(content[-8:-4], "little")
        content[-8 - size : 32 - size] = b"\xff" * 40
        file.write_bytes(content)
        self.fails(tmp_path, file, TableError, r"rows\.parquet is no Parquet file that can be read")

    def test_what_is_not_there(self, tmp_path):
        self.fails(tmp_path, tmp_path / "none.parquet", FileNotFoundError, "does not exist")
        empty = tmp_path / "empty"
        empty.mkdir()
        self.fails(tmp_path, empty, FileNotFoundError, "no .parquet files")

    def test_what_is_no_parquet_file(self, tmp_path):
        (tmp_path / "odd.parquet").write_text("a,b\n1,2\n")
        self.fails(tmp_path, tmp_path / "odd.parquet", TableError, "no Parquet file")

    def test_a_file_that_is_damaged(self, file, tmp_path):
        content = bytearray(file.read_bytes())
        content[200:1200] = bytes(1000)
        file.write_bytes(content)
        self.fails(tmp_path, file, TableError, r"rows\.parquet")

    def test_a_file_without_the_columns_of_the_first(self, tmp_path):
        folder = tmp_path / "folder"
        folder.mkdir()
        parquet.write_table(pa.table({"x": [1], "z": [1]}), folder / "a.parquet")
        parquet.write_table(pa.table({"x": [1]}), folder / "b.parquet")
        self.fails(tmp_path, folder, TableError, r"b\.parquet has no columns 'z'")

    def test_the_target(self, file, tmp_path):
        with pytest.raises(ValueError, match=r"\.npy"):
            map_parquet(file, tmp_path / "rows.bin")
        with pytest.raises(FileNotFoundError, match="does not exist"):
            map_parquet(file, tmp_path / "none" / "rows.npy")
        same = tmp_path / "same.npy"
        same.write_bytes(file.read_bytes())
        with pytest.raises(ValueError, match="of the source"):
            map_parquet(same, same)
        assert same.read_bytes() == file.read_bytes()
