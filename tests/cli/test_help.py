"""Help texts of the commands."""

import re
from typing import Annotated

import pytest
import typer
from typer.testing import CliRunner

from robustpu.cli import app
from robustpu.cli.commands import Group

COMMANDS = (
    *("fit", "predict", "rank", "next", "prior", "compare", "report", "inspect", "methods"),
    "sample",
)


@pytest.mark.parametrize("command", COMMANDS)
def test_options_say_what_they_take(run, command):
    text = run(command, "--help", env={"COLUMNS": "100"}).stdout
    lines = [line for line in text.splitlines() if "--" in line and "--help" not in line]
    assert not [line for line in lines if "<bool>" in line or "<str>" in line]
    assert "Exit codes" not in text


def test_usage_of_compare_names_the_methods(run):
    # Releases of typer differ in braces and dots.
    assert re.search(r"\bDATA\}? \[METHOD\]", run("compare", "--help").stdout)


def test_metrics_to_compare_by_are_listed(run):
    text = " ".join(run("compare", "--help", env={"COLUMNS": "200"}).stdout.split())
    assert "auc, average_precision, accuracy, f1, precision_at_k" in text


def test_exit_codes_are_listed_once(run):
    assert " ".join(run("--help").stdout.split()).count("Exit codes") == 1


def test_the_list_is_whole():
    # The function of `next` has another name than Python's own.
    names = {each.name or each.callback.__name__ for each in app.registered_commands}
    assert names == {*COMMANDS, "demo"}


def test_without_a_command_there_are_the_three_that_most_people_need(run):
    answer = run()
    assert answer.exit_code == 0
    commands = re.findall(r"^  robustpu (\w+)", answer.stdout, re.MULTILINE)
    assert commands == ["fit", "rank", "predict"]
    assert max(map(len, answer.stdout.splitlines())) <= 80


def test_marks_are_shown_as_they_were_written(run):
    text = " ".join(run("bench", "run", "--help", env={"COLUMNS": "200"}).stdout.split())
    assert "such as 'mnist/*/0.2/*'. May" in text


def test_nothing_in_a_help_text_is_taken_for_markup():
    hostile = "*a* [b](c) <d> _e_ [/f] \\g and `h_i`"
    inner = typer.Typer(help=hostile)

    @inner.command()
    def one(given: Annotated[str, typer.Option(help=hostile)] = "") -> None:
        pass

    @inner.command(help=hostile)
    def two() -> None:
        pass

    outer = typer.Typer(cls=Group, rich_markup_mode="markdown")
    outer.add_typer(inner, name="inner")
    shown = hostile.replace("`", "")
    for given in ((), ("inner",), ("inner", "one"), ("inner", "two")):
        answer = CliRunner().invoke(outer, [*given, "--help"], env={"COLUMNS": "120"})
        assert shown in " ".join(answer.stdout.split()), given
