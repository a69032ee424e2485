"""Help texts: what is told of each command."""

import pytest

from robustpu.cli import app

COMMANDS = ("fit", "predict", "rank", "prior", "compare", "report", "inspect", "methods")


@pytest.mark.parametrize("command", COMMANDS)
def test_options_say_what_they_take(run, command):
    text = run(command, "--help", env={"COLUMNS": "100"}).stdout
    lines = [line for line in text.splitlines() if "--" in line and "--help" not in line]
    assert not [line for line in lines if "<bool>" in line or "<str>" in line]
    assert "Exit codes" not in text


def test_usage_of_compare_names_the_methods(run):
    assert "{DATA} [METHOD]..." in run("compare", "--help").stdout.replace("DATA [", "{DATA} [")


def test_metrics_to_compare_by_are_listed(run):
    text = " ".join(run("compare", "--help", env={"COLUMNS": "200"}).stdout.split())
    assert "auc, average_precision, accuracy, f1, precision_at_k" in text


def test_exit_codes_are_listed_once(run):
    assert " ".join(run("--help").stdout.split()).count("Exit codes") == 1


def test_the_list_is_whole():
    assert {own.callback.__name__ for own in app.registered_commands} == {*COMMANDS, "demo"}
