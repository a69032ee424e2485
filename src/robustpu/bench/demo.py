"""The demo: the paper's spambase task, four classifiers side by side, and a look inside."""

import time
import warnings
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from rich.console import Console
from rich.table import Table
from sklearn.base import clone

from robustpu.base.classifier import BasePUClassifier, CollapseWarning
from robustpu.bench import protocol
from robustpu.methods.auto import PUClassifier
from robustpu.methods.nnpu import NNPUClassifier
from robustpu.methods.pn import PNClassifier
from robustpu.methods.robust_pu import RobustPUClassifier
from robustpu.split import PUData
from robustpu.training import Progress, fit_together
from robustpu.training.progress import bar

# Error in percent on spambase, mean and deviation, as the paper's Table 3 prints them.
PAPER = {
    "PN": {0.2: (17.37, 1.0), 0.4: (22.09, 3.2), 0.6: (34.33, 2.6)},
    "nnPU": {0.2: (10.23, 0.4), 0.4: (15.77, 3.1), 0.6: (22.43, 3.2)},
    "Robust-PU": {0.2: (6.40, 0.6), 0.4: (9.79, 1.4), 0.6: (11.25, 0.9)},
}


class Outcome(NamedTuple):
    """Test errors of one method in percent and its models, one a trial, and its seconds."""

    error: NDArray[np.float64]
    models: list[BasePUClassifier]
    seconds: float


def run(
    prior: float, trials: int, seed: int, picture: Path, console: Console | None = None
) -> None:
    """Fit, print the table, and draw the picture.

    Parameters
    ----------
    prior
        Share of positives among the unlabelled rows; every method gets it.
    trials
        Random splits to average over.
    seed
        Seed of the first split; the others follow.
    picture
        File to draw into.
    console
        Where to print; by default standard output.
    """
    console = console or Console()
    # Held-out rows are taken from the training rows, so none are needed for validation.
    sizes = replace(protocol.PROTOCOLS["spambase"].sizes, n_validation=0)
    splits = [protocol.split("spambase", prior, seed + trial, sizes) for trial in range(trials)]
    console.print(
        f"[bold]Spambase[/bold]: 400 labelled spam mails and 800 unlabelled ones, {prior:.0%} of "
        f"them spam. No method sees a negative label.\n{trials} random splits, 1,000 test mails "
        "each. Rounds and epochs are chosen on held-out positives and unlabelled mails.\n"
    )
    outcomes = {}
    for name, estimator in {
        "PN": PNClassifier(prior=prior),
        "nnPU": NNPUClassifier(prior=prior),
        "Robust-PU": RobustPUClassifier(prior=prior),
        "PUClassifier": PUClassifier(prior=prior),
    }.items():
        with bar(f"{name:12}", console) as progress:
            outcomes[name] = _fit(estimator, splits, progress)
    console.print()
    console.print(_table(outcomes, prior))
    _explain(outcomes, splits, console)
    _draw(outcomes["Robust-PU"].models[0], splits[0], picture, console)


def _fit(estimator: BasePUClassifier, splits: list[PUData], progress: Progress) -> Outcome:
    jobs = [
        (clone(estimator).set_params(random_state=trial), split.X, split.y)
        for trial, split in enumerate(splits)
    ]
    start = time.perf_counter()
    with warnings.catch_warnings():
        # PN is here to be beaten: that it predicts too few positives is the point.
        warnings.simplefilter("ignore", CollapseWarning)
        models = fit_together(jobs, progress)
    seconds = time.perf_counter() - start
    error = [
        100 * (1 - model.score(split.X_test, split.y_test))
        for model, split in zip(models, splits, strict=True)
    ]
    return Outcome(np.array(error), models, seconds)


def _table(outcomes: dict[str, Outcome], prior: float) -> Table:
    table = Table(title="Test error in percent, mean ± deviation over the splits")
    table.add_column("method")
    table.add_column("here", justify="right")
    table.add_column("paper (10 splits)", justify="right")
    table.add_column("seconds", justify="right")
    best = min(outcome.error.mean() for outcome in outcomes.values())
    for name, outcome in outcomes.items():
        mean = outcome.error.mean()
        spread = f" ± {outcome.error.std(ddof=1):.2f}" if len(outcome.error) > 1 else ""
        here = f"{mean:.2f}{spread}"
        known = PAPER.get(name, {}).get(round(prior, 6))
        printed = "-" if known is None else f"{known[0]:.2f} ± {known[1]:.1f}"
        table.add_row(
            name,
            f"[bold]{here}[/bold]" if mean == best else here,
            printed,
            f"{outcome.seconds:.1f}",
        )
    return table


def _explain(outcomes: dict[str, Outcome], splits: list[PUData], console: Console) -> None:
    model, split = outcomes["PUClassifier"].models[0], splits[0]
    rows, _ = model.suspects(50)
    found = int(split.y_true[rows].sum())
    console.print(
        "\nPN, nnPU and Robust-PU are one network each; PUClassifier, the default, is a pool of "
        "linear models, a kernel, a forest and boosting.\nOf the 50 unlabelled mails that "
        f"PUClassifier ranks highest in the first split, {found} are in truth spam."
    )


def _draw(model: BasePUClassifier, split: PUData, picture: Path, console: Console) -> None:
    if find_spec("matplotlib") is None:
        console.print("For the picture: pip install 'robustpu\\[plot]'")
        return
    from robustpu.charts.plots import draw_weights

    hidden = split.y_true[split.y == 0].astype(bool)
    draw_weights(model.weight_path_[:, split.y == 0], hidden, picture)
    console.print(f"How the weights of the unlabelled mails changed: [bold]{picture}[/bold]")
