"""Time and memory of the pretrained network on a processor, against LightGBM in the same run.

    python benchmarks/pretrained.py                 # all sizes, default members
    python benchmarks/pretrained.py --members 8     # other numbers of members
    python benchmarks/pretrained.py --threads 2     # wall time, on cores that are idle
    python benchmarks/pretrained.py --write         # stores it in benchmarks/pretrained.json

A fit on labelled and unlabelled Gaussians (a third labelled), then the probabilities of 1,000 new
rows, in a process of its own for each size and learner. LightGBM, with its defaults, tells labelled
from unlabelled rows. One thread each, and processor time: on a busy machine wall time says little,
and several threads spend processor time on waiting. Memory is the most that the process had, less
what it had after importing.
"""

import argparse
import json
import os
import resource
import time

import numpy as np

from measured import apart, store

SIZES = ((1_200, 16), (1_200, 57), (10_000, 30))
QUERIES = 1_000


def make(n_rows: int, n_columns: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Rows, labels and new rows; three tenths of the unlabelled and the new rows are positive."""
    rng = np.random.default_rng(0)
    labelled = np.arange(n_rows) < n_rows // 3
    truth = labelled | (rng.random(n_rows) < 0.3)
    X = rng.normal(0.5 * truth[:, None], 1.0, (n_rows, n_columns))
    is_positive = rng.random(QUERIES) < 0.3
    new = rng.normal(0.5 * is_positive[:, None], 1.0, (QUERIES, n_columns))
    return X, labelled.astype(int), new


def megabytes() -> float:
    """The most memory that this process had, in MB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def measure(learner: str, n_rows: int, n_columns: int, members: int | None) -> dict[str, float]:
    """Fit and predict in this process."""
    X, y, new = make(n_rows, n_columns)
    if learner == "lightgbm":
        from lightgbm import LGBMClassifier

        model = LGBMClassifier(verbose=-1, n_jobs=int(os.environ["OMP_NUM_THREADS"]))
    else:
        from robustpu import PretrainedPUClassifier

        given = {} if members is None else {"n_members": members}
        model = PretrainedPUClassifier(random_state=0, **given)
    # The first fit imports the rest, and reads the weights.
    type(model)(**model.get_params()).fit(X[::50], y[::50])
    before, start, busy = megabytes(), time.perf_counter(), time.process_time()
    model.fit(X, y)
    fitted, fitted_busy = time.perf_counter(), time.process_time()
    model.predict_proba(new)
    return {
        "fit": fitted - start,
        "predict": time.perf_counter() - fitted,
        "fit_cpu": fitted_busy - busy,
        "predict_cpu": time.process_time() - fitted_busy,
        "mb": megabytes() - before,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--members", type=int)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--write", action="store_true", help="store it, for the docs")
    parser.add_argument("--learner", help=argparse.SUPPRESS)
    parser.add_argument("--size", type=int, nargs=2, help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.learner:
        print(json.dumps(measure(asked.learner, *asked.size, asked.members)))
        return
    print(f"{asked.threads} threads; fit + predict of {QUERIES:,} rows, times LightGBM's\n")
    print("| rows x columns | wall s | processor s | MB | LightGBM processor s | ratio |")
    print("|---|---|---|---|---|---|")
    stored = []
    members = [] if asked.members is None else ["--members", asked.members]
    for n_rows, n_columns in SIZES:
        given = "--size", n_rows, n_columns, *members
        ours, trees = (
            apart(__file__, "--learner", learner, *given, threads=asked.threads)
            for learner in ("pretrained", "lightgbm")
        )
        sides = {"pretrained": ours, "lightgbm": trees}
        stored.append({"rows": n_rows, "columns": n_columns, "threads": asked.threads, **sides})
        busy, their = (found["fit_cpu"] + found["predict_cpu"] for found in (ours, trees))
        print(
            f"| {n_rows:,} x {n_columns} | {ours['fit']:.1f} + {ours['predict']:.1f} "
            f"| {ours['fit_cpu']:.1f} + {ours['predict_cpu']:.1f} | {ours['mb']:,.0f} "
            f"| {their:.2f} | {busy / their:.0f} |",
            flush=True,
        )
    if asked.write:
        store(__file__, stored)


if __name__ == "__main__":
    main()
