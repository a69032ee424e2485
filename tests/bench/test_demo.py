from functools import partial

import numpy as np
import pytest
from rich.console import Console

from robustpu.bench import demo
from robustpu.curriculum import Curriculum
from robustpu.methods.auto import PUClassifier
from robustpu.methods.nnpu import NNPUClassifier
from robustpu.methods.pn import PNClassifier
from robustpu.methods.robust_pu import RobustPUClassifier


@pytest.fixture
def quick(monkeypatch):
    parts = {"pretrain": NNPUClassifier(epochs=30), "curriculum": Curriculum(max_rounds=3)}
    small = partial(RobustPUClassifier, epochs=5, **parts)
    monkeypatch.setattr(demo, "RobustPUClassifier", small)
    monkeypatch.setattr(demo, "PUClassifier", partial(PUClassifier, effort="fast"))
    monkeypatch.setattr(demo, "PNClassifier", partial(PNClassifier, epochs=30))
    monkeypatch.setattr(demo, "NNPUClassifier", partial(NNPUClassifier, epochs=30))


def test_the_demo_prints_a_table_and_draws(quick, tmp_path):
    console = Console(record=True, width=100)
    demo.run(prior=0.4, trials=2, seed=3, picture=tmp_path / "weights.png", console=console)
    text = console.export_text()
    assert "22.09 ± 3.2" in text  # the paper's error of PN
    errors = {
        name: float(text.split(f"│ {name} ")[1].split("│")[1].split("±")[0])
        for name in ("PN", "nnPU", "Robust-PU", "PUClassifier")
    }
    assert errors["Robust-PU"] < errors["PN"]
    assert errors["nnPU"] < errors["PN"]
    assert errors["PUClassifier"] < errors["PN"]
    assert "PN, nnPU and Robust-PU are one network each" in text
    # The paper has no such pool.
    assert text.split("│ PUClassifier ")[1].split("│")[2].strip() == "-"
    assert (tmp_path / "weights.png").read_bytes().startswith(b"\x89PNG")


def test_one_trial_has_no_deviation_and_the_paper_has_no_other_priors():
    console = Console(record=True, width=100)
    outcomes = {name: demo.Outcome(np.array([7.0]), [], 1.0) for name in demo.PAPER}
    console.print(demo._table(outcomes, prior=0.3))
    text = console.export_text()
    assert "7.00" in text
    assert "±" not in text.split("seconds")[1]


def test_without_matplotlib_the_demo_says_what_to_install(tmp_path, monkeypatch):
    monkeypatch.setattr(demo, "find_spec", lambda name: None)
    console = Console(record=True, width=100)
    demo._draw(None, None, tmp_path / "weights.png", console)
    assert "pip install 'robustpu[plot]'" in console.export_text()
    assert not (tmp_path / "weights.png").exists()


def test_the_papers_errors_are_those_of_its_table():
    assert demo.PAPER["Robust-PU"][0.4] == (9.79, 1.4)
    assert all(set(row) == {0.2, 0.4, 0.6} for row in demo.PAPER.values())
    assert np.all([row[0.2][0] < row[0.6][0] for row in demo.PAPER.values()])
