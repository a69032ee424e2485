import gzip
import json
import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from vega_datasets import local_data

from robustpu.persist import describe
from robustpu.workflow import open_study

QUICK = ("--method", "puet", "--prior", "0.2")


def test_a_model_and_a_page_are_written_and_summed_up(run, claims, tmp_path):
    out = tmp_path / "models" / "claims"
    answer = run(
        *("fit", claims, "--label", "fraud", "--id", "claim", "--time-column", "filed"),
        *("--method", "puet", "--prior", "0.1:0.25", "--out", out),
    )
    assert answer.exit_code == 0, answer.output
    for words in ("unlabelled rows", "AUC", "precision", "rows of the list"):
        assert words in answer.stdout
    assert answer.stdout.startswith("Start with the first ")
    assert f"Page   {out / 'report.html'}" in answer.stdout
    assert "evaluated on the newest" in answer.stdout
    assert "rows without a label count as unlabelled" in answer.stderr
    page = (out / "report.html").read_text(encoding="utf-8")
    assert "claims.csv" in page
    assert "Zürich" in page
    prior = open_study(out).results.prior
    assert prior.source == "range"
    assert prior.low < prior.value < prior.high
    assert describe(out).attachments == ("report.html",)
    assert [path.name for path in out.parent.iterdir()] == ["claims"]


def test_classes_that_are_far_apart_tell_the_share(run, tmp_path):
    random = np.random.default_rng(0)
    rows = random.normal(size=(600, 2)) + 6 * (np.arange(600) < 200)[:, None]
    table = pd.DataFrame(rows, columns=list("ab")).assign(y=(np.arange(600) < 100).astype(int))
    table.to_csv(tmp_path / "apart.csv", index=False)
    given = ("--label", "y", "--effort", "fast", "--out", tmp_path / "m")
    answer = run("fit", tmp_path / "apart.csv", *given)
    assert answer.exit_code == 0, answer.output
    words = " ".join(answer.stdout.split())
    assert re.search(
        r"of them are positive \(\d+ to \d+\)\. Of the 500 unlabelled rows about", words
    )
    prior = open_study(tmp_path / "m").results.prior
    assert (prior.source, prior.is_known) == ("estimated", True)
    assert prior.low < prior.value < prior.high
    assert prior.value == pytest.approx(0.2, abs=0.05)


@pytest.mark.parametrize("method", ["puet", "auto"])
def test_the_newest_rows_are_evaluated_where_the_share_is_not_known(run, claims, tmp_path, method):
    given = ("--time-column", "filed", "--method", method, "--out", tmp_path / "m")
    more = ("--effort", "fast") if method == "auto" else ()
    answer = run("fit", claims, "--label", "fraud", "--id", "claim", *given, *more)
    assert answer.exit_code == 0, answer.output
    assert not open_study(tmp_path / "m").results.prior.is_known
    assert "evaluated on the newest" in answer.stdout
    assert "which these rows do not tell" in " ".join(answer.stdout.split())
    assert not re.search(r"^precision ", answer.stdout, re.MULTILINE)


@pytest.mark.parametrize(("effort", "wanted"), [("fast", "fast"), ("3", 3.0)])
def test_efforts(run, claims, tmp_path, effort, wanted):
    given = ("--label", "fraud", "--id", "claim", "--drop", "filed", "--prior", "0.18")
    answer = run("fit", claims, *given, "--effort", effort, "--out", tmp_path / "m", "--quiet")
    assert answer.exit_code == 0, answer.output
    study = open_study(tmp_path / "m")
    assert study.model.effort == wanted
    names = {member.name for member in study.results.members}
    assert names >= {"logistic", "hinges", "laplacian"}
    assert effort != "fast" or len(names) == 3


def test_real_mixed_data_with_robust_pu(run, tmp_path):
    cars = json.loads(Path(local_data.cars.filepath).read_text())
    is_japanese = [car.pop("Origin") == "Japan" for car in cars]
    for place, car in enumerate(cars):
        car["japanese"] = "yes" if is_japanese[place] and place % 2 else None
    lines = "\n".join(map(json.dumps, cars)).encode()
    (tmp_path / "cars.jsonl.gz").write_bytes(gzip.compress(lines))
    answer = run(
        *("fit", tmp_path / "cars.jsonl.gz", "--label", "japanese", "--id", "Name"),
        *("--prior", "count:40", "--members", "1", "--out", tmp_path / "model", "--json"),
    )
    assert answer.exit_code == 0, answer.output
    found = json.loads(answer.stdout)
    assert found["prior"]["source"] == "count"
    assert found["method"]["parameters"] == {"n_members": "1"}
    metrics = {each["name"]: each["value"] for each in found["evaluation"]["metrics"]}
    assert metrics["auc"] > 0.75
    listed = json.loads(
        run("rank", tmp_path / "model", tmp_path / "cars.jsonl.gz", "--top", "20", "--json").stdout
    )
    hits = sum(is_japanese[row["row"] - 1] for row in listed)
    # Two would be chance.
    assert hits >= 8


@pytest.mark.parametrize(
    ("content", "more", "message"),
    [
        ("a;b,c;y\n1;2,5;1\n2;3,5;\n" * 1, ("--label", "z"), "has no column 'z'"),
        ("", (), "is empty"),
        ("x,y\n", (), "has a header but no rows"),
        ("1.5,2.5\n3.5,4.5\n5.5,6.5\n", (), "header"),
        ("x,y\n1,2\n3\n", (), "cells"),
        ("x,y\n1,a\n2,b\n3,c\n", (), "3 different values"),
        ("x,y\n1,1\n2,1\n3,1\n", (), "marks every row as positive"),
        ("x,y\n1,0\n2,0\n3,0\n", (), "no labelled positives"),
        ("x,y\n,1\n,\n,\n", (), "no column to learn from"),
        ("x,y\n.5,1\n.7,\n.6,\n", ("--prior", "2"), "count:500"),
        ("x,y\n.5,1\n.7,\n.6,\n", ("--prior", "auto"), "single labelled positive"),
        ("x,y\n.5,1\n.7,\n.6,\n", ("--method", "robustpu"), "did you mean 'robust-pu'"),
        ("x,y\n.5,1\n.7,\n.6,\n", ("--threshold", "high"), "threshold"),
        ("x,y\n.5,1\n.7,\n.6,\n", ("--effort", "fast"), "puet has no effort to set"),
        (
            "x,y\n.5,1\n.7,\n.6,\n",
            ("--method", "auto", "--effort", "quick"),
            "effort must be 'fast', 'default' or 'best', or a number of seconds; it is 'quick'",
        ),
        (
            "x,y\n.5,1\n.7,\n.6,\n",
            ("--method", "auto", "--effort", "-3"),
            "effort must be a number above 0",
        ),
        ("x,y\n.5,1\n.7,\n.6,\n", ("--scenario", "both"), "scenario"),
        ("x,y\n.5,1\n.7,\n.6,\n", ("--kind", "x=number2"), "unknown kind"),
        ("x,y\n.5,1\n.7,\n.6,\n", ("--drop", "w"), "no column 'w'"),
        ("x,y\n.5,1\n.7,\n.6,\n", ("--drop", "x"), "no columns to learn from"),
    ],
)
def test_what_is_wrong_is_said_in_a_line(run, tmp_path, content, more, message):
    path = tmp_path / "t.csv"
    path.write_text(content)
    given = ("--label", "y", *QUICK, "--out", tmp_path / "model", "--quiet")
    answer = run("fit", path, *given, *more)
    assert answer.exit_code == 1, answer.output
    assert answer.stdout == ""
    assert message in answer.stderr
    assert [line[:7] for line in answer.stderr.splitlines()] == ["Error: "]
    assert [each.name for each in tmp_path.iterdir()] == ["t.csv"]


def table(rows, header="x,k,y"):
    return "\n".join([header, *rows]) + "\n"


MIXED = [f"{place**0.5:.3f},{'ab'[place % 2]},{1 if place < 8 else ''}" for place in range(40)]


@pytest.mark.parametrize(
    ("content", "more", "note"),
    [
        (table(MIXED, "x,x,y"), (), "x (2)"),
        (table(MIXED, "größe,k,y"), (), ""),
        (table([row.replace(",", ";") for row in MIXED], "x;k;y"), (), "';'"),
        (table([*MIXED, "1"]), ("--skip-bad-rows",), "left out"),
        ("\n".join(MIXED), ("--no-header", "--label", "column 3"), ""),
        (table([row + "," for row in MIXED], "x,k,y,empty"), (), ""),
        (table(["0.3,a,1", *(row for row in MIXED if row.endswith(","))]), (), "only 1 labelled"),
        (table([row or "x" for row in MIXED]).replace(",\n", ",u\n"), ("--positive", "1"), ""),
    ],
)
def test_odd_tables_are_dealt_with(run, tmp_path, content, more, note):
    path = tmp_path / "t.csv"
    path.write_text(content, encoding="utf-8")
    given = [*("--label", "y", *QUICK, "--out", tmp_path / "model"), *more]
    answer = run("fit", path, *given)
    assert answer.exit_code == 0, answer.output
    assert note in answer.stderr
    assert "Error" not in answer.output
    scored = run("predict", tmp_path / "model", path, "--out", tmp_path / "s.csv", "--quiet")
    assert (scored.exit_code, scored.output) == (0, "")


def test_the_folder_is_looked_at_before_the_table(run, claims, model, tmp_path):
    answer = run("fit", "not there.csv", "--label", "y", "--out", model)
    assert answer.exit_code == 1
    assert "--overwrite" in answer.stderr
    (tmp_path / "notes.txt").write_text("mine")
    answer = run("fit", claims, "--label", "fraud", "--out", tmp_path, "--overwrite")
    assert answer.exit_code == 1
    assert (tmp_path / "notes.txt").read_text() == "mine"


def test_usage_errors_are_2(run):
    assert run("fit").exit_code == 2
    assert run("fit", "a.csv", "--label", "y", "--out", "m", "--kind", "x").exit_code == 2
    # Once, not with each command.
    assert "130, 143 interrupted" in " ".join(run("--help").stdout.split())
    assert "Exit codes" not in run("fit", "--help").stdout


def test_debug_shows_where(claims, tmp_path):
    from typer.testing import CliRunner

    from robustpu.cli import app

    given = ["fit", str(claims), "--label", "no", "--out", str(tmp_path / "m"), "--debug"]
    answer = CliRunner().invoke(app, given)
    assert type(answer.exception).__name__ == "TableError"


def test_a_wrong_name_is_found_before_anything_is_trained(run, claims, tmp_path, monkeypatch):
    monkeypatch.setattr("robustpu.workflow.fit_table", None)
    given = ("fit", claims, "--label", "fraud", "--out", tmp_path / "m", "--quiet")
    for more in (("--id", "klaim"), ("--time-column", "file"), ("--kind", "ages=number")):
        answer = run(*given, *more)
        assert answer.exit_code == 1
        assert "Did you mean" in answer.stderr


@pytest.mark.parametrize(
    ("error", "code", "message"),
    [
        (KeyboardInterrupt(), 130, "Stopped."),
        (MemoryError(), 1, "not enough memory"),
        (ZeroDivisionError("why"), 70, "bug in robustpu"),
        (signal.SIGTERM, 143, ""),
        (signal.SIGHUP, 129, ""),
    ],
)
def test_an_end_in_the_midst_leaves_nothing(
    run, claims, model, tmp_path, monkeypatch, error, code, message
):
    study = open_study(model)
    monkeypatch.setattr("robustpu.workflow.fit_table", lambda *given, **more: study)
    # Under nohup it is ignored, and would stay so.
    before = signal.signal(signal.SIGHUP, signal.SIG_DFL)

    def fail(*given):
        if isinstance(error, signal.Signals):
            os.kill(os.getpid(), error)
        raise error

    monkeypatch.setattr("robustpu.persist.writing._sync", fail)
    answer = run("fit", claims, "--label", "fraud", *QUICK, "--out", tmp_path / "model")
    signal.signal(signal.SIGHUP, before)
    assert answer.exit_code == code
    assert message in answer.stderr
    assert list(tmp_path.iterdir()) == []


KILLED = """
import os, signal
from robustpu.persist import writing
write = writing._write
def once(path, content):
    write(path, content[:100])
    os.kill(os.getpid(), signal.SIGKILL)
writing._write = once
from robustpu.cli import main
main()
"""


@pytest.mark.skipif(os.name != "posix", reason="signals")
def test_what_a_killed_fit_left_goes_with_the_next(run, claims, tmp_path):
    given = ["fit", str(claims), "--label", "fraud", *QUICK, "--out", str(tmp_path / "model")]
    ended = subprocess.run([sys.executable, "-c", KILLED, *given], capture_output=True, check=False)
    assert ended.returncode == -signal.SIGKILL, ended.stderr
    assert not (tmp_path / "model").exists()
    assert len(list(tmp_path.iterdir())) == 1
    assert run(*given).exit_code == 0
    assert [each.name for each in tmp_path.iterdir()] == ["model"]


def test_progress_is_drawn_on_a_terminal_and_written_elsewhere(monkeypatch, capsys):
    from robustpu.workflow.progress import show_progress

    def shown(quiet):
        with show_progress(quiet) as progress:
            progress("reading", 0, 0)
            progress("training", 3, 4)
        return capsys.readouterr().err

    monkeypatch.delenv("FORCE_COLOR", raising=False)
    assert shown(quiet=False) == "0:00  Reading\n0:00  Training\n"
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("TTY_COMPATIBLE", "1")
    drawn = shown(quiet=False)
    assert "Reading" in drawn
    assert "75%" in drawn
    assert shown(quiet=True) == ""


def test_a_long_stage_reports_once_a_minute(capsys):
    from robustpu.workflow.progress import print_lines

    seconds = iter([0, 1, 2, 30, 61, 62, 121, 3700])
    progress = print_lines(lambda: next(seconds))
    progress("reading", 0, 0)
    for done in range(6):
        progress("training", done, 10)
    assert capsys.readouterr().err.splitlines() == [
        "0:01  Reading",
        "0:02  Training",
        "1:02  Training, at least 30%",
        "1:01:40  Training, at least 50%",
    ]


def test_a_learner_that_no_folder_can_hold_is_refused_at_once(run, tmp_path):
    out = tmp_path / "model"
    answer = run(
        *("fit", tmp_path / "not even read.csv", "--label", "y"),
        *("--method", "robust-pu-meta", "--out", out),
    )
    assert answer.exit_code == 1
    for words in (
        "HistGradientBoostingClassifier, which a model folder cannot hold",
        "Use --method auto;",
        "RobustPUMetaClassifier(estimator=RandomForestClassifier())",
    ):
        assert words in answer.stderr
    assert not out.exists()


def test_a_threshold_that_the_method_cannot_find_names_others(run, claims, tmp_path):
    answer = run(
        *("fit", claims, "--label", "fraud", *QUICK),
        *("--threshold", "precision:0.9", "--out", tmp_path / "model"),
    )
    assert answer.exit_code == 1
    assert "puet holds out none. Choose a method that does (" in answer.stderr
    assert "validation_fraction" not in answer.stderr


def test_classes_that_overlap_do_not_tell_the_share(run, tmp_path):
    random = np.random.default_rng(0)
    rows = random.normal(size=(900, 2)) + 0.6 * (np.arange(900) < 180)[:, None]
    table = pd.DataFrame(rows, columns=list("ab")).assign(y=(np.arange(900) < 90).astype(int))
    table.to_csv(tmp_path / "overlap.csv", index=False)
    answer = run(
        "fit", tmp_path / "overlap.csv", "--label", "y", "--method", "puet", "--out", tmp_path / "m"
    )
    assert answer.exit_code == 0
    assert not open_study(tmp_path / "m").results.prior.is_known
    words = " ".join(answer.stdout.split())
    assert "which these rows do not tell: of the 810 unlabelled rows" in words
    assert "give it, such as --prior 0.05; the list changes little." in words
    assert re.search(r"^share of positives  +in first \d+", answer.stdout, re.M)
    assert re.search(r"^ +5\.0 %( +\d+)+$", answer.stdout, re.M)
    page = (tmp_path / "m" / "report.html").read_text(encoding="utf-8")
    assert "Start with these" in page


def test_a_share_between_two_ends_is_no_certainty(run, claims, tmp_path):
    given = ("fit", claims, "--label", "fraud", "--id", "claim", "--method", "elkan-noto")
    answer = run(*given, "--prior", "0.1:0.3", "--out", tmp_path / "m")
    assert answer.exit_code == 0, answer.output
    assert "from the range that you gave" in " ".join(answer.output.split())
    page = (tmp_path / "m" / "report.html").read_text(encoding="utf-8")
    assert "from the range that you gave" in page
    assert "more likely fewer" not in page
    assert "If the share were another" in page


def test_a_share_may_be_anything_up_to_an_end(run, claims, tmp_path):
    given = ("fit", claims, "--label", "fraud", "--id", "claim", "--method", "elkan-noto")
    answer = run(*given, "--prior", "0:0.3", "--out", tmp_path / "m")
    assert answer.exit_code == 0, answer.output
    assert "(up to 77, from the range that you gave)" in " ".join(answer.output.split())
    results = open_study(tmp_path / "m").results
    assert (results.prior.value, results.prior.low, results.prior.high) == (0.15, 0, 0.3)
    page = (tmp_path / "m" / "report.html").read_text(encoding="utf-8")
    assert "at most 77), as you said" in page


class TestPropensity:
    def table(self, tmp_path, wrong=None):
        rng = np.random.default_rng(0)
        truth = np.arange(500) < 200
        rows = rng.normal(size=(500, 2)) + 3 * truth[:, None]
        chance = np.where(rows[:, 1] > 3, 0.8, 0.2)
        y = truth & (rng.random(500) < chance)
        chance = np.where(y, chance, np.nan)
        if wrong is not None:
            chance[np.flatnonzero(y)[3]] = wrong
        table = pd.DataFrame(rows, columns=list("ab")).assign(y=y.astype(int), chance=chance)
        table.to_csv(tmp_path / "t.csv", index=False)
        return tmp_path / "t.csv", truth[~y].mean()

    def fit(self, run, tmp_path, path, *more):
        given = ("--label", "y", "--scenario", "single-set", "--method", "elkan-noto")
        return run("fit", path, *given, "--out", tmp_path / "m", *more)

    def test_it_counts_the_share_and_is_no_feature(self, run, tmp_path):
        path, share = self.table(tmp_path)
        answer = self.fit(run, tmp_path, path, "--propensity", "chance")
        assert answer.exit_code == 0, answer.output
        results = open_study(tmp_path / "m").results
        assert results.prior.is_known
        assert results.prior.low < share < results.prior.high
        assert results.prior.value == pytest.approx(share, abs=0.08)
        assert [column.name for column in results.columns] == ["a", "b"]
        answer = run("predict", tmp_path / "m", path, "--out", tmp_path / "scored.csv")
        assert answer.exit_code == 0, answer.output

    @pytest.mark.parametrize("wrong", [0, 1.2, np.nan])
    def test_a_wrong_one_is_refused_before_the_work(self, run, tmp_path, wrong):
        answer = self.fit(run, tmp_path, self.table(tmp_path, wrong)[0], "--propensity", "chance")
        assert answer.exit_code == 1
        assert "propensity must be above 0 and at most 1 for each labelled row" in answer.stderr
        assert not (tmp_path / "m").exists()

    def test_a_column_that_is_not_there_is_refused(self, run, tmp_path):
        answer = self.fit(run, tmp_path, self.table(tmp_path)[0], "--propensity", "chances")
        assert answer.exit_code == 1
        assert "Did you mean 'chance'?" in answer.stderr
