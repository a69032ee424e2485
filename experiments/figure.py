"""What the scripts of figures share: their setting, their options, and when they train."""

import argparse
from collections.abc import Callable
from pathlib import Path

from robustpu.bench.plan import Cell, load

HERE = Path(__file__).parent
RESULTS, FIGURES = HERE / "results", HERE / "figures"

# Nothing is held out, so that the last epoch counts.
TO_END = {"validation_fraction": 0.0, "patience": None}


def setting(prior: float) -> Cell:
    """The cell of epochs.toml with E = 10 on MNIST."""
    (cell,) = [
        cell
        for cell in load(HERE / "epochs.toml")
        if cell.name == f"mnist/epochs-10/{prior}/oracle"
    ]
    return cell


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
