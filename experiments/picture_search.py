"""Search: settings of four methods for pictures, on splits that no table reports.

    python experiments/picture_search.py cifar10              # runs what is missing, then prints
    python experiments/picture_search.py cifar10 --only nnpu  # one method
    python experiments/picture_search.py cifar10 --print      # prints what is stored

nnPU first, then Robust-PU, which starts from the best nnPU, and the rivals P3Mix-C and Dist-PU.
Each setting is trained on trials 100 and 101 at prior 0.4; the best by the mean score of the 500
validation rows, as the paper selects, is what pictures.toml has for all priors. The errors on the
test rows are stored and select nothing. One JSON line a network in results/picture_search.ndjson; a
GPU takes some minutes a method.
"""

import argparse
import json
import time
from collections.abc import Iterable
from itertools import product
from pathlib import Path

import numpy as np
from figure import RESULTS, main_cell
from fits import stored

from robustpu import fit_together
from robustpu.base.neural import device_of
from robustpu.bench.machine import checkout, device_name
from robustpu.bench.protocol import split
from robustpu.versions import versions

STORED = RESULTS / "picture_search.ndjson"
TRIALS, PRIOR = (100, 101), 0.4
# Networks that are trained at a time.
TOGETHER = 12

RATES = {"lr": 1e-3, "weight_decay": 1e-3}
P3MIX = {**RATES, "gamma": 0.8, "unlabeled_weight": 0.5, "entropy_weight": 0.1, "mix_layer": 3}
DIST = {
    "lr": 1e-3,
    "mix_lr": 1e-4,
    "weight_decay": 5e-3,
    "alpha": 6.0,
    "mixture_weight": 5.0,
    "entropy_weight": 2e-3,
    "mix_entropy_weight": 4e-3,
}
UNLABELED = "curriculum__pacing_unlabeled__"
ROUNDS = {
    "epochs": 10,
    "lr": 3e-4,
    "weight_decay": 1e-4,
    "curriculum__balance": True,
    "curriculum__temperature_positive": 1.0,
    "curriculum__temperature_unlabeled": 1.0,
    "curriculum__pacing_positive__lambda0": 0.5,
    "curriculum__pacing_positive__beta": 1.0,
    UNLABELED + "lambda0": 0.3,
    UNLABELED + "beta": 0.7,
}
# What the paper prints: one pair of thresholds for both, no balance, E = 20.
PRINTED = {
    **ROUNDS,
    "epochs": 20,
    "lr": 1e-3,
    "curriculum__balance": False,
    "curriculum__pacing_positive__beta": 2.0,
    UNLABELED + "lambda0": 0.5,
    UNLABELED + "beta": 2.0,
}
SETTINGS: dict[str, list[dict]] = {
    "nnpu": [
        {"surrogate": surrogate, "lr": lr, "weight_decay": decay}
        for surrogate, lr, decay in [
            *product(["logistic"], [1e-3, 3e-4, 1e-4], [1e-4, 1e-3, 5e-3]),
            *product(["sigmoid"], [1e-3, 3e-4, 1e-4], [1e-3]),
        ]
    ],
    "robust-pu": [
        {**ROUNDS, **change}
        for change in [
            {},
            {"lr": 1e-3},
            {"lr": 1e-4},
            {"weight_decay": 1e-3},
            {"lr": 1e-3, "weight_decay": 1e-3},
            {UNLABELED + "lambda0": 0.1, UNLABELED + "beta": 0.5},
            {UNLABELED + "lambda0": 0.4, UNLABELED + "beta": 1.0},
            {"curriculum__temperature_unlabeled": 0.5},
            {"curriculum__balance": False},
            {"lr": 1e-4, "epochs": 20},
            PRINTED,
            {**PRINTED, "lr": 1e-4},
        ]
    ],
    "p3mix-c": [
        {**P3MIX, **change}
        for change in [
            {},
            {"lr": 3e-4},
            {"weight_decay": 1e-4},
            {"weight_decay": 5e-3},
            {"gamma": 0.9},
            {"unlabeled_weight": 1.0},
            {"mix_layer": 0},
            {"mix_layer": 6},
        ]
    ],
    "dist-pu": [
        {**DIST, **change}
        for change in [
            {},
            {"lr": 3e-4},
            {"mix_lr": 1e-3},
            {"mix_lr": 3e-4},
            {"weight_decay": 1e-3},
            {"mixture_weight": 1.0},
            {"alpha": 1.0},
            {"batch_size": 64},
        ]
    ],
}


def run(
    dataset: str, method: str, keys: list[tuple[int, int]], data_dir: Path | None, pretrain: dict
) -> list[dict]:
    """Train settings on trials, all in one go; a line a network."""
    cell = main_cell(dataset, method, PRIOR)
    problems = {trial: split(dataset, PRIOR, trial, data_dir=data_dir) for _, trial in keys}
    jobs = []
    for setting, trial in keys:
        pu = problems[trial]
        model = cell.build(
            cell.candidates[0], prior=pu.prior, device="auto", random_state=trial
        ).set_params(**pretrain, **SETTINGS[method][setting])
        jobs.append((model, pu.X, pu.y, (pu.X_validation, pu.y_validation)))
    start = time.perf_counter()
    models = fit_together(jobs)
    seconds = (time.perf_counter() - start) / len(jobs)
    lines = []
    for (setting, trial), model in zip(keys, models, strict=True):
        pu = problems[trial]
        lines.append(
            {
                "dataset": dataset,
                "method": method,
                "setting": setting,
                "trial": trial,
                "settings": {**pretrain, **SETTINGS[method][setting]},
                "validation": round(float(model.member_scores_[0]), 6),
                "error": round(100 * float(np.mean(model.predict(pu.X_test) != pu.y_test)), 2),
                "iteration": int(getattr(model, model.best_name)[0]),
                "seconds": round(seconds, 2),
                "versions": versions(),
                **checkout(),
                "device": device_name(str(device_of("auto"))),
            }
        )
    return lines


def summary(lines: Iterable[dict], dataset: str, method: str) -> list[dict]:
    """Of each setting that has all trials: mean score, mean error; the best score first."""
    rows = []
    for setting, settings in enumerate(SETTINGS[method]):
        found = [
            line
            for line in lines
            if (line["dataset"], line["method"], line["setting"]) == (dataset, method, setting)
        ]
        if len(found) == len(TRIALS):
            score, error = (
                np.mean([line[key] for line in found]) for key in ("validation", "error")
            )
            rows.append(
                {"settings": settings, "score": float(score), "error": float(error), "of": found}
            )
    return sorted(rows, key=lambda row: -row["score"])


def start_of(lines: list[dict], dataset: str, method: str) -> dict:
    """The best nnPU, from which Robust-PU starts."""
    if method != "robust-pu":
        return {}
    best = summary(lines, dataset, "nnpu")[0]["settings"]
    return {f"pretrain__{name}": value for name, value in best.items()}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("dataset", choices=["cifar10", "stl10"])
    parser.add_argument("--only", nargs="+", default=list(SETTINGS), choices=list(SETTINGS))
    parser.add_argument("--data-dir", type=Path)
    parser.add_argument("--out", type=Path, default=STORED)
    parser.add_argument("--print", action="store_true", help="train nothing")
    options = parser.parse_args()
    for method in options.only:
        lines = stored(options.out)
        done = {(line["dataset"], line["method"], line["setting"], line["trial"]) for line in lines}
        left = [
            key
            for key in product(range(len(SETTINGS[method])), TRIALS)
            if (options.dataset, method, *key) not in done and not options.print
        ]
        if left:
            pretrain = start_of(lines, options.dataset, method)
        for first in range(0, len(left), TOGETHER):
            part = left[first : first + TOGETHER]
            new = run(options.dataset, method, part, options.data_dir, pretrain)
            with options.out.open("a") as file:
                file.write("".join(json.dumps(line) + "\n" for line in new))
        print(method)
        for row in summary(stored(options.out), options.dataset, method):
            iterations = [line["iteration"] for line in row["of"]]
            print(f"  {100 * row['score']:6.2f} {row['error']:6.2f} {iterations} {row['settings']}")


if __name__ == "__main__":
    main()
