"""Table: spambase as PU-Bench draws it, against the figures that it prints.

    python experiments/pu_bench.py             # runs what is missing, then prints
    python experiments/pu_bench.py --report    # prints what is stored

A fifth of the rows is for the test, stratified; of the positives of the rest 145 are labelled, and
the unlabelled rows are the whole training part, labelled ones among them (as copies). Ten seeds,
accuracy in percent. Printed there: best positive-unlabelled method 85.7, supervised network 91.0.
One JSON line a fit in results/pu_bench.ndjson.
"""

import argparse
import json
import warnings
from itertools import product

import numpy as np
from figure import RESULTS
from fits import stored
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.model_selection import train_test_split

from robustpu import PUClassifier, datasets

STORED = RESULTS / "pu_bench.ndjson"
SEEDS, LABELED = 10, 145
METHODS = ("prior known", "prior unknown", "boosting with all true labels")


def run(method: str, seed: int) -> float:
    """Accuracy on the test rows, in percent."""
    table = datasets.load("spambase")
    X, X_test, truth, truth_test = train_test_split(
        table.data, table.target, test_size=0.2, stratify=table.target, random_state=seed
    )
    if "true labels" in method:
        model = HistGradientBoostingClassifier(random_state=seed).fit(X, truth)
        return 100 * float(model.score(X_test, truth_test))
    rng = np.random.default_rng(seed)
    labeled = rng.choice(np.flatnonzero(truth == 1), LABELED, replace=False)
    rows = np.vstack([X[labeled], X])
    y = np.repeat([1, 0], [LABELED, len(X)])
    prior = float(truth.mean()) if method == "prior known" else "auto"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = PUClassifier(prior=prior, random_state=seed).fit(rows, y)
    return 100 * float(model.score(X_test, truth_test))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--report", action="store_true", help="print what is stored, fit nothing")
    options = parser.parse_args()
    done = {(entry["method"], entry["seed"]) for entry in stored(STORED)}
    for method, seed in product(METHODS, range(SEEDS)):
        if not options.report and (method, seed) not in done:
            entry = {"method": method, "seed": seed, "accuracy": round(run(method, seed), 3)}
            with STORED.open("a") as file:
                file.write(json.dumps(entry) + "\n")
    for method in METHODS:
        found = [entry["accuracy"] for entry in stored(STORED) if entry["method"] == method]
        if found:
            print(f"{method:32} {np.mean(found):.2f} ± {np.std(found, ddof=1):.2f}")


if __name__ == "__main__":
    main()
