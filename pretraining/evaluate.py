"""Evaluate weights on real development tables, beside two cheap baselines and the default.

    PYTHONPATH=../src python evaluate.py TABLES --checkpoint run/checkpoint.pt --out eval.json

Three protocols. ``single``: 70 % of the rows are for training, 15 % of their positives labelled,
all others unlabelled, the prior unknown; truth on the other 30 %. ``case``: 400 positives and
800 unlabelled rows at priors 0.2, 0.4 and 0.6 (a quarter of that on small tables). ``few``: 20
positives, 300 unlabelled rows, prior 0.3.
"""

import argparse
import json
import time
import warnings
from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from sklearn.compose import make_column_transformer
from sklearn.ensemble import ExtraTreesClassifier
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import average_precision_score, roc_auc_score
from sklearn.model_selection import StratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from robustpu import PUClassifier
from robustpu.calibration import log_odds
from robustpu.pretrained import EncodedTable, NetworkConfig, PUNetwork, load_network
from robustpu.priors import from_weighted
from robustpu.scenario import population_prior, to_population

SINGLE = (
    "default",
    "lending",
    "caravan",
    "email",
    "hmda",
    "mlc_churn",
    "attrition",
    "wa_churn",
    "credit",
)
CASE = (
    "optdigits",
    "texture",
    "splice",
    "digits",
    "breast_cancer",
    "spambase",
    "shuttle",
    "mushrooms",
    "mushrooms_onehot",
)


@dataclass(frozen=True)
class Problem:
    """One drawn positive-unlabelled problem with a test set."""

    protocol: str
    name: str
    X: np.ndarray
    is_positive: np.ndarray
    is_category: np.ndarray
    X_test: np.ndarray
    y_test: np.ndarray
    prior: float
    scenario: str


def draw_single(name: str, table: dict[str, np.ndarray], seed: int) -> Problem:
    """15 % of the training positives labelled; three draws a table."""
    X, y = table["X"], table["y"]
    rng = np.random.default_rng(100 + seed)
    order = rng.permutation(len(X))
    cut = int(0.7 * len(X))
    train, test = np.sort(order[:cut]), np.sort(order[cut:])
    positive = train[y[train]]
    labeled = rng.choice(positive, round(0.15 * len(positive)), replace=False)
    is_positive = np.isin(train, labeled)
    prior = y[train][~is_positive].mean()
    return Problem(
        "single",
        name,
        X[train],
        is_positive,
        table["is_category"],
        X[test],
        y[test],
        float(prior),
        "single-set",
    )


def draw_case(
    protocol: str,
    name: str,
    table: dict[str, np.ndarray],
    n_positive: int,
    n_unlabeled: int,
    prior: float,
    seed: int,
) -> Problem:
    """Positives and unlabelled rows drawn apart; test rows at the same prior."""
    X, y = table["X"], table["y"]
    rng = np.random.default_rng(seed)
    positive, negative = rng.permutation(np.flatnonzero(y)), rng.permutation(np.flatnonzero(~y))
    hidden = round(prior * n_unlabeled)
    rows = np.concatenate([positive[: n_positive + hidden], negative[: n_unlabeled - hidden]])
    rest_positive, rest_negative = positive[n_positive + hidden :], negative[n_unlabeled - hidden :]
    size = min(1500, len(rest_positive) / prior, len(rest_negative) / (1 - prior))
    test = np.concatenate(
        [rest_positive[: int(size * prior)], rest_negative[: int(size * (1 - prior))]]
    )
    is_positive = np.arange(len(rows)) < n_positive
    return Problem(
        protocol,
        name,
        X[rows],
        is_positive,
        table["is_category"],
        X[test],
        y[test],
        prior,
        "case-control",
    )


def draw_problems(
    folder: Path, protocols: list[str], n_draws: int, tables: tuple[str, ...] = SINGLE + CASE
) -> Iterator[Problem]:
    """Yield all problems of the protocols on these tables."""
    for name in tables:
        with np.load(folder / f"{name}.npz") as file:
            table = {key: file[key] for key in file.files}
        for seed in range(n_draws):
            if name in SINGLE and "single" in protocols:
                yield draw_single(name, table, seed)
            if name in CASE and "case" in protocols:
                part = 8 if len(table["X"]) < 1000 else 4 if len(table["X"]) < 3200 else 1
                for index, prior in enumerate((0.2, 0.4, 0.6)):
                    yield draw_case(
                        "case", name, table, 400 // part, 800 // part, prior, 10 * seed + index
                    )
            if name in CASE and "few" in protocols:
                yield draw_case("few", name, table, 20, 300, 0.3, 10 * seed + 7)


def logistic(problem: Problem) -> np.ndarray:
    """Labelled against unlabelled, C = 0.05, balanced."""
    model = make_pipeline(
        _inputs(problem), LogisticRegression(C=0.05, class_weight="balanced", max_iter=500)
    )
    model.fit(problem.X, problem.is_positive)
    return model.predict_proba(np.concatenate([problem.X, problem.X_test]))[:, 1]


def trees(problem: Problem) -> np.ndarray:
    """Balanced extra-trees, 200 of them, leaves of 3."""
    forest = ExtraTreesClassifier(
        200,
        min_samples_leaf=3,
        class_weight="balanced_subsample",
        bootstrap=True,
        random_state=0,
        n_jobs=1,
    )
    model = make_pipeline(_inputs(problem), forest)
    model.fit(problem.X, problem.is_positive)
    scores = model.predict_proba(np.concatenate([problem.X, problem.X_test]))[:, 1]
    # Out of bag for the training rows, so that the threshold is fair.
    inputs = model[0].transform(problem.X)
    votes, counts = np.zeros(len(problem.X)), np.zeros(len(problem.X))
    for tree, sampled in zip(forest.estimators_, forest.estimators_samples_, strict=True):
        out = np.setdiff1d(np.arange(len(problem.X)), sampled)
        votes[out] += tree.predict_proba(inputs[out])[:, 1]
        counts[out] += 1
    scores[: len(problem.X)] = votes / np.maximum(counts, 1)
    return scores


def _inputs(problem: Problem) -> object:
    """Standardised numbers and one-hot categories."""
    category = np.flatnonzero(problem.is_category)
    number = np.flatnonzero(~problem.is_category)
    return make_column_transformer(
        (make_pipeline(SimpleImputer(keep_empty_features=True), StandardScaler()), number),
        (OneHotEncoder(handle_unknown="ignore", sparse_output=False, min_frequency=5), category),
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


def evaluate_default(problem: Problem, known: bool) -> dict[str, float]:
    """Fit PUClassifier to standardised numbers and one-hot categories."""
    inputs = _inputs(problem)
    X, X_test = inputs.fit_transform(problem.X), inputs.transform(problem.X_test)
    model = PUClassifier(
        prior=problem.prior if known else "auto", scenario=problem.scenario, random_state=0
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.fit(X, problem.is_positive.astype(int))
    return measure(problem, model.predict_proba(X_test)[:, 1], 0.5)


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


def read_checkpoints(paths: list[Path]) -> list[dict[str, Any]]:
    """Read what training has saved."""
    return [torch.load(path, map_location="cpu", weights_only=True) for path in paths]


def mean_network(states: list[dict[str, Any]]) -> PUNetwork:
    """Checkpoints -> one network for use, with the mean of their weights.

    That is a network only if all were trained from the same one.
    """
    network = PUNetwork(NetworkConfig(**states[0]["network_config"]))
    weights = [state["network"] for state in states]
    network.load_state_dict(
        {name: torch.stack([one[name] for one in weights]).mean(0) for name in weights[0]}
    )
    return network.requires_grad_(False).eval()


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
    results = []
    protocols = options.protocols.split(",")
    for problem in draw_problems(options.tables, protocols, options.draws, tuple(options.only)):
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
            found["default, known"] = evaluate_default(problem, True)
            found["default, unknown"] = evaluate_default(problem, False)
        for model, measures in found.items():
            results.append(
                {
                    "protocol": problem.protocol,
                    "table": problem.name,
                    "prior": problem.prior,
                    "model": model,
                    **measures,
                }
            )
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
        keys = (
            "error",
            "auc",
            "ap",
            "first100",
            "log_loss",
            "prior_off",
            "prior_ratio",
            "seconds",
        )
        means = {key: np.mean([row[key] for row in rows]) for key in keys if key in rows[0]}
        text = " ".join(f"{key} {value:.4f}" for key, value in means.items())
        print(f"{protocol:7}{table:18}{model:9}{text}", flush=True)


if __name__ == "__main__":
    main()
