import json

import numpy as np
from pyarrow import csv

from robustpu.validation.schema import to_json
from robustpu.workflow import open_study


def test_a_table_for_people(run, claims, model):
    answer = run("rank", model, claims, "--top", "7", env={"COLUMNS": "200"})
    assert answer.exit_code == 0, answer.output
    lines = answer.stdout.splitlines()
    assert len(lines) == 8
    assert lines[0].split() == ["id", "score", "driven", "by"]
    assert lines[1].split()[1].startswith("C")
    assert "+" in lines[1]


def test_a_list_for_programs(run, claims, model):
    answer = run("rank", model, claims, "--top", "5", "--json")
    assert answer.stderr == ""
    found = json.loads(answer.stdout)
    assert [row["rank"] for row in found] == [1, 2, 3, 4, 5]
    # Those of the training table are the suspects of the page.
    assert found == to_json(open_study(model).results.suspects[:5])


def test_a_file(run, claims, model, tmp_path):
    answer = run("rank", model, claims, "--top", "400", "--out", tmp_path / "list.csv")
    assert answer.exit_code == 0
    found = csv.read_csv(tmp_path / "list.csv").to_pydict()
    n_labelled = sum(line.endswith(",1") for line in claims.read_text().splitlines())
    assert len(found["rank"]) == 300 - n_labelled
    assert (np.diff(found["score"]) <= 0).all()
    assert set(found["driver 1"]) <= {"amount", "kind", "city", "age", ""}


def test_labelled_rows_of_other_tables_are_left_out_too(run, claims, model, tmp_path):
    text = claims.read_text().splitlines()
    everything = tmp_path / "all.csv"
    everything.write_text("\n".join([text[0], *(line.rstrip("1,") + ",,1" for line in text[1:])]))
    answer = run("rank", model, everything, "--json")
    assert (answer.exit_code, json.loads(answer.stdout)) == (0, [])


def test_top_must_be_a_number_of_rows(run, claims, model):
    assert run("rank", model, claims, "--top", "0").exit_code == 2


def test_a_table_without_the_label_is_noted(run, claims, model, tmp_path):
    other = tmp_path / "other.csv"
    other.write_text(claims.read_text().replace(",fraud\n", ",known\n", 1))
    answer = run("rank", model, other, "--top", "3")
    assert "there is no column 'fraud': known positives cannot be left out" in answer.stderr


def test_nothing_is_written_into_a_model(run, claims, model):
    before = {path.name: path.read_bytes() for path in model.iterdir()}
    for given in (
        ("rank", model, claims, "--out", model / "list.csv"),
        ("predict", model, claims, "--out", model / "scored.csv"),
        ("report", model, "--out", model / "model.json"),
    ):
        answer = run(*given)
        assert answer.exit_code == 1
        assert "the folder holds a model" in answer.stderr
    assert {path.name: path.read_bytes() for path in model.iterdir()} == before


def test_data_cannot_steer_the_terminal(run, claims, model, tmp_path):
    rows = [
        {"claim": f"\x1b[2JX{place}\u202e", "amount": 9e3 + place, "kind": "theft", "city": "Köln"}
        for place in range(5)
    ]
    hostile = tmp_path / "hostile.jsonl"
    lines = [json.dumps({**row, "age": 40, "filed": "2023-02-01", "empty": None}) for row in rows]
    hostile.write_text("\n".join(lines))
    answer = run("rank", model, hostile, "--top", "3")
    assert answer.exit_code == 0, answer.output
    assert "\ufffd[2JX" in answer.stdout
    assert not any(sign in answer.output for sign in "\x1b\u202e")


def test_rows_are_counted_from_one_and_it_says_so(run, claims, model, tmp_path):
    other = tmp_path / "other.csv"
    other.write_text(claims.read_text().replace("claim,", "number,", 1))
    answer = run("rank", model, other, "--top", "3", env={"COLUMNS": "200"})
    head, first, *_ = answer.stdout.splitlines()
    assert head.split() == ["row,", "from", "1", "score", "driven", "by"]
    found = json.loads(run("rank", model, other, "--top", "1", "--json").stdout)
    assert first.split()[1] == str(found[0]["row"])
    # Line 1 of the file is the header.
    named = json.loads(run("rank", model, claims, "--top", "1", "--json").stdout)
    line = claims.read_text().splitlines()[named[0]["row"]]
    assert line.startswith(named[0]["id"])
    assert "Rows are counted from 1" in " ".join(run("rank", "--help").stdout.split())
