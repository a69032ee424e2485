"""What the scripts of figures share: their setting, their options, and when they train."""

import argparse
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from robustpu import DistPUClassifier
from robustpu.bench.plan import Cell, load

HERE = Path(__file__).parent
RESULTS, FIGURES = HERE / "results", HERE / "figures"

# Nothing is held out, so that the last epoch counts.
TO_END = {"validation_fraction": 0.0, "patience": None}


def main_cell(dataset: str, method: str, prior: float) -> Cell:
    """The cell of main.toml, selected by true labels."""
    name = f"{dataset}/{method}/{prior}/oracle"
    (cell,) = [cell for cell in load(HERE / "main.toml") if cell.name == name]
    return cell


def searched(method: str, prior: float) -> Any:
    """The classifier with the setting that main.jsonl selects on MNIST by true labels."""
    cell = main_cell("mnist", method, prior)
    stored = map(json.loads, (RESULTS / "main.jsonl").read_text().splitlines())
    wanted = {key: getattr(cell, key) for key in ("dataset", "method", "prior", "selection")}
    # One setting is selected for all trials of a cell.
    settings = next(line["settings"] for line in stored if wanted.items() <= line.items())
    return cell.build(settings).set_params(**TO_END)


def dist_pu(prior: float, epochs: int) -> DistPUClassifier:
    """Dist-PU with so many epochs in all, shared by its stages in proportion to the defaults."""
    model = searched("dist-pu", prior)
    first = epochs * model.epochs // model.planned_epochs
    return model.set_params(epochs=first, mix_epochs=epochs - first)


def make_figure(
    about: str, stored: Path, train: Callable[[Path | None, str], None], draw: Callable[[], None]
) -> None:
    """Train if the result is missing, then draw; the options say where, and whether at all."""
    parser = argparse.ArgumentParser(description=about.split("\n", 1)[0])
    parser.add_argument("--draw", action="store_true", help="draw what is stored, train nothing")
    parser.add_argument("--data-dir", type=Path, help="folder of the data sets")
    parser.add_argument("--device", default="auto", help="cpu, cuda, or auto")
    options = parser.parse_args()
    if not options.draw and not stored.exists():
        stored.parent.mkdir(exist_ok=True)
        train(options.data_dir, options.device)
    FIGURES.mkdir(exist_ok=True)
    draw()
