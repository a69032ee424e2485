import json

import numpy as np
from pyarrow import csv

from robustpu.study import open_study


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
    assert [own["rank"] for own in found] == [1, 2, 3, 4, 5]
    # Those of the training table are the suspects of the page.
    wanted = open_study(model).findings["suspects"][:5]
    assert [own["id"] for own in found] == [own["id"] for own in wanted]
    assert found[0]["drivers"] == wanted[0]["drivers"]


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
