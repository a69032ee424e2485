import csv
import json
from functools import partial

import pyarrow as pa
import pytest
from pyarrow import feather, parquet

from robustpu.tables import read_table
from robustpu.tables.records import blocks
from robustpu.workflow import scoring


@pytest.fixture(params=[50, 299, None])
def in_parts(request, monkeypatch):
    usual = scoring.iter_table
    monkeypatch.setattr(
        scoring, "iter_table", lambda *given, **more: usual(*given, **more, rows=request.param)
    )


def changed(claims, path, change):
    with claims.open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    for place, row in enumerate(rows):
        change(place, row)
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, rows[0])
        writer.writeheader()
        writer.writerows(rows)
    return path


@pytest.mark.usefixtures("in_parts")
@pytest.mark.parametrize("place", [0, 299])
def test_one_bad_cell_is_noted_wherever_it_stands(run, claims, model, tmp_path, place):
    def break_one(at, row):
        row["amount"] = "n/k" if at == place else row["amount"]

    bad = changed(claims, tmp_path / "bad.csv", break_one)
    answer = run("predict", model, bad, "--out", tmp_path / "s.csv")
    assert answer.exit_code == 0, answer.output
    assert "column 'amount': 1 cells are no number and count as missing" in answer.stderr
    answer = run("rank", model, bad, "--top", "3", "--json")
    assert answer.exit_code == 0, answer.output
    assert len(json.loads(answer.stdout)) == 3


@pytest.mark.usefixtures("in_parts")
def test_nothing_is_written_if_no_cell_of_a_column_can_be_read(run, claims, model, tmp_path):
    bad = changed(claims, tmp_path / "bad.csv", lambda at, row: row.update(amount="n/k"))
    for command in ("predict", "rank"):
        answer = run(command, model, bad, "--out", tmp_path / "s.csv")
        assert answer.exit_code == 1
        assert "column 'amount' holds 'n/k'; it was of kind number" in answer.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["bad.csv"]


def test_rows_before_a_bad_one_are_printed_and_a_file_stays(
    run, claims, model, tmp_path, monkeypatch
):
    monkeypatch.setattr("robustpu.tables.delimited.blocks", partial(blocks, size=500))
    monkeypatch.setattr(scoring, "iter_table", partial(scoring.iter_table, rows=20))
    bad, out = tmp_path / "bad.csv", tmp_path / "s.csv"
    bad.write_text(claims.read_text(encoding="utf-8") + "C300,1\n", encoding="utf-8")
    out.write_text("old")
    answer = run("predict", model, bad, "--out", "-")
    assert answer.exit_code == 1
    assert "row 302: expected 8 cells" in answer.stderr
    assert [line.split(",")[0] for line in answer.stdout.splitlines()[1:]] == [
        f'"C{place:03d}"' for place in range(300)
    ]
    assert run("predict", model, bad, "--out", out).exit_code == 1
    assert out.read_text() == "old"
    assert {path.name for path in tmp_path.iterdir()} == {"bad.csv", "s.csv"}


@pytest.mark.usefixtures("in_parts")
@pytest.mark.parametrize("ending", [".csv", ".parquet", ".feather", ".jsonl"])
def test_columns_of_any_type_are_kept(run, claims, model, tmp_path, ending):
    data = read_table(claims).data
    n = data.num_rows
    union = pa.UnionArray.from_sparse(
        pa.array([0, 1] * (n // 2), pa.int8()), [pa.array(range(n)), pa.array(["a"] * n)]
    )
    # Of the first parts all bytes are letters, of the last one they are not.
    odd = {
        "interval": pa.array([(1, 2, 3)] * n, pa.month_day_nano_interval()),
        "union": union,
        "bytes": pa.array([b"a"] * (n - 1) + [b"\xff"]),
    }
    for name, column in odd.items():
        data = data.append_column(name, column)
    feather.write_feather(data, str(tmp_path / "odd.feather"))
    keep = [word for name in odd for word in ("--keep", name)]
    out = tmp_path / f"s{ending}"
    answer = run("predict", model, tmp_path / "odd.feather", "--out", out, *keep)
    assert answer.exit_code == 0, answer.output
    found = read_table(out).data
    assert found.num_rows == n
    if ending == ".csv":
        assert found.column("bytes").to_pylist()[-2:] == ["a", "\\xff"]
        assert found.column("union").to_pylist()[:2] == ["0", "a"]


def test_ids_on_a_list_are_whole(run, claims, model, tmp_path):
    data = read_table(claims).data
    names = [f"https://example.org/{'a' * 150}/{place}" for place in range(data.num_rows)]
    stamps = pa.array(range(data.num_rows), pa.timestamp("ms"))
    data = data.append_column("key", [names]).append_column("at", stamps)
    parquet.write_table(data, tmp_path / "t.parquet")
    given = ("rank", model, tmp_path / "t.parquet", "--top", "20", "--json", "--id")
    rows = json.loads(run(*given, "key").stdout)
    assert [row["id"] for row in rows] == [names[row["row"] - 1] for row in rows]
    assert len({row["id"] for row in json.loads(run(*given, "at").stdout)}) == 20
