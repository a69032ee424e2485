import json
import re
import subprocess
import sys

import pytest
from typer.testing import CliRunner

from robustpu.bench import run as bench_run
from robustpu.bench import store
from robustpu.cli import app

runner = CliRunner()

SMALL = """
title = "Small"
datasets = ["digits"]
priors = [0.2, 0.4]
trials = 2
selection = "oracle"
[sizes]
n_positive = 30
n_unlabeled = 60
n_test = 40
[methods.pn.fixed]
epochs = 2
[methods.nnpu.fixed]
epochs = 2
"""


@pytest.fixture
def small(tmp_path):
    path = tmp_path / "small.toml"
    path.write_text(SMALL)
    return path


def bench(*arguments):
    return runner.invoke(app, ["bench", "run", *map(str, arguments), "--device", "cpu"])


def records(folder):
    return [json.loads(line) for line in (folder / "small.jsonl").read_text().splitlines()]


def test_a_file_is_run_and_the_results_lie_beside_it(small):
    answer = bench(small)
    assert answer.exit_code == 0
    assert "4 cells finished, 0 failed, 0 finished before" in answer.output
    assert "[4/4] small: digits/nnpu/0.4/oracle, error" in answer.output
    assert len(records(small.parent / "results")) == 8


def test_a_second_run_has_nothing_to_do(small):
    bench(small)
    answer = bench(small)
    assert answer.exit_code == 0
    assert "0 cells finished, 0 failed, 4 finished before" in answer.output
    assert len(records(small.parent / "results")) == 8


def test_nothing_to_do_needs_no_right_to_write(small):
    bench(small)
    with store.writer(small.parent / "results" / "small.jsonl"):
        assert bench(small).exit_code == 0


def test_cells_and_trials_can_be_chosen(small, tmp_path):
    answer = bench(
        small, "--out", tmp_path / "o", "--only", "*/pn/0.2/*", "--only", "*/nnpu/0.4/*",
        "--trials", 1,
    )  # fmt: skip
    assert answer.exit_code == 0
    chosen = [(r["method"], r["prior"], r["trial"]) for r in records(tmp_path / "o")]
    assert chosen == [("pn", 0.2, 0), ("nnpu", 0.4, 0)]


def test_quiet_is_quiet(small):
    answer = bench(small, "--quiet")
    assert answer.exit_code == 0
    assert answer.output == ""


def test_a_dry_run_trains_and_writes_nothing(small):
    answer = bench(small, "--dry-run")
    assert answer.exit_code == 0
    assert re.search(r"4 cells, 0 of them finished.*8 networks", answer.output)
    assert "An estimate" in answer.output
    assert list(small.parent.iterdir()) == [small]
    bench(small, "--only", "*/pn/*")
    assert "4 cells, 2 of them finished" in bench(small, "--dry-run").output


def test_a_failed_cell_shows_in_the_exit_status(small):
    small.write_text(SMALL.replace("[methods.pn.fixed]", "[methods.pn.fixed]\nlr = 1e38"))
    answer = bench(small, "--quiet")
    assert answer.exit_code == 1
    assert answer.output.count("\n") == 2
    assert "digits/pn/0.2/oracle, 2 trials failed: ValueError: training diverged" in answer.output
    assert len(records(small.parent / "results")) == 8


def test_a_missing_data_set_is_named_before_anything_is_trained(small, tmp_path):
    small.write_text(SMALL.replace('["digits"]', '["mushrooms", "digits"]'))
    given = (small, "--data-dir", tmp_path / "nowhere", "--only")
    answer = bench(*given, "*/pn/0.2/*")
    assert answer.exit_code == 1
    assert f"not in {tmp_path / 'nowhere'}: mushrooms. Get them by" in answer.output
    assert f"fetch mushrooms --data-dir {tmp_path / 'nowhere'}`" in answer.output
    assert not (tmp_path / "results").exists()
    assert "Note: not in" in bench(*given, "*/pn/0.2/*", "--dry-run").output
    assert bench(*given, "digits/pn/0.2/*").exit_code == 0


def test_half_a_data_set_is_named_too(small, tmp_path):
    small.write_text(SMALL.replace('["digits"]', '["mushrooms"]'))
    file = tmp_path / "data" / "mushrooms" / "agaricus-lepiota.data"
    file.parent.mkdir(parents=True)
    file.write_text("p,x,s\n")
    answer = bench(small, "--data-dir", tmp_path / "data")
    assert answer.exit_code == 1
    assert "mushrooms (damaged). Get them by" in answer.output
    assert not (tmp_path / "results").exists()


def test_absurd_numbers_of_trials_are_refused(small):
    assert "10000" in bench(small, "--trials", "2000000000", "--dry-run").output


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (("trials = 2", "trails = 2"), "did you mean 'trials'"),
        (("epochs = 2", "epoch = 2"), "did you mean 'epochs'"),
        (("trials = 2", "trials = "), "small.toml"),
        (("[methods.pn.fixed]", "[methods.pn.fixed"), "small.toml"),
    ],
)
def test_a_bad_file_is_refused_in_one_line(small, change, message):
    small.write_text(SMALL.replace(*change))
    answer = bench(small)
    assert answer.exit_code == 2
    assert answer.output.startswith("Error: ")
    assert answer.output.count("\n") == 1
    assert message in answer.output


def test_a_file_that_is_not_text_is_refused(small):
    small.write_bytes(b"\xff\xfe\0")
    answer = bench(small)
    assert answer.exit_code == 2
    assert "small.toml" in answer.output


def test_bad_options_are_refused(small):
    assert bench(small, "--workers", 0).exit_code == 2
    assert bench(small, "--trials", 0).exit_code == 2
    assert bench("nowhere.toml").exit_code == 2
    assert bench(small.parent).exit_code == 2
    answer = bench(small, "--only", "mnist/*")
    assert answer.exit_code == 2
    assert "no cell matches 'mnist/*'" in answer.output
    answer = runner.invoke(app, ["bench", "run", str(small), "--device", "gpu"])
    assert answer.exit_code == 2
    assert "device must be" in answer.output


def test_two_files_of_one_name_are_refused(small):
    other = small.parent / "other"
    other.mkdir()
    (other / "small.toml").write_text(SMALL)
    answer = bench(small, other / "small.toml")
    assert answer.exit_code == 2
    assert "two files are named 'small'" in answer.output


def test_several_files_are_one_run(small):
    second = small.parent / "second.toml"
    second.write_text(SMALL)
    answer = bench(small, second, "--only", "*/pn/0.2/*")
    assert "2 cells finished" in answer.output
    assert sorted(path.name for path in (small.parent / "results").iterdir()) == [
        "second.jsonl",
        "small.jsonl",
    ]


def test_a_folder_that_cannot_be_made_is_an_error(small):
    (small.parent / "results").write_text("a file")
    answer = bench(small)
    assert answer.exit_code == 1
    assert answer.output.startswith("Error: ")


def test_a_corrupt_record_is_an_error(small):
    out = small.parent / "results"
    out.mkdir()
    (out / "small.jsonl").write_text("nonsense\n{}\n")
    answer = bench(small)
    assert answer.exit_code == 1
    assert "small.jsonl, line 1" in answer.output
    assert (out / "small.jsonl").read_text() == "nonsense\n{}\n"


def test_a_second_run_at_the_same_time_says_so(small):
    out = small.parent / "results"
    with store.writer(out / "small.jsonl"):
        answer = bench(small)
    assert answer.exit_code == 1
    assert "another run" in answer.output


def test_a_full_disk_ends_the_run_and_the_next_goes_on(small, monkeypatch):
    def full(file, content):
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(store.os, "write", full)
        answer = bench(small)
    assert answer.exit_code == 1
    assert "No space left on device" in answer.output
    assert bench(small).exit_code == 0
    assert len(records(small.parent / "results")) == 8


def test_an_interrupt_keeps_what_is_finished(small, monkeypatch):
    train_all = bench_run.train_all

    def two(*arguments):
        outcomes = train_all(*arguments)
        yield next(outcomes)
        yield next(outcomes)
        raise KeyboardInterrupt

    monkeypatch.setattr(bench_run, "train_all", two)
    answer = bench(small)
    assert answer.exit_code == 130
    assert "What was finished is kept" in answer.output
    assert len(records(small.parent / "results")) == 4


def test_help_is_quick():
    check = (
        "import sys; from typer.testing import CliRunner; from robustpu.cli import app\n"
        "assert CliRunner().invoke(app, ['bench', 'run', '--help']).exit_code == 0\n"
        "print([m for m in ('torch', 'sklearn', 'numpy') if m in sys.modules])"
    )
    answer = subprocess.run([sys.executable, "-c", check], capture_output=True, text=True)
    assert answer.stdout == "[]\n"
