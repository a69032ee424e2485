"""JSON lines, Parquet, Feather, and frames in memory."""

import io
import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet
import pytest

from robustpu.tables import TableError, iter_table, read_table
from robustpu.tables.regroup import joined

COLUMNS = {
    "amount": [1.5, None, 3.0],
    "city": ["Bern", None, "Rome"],
    "when": [pd.Timestamp("2024-01-01"), None, pd.Timestamp("2024-01-03")],
    "ok": [True, False, None],
}


def arrow() -> pa.Table:
    return pa.Table.from_pandas(pd.DataFrame({**COLUMNS, "ok": pd.array(COLUMNS["ok"], "boolean")}))


def test_parquet_and_feather(tmp_path: Path) -> None:
    table = arrow()
    pyarrow.parquet.write_table(table, tmp_path / "a.parquet", row_group_size=2)
    pyarrow.feather.write_feather(table, tmp_path / "a.feather")
    with (
        pa.OSFile(str(tmp_path / "a.arrows"), "wb") as sink,
        pa.ipc.new_stream(sink, table.schema) as out,
    ):
        out.write_table(table)
    for name in ("a.parquet", "a.feather", "a.arrows"):
        assert read_table(tmp_path / name).data.to_pydict() == table.to_pydict()
        assert [part.n_rows for part in iter_table(tmp_path / name, rows=2)] == [2, 1]
        # From a stream that cannot go back.
        data = (tmp_path / name).read_bytes()
        assert read_table(io.BytesIO(data)).data.to_pydict() == table.to_pydict()


def test_parquet_without_columns(tmp_path: Path) -> None:
    pyarrow.parquet.write_table(pa.table({}), tmp_path / "a.parquet")
    with pytest.raises(TableError, match="has no columns"):
        read_table(tmp_path / "a.parquet")


def test_parquet_cut_short(tmp_path: Path) -> None:
    pyarrow.parquet.write_table(arrow(), tmp_path / "a.parquet")
    data = (tmp_path / "a.parquet").read_bytes()
    (tmp_path / "a.parquet").write_bytes(data[:-20])
    with pytest.raises(TableError, match=r"a\.parquet is damaged"):
        read_table(tmp_path / "a.parquet")


ROWS: list[dict[str, Any]] = [
    {"a": 1, "b": "x"},
    {"a": 2.5},
    {"a": None, "c": {"d": True}, "b": "ÿ"},
]
EXPECTED = {"a": [1.0, 2.5, None], "b": ["x", None, "ÿ"], "c.d": [None, None, True]}


@pytest.mark.parametrize(
    "text",
    [
        "\n".join(json.dumps(row) for row in ROWS),
        "\r\n".join(json.dumps(row) for row in ROWS) + "\r\n\r\n",
        json.dumps(ROWS),
        json.dumps(ROWS, indent=2, ensure_ascii=False),
    ],
    ids=["lines", "Windows lines", "list", "pretty list"],
)
def test_json(text: str) -> None:
    table = read_table(io.BytesIO(text.encode()))
    assert table.data.to_pydict() == EXPECTED
    assert any("spread" in note for note in table.notes)


def test_json_parts_lack_keys_of_others() -> None:
    lines = b"".join(b'{"a": %d}\n' % place for place in range(5)) + b'{"a": "x", "b": 1}\n'
    parts = list(iter_table(io.BytesIO(lines), rows=2))
    assert [part.names for part in parts] == [["a"], ["a"], ["a", "b"]]
    assert all(part.is_partial for part in parts)
    table = read_table(io.BytesIO(lines))
    assert table.data.to_pydict()["a"] == ["0", "1", "2", "3", "4", "x"]


def test_json_types_that_change_late() -> None:
    lines = [{"a": "x"}] * 3 + [{"a": 1}, {"a": "y"}, {"a": [1]}]
    data = "\n".join(map(json.dumps, lines)).encode()
    for rows in (1, 2, 3, 4):
        parts = [part.data for part in iter_table(io.BytesIO(data), rows=rows)]
        joint, _ = joined(parts)
        assert joint.column("a").to_pylist() == ["x", "x", "x", "1", "y", "[1]"]


def test_long_list_is_read_in_parts() -> None:
    rows = [{"n": place, "text": "é" * 50} for place in range(60_000)]
    data = json.dumps(rows, ensure_ascii=False).encode()
    parts = list(iter_table(io.BytesIO(data), rows=50_000))
    assert [part.n_rows for part in parts] == [50_000, 10_000]
    assert parts[1].data.column("n")[-1].as_py() == 59_999
    assert parts[1].data.column("text")[-1].as_py() == "é" * 50


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('{"a": 1}\n{"a": \n', "line 2: expected one JSON object"),
        ('{"a": 1}\n5\n', "line 2: expected a JSON object"),
        ('{\n "a": 1\n}', "line 1"),
        ('[{"a": 1}, 5]', "object 2: expected a JSON object"),
        ('[{"a": 1}, {"a":', "object 2 of the list is not complete"),
        ('{"a": ' + "[" * 100_000, "line 1: expected one JSON object"),
    ],
)
def test_json_errors(text: str, message: str) -> None:
    with pytest.raises(TableError, match=message):
        read_table(io.BytesIO(text.encode()))


def test_frames_give_the_same_table() -> None:
    plain = {"a": [1, 2, 3], "b": ["x", None, "z"]}
    expected = read_table(plain).data.to_pydict()
    for frame in (
        pd.DataFrame(plain),
        pl.DataFrame(plain),
        pa.table(plain),
        pa.record_batch(plain),
        pd.DataFrame(plain).astype({"b": "category"}),
        pl.DataFrame(plain).with_columns(pl.col("b").cast(pl.Categorical)),
        read_table(plain),
    ):
        assert read_table(frame).data.to_pydict() == expected
        assert [part.n_rows for part in iter_table(frame, rows=2)] == [2, 1]
    assert read_table(np.ones((2, 3))).names == ["x0", "x1", "x2"]
    assert read_table(np.array([(1, "x")], [("n", int), ("s", "U1")])).names == ["n", "s"]


def test_frames_of_objects() -> None:
    class Odd:
        def __str__(self) -> str:
            return "odd"

    class Mute:
        def __str__(self) -> str:
            raise RuntimeError

    frame = pd.DataFrame({"mixed": [1, "x", None], "odd": [Odd(), Odd(), None]})
    assert read_table(frame).data.to_pydict() == {
        "mixed": ["1", "x", None],
        "odd": ["odd", "odd", None],
    }
    with pytest.raises(TableError, match="an object of type Mute"):
        read_table({"a": [Mute()]})
    polars = pl.DataFrame({"o": pl.Series([Odd(), None], dtype=pl.Object)})
    assert read_table(polars).data.to_pydict() == {"o": ["odd", None]}


def test_frames_that_are_refused() -> None:
    for source, message in (
        (pl.LazyFrame({"a": [1]}), "Call collect"),
        (pd.Series([1]), "Call to_frame"),
        (pd.DataFrame({"a": []}), "has no rows"),
        (pd.DataFrame(index=[1, 2]), "has no columns"),
        ({"a": [1, 2], "b": [1]}, "different lengths"),
        ({"a": 5}, "expected a list"),
        ({"a": "text"}, "expected a list"),
        (np.ones(3), r"array of shape \(3,\)"),
        ({}, "has no columns"),
    ):
        with pytest.raises(TableError, match=message):
            read_table(source)


def test_other_frames() -> None:
    class Stream:
        """A frame of a library that we do not know."""

        def __init__(self, table: pa.Table) -> None:
            self._table = table

        def __arrow_c_stream__(self, requested_schema: object = None) -> object:
            return self._table.__arrow_c_stream__(requested_schema)

    assert read_table(Stream(pa.table({"a": [1]}))).data.to_pydict() == {"a": [1]}

    class Broken(Stream):
        def __arrow_c_stream__(self, requested_schema: object = None) -> object:
            raise RuntimeError("no")

    class Endless:
        def __len__(self) -> int:
            return 1

        def __iter__(self) -> Any:
            raise RuntimeError("no")

    class Nameless:
        def __str__(self) -> str:
            raise RuntimeError("no")

    for source, message in (
        (Broken(pa.table({"a": [1]})), "cannot be read: no"),
        ({"a": Endless()}, "cannot be read: RuntimeError"),
        ({Nameless(): [1]}, "of type Nameless is no text"),
        ({"a": [{}]}, "only objects without fields"),
    ):
        with pytest.raises(TableError, match=message):
            read_table(source)


def test_twice_the_same_column_and_odd_names() -> None:
    frame = pd.DataFrame([[1, 2, 3]], columns=["a", "a", 7])
    assert read_table(frame).names == ["a", "a (2)", "7"]
    both = pd.DataFrame([[1]], columns=pd.MultiIndex.from_tuples([("a", "b")]))
    assert read_table(both).names == ["a b"]
