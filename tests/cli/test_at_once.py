"""What is wrong with a command is said before PyTorch is imported, which takes seconds."""

import json
import subprocess
import sys

COMMANDS = """
import json, sys
from typer.testing import CliRunner
from robustpu.cli import app
for command in json.loads(sys.argv[1]):
    answer = CliRunner().invoke(app, command)
    assert answer.exit_code == 1, (command, answer.output)
    heavy = {"torch", "sklearn", "scipy"} & set(sys.modules)
    assert not heavy, (command, heavy)
"""


def test_nothing_heavy_is_imported_for_a_mistake(claims, model, tmp_path):
    fit = ["fit", str(claims), "--label", "fraud", "--out", str(tmp_path / "m")]
    compare, prior = ([name, *fit[1:4]] for name in ("compare", "prior"))
    other = tmp_path / "other.csv"
    other.write_text("amount,city\n1,Bern\n")
    files = [str(model), str(claims)]
    commands = [
        ["fit", "nowhere.csv", *fit[2:]],
        [*fit, "--id", "klaim"],
        [*fit, "--positive", "no"],
        [*fit, "--kind", "age=numbre"],
        *([*fit, *wrong] for wrong in (["--prior", "2"], ["--effort", "fas"])),
        *([*fit, *wrong] for wrong in (["--scenario", "one"], ["--threshold", "high"])),
        [*fit, "--method", "nnpuu"],
        [*compare, "--methods", "nnpuu"],
        [*compare, "--prior", "2"],
        [*prior, "--method", "dedpull"],
        [*prior, "--scenario", "one"],
        ["predict", "nowhere", str(claims), "--out", str(tmp_path / "s.csv")],
        ["predict", *files, "--out", str(tmp_path / "s.csv"), "--keep", "klaim"],
        ["rank", str(model), str(other)],
        ["rank", *files, "--id", "klaim"],
        ["inspect", "nowhere"],
        ["report", "nowhere"],
    ]
    given = [sys.executable, "-c", COMMANDS, json.dumps(commands)]
    ended = subprocess.run(given, capture_output=True, text=True, check=False)
    assert ended.returncode == 0, ended.stderr
