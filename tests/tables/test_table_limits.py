"""Files that ask for more memory than they have bytes, and dates that Python cannot hold."""

import gzip
import io

import pyarrow as pa
import pytest

from robustpu.tables import TableError, Vectorizer, iter_table, json_lines, read_table, reading


@pytest.mark.parametrize("end", [b"", b'"}\n{"a": "b"}\n'])
def test_a_row_of_json_without_end(tmp_path, monkeypatch, end):
    monkeypatch.setattr(json_lines, "LONGEST", 4 << 20)
    path = tmp_path / "a.jsonl.gz"
    path.write_bytes(gzip.compress(b'{"a": 1}\n{"a": "' + b"x" * (20 << 20) + end, 1))
    with pytest.raises(TableError, match="line 2: a row is longer than 4 MB"):
        read_table(path)


def test_an_object_of_a_list_without_end(tmp_path, monkeypatch):
    monkeypatch.setattr(json_lines, "LONGEST", 4 << 20)
    path = tmp_path / "a.json.gz"
    path.write_bytes(gzip.compress(b'[{"a": 1}, {"a": "' + b"x" * (20 << 20) + b'"}]', 1))
    with pytest.raises(TableError, match="object 2: a row is longer than 4 MB"):
        read_table(path)


@pytest.mark.parametrize("start", [b'{"a": "', b'[{"a": "', b"a,b\n"])
def test_no_more_is_unpacked_than_the_longest_row(monkeypatch, start):
    unpacked = []

    def read(size):
        unpacked.append(size)
        return start + b"x" * (size - len(start)) if len(unpacked) == 1 else b"x" * size

    monkeypatch.setattr(reading, "LARGEST", 1 << 20)
    file = io.BytesIO()
    file.read = read
    file.name = "a.jsonl" if start.startswith((b"{", b"[")) else "a.csv"
    with pytest.raises(TableError, match="a row is longer than 32 MB"):
        read_table(file)
    assert sum(unpacked) < 40 << 20


@pytest.mark.parametrize(
    "kind", [pa.date32(), pa.date64(), pa.timestamp("s"), pa.timestamp("ms", "UTC")]
)
def test_dates_that_python_cannot_hold_are_missing(kind):
    per_day = {"date32[day]": 1, "timestamp[s]": 86_400}.get(str(kind), 86_400_000)
    days = [0, 19_000, 3_000_000, -800_000, None]
    stored = pa.int32() if pa.types.is_date32(kind) else pa.int64()
    values = pa.array([day if day is None else day * per_day for day in days], stored).cast(kind)
    table = read_table(pa.table({"day": values, "x": range(5)}))
    assert table.data.column("day").null_count == 3
    assert table.data.column("day").to_pylist()[0].year == 1970
    (note,) = table.notes
    assert note.startswith("column 'day': dates beyond the years 1 to 9999 cannot be read")
    assert Vectorizer(min_count=1).fit(table).columns_[0].missing == 0.6


def test_the_first_and_the_last_day_are_kept():
    days = [-719_162, 2_932_896, -719_163, 2_932_897]
    table = read_table(pa.table({"day": pa.array(days, pa.date32()), "x": range(4)}))
    found = table.data.column("day").to_pylist()
    assert [str(day) for day in found] == ["0001-01-01", "9999-12-31", "None", "None"]


DAYS = pa.array([0, 10_000_000, 19_000], pa.int32()).cast(pa.date32())
OFFSETS = pa.array([0, 1, 2, 3], pa.int32())


def test_dates_in_a_dictionary_are_as_dates():
    table = read_table(pa.table({"day": DAYS.dictionary_encode(), "x": range(3)}))
    assert [str(day) for day in table.data.column("day").to_pylist()] == [
        "1970-01-01",
        "None",
        "2022-01-08",
    ]


@pytest.mark.parametrize(
    "values",
    [
        pa.ListArray.from_arrays(OFFSETS, DAYS),
        pa.LargeListArray.from_arrays(OFFSETS.cast(pa.int64()), DAYS),
        pa.FixedSizeListArray.from_arrays(DAYS, 1),
        pa.MapArray.from_arrays(OFFSETS, pa.array(["a", "b", "c"]), DAYS),
        pa.ListArray.from_arrays(OFFSETS, pa.StructArray.from_arrays([DAYS], ["day"])),
    ],
    ids=lambda values: str(values.type)[:9],
)
def test_dates_in_lists_are_texts(values):
    table = read_table(pa.table({"days": values, "x": range(3)}))
    found = str(table.data.column("days").to_pylist())
    assert all(day in found for day in ("'1970-01-01'", "'29349-01-26'", "'2022-01-08'"))


@pytest.mark.parametrize("seconds", [-62_135_596_790, 253_402_300_790])
@pytest.mark.parametrize("zone", ["America/New_York", "Asia/Tokyo"])
def test_a_zone_cannot_move_a_date_beyond(seconds, zone):
    times = pa.array([0, seconds], pa.int64()).cast(pa.timestamp("s", zone))
    table = read_table(pa.table({"time": times, "x": range(2)}))
    assert table.data.column("time").to_pylist()[1] is None


def test_dates_of_later_parts_are_noted_once(tmp_path):
    from pyarrow import parquet

    days = pa.array([0] * 4 + [10_000_000] * 4, pa.int32()).cast(pa.date32())
    parquet.write_table(pa.table({"day": days, "x": range(8)}), tmp_path / "a.parquet")
    parts = list(iter_table(tmp_path / "a.parquet", rows=2))
    assert [len(part.notes) for part in parts] == [0, 0, 1, 0]
