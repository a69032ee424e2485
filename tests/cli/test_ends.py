"""Commands as processes: closed streams, and Ctrl-C at any moment."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

pytestmark = pytest.mark.skipif(os.name != "posix", reason="shells and signals")


def shell(command, **names):
    """Run a line of a shell."""
    line = command.format(robustpu=f"{sys.executable} -m robustpu", **names)
    return subprocess.run(
        ["bash", "-o", "pipefail", "-c", line], capture_output=True, text=True, check=False
    )


def test_closed_input(model):
    ended = shell("{robustpu} predict {model} - --out - --quiet <&-", model=model)
    assert (ended.returncode, ended.stdout) == (1, "")
    assert ended.stderr == (
        "Error: standard input is closed, expected a table there. Give a file.\n"
    )


def test_closed_output(model, claims):
    ended = shell("{robustpu} rank {model} {data} >&-", model=model, data=claims)
    assert ended.returncode == 1
    assert ended.stderr.startswith("Error: standard output is closed. Send it somewhere")
    assert len(ended.stderr.splitlines()) == 1


def test_closed_errors(model, claims):
    ended = shell("{robustpu} rank {model} {data} --top 1 2>&-", model=model, data=claims)
    assert (ended.returncode, len(ended.stdout.splitlines())) == (0, 2)


def test_a_reader_that_has_had_enough(model, claims):
    many = 60
    ended = shell(
        "for n in $(seq {many}); do tail -n +2 {data}; done | cat <(head -1 {data}) - | "
        "{robustpu} predict {model} - --out - --quiet | head -1",
        model=model,
        data=claims,
        many=many,
    )
    assert ended.stdout == '"claim","score","flagged"\n'
    assert "Traceback" not in ended.stderr
    assert ended.returncode in (0, 141)


INTERRUPTED = """
import os, signal, sys

class Interrupt:
    def find_spec(self, name, path=None, target=None):
        if name == wanted:
            os.kill(os.getpid(), signal.SIGINT)

wanted = sys.argv.pop(1)
sys.meta_path.insert(0, Interrupt())
from robustpu.cli import main
main()
"""


@pytest.mark.parametrize("name", ["robustpu.cli.commands", "typer", "torch"])
def test_ctrl_c_while_libraries_are_loaded(model, claims, name):
    given = [name, "predict", str(model), str(claims), "--out", "-", "--quiet"]
    ended = subprocess.run(
        [sys.executable, "-c", INTERRUPTED, *given], capture_output=True, check=False
    )
    assert (ended.returncode, ended.stderr) == (130, b"Stopped.\n")
    assert ended.stdout == b""


def test_an_error_that_came_of_ctrl_c_is_ctrl_c(run, claims, model, monkeypatch):
    def fail(*given):
        try:
            os.kill(os.getpid(), signal.SIGINT)
            time.sleep(1)
        except KeyboardInterrupt:
            # As extension modules do while they are imported.
            raise ImportError("initialization failed") from None

    monkeypatch.setattr("robustpu.workflow.open_study", fail)
    answer = run("rank", model, claims)
    assert (answer.exit_code, answer.stderr) == (130, "Stopped.\n")


@pytest.mark.parametrize("command", ["methods", "methods --json", "bench report {results}"])
def test_lists_that_nobody_reads_to_the_end(command):
    """A pipe that is closed before anything is written: only so is it sure to be noticed."""
    results = Path(__file__).parents[2] / "experiments" / "results" / "default.jsonl"
    reading, writing = os.pipe()
    os.close(reading)
    ended = subprocess.run(
        [sys.executable, "-m", "robustpu", *command.format(results=results).split()],
        stdout=writing,
        stderr=subprocess.PIPE,
        text=True,
        check=False,
    )
    os.close(writing)
    assert (ended.returncode, ended.stderr) == (141, "")


@pytest.mark.parametrize(
    "words",
    [
        ("fit", "a.csv", "--label", "lable", "--out", "model"),
        ("fit", "b.csv", "--label", "y", "--out", "model"),
        ("predict", "model", "a.csv", "--out", "b.csv"),
        ("rank", "model", "a.csv"),
    ],
)
def test_a_typo_is_answered_without_torch(tmp_path, words):
    (tmp_path / "a.csv").write_text("x,y\n1,1\n2,0\n")
    code = (
        "import sys; from robustpu.cli import main\n"
        "try: main()\n"
        "finally: print('torch' in sys.modules, 'sklearn' in sys.modules)"
    )
    run = [sys.executable, "-c", code, *words]
    done = subprocess.run(run, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert done.stdout == "False False\n"
    assert done.stderr.splitlines()[-1].startswith("Error: ")
