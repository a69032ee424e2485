import gzip
import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from vega_datasets import local_data

from robustpu.persist import describe
from robustpu.study import open_study

QUICK = ("--method", "puet", "--prior", "0.2")


def test_a_model_and_a_page_are_written_and_summed_up(run, claims, tmp_path):
    out = tmp_path / "models" / "claims"
    answer = run(
        *("fit", claims, "--label", "fraud", "--id", "claim", "--time-column", "filed"),
        *("--method", "puet", "--out", out),
    )
    assert answer.exit_code == 0, answer.output
    for words in ("unlabelled rows: about", "AUC", "precision", "most suspect"):
        assert words in answer.stdout
    assert f"Page:   {out / 'report.html'}" in answer.stdout
    assert "judged on the newest" in answer.stdout
    assert "rows without a label count as unlabelled" in answer.stderr
    page = (out / "report.html").read_text(encoding="utf-8")
    assert "claims.csv" in page
    assert "Zürich" in page
    found = open_study(out).findings
    assert found["prior"]["how"] == "estimated"
    assert found["prior"]["low"] < found["prior"]["value"] < found["prior"]["high"]
    assert describe(out).attachments == ("report.html",)
    assert [own.name for own in out.parent.iterdir()] == ["claims"]


def test_real_mixed_data_with_robust_pu(run, tmp_path):
    cars = json.loads(Path(local_data.cars.filepath).read_text())
    is_japanese = [own.pop("Origin") == "Japan" for own in cars]
    for place, own in enumerate(cars):
        own["japanese"] = "yes" if is_japanese[place] and place % 2 else None
    lines = "\n".join(map(json.dumps, cars)).encode()
    (tmp_path / "cars.jsonl.gz").write_bytes(gzip.compress(lines))
    answer = run(
        *("fit", tmp_path / "cars.jsonl.gz", "--label", "japanese", "--id", "Name"),
        *("--prior", "count:40", "--members", "1", "--out", tmp_path / "model", "--json"),
    )
    assert answer.exit_code == 0, answer.output
    found = json.loads(answer.stdout)
    assert found["prior"]["how"] == "count"
    assert found["method"]["parameters"] == {"n_members": "1"}
    metrics = {own["name"]: own["value"] for own in found["evaluation"]["metrics"]}
    assert metrics["auc"] > 0.75
    listed = json.loads(
        run("rank", tmp_path / "model", tmp_path / "cars.jsonl.gz", "--top", "20", "--json").stdout
    )
    hits = sum(is_japanese[own["row"] - 1] for own in listed)
    assert hits >= 10


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
    assert [own.name for own in tmp_path.iterdir()] == ["t.csv"]


def table(rows, header="x,k,y"):
    return "\n".join([header, *rows]) + "\n"


MIXED = [f"{place**0.5:.3f},{'ab'[place % 2]},{1 if place < 8 else ''}" for place in range(40)]


@pytest.mark.parametrize(
    ("content", "more", "note"),
    [
        (table(MIXED, "x,x,y"), (), "x (2)"),
        (table(MIXED, "größe,k,y"), (), ""),
        (table([own.replace(",", ";") for own in MIXED], "x;k;y"), (), "';'"),
        (table([*MIXED, "1"]), ("--skip-bad-rows",), "left out"),
        ("\n".join(MIXED), ("--no-header", "--label", "column 3"), ""),
        (table([own + "," for own in MIXED], "x,k,y,empty"), (), ""),
        (table(["0.3,a,1", *(own for own in MIXED if own.endswith(","))]), (), "only 1 labelled"),
        (table([own or "x" for own in MIXED]).replace(",\n", ",u\n"), ("--positive", "1"), ""),
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


@pytest.mark.parametrize(
    ("error", "code", "message"),
    [
        (KeyboardInterrupt(), 130, "Stopped."),
        (MemoryError(), 1, "not enough memory"),
        (ZeroDivisionError("why"), 70, "fault of robustpu"),
        (signal.SIGTERM, 143, ""),
        (signal.SIGHUP, 129, ""),
    ],
)
def test_an_end_in_the_midst_leaves_nothing(
    run, claims, tmp_path, monkeypatch, error, code, message
):
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
    assert [own.name for own in tmp_path.iterdir()] == ["model"]


def test_progress_is_drawn_on_a_terminal_and_written_elsewhere(monkeypatch, capsys):
    from robustpu.study.stages import stages

    def told(quiet):
        with stages(quiet) as progress:
            progress("reading", 0, 0)
            progress("training", 3, 4)
        return capsys.readouterr().err

    monkeypatch.delenv("FORCE_COLOR", raising=False)
    assert told(quiet=False) == "0:00  Reading\n0:00  Training\n"
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("TTY_COMPATIBLE", "1")
    drawn = told(quiet=False)
    assert "Reading" in drawn
    assert "75%" in drawn
    assert told(quiet=True) == ""


def test_a_long_stage_tells_once_a_minute(capsys):
    from robustpu.study.stages import lines

    seconds = iter([0, 1, 2, 30, 61, 62, 121, 3700])
    tell = lines(lambda: next(seconds))
    tell("reading", 0, 0)
    for done in range(6):
        tell("training", done, 10)
    assert capsys.readouterr().err.splitlines() == [
        "0:01  Reading",
        "0:02  Training",
        "1:02  Training, at least 30%",
        "1:01:40  Training, at least 50%",
    ]


def test_a_star_has_its_footnote_and_a_footnote_its_star():
    from robustpu.cli.fit import summary

    def told(clipped):
        metrics = [
            {"name": name, "value": 0.5, "low": 0.4, "high": 0.6, "clipped": name == clipped}
            for name in ("precision", "recall", "auc", "lift_at_k")
        ]
        found = {
            "data": {"name": "a", "n_positive": 5, "n_unlabeled": 9},
            "prior": {"value": 0.5, "low": None, "high": None},
            "scenario": "single-set",
            "columns": [],
            "evaluation": {"level": 0.9, "remarks": ["* cut"], "metrics": metrics},
            "top": [],
            "alarms": [],
        }
        text = "\n".join(summary(found))
        return "0.60 *" in text, "* cut" in text

    assert told("recall") == (True, True)
    # That metric is not in the table of the terminal.
    assert told("lift_at_k") == (False, False)


def test_a_learner_that_no_folder_can_hold_is_refused_at_once(run, tmp_path):
    out = tmp_path / "model"
    answer = run(
        *("fit", tmp_path / "not even read.csv", "--label", "y"),
        *("--method", "robust-pu-meta", "--out", out),
    )
    assert answer.exit_code == 1
    for words in (
        "HistGradientBoostingClassifier, which a model folder cannot hold",
        "--method robust-pu;",
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
    assert "puet holds out none. Take one that does (" in answer.stderr
    assert "validation_fraction" not in answer.stderr


def test_classes_that_overlap_make_bounds_of_estimates(run, tmp_path):
    random = np.random.default_rng(0)
    rows = random.normal(size=(1500, 4)) + 0.6 * (np.arange(1500) < 300)[:, None] * [1, 1, 0, 0]
    table = pd.DataFrame(rows, columns=list("abcd")).assign(y=(np.arange(1500) < 150).astype(int))
    table.to_csv(tmp_path / "overlap.csv", index=False)
    told = run(
        "fit", tmp_path / "overlap.csv", "--label", "y", "--method", "puet", "--out", tmp_path / "m"
    )
    assert told.exit_code == 0
    assert "(0 to " in told.output
    assert "most suspect rows are positive depends on the share:" in told.output
    assert "of the first 200; precision" in told.output
    assert "Known positives were put beside these rows (--scenario case-control)" in told.output
    assert "Alarm: The prior was estimated as" in told.output


def test_a_share_between_two_ends_is_no_certainty(run, claims, tmp_path):
    given = ("fit", claims, "--label", "fraud", "--id", "claim", "--method", "elkan-noto")
    told = run(*given, "--prior", "0.1:0.3", "--out", tmp_path / "m")
    assert told.exit_code == 0, told.output
    assert "by the range that you gave" in told.output
    page = (tmp_path / "m" / "report.html").read_text(encoding="utf-8")
    assert "by the range that you gave" in page
    assert "more likely fewer" not in page
    assert 'class="suppositions"' in page
