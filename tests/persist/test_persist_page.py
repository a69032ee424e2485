"""Every Python block of docs/models.md runs, from top to bottom, as a reader would run it."""

import re
from pathlib import Path

import pytest

from robustpu.persist.learners import LEARNERS

PAGE = (Path(__file__).parents[2] / "docs" / "models.md").read_text(encoding="utf-8")


def test_blocks_run(tmp_path, monkeypatch, capsys):
    pytest.importorskip("onnxruntime")
    monkeypatch.chdir(tmp_path)
    blocks = re.findall(r"```python\n(.*?)```", PAGE, flags=re.DOTALL)
    assert len(blocks) == 5
    names: dict[str, object] = {}
    for block in blocks:
        exec(compile(block, "models.md", "exec"), names)
    assert capsys.readouterr().out == "True\n"
    models = [path.name for path in (tmp_path / "models").iterdir()]
    assert sorted(models) == ["cancer", "own", "wide"]


def test_the_list_of_learners_is_complete():
    for name in LEARNERS.keys() - {"Pipeline"}:
        assert name in PAGE
