import json

import numpy as np
import pytest
from typer.testing import CliRunner

from robustpu import datasets, make_pu
from robustpu.cli import app
from robustpu.cli.prior import _lines, _strip
from robustpu.priors.estimation import PriorEstimate

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
        ",".join([*map(str, row), "yes" if label else ""])
        for row, label in zip(pu.X, pu.y, strict=True)
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


def test_programs_get_json_and_nothing_else(file, monkeypatch):
    calls = []

    def estimate(X, y, **given):
        calls.append((X.shape, given["method"], given["scenario"], given["random_state"]))
        answers = {"dedpul": 0.28}
        return PriorEstimate(0.3, 0.2, 0.4, 0.9, 0.35, "dedpul", answers, np.zeros(len(y)))

    monkeypatch.setattr("robustpu.priors.estimation.estimate_prior", estimate)
    given = ("--method", "dedpul", "--scenario", "single-set", "--seed", "5", "--drop", "c0")
    answer = prior(file, "--label", "ill", "--json", *given)
    assert json.loads(answer.output) == {
        "value": 0.3,
        "low": 0.2,
        "high": 0.4,
        "level": 0.9,
        "population": 0.35,
        "method": "dedpul",
        "estimates": {"dedpul": 0.28},
        "warnings": [],
        "n_positive": 80,
        "n_unlabeled": 250,
    }
    ((shape, *passed),) = calls
    assert passed == ["dedpul", "single-set", 5]
    assert shape == (330, 29)


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
    ("low", "words"),
    [(0.0, "up to 40.0%, up to 800 rows"), (0.2, "20.0% to 40.0%, 400 to 800 rows")],
)
def test_the_interval_is_of_shares_and_of_rows(low, words):
    found = PriorEstimate(0.3, low, 0.4, 0.9, 0.3, "auto", {}, np.zeros(0))
    lines = _lines(found, 2000)
    assert lines[:2] == [
        "About 30.0% of the 2,000 unlabelled rows are positive: 600 rows.",
        f"90% interval: {words}.",
    ]


@pytest.mark.parametrize(
    ("numbers", "marks"), [((0.0, 0.0, 1.0), (0, 51)), ((0.5, 0.4, 0.6), (25, 11))]
)
def test_the_drawing(numbers, marks):
    line = np.array([*_strip(*numbers)])
    assert (np.flatnonzero(line == "●").tolist(), np.sum(line != "·")) == ([marks[0]], marks[1])
