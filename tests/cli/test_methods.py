import json

from typer.testing import CliRunner

from robustpu.cli import app
from robustpu.methods import METHODS, fit_times


def test_every_method_is_listed():
    answer = CliRunner().invoke(app, ["methods"], env={"COLUMNS": "80"})
    assert answer.exit_code == 0
    for name, method in METHODS.items():
        line = next(line for line in answer.output.splitlines() if line.split()[:1] == [name])
        assert method.kind == f"{line.split()[1]}Classifier"
        assert method.paper in line
        time, unit = line.split()[-1][:-1], line[-1]
        assert float(time) == fit_times()[name] > 0
        assert unit == "x"
    assert "2x is twice that of pn" in answer.output


def test_json_for_programs():
    answer = json.loads(CliRunner().invoke(app, ["methods", "--json"]).output)
    assert answer["nnpu"]["kind"] == "NNPUClassifier"
    assert answer["nnpu"]["file"] == "nnpu.py"
    assert answer["nnpu"]["time"] == fit_times()["nnpu"]
    assert list(answer) == list(METHODS) == list(fit_times())
