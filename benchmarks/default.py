"""Speed of the default on tables, and of LightGBM's fit in the same run.

    python benchmarks/default.py             # 1,200 x 57, 10,000 x 30, 100,000 x 30, and wide ones
    python benchmarks/default.py --large     # 1,000,000 x 30, too
    python benchmarks/default.py --large --write     # stores it in benchmarks/default.json

Made-up columns, prior unknown, one thread: processor seconds of a whole fit with its evaluation,
peak memory, and rows that `predict_proba` scores a second. A process of its own for each. Of sparse
rows two in a hundred numbers are not 0.
"""

import argparse
import json
import os
import resource
import time
import warnings
from typing import Any

os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np
from lightgbm import LGBMClassifier
from scipy import sparse

from measured import apart, store
from robustpu import PUClassifier

# Rows, columns, labelled positives, share of numbers that are not 0.
SIZES = [
    (1_200, 57, 100, 1.0),
    (10_000, 30, 150, 1.0),
    (100_000, 30, 500, 1.0),
    (15_000, 2_048, 30, 0.02),
    (2_000, 5_000, 100, 1.0),
    (2_000, 10_000, 100, 1.0),
]
LARGE = (1_000_000, 30, 1_000, 1.0)
EFFORTS = ("fast", "default")
SCORED = 50_000


def table(n: int, d: int, labels: int, density: float) -> tuple[Any, np.ndarray]:
    """Draw rows, some of whose positives are labelled."""
    rng = np.random.default_rng(0)
    if density < 1:
        X: Any = sparse.random(n, d, density, format="csr", rng=rng, dtype=np.float32)
        telling = np.asarray(X[:, :100].sum(axis=1)).ravel()
        truth = telling + 0.5 * rng.standard_normal(n) > np.quantile(telling, 0.9)
    else:
        X = rng.standard_normal((n, d), dtype=np.float32)
        truth = X[:, :5].sum(axis=1) + 2 * rng.standard_normal(n) > 3
    y = np.zeros(n, dtype=int)
    y[rng.choice(np.flatnonzero(truth), labels, replace=False)] = 1
    return X, y


def measure(size: tuple[int, int, int, float], effort: str) -> dict[str, Any]:
    """Fit, evaluate and predict in this process."""
    X, y = table(*size)
    started = time.process_time()
    model = PUClassifier(scenario="single-set", effort=effort, random_state=0).fit(X, y)
    model.evaluate()
    seconds = time.process_time() - started
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    rows = X[:SCORED]
    started = time.process_time()
    model.predict_proba(rows)
    scored = rows.shape[0] / (time.process_time() - started)
    started = time.process_time()
    LGBMClassifier(n_jobs=1, verbose=-1, random_state=0).fit(X, y)
    return {
        "rows": size[0],
        "columns": size[1],
        "density": size[3],
        "effort": effort,
        "seconds": round(seconds, 2),
        "lightgbm": round(time.process_time() - started, 3),
        "gigabytes": round(memory, 3),
        "rows_a_second": round(scored),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--large", action="store_true")
    parser.add_argument("--write", action="store_true", help="store it, for docs/default.md")
    parser.add_argument("--one", type=json.loads, help=argparse.SUPPRESS)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    if options.one:
        size, effort = options.one
        print(json.dumps(measure(tuple(size), effort)))
        return
    print(f"{'rows':>9} {'columns':>7} {'effort':>8} {'seconds':>8} {'x LightGBM':>10}", end="")
    print(f" {'memory, GB':>10} {'rows/s scored':>13}")
    found = []
    for size in [*SIZES, *([LARGE] if options.large else [])]:
        for effort in EFFORTS:
            one = apart(__file__, "--one", json.dumps([size, effort]))
            found.append(one)
            ratio = one["seconds"] / one["lightgbm"]
            print(f"{size[0]:>9,} {size[1]:>7} {effort:>8} {one['seconds']:>8.1f}", end="")
            print(f" {ratio:>10.0f} {one['gigabytes']:>10.2f}", end="")
            print(f" {one['rows_a_second']:>13,}", flush=True)
    if options.write:
        store(__file__, found)


if __name__ == "__main__":
    main()
