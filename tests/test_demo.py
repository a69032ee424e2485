from functools import partial

import numpy as np
import pytest
from rich.console import Console

from robustpu import demo
from robustpu.methods.robust_pu import RobustPUClassifier


@pytest.fixture
def quick(monkeypatch):
    small = partial(RobustPUClassifier, n_members=4, max_rounds=3, epochs=5)
    monkeypatch.setattr(demo, "RobustPUClassifier", small)


def test_the_demo_prints_a_table_and_draws(quick, tmp_path):
    console = Console(record=True, width=100)
    demo.run(prior=0.4, trials=2, seed=3, picture=tmp_path / "weights.png", console=console)
    text = console.export_text()
    assert "22.09 ± 3.2" in text  # the paper's figure for PN
    errors = {
        name: float(text.split(f"│ {name} ")[1].split("│")[1].split("±")[0])
        for name in ("PN", "nnPU", "Robust-PU")
    }
    assert errors["Robust-PU"] < errors["PN"]
    assert errors["nnPU"] < errors["PN"]
    assert (tmp_path / "weights.png").read_bytes().startswith(b"\x89PNG")


def test_without_matplotlib_the_demo_says_what_to_install(quick, tmp_path, monkeypatch):
    monkeypatch.setattr(demo, "find_spec", lambda name: None)
    console = Console(record=True, width=100)
    demo.run(prior=0.3, trials=1, seed=0, picture=tmp_path / "weights.png", console=console)
    text = console.export_text()
    assert "pip install 'robustpu[plot]'" in text
    assert "±" not in text.split("seconds")[1]  # one trial has no deviation, nor has the paper 0.3
    assert not (tmp_path / "weights.png").exists()


def test_the_paper_figures_match_its_table():
    assert demo.PAPER["Robust-PU"][0.4] == (9.79, 1.4)
    assert all(set(row) == {0.2, 0.4, 0.6} for row in demo.PAPER.values())
    assert np.all([row[0.2][0] < row[0.6][0] for row in demo.PAPER.values()])
