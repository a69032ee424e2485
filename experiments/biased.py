"""Table: methods as they are, where labelled positives are not selected completely at random.

    python experiments/biased.py --run     # runs what is missing; ROBUSTPU_DATA has the tables
    python experiments/biased.py           # prints what is stored

400 labelled positives, 800 unlabelled rows, prior 0.4 and known, 1,000 test rows, 3 trials. Which
positives carry a label depends on the row, by mechanisms of `make_pu`: "scar" is fair, "pusb" and
"lbe-a" label what is surely positive first, "lbe-b" what is nearly negative, "logistic" goes by a
random direction. All parameters are defaults, but that Robust-PU has 8 members, for time;
no label is used but those of the labelled positives. One JSON line a fit in results/biased.ndjson,
which is none of the bench.
"""

import argparse
from collections import defaultdict
from itertools import product

import numpy as np
import strangers
from figure import RESULTS
from fits import fit_and_score, run_missing, stored

import robustpu
from robustpu import datasets, make_pu

STORED = RESULTS / "biased.ndjson"
TABLES = ["spambase", "mushrooms", "shuttle"]
LABELINGS = ["scar", "pusb", "lbe-a", "lbe-b", "logistic"]
METHODS = [name for name in strangers.METHODS if name != "p3mix-e"]
CHANGES: dict[str, dict[str, object]] = {}
POSITIVE, UNLABELED, PRIOR, TEST, TRIALS = 400, 800, 0.4, 1000, 3


def run(table: str, labeling: str, method: str, trial: int) -> dict[str, object]:
    """Fit and score once."""
    rows = datasets.load(table)
    pu = make_pu(
        rows.data,
        rows.target,
        n_positive=POSITIVE,
        n_unlabeled=UNLABELED,
        n_test=TEST,
        prior=PRIOR,
        labeling=labeling,
        random_state=trial,
    )
    changes = CHANGES.get(method, {})
    model = robustpu.all_methods()[method](prior=PRIOR, random_state=trial, **changes)
    return {
        "table": table,
        "labeling": labeling,
        "method": method,
        "trial": trial,
        **fit_and_score(model, pu),
        **changes,
    }


def print_table(entries: list[dict[str, object]]) -> None:
    """Print the mean error on the tables by mechanism, the lowest mean of the biased ones first."""
    errors = defaultdict(list)
    for entry in entries:
        errors[entry["method"], entry["labeling"], entry["table"]].append(entry["error"])
    print_columns(errors, TABLES, "mean of all tables")
    for table in TABLES:
        print_columns(errors, [table], table)


def print_columns(errors: dict[tuple, list[float]], tables: list[str], title: str) -> None:
    means = {
        method: [
            np.mean([np.mean(errors[method, labeling, table]) for table in tables])
            for labeling in LABELINGS
        ]
        for method in [*METHODS, strangers.BEFORE]
        if all((method, *key) in errors for key in product(LABELINGS, tables))
    }
    if not means:
        return
    print(f"\n{title}")
    print(f"{'':12}", *(f"{each:>10}" for each in LABELINGS), f"{'biased':>10}")
    for method in sorted(means, key=lambda each: np.mean(means[each][1:])):
        figures = [*means[method], np.mean(means[method][1:])]
        print(f"{method:12}", *(f"{each:10.2f}" for each in figures))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--run", action="store_true")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--methods", nargs="*", default=METHODS)
    options = parser.parse_args()
    if options.run:
        # Trials last: what is stored early is a table of one trial.
        keys = product(range(TRIALS), TABLES, LABELINGS, options.methods)
        names = "table", "labeling", "method", "trial"
        run_missing(STORED, names, ((*rest, trial) for trial, *rest in keys), run, options.jobs)
    print_table(stored(STORED))


if __name__ == "__main__":
    main()
