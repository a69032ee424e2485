"""A table that is read in parts gives what the whole one gives, wherever a part ends."""

import io
import json

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from pyarrow import feather, parquet

from robustpu.tables import TableError, Tally, Vectorizer, iter_table, read_table, regroup

N = 60
FRAME = pd.DataFrame(
    {
        "amount": np.arange(N) * 1.5,
        "flag": [0, 1] * 30,
        "agreed": ["yes", "no"] * 30,
        "when": pd.date_range("2024-01-01", periods=N).strftime("%Y-%m-%d"),
        "city": ["Bern", "Rome", "Oslo"] * 20,
    }
)


@pytest.fixture
def vectorizer():
    return Vectorizer().fit(FRAME)


def in_parts(vectorizer, source, rows):
    tally = Tally()
    parts = [vectorizer.transform(part, tally=tally) for part in iter_table(source, rows=rows)]
    return np.concatenate(parts), tally.lines()


def as_csv(frame):
    return io.BytesIO(frame.to_csv(index=False).encode())


@pytest.mark.parametrize("place", [0, 29, N - 1])
@pytest.mark.parametrize(
    ("column", "cell"),
    [("amount", "n/k"), ("amount", "no"), ("agreed", "7"), ("when", "soon"), ("flag", "maybe")],
)
def test_one_bad_cell_counts_as_missing_wherever_a_part_ends(vectorizer, column, cell, place):
    frame = FRAME.astype(str)
    frame.loc[place, column] = cell
    wanted = None
    for rows in (29, 59, None):
        X, lines = in_parts(vectorizer, as_csv(frame), rows)
        wanted = X if wanted is None else wanted
        np.testing.assert_array_equal(X, wanted)
        assert any(line.startswith(f"column {column!r}: 1 cells are no") for line in lines)
    empty = frame.copy()
    empty.loc[place, column] = ""
    np.testing.assert_array_equal(wanted, in_parts(vectorizer, as_csv(empty), None)[0])


@pytest.mark.parametrize("rows", [29, N, None])
def test_a_column_without_one_good_cell_is_refused_after_the_last_part(vectorizer, rows):
    tally = Tally()
    frame = FRAME.assign(amount="high")
    *parts, last = iter_table(as_csv(frame), rows=rows)
    for part in parts:
        vectorizer.transform(part, tally=tally)
    with pytest.raises(TableError, match=r"column 'amount' holds 'high'; it was of kind number"):
        vectorizer.transform(last, tally=tally)


def test_a_tally_starts_anew_with_the_next_table(vectorizer):
    tally = Tally()
    for part in iter_table(FRAME, rows=9):
        vectorizer.transform(part, tally=tally)
    with pytest.raises(TableError, match="'high'"):
        vectorizer.transform(FRAME.assign(amount="high"), tally=tally)


def test_words_are_numbers_where_training_had_nothing_but_0_and_1(vectorizer):
    place = vectorizer.feature_names_out_.index("flag")
    words = FRAME.assign(flag=np.where(FRAME["flag"] == 1, "yes", "no"))
    X, lines = in_parts(vectorizer, as_csv(words), 7)
    assert X[:, place].tolist() == FRAME["flag"].tolist()
    assert lines == []
    mixed = FRAME.assign(flag=np.where(FRAME["flag"] == 1, "yes", "0"))
    assert in_parts(vectorizer, as_csv(mixed), 7)[0][:, place].tolist() == FRAME["flag"].tolist()


def test_words_are_no_numbers_where_training_had_some_that_counted_as_missing():
    flags = ["0", "1"] * 50
    flags[3] = "yes"
    vectorizer = Vectorizer().fit({"flag": flags, "x": range(100)})
    X = vectorizer.transform({"flag": ["yes", "1"], "x": [1, 2]}, tally=Tally())
    assert X[:, vectorizer.feature_names_out_.index("flag is missing")].tolist() == [1, 0]


def test_types_of_json_rows_do_not_depend_on_their_neighbours(vectorizer):
    rows = FRAME.to_dict("records")
    rows[4] |= {"amount": True}
    rows[5] |= {"amount": [3], "city": 7, "when": 20240131}
    rows[6] |= {"agreed": 1}
    text = "\n".join(map(json.dumps, rows)).encode()
    wanted = in_parts(vectorizer, io.BytesIO(text), None)[0]
    for rows in (1, 7):
        np.testing.assert_array_equal(in_parts(vectorizer, io.BytesIO(text), rows)[0], wanted)
    place = vectorizer.feature_names_out_.index("amount")
    assert (wanted[4:6, place] == np.median(FRAME["amount"])).all()


@pytest.mark.parametrize(
    "cells",
    [
        [0, 1, 2, 7, -1, None],
        [0.0, 1.0, 0.5, 7.0, -1.0, None],
        ["0", "1", "2", "7", "-1", ""],
        ["no", "1.0", "2", "7", "x", ""],
    ],
)
def test_a_boolean_is_0_or_1_in_every_form(cells):
    vectorizer = Vectorizer().fit({"agreed": ["yes", "no", "yes", ""] * 10})
    tally = Tally()
    X = vectorizer.transform({"agreed": cells}, tally=tally)
    assert X.tolist() == [[0, 0], [1, 0], *[[1, 1]] * 4]
    assert tally.lines()[0].startswith("column 'agreed': 3 cells are no boolean")


def test_a_state_of_before_has_no_flags(vectorizer):
    state = vectorizer.state()
    for column in state["columns"]:
        column["plan"].pop("is_flag", None)
    again = Vectorizer.from_state(state)
    np.testing.assert_array_equal(again.transform(FRAME), vectorizer.transform(FRAME))
    with pytest.raises(TableError, match="'flag' holds 'no'"):
        again.transform(FRAME.assign(flag="no"))
    assert len(vectorizer.transform(FRAME.assign(flag="no"))) == N


@pytest.fixture
def few_cells(monkeypatch):
    """Ten columns are wide."""
    monkeypatch.setattr(regroup, "CELLS", 2_600)


def test_rows_by_columns():
    assert [regroup.rows_of(each) for each in (1, 128, 129, 2_000, 16_384, 10**6)] == [
        *(32_768, 32_768, 32_513, 2_097, 256, 256)
    ]


@pytest.mark.usefixtures("few_cells")
def test_parts_of_wide_tables_have_fewer_rows(tmp_path):
    table = pa.table({f"c{place}": np.arange(300) + place for place in range(10)})
    parquet.write_table(table, tmp_path / "t.parquet")
    feather.write_feather(table, str(tmp_path / "t.feather"))
    for source in (tmp_path / "t.parquet", tmp_path / "t.feather", table, read_table(table)):
        parts = list(iter_table(source))
        assert [part.n_rows for part in parts] == [260, 40]
        assert [part.has_more for part in parts] == [True, False]
        assert parts[1].data.column("c7").to_pylist() == list(range(267, 307))


@pytest.mark.usefixtures("few_cells")
def test_parts_of_wide_texts_have_fewer_rows():
    row = {f"c{place}": 1 for place in range(10)}
    nested = {"a": {"b": row}}
    for rows in ([row] * 300, [nested] * 300):
        text = "\n".join(map(json.dumps, rows)).encode()
        assert [part.n_rows for part in iter_table(io.BytesIO(text))] == [260, 40]
    head = ",".join(row)
    text = "\n".join([head] + [",".join("1" * len(row))] * 300).encode()
    assert [part.n_rows for part in iter_table(io.BytesIO(text))] == [260, 40]


def test_parts_of_narrow_tables_are_as_long_as_before():
    text = b"\n".join([b"a,b"] + [b"1,2"] * 40_000)
    assert [part.n_rows for part in iter_table(io.BytesIO(text))] == [32_768, 7_232]
    lines = b"\n".join([b'{"a": 1}'] * 40_000)
    assert [part.n_rows for part in iter_table(io.BytesIO(lines))] == [32_768, 7_232]


@pytest.mark.parametrize("shift", range(3))
def test_a_letter_across_the_end_of_a_read_stays_whole(shift):
    size = 1 << 20
    row = json.dumps({"a": "é€ééé"}, ensure_ascii=False).encode()
    data = b'[{"a": "' + b"x" * shift + b'"}' + (b"," + row) * (size // len(row) + 9) + b"]"
    values = set(read_table(io.BytesIO(data)).data.column("a").to_pylist())
    assert values == {"x" * shift, "é€ééé"}


@pytest.mark.parametrize("start", ["a,b\n", ""])
def test_parts_before_a_bad_row_come_first(start):
    rows = "".join(f'{row},"two\nlines"\n\n' for row in range(5))
    text = f"{start}{rows}1,2,3\n5,x\n6,x\n"
    parts = iter_table(io.BytesIO(text.encode()), rows=2, header=bool(start))
    found = [next(parts).data.column(0).to_pylist() for _ in range(2)]
    assert found == [["0", "1"], ["2", "3"]]
    with pytest.raises(TableError, match="expected 2 cells"):
        next(parts)
