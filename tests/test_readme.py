"""Every Python block of the README runs, from top to bottom, as a reader would run it."""

import re
import shlex
from pathlib import Path

import pytest
from typer.testing import CliRunner

import robustpu
from robustpu.bench import plan
from robustpu.cli import app

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text()


# A sample may be easier or harder than it looks to a model.
@pytest.mark.filterwarnings("ignore::robustpu.PriorWarning")
def test_blocks_run(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    blocks = re.findall(r"```python\n(.*?)```", README, flags=re.DOTALL)
    assert len(blocks) == 1
    names: dict[str, object] = {}
    for block in blocks:
        exec(compile(block, "README.md", "exec"), names)
    assert float(capsys.readouterr().out) > 0.9

    commands = re.findall(r"^robustpu ((?:sample|fit|rank|predict) .*)$", README, re.MULTILINE)
    assert [command.split()[0] for command in commands] == ["sample", "fit", "rank", "predict"]
    # A faster method: the default is fitted above.
    commands[1] = commands[1].replace(" --out model", " --method elkan-noto --out model")
    for command in commands:
        answer = CliRunner().invoke(app, shlex.split(command, comments=True))
        assert answer.exit_code == 0, answer.output
    for written in ("model/report.html", "list.csv", "scored.csv"):
        assert (tmp_path / written).exists()


def test_blocks_of_the_evaluation_page_run(capsys):
    page = (ROOT / "docs" / "evaluation.md").read_text()
    blocks = re.findall(r"```python\n(.*?)```", page, flags=re.DOTALL)
    names: dict[str, object] = {}
    for block in blocks:
        # Fewer networks: the figures of the page take half a minute.
        quick = block.replace("random_state=0).fit", "random_state=0, n_members=8).fit")
        exec(compile(quick, "evaluation.md", "exec"), names)
    text = capsys.readouterr().out
    assert "positives_at_k" in text
    assert "'lr'" in text


@pytest.mark.filterwarnings("ignore::robustpu.PriorWarning")
def test_blocks_of_the_first_page_of_the_site_run(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    page = (ROOT / "docs" / "site" / "start.md").read_text()
    names: dict[str, object] = {}
    for block in re.findall(r"```python\n(.*?)```", page, flags=re.DOTALL):
        quick = block.replace("random_state=0).fit", "random_state=0, n_members=4).fit")
        exec(compile(quick, "start.md", "exec"), names)
    prior, *_, accuracy = capsys.readouterr().out.splitlines()
    assert 0.1 < float(prior) < 0.6
    assert float(accuracy) > 0.85
    assert (tmp_path / "mails" / "model.json").exists()


def test_experiment_of_the_bench_page_can_be_planned(tmp_path):
    page = (ROOT / "docs" / "bench.md").read_text()
    (example,) = re.findall(r"```toml\n(.*?)```", page, flags=re.DOTALL)
    (tmp_path / "example.toml").write_text(example)
    cells = plan.load(tmp_path / "example.toml")
    assert {cell.method for cell in cells} == {"nnpu", "robust-pu", "best-five"}


def test_the_reference_has_every_public_name():
    page = (ROOT / "docs" / "reference" / "index.md").read_text()
    for name in robustpu.__all__:
        assert f"\n   {name}\n" in page or f"`robustpu.{name}`" in page, name


def test_make_targets_exist():
    makefile = (ROOT / "Makefile").read_text()
    for target in re.findall(r"make ([a-z-]+)", README):
        assert f"\n{target}:" in makefile


def test_links_lead_somewhere():
    for page in [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")]:
        for link in re.findall(r"\]\(([^)#]+)\)", page.read_text()):
            assert link.startswith("https://") or (page.parent / link).exists(), (page, link)
