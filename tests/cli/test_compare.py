import json

from pyarrow import csv

GIVEN = ("--label", "fraud", "--id", "claim", "--drop", "filed", "--prior", "0.18", "--folds", "3")


def test_methods_side_by_side(run, claims, tmp_path):
    answer = run(
        *(
            "compare",
            claims,
            *GIVEN,
            "--out",
            tmp_path / "c.csv",
            "--methods",
            "puet",
            "elkan-noto",
        ),
        env={"COLUMNS": "120"},
    )
    assert answer.exit_code == 0, answer.output
    lines = answer.stdout.splitlines()
    assert lines[0].split()[:2] == ["method", "AUC"]
    assert {line.split()[0] for line in lines[1:3]} == {"puet", "elkan-noto"}
    assert "from 3 folds" in answer.stdout
    found = csv.read_csv(tmp_path / "c.csv").to_pydict()
    assert found["auc"][0] >= found["auc"][1]
    assert all(low <= auc for low, auc in zip(found["auc low"], found["auc"], strict=True))


def test_programs_get_json(run, claims):
    given = ("--methods", "puet,spy", "--by", "f1", "--json")
    found = json.loads(run("compare", claims, *GIVEN, *given).stdout)
    assert found["by"] == "f1"
    assert {each["method"] for each in found["methods"]} == {"puet", "spy"}
    values = [each["metrics"]["f1"]["value"] for each in found["methods"]]
    assert values == sorted(values, reverse=True)


def test_what_is_wrong_is_said_in_a_line(run, claims):
    answer = run("compare", claims, *GIVEN, "--methods", "puet", "nnpuu")
    assert answer.exit_code == 1
    assert "did you mean 'nnpu'" in answer.stderr
    assert run("compare", claims, *GIVEN, "--by", "luck").exit_code == 2
