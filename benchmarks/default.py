"""Speed of the default on tables, and of LightGBM's fit in the same run.

    python benchmarks/default.py             # 1,200 x 57, 10,000 x 30 and 100,000 x 30
    python benchmarks/default.py --large     # 1,000,000 x 30, too
    python benchmarks/default.py --large --write     # stores it in benchmarks/default.json

Made-up columns, prior unknown, one thread: processor seconds of a whole fit with its evaluation,
peak memory of the process so far, and rows that `predict_proba` scores a second.
"""

import argparse
import json
import os
import resource
import time
import warnings
from pathlib import Path

os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np
from lightgbm import LGBMClassifier

from robustpu import PUClassifier
from robustpu.bench.machine import checkout, device_name

STORED = Path(__file__).with_suffix(".json")
# Rows, columns, labelled positives.
SIZES = [(1_200, 57, 100), (10_000, 30, 150), (100_000, 30, 500)]
LARGE = (1_000_000, 30, 1_000)
SCORED = 50_000


def table(n: int, d: int, labels: int) -> tuple[np.ndarray, np.ndarray]:
    """Draw rows, some of whose positives are labelled."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n, d)).astype(np.float32)
    truth = X[:, :5].sum(axis=1) + 2 * rng.standard_normal(n) > 3
    y = np.zeros(n, dtype=int)
    y[rng.choice(np.flatnonzero(truth), labels, replace=False)] = 1
    return X, y


def measure(X: np.ndarray, y: np.ndarray, effort: str) -> tuple[float, float]:
    """Seconds of a fit with its evaluation, and rows a second of a prediction."""
    started = time.process_time()
    model = PUClassifier(scenario="single-set", effort=effort, random_state=0).fit(X, y)
    model.evaluate()
    seconds = time.process_time() - started
    rows = X[:SCORED]
    started = time.process_time()
    model.predict_proba(rows)
    return seconds, len(rows) / (time.process_time() - started)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--large", action="store_true")
    parser.add_argument("--write", action="store_true", help="store it, for docs/default.md")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    print(f"{'rows':>9} {'columns':>7} {'effort':>8} {'seconds':>8} {'x LightGBM':>10}", end="")
    print(f" {'memory, GB':>10} {'rows/s scored':>13}")
    found = []
    for n, d, labels in [*SIZES, *([LARGE] if options.large else [])]:
        X, y = table(n, d, labels)
        started = time.process_time()
        LGBMClassifier(n_jobs=1, verbose=-1, random_state=0).fit(X, y)
        lightgbm = time.process_time() - started
        for effort in ("fast", "default"):
            seconds, speed = measure(X, y, effort)
            memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
            print(f"{n:>9,} {d:>7} {effort:>8} {seconds:>8.1f} {seconds / lightgbm:>10.0f}", end="")
            print(f" {memory:>10.2f} {speed:>13,.0f}", flush=True)
            names = "rows", "columns", "effort", "seconds", "lightgbm", "gigabytes", "rows_a_second"
            figures = (
                n,
                d,
                effort,
                round(seconds, 2),
                round(lightgbm, 3),
                round(memory, 3),
                round(speed),
            )
            found.append(dict(zip(names, figures, strict=True)))
    if options.write:
        about = {"device": device_name("cpu"), **checkout()}
        STORED.write_text(json.dumps([{**entry, **about} for entry in found], indent=1) + "\n")


if __name__ == "__main__":
    main()
