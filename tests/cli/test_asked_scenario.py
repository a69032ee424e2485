"""Where the known positives come from, if nobody says it."""

import sys

import numpy as np
import pytest

from robustpu.cli.scenario import settle_scenario
from robustpu.workflow import open_study

MIXED = np.arange(200) % 10 == 0
BLOCK = np.arange(200) < 20
RARE = np.arange(2000) % 500 == 0


class Terminal:
    def __init__(self, *answers):
        self.answers = [*answers]

    def isatty(self):
        return True

    def readline(self):
        return self.answers.pop(0)


@pytest.fixture
def asked(monkeypatch, capsys):
    """What is asked on a terminal where somebody answers."""

    def asked(is_positive, *answers, given=None, data="a.csv", is_quiet=False):
        monkeypatch.setattr(sys, "stdin", Terminal(*answers))
        monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)
        found = settle_scenario(given, is_positive, data, is_quiet)
        return found, capsys.readouterr().err

    return asked


def test_a_terminal_is_asked_in_a_sentence(asked):
    (scenario, notes), text = asked(MIXED, "case\n")
    assert (scenario, notes) == ("case-control", [])
    assert "the 20 known positives found among these rows" in text
    assert "block" not in text
    assert asked(MIXED, "\n")[0][0] == "single-set"
    # The input was closed.
    assert asked(MIXED, "")[0][0] == "single-set"
    (scenario, _), text = asked(BLOCK, "what\n", "s\n")
    assert scenario == "single-set"
    assert "They stand in one block." in text
    assert "Please answer case-control or single-set." in text


def test_nobody_is_asked_where_it_is_said_or_does_not_matter_or_nobody_is_there(asked):
    for case in (
        {"is_positive": MIXED, "given": "case-control"},
        {"is_positive": RARE},
        {"is_positive": MIXED, "data": "-"},
        {"is_positive": MIXED, "is_quiet": True},
    ):
        (scenario, _), text = asked(**case)
        assert text == ""
        assert scenario == case.get("given", "single-set")


def test_without_a_terminal_the_guess_is_taken_and_said(run, claims, tmp_path):
    given = ("fit", claims, "--label", "fraud", "--method", "elkan-noto", "--prior", "0.2")
    answer = run(*given, "--out", tmp_path / "m")
    assert answer.exit_code == 0, answer.output
    assert "--scenario was not given: the 42 known positives count as found" in answer.stderr
    results = open_study(tmp_path / "m").results
    assert results.scenario == "single-set"
    # The command of the page repeats the fit.
    assert results.settings.command.endswith("--scenario single-set")
    answer = run(*given, "--scenario", "case-control", "--out", tmp_path / "n")
    assert "--scenario was not given" not in answer.stderr
    assert open_study(tmp_path / "n").results.scenario == "case-control"
