"""Table and figure: methods that are told a wrong share of positives.

    python experiments/wrong_priors.py           # runs what is missing, then prints and draws
    python experiments/wrong_priors.py --draw    # prints and draws what is stored

The paper's tables (ROBUSTPU_DATA has mushrooms), 400 labelled positives, 800 unlabelled rows, five
trials, all parameters defaults, one network. The prior that a method is given is half the true
one, the true one, twice it (0.9 at most), or estimated (`estimate_prior`). It serves training
(nnPU, Dist-PU), pre-training (Robust-PU), the balance of weights, and selection without negatives;
the other selection is by true labels of 100 validation rows. One JSON line a fit in
results/wrong_priors.ndjson.
"""

import argparse
import warnings
from itertools import product

import numpy as np
from figure import FIGURES, RESULTS
from fits import PRIORS, run_cells, stored

from robustpu import (
    Curriculum,
    DistPUClassifier,
    NNPUClassifier,
    RobustPUClassifier,
    estimate_prior,
    fit_together,
)
from robustpu.bench.machine import checkout
from robustpu.bench.protocol import split

STORED = RESULTS / "wrong_priors.ndjson"
PICTURE = FIGURES / "wrong_priors.png"
TABLES, TRIALS = ("mushrooms", "shuttle", "spambase"), 5
METHODS = {
    "nnPU": NNPUClassifier(),
    "Dist-PU": DistPUClassifier(),
    "Robust-PU": RobustPUClassifier(),
    "Robust-PU, balanced": RobustPUClassifier(curriculum=Curriculum(balance=True)),
}
GIVEN = ("exact", "estimated", "half", "twice")
SELECTIONS = ("oracle", "pu")
MOST = 0.9


def given_priors(pu, trial: int) -> dict[str, float]:
    """The prior that a method is told, by its name."""
    found = estimate_prior(pu.X, pu.y, random_state=trial).value
    values = (pu.prior, found, pu.prior / 2, min(2 * pu.prior, MOST))
    return dict(zip(GIVEN, map(float, values), strict=True))


def run(table: str, prior: float) -> list[dict]:
    """Fit all methods with all priors, together; a line a fit."""
    problems = [split(table, prior, trial) for trial in range(TRIALS)]
    with warnings.catch_warnings():
        # A collapse shows in the error, and so does an estimate that the rows do not tell.
        warnings.simplefilter("ignore")
        priors = [given_priors(pu, trial) for trial, pu in enumerate(problems)]
        keys = list(product(range(TRIALS), METHODS, GIVEN, SELECTIONS))
        models = fit_together([_job(problems[key[0]], priors[key[0]], key) for key in keys])
    lines = []
    for (trial, method, given, selection), model in zip(keys, models, strict=True):
        pu = problems[trial]
        lines.append(
            {
                "table": table,
                "prior": prior,
                "trial": trial,
                "method": method,
                "given": given,
                "selection": selection,
                "value": round(priors[trial][given], 4),
                "error": round(100 * float(np.mean(model.predict(pu.X_test) != pu.y_test)), 4),
                **checkout(),
            }
        )
    return lines


def _job(pu, priors: dict[str, float], key: tuple) -> tuple:
    trial, method, given, selection = key
    model = METHODS[method].__class__(**METHODS[method].get_params(deep=False))
    model.set_params(prior=priors[given], random_state=trial, device="cpu")
    eval_set = (pu.X_validation, pu.y_validation) if selection == "oracle" else None
    return model, pu.X, pu.y, eval_set


def mean(lines: list[dict], **where: object) -> float:
    """Mean error of the lines with these values."""
    return float(
        np.mean(
            [
                line["error"]
                for line in lines
                if all(line[name] == value for name, value in where.items())
            ]
        )
    )


def report() -> None:
    lines = stored(STORED)
    for selection in SELECTIONS:
        print(f"\nselected by {selection}; mean error over tables and priors")
        print(f"{'':22}", *(f"{given:>10}" for given in GIVEN))
        for method in METHODS:
            means = [mean(lines, method=method, given=g, selection=selection) for g in GIVEN]
            print(f"{method:22}", *(f"{value:10.2f}" for value in means))


def draw() -> None:
    """Draw the error by the prior that was given, a panel a true prior."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    from robustpu.charts.plots import INK, NEGATIVE, POSITIVE

    lines = stored(STORED)
    figure = Figure(figsize=(9.5, 3.4), layout="constrained")
    FigureCanvasAgg(figure)
    colours = ("#9a9a9a", "#d0d0d0", POSITIVE, NEGATIVE)
    width = 0.8 / len(METHODS)
    panels = figure.subplots(1, len(PRIORS), sharey=True)
    for panel, prior in zip(panels, PRIORS, strict=True):
        for place, (method, colour) in enumerate(zip(METHODS, colours, strict=True)):
            means = [
                mean(lines, method=method, given=given, prior=prior, selection="oracle")
                for given in GIVEN
            ]
            label = method if prior == PRIORS[0] else None
            at = np.arange(len(GIVEN)) + (place - (len(METHODS) - 1) / 2) * width
            panel.bar(at, means, 0.9 * width, color=colour, label=label)
        panel.set_xticks(range(len(GIVEN)), GIVEN)
        panel.set_title(f"true prior {prior}", loc="left", color=INK)
        panel.spines[["top", "right"]].set_visible(False)
        panel.set_xlabel("prior that is given")
    panels[0].set_ylabel("test error, %")
    panels[0].set_ylim(0, None)
    figure.legend(loc="outside lower center", ncols=len(METHODS), frameon=False)
    figure.savefig(PICTURE, dpi=130)
    print(PICTURE)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--draw", action="store_true", help="train nothing")
    if not parser.parse_args().draw:
        run_cells(STORED, run, TABLES)
    report()
    draw()


if __name__ == "__main__":
    main()
