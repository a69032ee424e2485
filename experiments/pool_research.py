"""What the pool is made of: members, weights and scales, tried on the development half.

    python experiments/pool_research.py members     # fits members that are missing, in 5 folds
    python experiments/pool_research.py combine     # tries pools on the scores of the members
    python experiments/pool_research.py report      # prints what is stored

`members` keeps out-of-fold and test scores in a folder (--cache), and one JSON line a member in
results/pool_members.ndjson; `combine` needs the folder and writes results/pool_research.ndjson.
The held-back half is never read.
"""

import argparse
import json
import time
import warnings
from collections import defaultdict
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
from figure import RESULTS
from fits import stored
from pool_members import MEMBERS
from pool_weights import RULES, SCALES
from real_data import DEVELOPMENT, DRAWS, NINE, SETTINGS, Problem, draw
from real_tables import n_right
from sklearn.metrics import average_precision_score, roc_auc_score
from sklearn.model_selection import StratifiedKFold

OF_MEMBERS, OF_POOLS = RESULTS / "pool_members.ndjson", RESULTS / "pool_research.ndjson"
CACHE = Path("/tmp/pool_cache")
QUANTILES = (0.1, 0.25, 0.5, 0.75, 0.9)


def inputs(problem: Problem) -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """Training and test rows in each form that members ask for."""
    raw = tuple(_codes(part) for part in problem.raw)
    return {**prepared(*problem.matrices), "raw": raw}


def prepared(X: np.ndarray, X_test: np.ndarray) -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """The forms that are functions of the matrix: as it is, standardised, hinges, bins."""
    standard = _standard(X, X_test)
    is_many = np.array([len(np.unique(column)) > 10 for column in standard[0].T])
    knots = np.quantile(standard[0][:, is_many], QUANTILES, axis=0)
    hinges = [
        np.hstack([part, *(np.maximum(part[:, is_many] - knot, 0) for knot in knots)])
        for part in standard
    ]
    inner = np.quantile(standard[0][:, is_many], np.arange(1, 8) / 8, axis=0)
    bins = [
        np.hstack([part[:, ~is_many], *(part[:, is_many] > edge for edge in inner)])
        for part in standard
    ]
    return {
        "matrix": (X, X_test),
        "standard": standard,
        "hinges": _standard(*hinges),
        "bins": _standard(*bins),
    }


def _standard(X: np.ndarray, X_test: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    X, X_test = X.astype(np.float64), X_test.astype(np.float64)
    mean, scale = X.mean(axis=0), X.std(axis=0)
    varies = scale > 0
    X, X_test = ((part[:, varies] - mean[varies]) / scale[varies] for part in (X, X_test))
    return np.clip(X, -5, 5), np.clip(X_test, -5, 5)


def _codes(frame: Any) -> np.ndarray:
    columns = []
    for name in frame.columns:
        column = frame[name]
        codes = column.cat.codes if hasattr(column, "cat") else column
        columns.append(np.where(codes == -1, np.nan, codes) if hasattr(column, "cat") else codes)
    return np.column_stack(columns).astype(np.float64)


def cross_fit(
    member: Any, X: np.ndarray, y: np.ndarray, X_test: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray, float, float]:
    """Out-of-fold scores, test scores of a refit and of the folds' mean; seconds of both."""
    out_of_fold, of_folds = np.zeros(len(y)), np.zeros(len(X_test))
    folds = StratifiedKFold(min(5, int(y.sum())), shuffle=True, random_state=1)
    start = time.perf_counter()
    for seed, (train, other) in enumerate(folds.split(X, y)):
        score = member(X[train], y[train], seed)
        out_of_fold[other] = score(X[other])
        of_folds += score(X_test) / folds.n_splits
    middle = time.perf_counter()
    of_refit = member(X, y, 0)(X_test)
    return out_of_fold, of_refit, of_folds, middle - start, time.perf_counter() - middle


def metrics(problem: Problem, score: np.ndarray) -> dict[str, float]:
    truth = problem.truth_test
    return {
        "auc": round(float(roc_auc_score(truth, score)), 5),
        "average_precision": round(float(average_precision_score(truth, score)), 5),
        "first_100": n_right(truth, score),
    }


def place(cache: Path, table: str, setting: str, seed: int) -> Path:
    return cache / f"{table}-{setting.replace(' ', '_').replace('%', 'percent')}-{seed}"


def fit_members(options: argparse.Namespace) -> None:
    """Fit what the cache lacks."""
    for seed, setting, table in product(range(options.draws), options.settings, options.tables):
        folder = place(options.cache, table, setting, seed)
        missing = [name for name in options.members if not (folder / f"{name}.npz").exists()]
        if not missing:
            continue
        folder.mkdir(parents=True, exist_ok=True)
        problem = draw(table, setting, seed)
        given = inputs(problem)
        for name in missing:
            kind, member = MEMBERS[name]
            X, X_test = given[kind]
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                found = cross_fit(member, X, problem.y, X_test)
            entry = {
                "table": table,
                "setting": setting,
                "draw": seed,
                "member": name,
                **metrics(problem, found[1]),
                "folds": metrics(problem, found[2]),
                "auc_of_labeled": round(float(roc_auc_score(problem.y, found[0])), 5),
                "seconds_folds": round(found[3], 3),
                "seconds_refit": round(found[4], 3),
            }
            with OF_MEMBERS.open("a") as file:
                file.write(json.dumps(entry) + "\n")
            parts = dict(zip(("out_of_fold", "refit", "folds"), found[:3], strict=True))
            np.savez(folder / f"{name}.npz", **parts)
            print(table, setting, seed, name, entry["auc"], entry["average_precision"], flush=True)


# The eight of the review's prototype.
EIGHT = [
    "linear .01",
    "linear .1",
    "linear 1",
    "bagged LightGBM",
    "bagged trees 5",
    "bagged trees 1",
    "boosted",
    "extra-trees 5",
]
POOLS = {"the review's eight": EIGHT}


def combine(options: argparse.Namespace) -> None:
    """Score pools x scales x rules on the cached scores, and keep what is new."""
    wanted = list(product(options.pools, options.scales, options.rules, options.test))
    names = ("pool", "scale", "rule", "test", "table", "setting", "draw")
    done = {tuple(entry[name] for name in names) for entry in stored(OF_POOLS)}
    for seed, setting, table in product(range(options.draws), options.settings, options.tables):
        missing = [one for one in wanted if (*one, table, setting, seed) not in done]
        folder = place(options.cache, table, setting, seed)
        pools = {pool: members_of(pool, folder) for pool in {one[0] for one in missing}}
        if not missing:
            continue
        problem = draw(table, setting, seed)
        entries = []
        for pool, scale, rule, test in missing:
            if any(not (folder / f"{name}.npz").exists() for name in pools[pool]):
                continue
            files = [np.load(folder / f"{name}.npz") for name in pools[pool]]
            train = np.column_stack([file["out_of_fold"] for file in files])
            Z, Z_test = SCALES[scale](train, np.column_stack([file[test] for file in files]))
            start = time.perf_counter()
            weight = RULES[rule](Z, problem.y, np.random.default_rng(seed))
            seconds = time.perf_counter() - start
            key = (pool, scale, rule, test, table, setting, seed)
            entries.append(
                {
                    **dict(zip(names, key, strict=True)),
                    **metrics(problem, Z_test @ weight),
                    "auc_of_labeled": round(float(roc_auc_score(problem.y, Z @ weight)), 5),
                    "weights": dict(zip(pools[pool], weight.round(3).tolist(), strict=True)),
                    "seconds": round(seconds, 3),
                }
            )
        with OF_POOLS.open("a") as file:
            file.write("".join(json.dumps(entry) + "\n" for entry in entries))


def members_of(pool: str, folder: Path) -> list[str]:
    """Members of a named pool, of a list "a + b", or of a pool without one: "pool - member"."""
    if pool in POOLS:
        return POOLS[pool]
    if " - " in pool:
        whole, left_out = pool.rsplit(" - ", 1)
        return [name for name in members_of(whole, folder) if name != left_out]
    return pool.split(" + ")


def report(options: argparse.Namespace) -> None:
    """Print means over the tables, of members and of pools."""
    for entries, name in ((stored(OF_MEMBERS), "member"), (stored(OF_POOLS), "pool")):
        for setting, tables in product(options.settings, (options.tables, NINE)):
            found = defaultdict(list)
            for entry in entries:
                if entry["setting"] == setting and entry["table"] in tables:
                    key = tuple(
                        entry[each] for each in (name, "scale", "rule", "test") if each in entry
                    )
                    row = [entry[each] for each in ("auc", "average_precision", "first_100")]
                    times = [value for each, value in entry.items() if each.startswith("seconds")]
                    found[key].append([*row, entry["auc_of_labeled"], sum(times)])
            print(f"\n{setting}, {len(tables)} tables: AUC, AP, first 100, AUC of P and U, seconds")
            for key, rows in sorted(found.items(), key=lambda pair: -np.mean(pair[1], axis=0)[0]):
                a, b, c, d, e = np.mean(rows, axis=0)
                print(f"{a:.4f} {b:.4f} {c:5.1f} {d:.4f} {e:6.2f} {len(rows):3}", *key, sep="  ")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("stage", choices=["members", "combine", "report"])
    parser.add_argument("--cache", type=Path, default=CACHE)
    parser.add_argument("--members", nargs="*", default=[*MEMBERS])
    parser.add_argument("--tables", nargs="*", default=DEVELOPMENT)
    parser.add_argument("--settings", nargs="*", default=["single-set 15 %"], choices=[*SETTINGS])
    parser.add_argument("--draws", type=int, default=DRAWS)
    parser.add_argument("--pools", nargs="*", default=[*POOLS])
    parser.add_argument("--scales", nargs="*", default=["standardized"], choices=[*SCALES])
    parser.add_argument("--rules", nargs="*", default=[*RULES], choices=[*RULES])
    parser.add_argument("--test", nargs="*", default=["refit"], choices=["refit", "folds"])
    options = parser.parse_args()
    {"members": fit_members, "combine": combine, "report": report}[options.stage](options)


if __name__ == "__main__":
    main()
