import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner

from robustpu.cli.report import report

app = typer.Typer()
app.command()(report)
runner = CliRunner()
NAMES = ["report.html", "report.md", "table3-oracle-comparison.svg"]


def record(**changes):
    whole = {
        "experiment": "table3",
        "title": "Main results",
        "table": "main",
        "dataset": "mnist",
        "method": "nnpu",
        "prior": 0.2,
        "trial": 0,
        "selection": "oracle",
        "validation": "disjoint",
        "tune": "cell",
        "fingerprint": "abc",
        "scores": {"error": 3.21},
    }
    return {**whole, **changes}


def write(path, *records):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(each) + "\n" for each in records))
    return path


@pytest.fixture
def results(tmp_path):
    write(tmp_path / "results" / "table3.jsonl", record(), record(trial=1))
    return tmp_path / "results"


def test_tables_are_printed(results):
    answer = runner.invoke(app, [str(results)])
    assert answer.exit_code == 0
    assert "Main results" in answer.stdout
    assert "3.21 ± 0.00" in answer.stdout
    assert "nnpu in 1 of 1 cells" in answer.stdout


def test_only_some_experiments(results):
    write(results / "other.jsonl", record(experiment="other", title="Another"))
    answer = runner.invoke(app, [str(results), "--only", "tab*"])
    assert "Main results" in answer.stdout
    assert "Another" not in answer.stdout
    answer = runner.invoke(app, [str(results), "--only", "tabel3"])
    assert answer.exit_code == 1
    assert "no experiment matches 'tabel3'; there are other, table3." in answer.output


def test_the_folder_by_default_is_that_of_the_experiments(results, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write(tmp_path / "experiments" / "results" / "a.jsonl", record(title="Found"))
    assert "Found" in runner.invoke(app, []).stdout


def test_everything_is_written_and_named(results, tmp_path):
    out = tmp_path / "deep" / "out"
    answer = runner.invoke(app, [str(results), "--out", str(out)])
    assert answer.exit_code == 0
    assert sorted(path.name for path in out.iterdir()) == NAMES
    assert sorted(answer.stdout.split()) == [str(out / name) for name in NAMES]


@pytest.mark.parametrize(
    ("form", "name"),
    [("markdown", NAMES[1]), ("html", NAMES[0]), ("figures", NAMES[2])],
)
def test_one_format_alone(results, tmp_path, form, name):
    out = tmp_path / "out"
    assert runner.invoke(app, [str(results), "--out", str(out), "--format", form]).exit_code == 0
    assert [path.name for path in out.iterdir()] == [name]


def test_same_files_same_bytes_wherever_they_are(results, tmp_path):
    other = write(tmp_path / "elsewhere" / "x.jsonl", record(), record(trial=1))
    for source, out in ((results, "a"), (other, "b")):
        runner.invoke(app, [str(source), "--out", str(tmp_path / out)])
    for name in NAMES:
        assert (tmp_path / "a" / name).read_bytes() == (tmp_path / "b" / name).read_bytes()


def test_a_report_is_replaced_as_a_whole(results, tmp_path, monkeypatch):
    from robustpu.bench.report import page

    old = write(tmp_path / "out" / "report.html", "old")
    before = old.read_text()

    def fail(_):
        raise ValueError("no room")

    monkeypatch.setattr(page, "page", fail)
    arguments = [str(results), "--out", str(old.parent), "--format", "html"]
    answer = runner.invoke(app, arguments)
    assert answer.exit_code == 1
    assert [path.name for path in old.parent.iterdir()] == ["report.html"]
    assert old.read_text() == before


def test_figures_that_are_not_drawn_leave_what_is_there(results, tmp_path):
    arguments = [str(results), "--out", str(tmp_path / "out"), "--format", "figures"]
    drawn = [Path(line).name for line in runner.invoke(app, arguments).stdout.split()]
    others = [name.replace("comparison", "sweep") for name in drawn]
    assert drawn
    assert not {*drawn} & {*others}
    # What a killed run left goes as well.
    for name in (*others, f".{drawn[0]}.01234567.part.svg"):
        (tmp_path / "out" / name).touch()
    assert runner.invoke(app, arguments).exit_code == 0
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == sorted([*drawn, *others])


def test_files_of_one_experiment_are_joined(results, tmp_path):
    more = write(tmp_path / "gpu" / "table3.jsonl", record(dataset="cifar10"))
    answer = runner.invoke(app, [str(results), str(more)])
    assert answer.stdout.count("Main results") == 1
    assert "cifar10" in answer.stdout


def test_the_same_trial_in_two_files_is_refused(results, tmp_path):
    more = write(tmp_path / "gpu" / "table3.jsonl", record())
    answer = runner.invoke(app, [str(results), str(more)])
    assert answer.exit_code == 1
    assert "two records of one trial" in answer.stderr


def test_a_file_given_twice_counts_once(results):
    roundabout = results / ".." / results.name / "table3.jsonl"
    answer = runner.invoke(app, [str(results), str(roundabout)])
    assert answer.exit_code == 0


def test_other_json_lines_are_skipped_with_a_note(results):
    write(results / "other.jsonl", {"dataset": "spambase", "error": 7.8})
    answer = runner.invoke(app, [str(results)])
    assert answer.exit_code == 0
    assert f"Skipped {results / 'other.jsonl'}" in answer.stderr


def test_the_empty_file_of_a_run_that_has_just_begun_is_no_matter(results):
    (results / "new.jsonl").touch()
    answer = runner.invoke(app, [str(results)])
    assert (answer.exit_code, answer.stderr) == (0, "")


def test_a_pipe_that_knows_few_signs_gets_question_marks(results):
    answer = subprocess.run(
        [sys.executable, "-m", "robustpu", "bench", "report", str(results)],
        env={**os.environ, "PYTHONIOENCODING": "latin-1"},
        capture_output=True,
        check=True,
    )
    assert b"?" in answer.stdout
    assert not answer.stderr


def test_a_torn_last_line_is_passed_over(results):
    with (results / "table3.jsonl").open("a") as file:
        file.write('{"experiment": "tab')
    answer = runner.invoke(app, [str(results)])
    assert answer.exit_code == 0
    assert "2 trials per cell" in answer.stdout


@pytest.mark.parametrize(
    "lines",
    ["nonsense\n" + json.dumps(record()) + "\n", json.dumps(record(scores={})) + "\n"],
)
def test_a_damaged_file_is_named(results, lines):
    damaged = results / "damaged.jsonl"
    damaged.write_text(lines)
    answer = runner.invoke(app, [str(results)])
    assert answer.exit_code == 1
    assert str(damaged) in answer.stderr
    assert "Traceback" not in answer.output


@pytest.mark.parametrize("what", ["missing", "empty"])
def test_nothing_to_read_is_an_error(tmp_path, what):
    (tmp_path / "empty").mkdir()
    answer = runner.invoke(app, [str(tmp_path / what)])
    assert answer.exit_code == 1
    assert answer.stderr.startswith("Error: ")


@pytest.mark.parametrize("arguments", [["--format", "html"], ["--format", "latex", "--out", "x"]])
def test_usage_errors(results, arguments):
    answer = runner.invoke(app, [str(results), *arguments])
    assert answer.exit_code == 2
    assert "Traceback" not in answer.output
