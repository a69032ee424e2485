"""The loop: fit, propose rows to check, fill in a column, fit again."""

import csv

import pytest


@pytest.fixture(scope="module")
def proposed(run, model, claims, tmp_path_factory):
    path = tmp_path_factory.mktemp("next") / "to_check.csv"
    answer = run("next", model, claims, "--n", 20, "--out", path)
    assert answer.exit_code == 0, answer.output
    return path, answer


def read(path):
    with path.open(encoding="utf-8") as file:
        return list(csv.DictReader(file))


def write(path, rows):
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, rows[0].keys())
        writer.writeheader()
        writer.writerows(rows)


def test_rows_to_check(proposed):
    path, answer = proposed
    rows = read(path)
    assert len(rows) == 20
    assert {row["checked"] for row in rows} == {""}
    assert list(rows[0])[:5] == ["rank", "row", "id", "checked", "score"]
    assert f"20 rows to check: {path}" in answer.stdout


def test_answers_come_back(run, claims, proposed, tmp_path):
    rows = read(proposed[0])
    for place, row in enumerate(rows[:12]):
        row["checked"] = "yes" if place % 2 else "no"
    filled, model = tmp_path / "filled.csv", tmp_path / "model"
    write(filled, rows)
    answer = run(
        *("fit", claims, "--label", "fraud", "--id", "claim", "--drop", "filed", "--prior", 0.18),
        *("--method", "puet", "--checked", filled, "--out", model),
    )
    assert answer.exit_code == 0, answer.output
    said = " ".join(answer.stdout.split())
    assert "6 known negatives (12 rows were checked)" in said
    assert "12 checked rows: 6 positive, 6 negative" in answer.stderr
    assert "Precision rests on 12 checked rows" in said
    again = tmp_path / "again.csv"
    run("next", model, claims, "--n", 30, "--by", "random", "--out", again, "--quiet")
    assert not {row["id"] for row in rows[:12]} & {row["id"] for row in read(again)}


@pytest.mark.parametrize(
    ("options", "text"),
    [
        (["--by", "suspects"], "by is 'suspects': did you mean 'suspect'?"),
        (["--out", "list.doc"], "unknown format"),
    ],
)
def test_wrong_wishes(run, model, claims, tmp_path, monkeypatch, options, text):
    monkeypatch.chdir(tmp_path)
    answer = run("next", model, claims, *(options if "--out" in options else [*options, "--out",
                 "x.csv"]))  # fmt: skip
    assert answer.exit_code != 0
    assert text in answer.stderr


def test_a_file_without_answers(run, claims, tmp_path):
    path = tmp_path / "empty.csv"
    path.write_text("claim\nC001\n")
    answer = run(
        *("fit", claims, "--label", "fraud", "--id", "claim", "--checked", path),
        *("--method", "puet", "--prior", 0.1, "--out", tmp_path / "model"),
    )
    assert answer.exit_code != 0
    assert "checked" in answer.stderr
