import subprocess
import sys

import pytest
from typer.testing import CliRunner

import robustpu
from robustpu.bench import demo
from robustpu.cli import app

runner = CliRunner()


def test_help_names_the_commands():
    answer = runner.invoke(app, ["--help"])
    assert answer.exit_code == 0
    assert "demo" in answer.output


def test_no_arguments_show_what_most_people_need():
    assert "robustpu fit claims.csv" in runner.invoke(app, []).output


def test_version():
    assert runner.invoke(app, ["--version"]).output == f"robustpu {robustpu.__version__}\n"


@pytest.mark.parametrize(
    "arguments", [["--prior", "0"], ["--prior", "x"], ["--trials", "0"], ["--nonsense"]]
)
def test_bad_options_are_refused(arguments):
    answer = runner.invoke(app, ["demo", *arguments])
    assert answer.exit_code == 2
    assert "Traceback" not in answer.output


def test_an_error_is_one_line(monkeypatch):
    def fail(**_):
        raise ValueError("no room")

    monkeypatch.setattr(demo, "run", fail)
    answer = runner.invoke(app, ["demo"])
    assert answer.exit_code == 1
    assert answer.output == "Error: no room\n"


def test_an_interrupt_is_quiet(monkeypatch):
    def stop(**_):
        raise KeyboardInterrupt

    monkeypatch.setattr(demo, "run", stop)
    answer = runner.invoke(app, ["demo"])
    assert answer.exit_code == 130
    assert answer.output == "Stopped.\n"


@pytest.mark.parametrize("code", ["import robustpu", "import robustpu.cli"])
def test_the_heavy_libraries_wait_until_they_are_needed(code):
    check = f"{code}; import sys; print([m for m in ('torch', 'sklearn') if m in sys.modules])"
    answer = subprocess.run(
        [sys.executable, "-c", check], capture_output=True, text=True, check=True
    )
    assert answer.stdout == "[]\n"


def test_every_public_name_is_there():
    for name in robustpu.__all__:
        assert getattr(robustpu, name) is not None
    with pytest.raises(AttributeError, match="no attribute 'Nonsense'"):
        _ = robustpu.Nonsense
    assert set(robustpu.__all__) <= set(dir(robustpu))
