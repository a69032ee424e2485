"""Every Python block of the README runs, from top to bottom, as a reader would run it."""

import re
from pathlib import Path

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text()


def test_python_blocks_run(capsys):
    blocks = re.findall(r"```python\n(.*?)```", README, flags=re.DOTALL)
    assert len(blocks) == 2
    names: dict[str, object] = {}
    for block in blocks:
        exec(compile(block, "README.md", "exec"), names)
    prior, accuracy, best = capsys.readouterr().out.splitlines()
    assert 0.1 < float(prior) < 0.6
    assert float(accuracy) > 0.9
    assert "lr" in best


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


def test_make_targets_exist():
    makefile = (ROOT / "Makefile").read_text()
    for target in re.findall(r"make ([a-z-]+)", README):
        assert f"\n{target}:" in makefile


def test_links_lead_somewhere():
    for page in [ROOT / "README.md", *(ROOT / "docs").glob("*.md")]:
        for link in re.findall(r"\]\(([^)#]+)\)", page.read_text()):
            assert link.startswith("https://") or (page.parent / link).exists(), (page.name, link)
