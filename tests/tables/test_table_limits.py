"""Files that ask for more memory than they have bytes, and dates that Python cannot hold."""

import gzip

import pyarrow as pa
import pytest

from robustpu.tables import TableError, Vectorizer, json_lines, read_table


@pytest.mark.parametrize("end", [b"", b'"}\n{"a": "b"}\n'])
def test_a_row_of_json_without_end(tmp_path, monkeypatch, end):
    monkeypatch.setattr(json_lines, "LONGEST", 4 << 20)
    path = tmp_path / "a.jsonl.gz"
    path.write_bytes(gzip.compress(b'{"a": 1}\n{"a": "' + b"x" * (20 << 20) + end, 1))
    with pytest.raises(TableError, match="line 2: a row is longer than 4 MB"):
        read_table(path)


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
    assert "column 'day': 2 dates beyond the years 1 to 9999" in note
    assert Vectorizer(min_count=1).fit(table).columns_[0].missing == 0.6


def test_the_first_and_the_last_day_are_kept():
    days = [-719_162, 2_932_896, -719_163, 2_932_897]
    table = read_table(pa.table({"day": pa.array(days, pa.date32()), "x": range(4)}))
    found = table.data.column("day").to_pylist()
    assert [str(day) for day in found] == ["0001-01-01", "9999-12-31", "None", "None"]
