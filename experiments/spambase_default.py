"""The default of Robust-PU against nnPU and PN on the paper's spambase task.

    python experiments/spambase_default.py            # runs what is missing, then prints the table
    python experiments/spambase_default.py --report   # prints the table alone

400 labelled positives, 800 unlabelled rows, 1,000 test rows at the same prior. The prior is known
to every method. Fitting and the choice of epochs and rounds use held-out positives and unlabelled
rows alone, and no negative label. (The recipes of the default were found once, by true error, on
four data sets of which spambase is one: see docs/robust_pu.md.) One JSON line a trial is appended
to results/, so a run that was stopped goes on where it was.
"""

import argparse
import json
import time
import warnings
from itertools import product
from pathlib import Path

import numpy as np
import torch

import robustpu
from robustpu import (
    CollapseWarning,
    NNPUClassifier,
    PNClassifier,
    RobustPUClassifier,
    datasets,
    fit_together,
    make_pu,
)

RESULTS = Path(__file__).parent / "results" / "spambase_default.jsonl"
PRIORS, TRIALS, TOGETHER = (0.2, 0.4, 0.6), 30, 10
METHODS = {"pn": PNClassifier, "nnpu": NNPUClassifier, "robust-pu": RobustPUClassifier}
PAPER = {0.2: 6.40, 0.4: 9.79, 0.6: 11.25}


def finished() -> list[dict]:
    """Read the results; half a line, of a run that was killed, is cut off."""
    text = RESULTS.read_text() if RESULTS.exists() else ""
    whole = text[: text.rfind("\n") + 1]
    if whole != text:
        RESULTS.write_text(whole)
    return [json.loads(line) for line in whole.splitlines()]


def run_missing() -> None:
    done = {(line["method"], line["prior"], line["trial"]) for line in finished()}
    table = datasets.load("spambase")
    for prior, method in product(PRIORS, METHODS):
        missing = [trial for trial in range(TRIALS) if (method, prior, trial) not in done]
        for first in range(0, len(missing), TOGETHER):
            trials = missing[first : first + TOGETHER]
            splits = [
                make_pu(
                    table.data,
                    table.target,
                    n_positive=400,
                    n_unlabeled=800,
                    prior=prior,
                    n_test=1000,
                    random_state=trial,
                )
                for trial in trials
            ]
            start = time.perf_counter()
            models = fit_together(
                (METHODS[method](prior=prior, random_state=trial), split.X, split.y)
                for trial, split in zip(trials, splits, strict=True)
            )
            seconds = (time.perf_counter() - start) / len(trials)
            with RESULTS.open("a") as file:
                for trial, split, model in zip(trials, splits, models, strict=True):
                    error = 100 * (1 - model.score(split.X_test, split.y_test))
                    line = {
                        "dataset": "spambase",
                        "method": method,
                        "prior": prior,
                        "trial": trial,
                        "selection": model.selection_,
                        "error": round(error, 6),
                        "seconds": round(seconds, 2),
                        "versions": {"robustpu": robustpu.__version__, "torch": torch.__version__},
                    }
                    file.write(json.dumps(line) + "\n")


def report() -> None:
    lines = finished()
    print("Test error in percent, mean ± deviation; PU-only selection, known prior\n")
    print(f"{'':12}" + "".join(f"{f'prior {prior}':>20}" for prior in PRIORS))
    for trials in (10, TRIALS):
        print(f"first {trials} trials")
        for method in METHODS:
            row = f"  {method:10}"
            for prior in PRIORS:
                error = [
                    line["error"]
                    for line in lines
                    if (line["method"], line["prior"]) == (method, prior) and line["trial"] < trials
                ]
                cell = f"{np.mean(error):.2f} ± {np.std(error, ddof=1):.2f}" if error else "-"
                row += f"{cell:>20}"
            print(row)
    print("the paper's Robust-PU, 10 trials\n" + " " * 12, end="")
    print("".join(f"{PAPER[prior]:>20.2f}" for prior in PRIORS))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--report", action="store_true", help="print the table, run nothing")
    if not parser.parse_args().report:
        # PN and nnPU are here to be compared with; that they may collapse shows in their error.
        warnings.simplefilter("ignore", CollapseWarning)
        run_missing()
    report()
