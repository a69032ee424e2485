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
    words = " ".join(answer.stdout.split())
    assert "Both on 3 folds" in words
    # The share was given.
    assert "With 18.0% positives among the unlabelled rows:" in words
    found = csv.read_csv(tmp_path / "c.csv").to_pydict()
    assert found["auc"][0] >= found["auc"][1]
    assert found["difference"][0] is None
    assert found["difference low"][1] < found["difference"][1] < found["difference high"][1]
    assert all(low <= auc for low, auc in zip(found["auc low"], found["auc"], strict=True))


def test_differences_are_put_into_words(capsys):
    from robustpu.cli.compare import _show
    from robustpu.metrics import Estimate
    from robustpu.results import Metric, Prior
    from robustpu.workflow.comparison import ComparedMethod, Comparison

    names = ("auc_of_labeled", "found_in_tenth")
    metrics = {name: Metric(name, 0.75, 0.7, 0.8) for name in names}
    ends = {"best": None, "near": (-0.02, 0.01), "far": (-0.2, -0.1), "broken": None}
    methods = [
        ComparedMethod(
            name,
            name,
            None if name == "broken" else metrics,
            1.0,
            error="too hard" if name == "broken" else None,
            difference=end and Estimate(sum(end) / 2, *end, sum(end) / 2, False),
        )
        for name, end in ends.items()
    ]
    unknown = Prior("estimated", 0.1, 0.01, 0.2, is_known=False)
    _show(Comparison(unknown, 5, "auc", 20, 200, tuple(methods), ()))
    out = capsys.readouterr().out
    words = " ".join(out.split())
    assert "best is better than far. These rows do not tell best from near." in words
    assert "-0.150 (-0.200 to -0.100)" in words
    assert "Precision needs the share of positives" in words
    assert "broken: too hard" in words
    assert max(map(len, out.splitlines())) <= 80


def test_programs_get_json(run, claims):
    given = ("--methods", "logistic,spy", "--by", "f1", "--json")
    found = json.loads(run("compare", claims, *GIVEN, *given).stdout)
    assert found["by"] == "f1"
    assert {each["method"] for each in found["methods"]} == {"logistic", "spy"}
    values = [each["metrics"]["f1"]["value"] for each in found["methods"]]
    assert values == sorted(values, reverse=True)


def test_what_is_wrong_is_said_in_a_line(run, claims):
    answer = run("compare", claims, *GIVEN, "--methods", "puet", "nnpuu")
    assert answer.exit_code == 1
    assert "did you mean 'nnpu'" in answer.stderr
    assert run("compare", claims, *GIVEN, "--by", "luck").exit_code == 2
