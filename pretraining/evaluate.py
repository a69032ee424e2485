"""Evaluate weights on real development tables, next to two plain baselines and PUClassifier.

    PYTHONPATH=../src python evaluate.py TABLES --checkpoint run/checkpoint.pt --out eval.json

``problems.py`` describes the three protocols.
"""

import argparse
import json
import time
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import torch
from baselines import default, logistic, trees
from checkpoints import mean_network, read_checkpoints
from problems import CASE, SINGLE, Problem, draw_problems
from sklearn.metrics import average_precision_score, roc_auc_score
from sklearn.model_selection import StratifiedKFold

from robustpu.calibration import log_odds
from robustpu.pretrained import EncodedTable, PUNetwork, load_network
from robustpu.priors import from_weighted
from robustpu.scenario import population_prior, to_population

MEASURES = (
    "error",
    "auc",
    "ap",
    "first100",
    "log_loss",
    "prior_off",
    "prior_ratio",
    "seconds",
)


def measure(problem: Problem, scores: np.ndarray, threshold: float) -> dict[str, float]:
    """Error, AUC and average precision on the test rows."""
    y = problem.y_test
    return {
        "error": float(((scores > threshold) != y).mean()),
        "auc": float(roc_auc_score(y, scores)),
        "ap": float(average_precision_score(y, scores)),
        "first100": float(y[np.argsort(-scores)[:100]].sum()),
    }


def evaluate_baseline(model: Callable[[Problem], np.ndarray], problem: Problem) -> dict[str, float]:
    """Cut a baseline's scores so that the known share of unlabelled rows is above."""
    scores = model(problem)
    train, test = scores[: len(problem.X)], scores[len(problem.X) :]
    threshold = np.quantile(train[~problem.is_positive], 1 - problem.prior)
    return measure(problem, test, threshold)


def estimate_prior(network: PUNetwork, problem: Problem) -> float:
    """Estimate the prior by the usual methods, from out-of-fold scores without one."""
    X, y = problem.X, problem.is_positive
    score = np.empty(len(X))
    for training, other in StratifiedKFold(3, shuffle=True, random_state=0).split(X, y):
        fold = EncodedTable(network, X[training], y[training], problem.is_category, n_members=1)
        score[other] = fold.score(X[other])
    return from_weighted(log_odds(score), y, np.ones(len(X)), "auto")


def evaluate_network(
    network: PUNetwork, problem: Problem, mode: str, n_members: int, max_context: int
) -> dict[str, float]:
    """Probabilities above one half are positive; also how far its prior is off."""
    start = time.monotonic()
    known: dict[str, Any] = {"prior": problem.prior} if mode == "known" else {}
    if mode == "estimated":
        known = {"prior": estimate_prior(network, problem)}
    table = EncodedTable(
        network,
        problem.X,
        problem.is_positive,
        problem.is_category,
        n_members=n_members,
        max_context=max_context,
        **known,
    )
    share = table.estimate_prior()
    n_labeled = int(problem.is_positive.sum())
    n_unlabeled = len(problem.X) - n_labeled
    population = population_prior(share, n_labeled, n_unlabeled, problem.scenario)
    probability = to_population(table.score(problem.X_test), share, population)
    found = measure(problem, probability, 0.5)
    found["prior_off"] = abs(share - problem.prior)
    found["prior_ratio"] = share / problem.prior
    clipped = probability.clip(1e-6, 1 - 1e-6)
    found["log_loss"] = float(
        -np.where(problem.y_test, np.log(clipped), np.log(1 - clipped)).mean()
    )
    found["seconds"] = time.monotonic() - start
    return found


def evaluate(
    problem: Problem, network: PUNetwork | None, options: argparse.Namespace
) -> dict[str, dict[str, float]]:
    """Return the measures of every model that was asked for."""
    found = {}
    if network is not None:
        for mode in options.modes:
            found[mode] = evaluate_network(
                network, problem, mode, options.members, options.max_context
            )
    if options.baselines:
        found["logistic"] = evaluate_baseline(logistic, problem)
        found["trees"] = evaluate_baseline(trees, problem)
    if options.default:
        for name, prior in (("known", problem.prior), ("unknown", "auto")):
            found[f"default, {name}"] = measure(problem, default(problem, prior), 0.5)
    return found


def main() -> None:
    """Evaluate and print means by protocol and table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("tables", type=Path)
    parser.add_argument("--checkpoint", type=Path, nargs="*")
    parser.add_argument("--weights", type=Path)
    parser.add_argument("--baselines", action="store_true")
    parser.add_argument("--default", action="store_true", help="PUClassifier, too")
    parser.add_argument("--out", type=Path)
    parser.add_argument("--protocols", default="single,case,few")
    parser.add_argument("--only", nargs="*", default=SINGLE + CASE, help="names of tables")
    parser.add_argument("--modes", nargs="*", default=["known", "unknown", "estimated"])
    parser.add_argument("--draws", type=int, default=1)
    parser.add_argument("--members", type=int, default=4)
    parser.add_argument("--max-context", type=int, default=2048)
    parser.add_argument("--device", default="cuda" if torch.cuda.is_available() else "cpu")
    options = parser.parse_args()
    network = None
    if options.checkpoint:
        network = mean_network(read_checkpoints(options.checkpoint)).to(options.device)
    elif options.weights:
        network = load_network(options.weights, options.device)
    protocols = options.protocols.split(",")
    results = []
    for problem in draw_problems(options.tables, protocols, options.draws, tuple(options.only)):
        about = {"protocol": problem.protocol, "table": problem.name, "prior": problem.prior}
        for model, measures in evaluate(problem, network, options).items():
            results.append(about | {"model": model} | measures)
    if options.out:
        options.out.write_text(json.dumps(results) + "\n")
    report(results)


def report(results: list[dict]) -> None:
    """Print means over tables, then each table's error and AUC."""
    groups = defaultdict(list)
    for row in results:
        groups[row["protocol"], "mean", row["model"]].append(row)
        groups[row["protocol"], row["table"], row["model"]].append(row)
    for (protocol, table, model), rows in sorted(
        groups.items(), key=lambda item: (item[0][0], item[0][1] != "mean", item[0][1:])
    ):
        means = {key: np.mean([row[key] for row in rows]) for key in MEASURES if key in rows[0]}
        text = " ".join(f"{key} {value:.4f}" for key, value in means.items())
        print(f"{protocol:7}{table:18}{model:18}{text}", flush=True)


if __name__ == "__main__":
    main()
