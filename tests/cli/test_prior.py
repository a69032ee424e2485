import json

import numpy as np
import pytest
from typer.testing import CliRunner

from robustpu import datasets, make_pu
from robustpu.cli import app
from robustpu.cli.prior import _strip

runner = CliRunner()


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    """A table of 80 labelled and 250 other rows, of which three in ten are positive."""
    table = datasets.load("breast_cancer")
    pu = make_pu(
        table.data, table.target, n_positive=80, n_unlabeled=250, prior=0.3, random_state=0
    )
    path = tmp_path_factory.mktemp("prior") / "cells.csv"
    names = [f"c{place}" for place in range(pu.X.shape[1])]
    rows = [
        ",".join([*map(str, row), "yes" if own else ""])
        for row, own in zip(pu.X, pu.y, strict=True)
    ]
    path.write_text("\n".join([",".join([*names, "ill"]), *rows]) + "\n")
    return path


def prior(*given):
    return runner.invoke(app, ["prior", *map(str, given)])


def test_it_is_said_and_drawn(file, tmp_path):
    answer = prior(file, "--label", "ill", "--picture", tmp_path / "prior.png")
    assert answer.exit_code == 0
    assert "of the 250 unlabelled rows are positive" in answer.stdout
    assert answer.stdout.count("○") == 9
    assert "250 rows without a label count as unlabelled" in answer.stderr
    assert (tmp_path / "prior.png").read_bytes().startswith(b"\x89PNG")


def test_programs_get_json_and_nothing_else(file):
    answer = prior(file, "--label", "ill", "--json")
    found = json.loads(answer.output)
    assert found["low"] < 0.3 < found["high"]
    assert (found["n_positive"], found["n_unlabeled"]) == (80, 250)
    assert found["answers"]["dedpul"] == pytest.approx(0.3, abs=0.1)
    again = json.loads(prior(file, "--label", "ill", "--json", "--drop", "c0").output)
    assert again["value"] != found["value"]


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (("--label", "il"), "has no column 'il'. Did you mean 'ill'?"),
        (("--label", "ill", "--method", "dedpull"), "dedpul"),
        (("--label", "ill", "--scenario", "both"), "scenario"),
        (("--label", "c0"), "c0"),
    ],
)
def test_what_is_wrong_is_said_in_a_line(file, given, message):
    answer = prior(file, *given, "--quiet")
    assert answer.exit_code == 1
    assert answer.stderr.startswith("Error: ")
    assert message in answer.stderr


def test_a_file_that_is_not_there(tmp_path):
    answer = prior(tmp_path / "none.csv", "--label", "y")
    assert (answer.exit_code, answer.stdout) == (1, "")
    assert "none.csv" in answer.stderr


@pytest.mark.parametrize(
    ("numbers", "marks"), [((0.0, 0.0, 1.0), (0, 51)), ((0.5, 0.4, 0.6), (25, 11))]
)
def test_the_drawing(numbers, marks):
    line = np.array([*_strip(*numbers)])
    assert (np.flatnonzero(line == "●").tolist(), np.sum(line != "·")) == ([marks[0]], marks[1])
