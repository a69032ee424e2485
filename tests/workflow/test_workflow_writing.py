import errno
import json

import pyarrow as pa
import pytest
from pyarrow import csv, feather, parquet

from robustpu.tables import iter_table, read_table
from robustpu.workflow.source import counted
from robustpu.workflow.writing import defused, table_file, writable

SCHEMA = pa.schema({"id": pa.string(), "x": pa.int64()})
PARTS = [
    pa.table({"id": ["a", 'ü,"\n'], "x": [1, 2]}, SCHEMA),
    pa.table({"id": [None], "x": [3]}, SCHEMA),
]


def _rows(lines):
    return pa.Table.from_pylist([json.loads(line) for line in lines], SCHEMA)


@pytest.mark.parametrize(
    ("name", "read"),
    [
        ("t.parquet", parquet.read_table),
        ("t.PARQUET", parquet.read_table),
        ("t.feather", feather.read_table),
        ("t.jsonl", lambda path: _rows(path.read_text().splitlines())),
        ("t.json", lambda path: pa.Table.from_pylist(json.loads(path.read_text()), SCHEMA)),
        (
            "t.tsv",
            lambda path: csv.read_csv(
                path,
                parse_options=csv.ParseOptions(delimiter="\t", newlines_in_values=True),
                convert_options=csv.ConvertOptions(strings_can_be_null=True, null_values=[""]),
            ),
        ),
    ],
)
def test_parts_are_one_table_in_every_format(tmp_path, name, read):
    with table_file(tmp_path / name) as write:
        for part in PARTS:
            write(part)
    assert read(tmp_path / name).to_pylist() == pa.concat_tables(PARTS).to_pylist()
    assert [path.name for path in tmp_path.iterdir()] == [name]


def test_a_failure_leaves_what_was_there(tmp_path):
    (tmp_path / "t.csv").write_text("old")

    def fail():
        with table_file(tmp_path / "t.csv") as write:
            write(PARTS[0])
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        fail()
    assert [(path.name, path.read_text()) for path in tmp_path.iterdir()] == [("t.csv", "old")]


@pytest.mark.parametrize(
    ("name", "message"),
    [("t.xlsx", "must end in .parquet"), ("no/t.csv", "does not exist"), ("d.csv", "is a folder")],
)
def test_places_that_cannot_be_written_to(tmp_path, name, message):
    (tmp_path / "d.csv").mkdir()
    with (
        pytest.raises((ValueError, OSError), match=message),
        table_file(tmp_path / name),
    ):
        pass


@pytest.mark.parametrize("name", ["t.csv", "t.parquet", "t.feather"])
def test_progress_reaches_the_end(tmp_path, name):
    path = tmp_path / name
    with table_file(path) as write:
        write(pa.table({"a": [*range(5000)], "b": [*range(5000)]}))
    with counted(str(path)) as (source, far):
        rows = sum(part.n_rows for part in iter_table(source, rows=1000))
        done, total = far(rows)
    assert rows == 5000
    assert (done, total) == {
        ".csv": (path.stat().st_size,) * 2,
        ".parquet": (5000, 5000),
        ".feather": (5000, 0),
    }[path.suffix]
    with counted(str(path)) as (source, _):
        assert read_table(source).source == str(path)


@pytest.mark.parametrize(
    "kind",
    [
        pa.string(),
        pa.large_string(),
        pa.dictionary(pa.int32(), pa.string()),
        pa.dictionary(pa.int8(), pa.large_string()),
    ],
    ids=str,
)
def test_texts_of_every_type_are_made_safe(tmp_path, kind):
    texts = pa.chunked_array([["=1+1", "a"], [None, "-5", "@x", "=1+1"]], pa.string()).cast(kind)
    safe = ["'=1+1", "a", None, "-5", "'@x", "'=1+1"]
    table = pa.table({"t": texts, "x": range(6)})
    assert defused(table).column("t").to_pylist() == safe
    with table_file(tmp_path / "t.csv", is_defused=True) as write:
        write(table)
    read = csv.ConvertOptions(strings_can_be_null=True, column_types={"t": pa.string()})
    assert csv.read_csv(tmp_path / "t.csv", convert_options=read).column("t").to_pylist() == safe


def test_codes_of_numbers_are_written_as_numbers():
    table = pa.table({"x": pa.array([5, 7, 5]).dictionary_encode()})
    assert defused(table).column("x").to_pylist() == [5, 7, 5]


UNION = pa.UnionArray.from_sparse(
    pa.array([0, 1], pa.int8()), [pa.array([1, 2]), pa.array(["a", "b"])]
)
ODD = {
    "interval": pa.array([(1, 2, 3), None], pa.month_day_nano_interval()),
    "union": UNION,
    "bytes": pa.array([b"\xff", b"a"]),
    "fixed": pa.array([b"\xff\x00", b"ab"], pa.binary(2)),
    "list": pa.array([[1], None]),
    "number": pa.array([1, 2]),
}


@pytest.mark.parametrize("name", ODD)
@pytest.mark.parametrize("ending", [".csv", ".tsv", ".parquet", ".feather", ".jsonl", ".json"])
def test_every_type_has_a_place_in_every_format(tmp_path, name, ending):
    column = writable(pa.chunked_array([ODD[name]]), ending)
    with table_file(tmp_path / f"t{ending}") as write:
        write(pa.table({"x": column, "y": [1, 2]}))
    assert read_table(tmp_path / f"t{ending}").n_rows == 2
    if name == "number" or ending == ".feather":
        assert column.type == ODD[name].type
    if ending == ".csv":
        wanted = {"bytes": ["\\xff", "a"], "union": ["1", "b"], "fixed": ["\\xff\\x00", "ab"]}
        assert column.to_pylist() == wanted.get(name, column.to_pylist())


def test_a_column_that_cannot_be_written_is_named(tmp_path):
    def fail():
        with table_file(tmp_path / "t.csv") as write:
            write(pa.table({"good": [1, 2], "bad": ODD["bytes"]}))

    with pytest.raises(ValueError, match=r"column 'bad' cannot be written: Invalid UTF8"):
        fail()
    assert not list(tmp_path.iterdir())


def test_a_full_disk_behind_standard_output_is_named():
    with pytest.raises(OSError, match="standard output"), table_file("-"):
        raise OSError(errno.ENOSPC, "No space left on device")


def test_the_file_of_a_full_disk_is_named(tmp_path):
    with pytest.raises(OSError, match=r"a\.csv"), table_file(tmp_path / "a.csv"):
        raise OSError(errno.ENOSPC, "No space left on device")
