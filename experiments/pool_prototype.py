"""The pool that the research ends with, fitted as a whole: members, weights, student, seconds.

    python experiments/pool_prototype.py run         # development half alone, resumable
    python experiments/pool_prototype.py report      # with the baselines of real_tables.py
    python experiments/pool_prototype.py ablate      # without one member, other rules and scales
    python experiments/pool_prototype.py time        # one core, by member

A prototype, to be written anew in the library. Scores of the members are kept in a folder
(--cache); figures go to results/pool_prototype.ndjson.

The student is a small LightGBM that learns the pool's opinion: targets are 1 for labelled rows and
min(1, prior x f_P/f_U) for the others, where f_P/f_U comes from a logistic regression of P against
U on the pool's out-of-fold score. If no prior is given, three tenths of its upper bound serve. In
each fold the student learns from scores of that fold's members alone: with the scores of other
folds, its out-of-fold AUC would be .07 too high.
"""

import argparse
import json
import time
import warnings
from collections import defaultdict
from collections.abc import Callable
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
from cautious_prior import upper_bound
from figure import RESULTS
from fits import stored
from lightgbm import LGBMRegressor
from pool_members import (
    Score,
    discriminant,
    forest,
    histogram_bags,
    kernel_discriminant,
    lightgbm_bags,
    linear,
)
from pool_research import metrics, place, prepared
from pool_weights import RULES, SCALES, standardized
from real_data import DEVELOPMENT, DRAWS, NINE, SETTINGS, draw
from real_tables import n_right
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import StratifiedKFold

STORED = RESULTS / "pool_prototype.ndjson"
ABLATIONS, BASELINES = RESULTS / "pool_ablations.ndjson", RESULTS / "real_tables.ndjson"
CACHE = Path("/tmp/prototype_cache")
MEMBERS: dict[str, tuple[str, Callable[..., Score]]] = {
    "linear": ("standard", partial(linear, C=0.01)),
    "hinges": ("hinges", partial(linear, C=0.1)),
    "discriminant": ("bins", partial(discriminant, shrink=1.0)),
    "laplacian": (
        "standard",
        partial(kernel_discriminant, kernel="laplacian", width=0.5, shrink=0.005),
    ),
    "gaussian": ("standard", partial(kernel_discriminant, width=0.1, shrink=0.01)),
    "forest": ("matrix", partial(forest, count=100, ratio=1, leaf=5)),
    "forest of 3 U": ("matrix", partial(forest, count=100, ratio=3, leaf=10)),
    "boosted bags": ("matrix", partial(lightgbm_bags, count=15, n_estimators=30, max_bin=31)),
    # Where LightGBM is not installed; not in the pool.
    "histogram bags": ("matrix", partial(histogram_bags, count=15, max_iter=30, max_bins=31)),
}
POOL = [name for name in MEMBERS if name != "histogram bags"]
WITHOUT_LIGHTGBM = [name for name in MEMBERS if name != "boosted bags"]
RULE, SCALE = "greedy, shrunk 20", "standardized"
# How much the student counts against the pool, in units of a standard deviation.
SHARE = 0.5
# Of the upper bound, where no prior is given.
CAUTION = 0.3


def student(X: np.ndarray, target: np.ndarray) -> Score:
    model = LGBMRegressor(
        objective="cross_entropy",
        verbose=-1,
        n_jobs=1,
        num_leaves=8,
        learning_rate=0.05,
        n_estimators=100,
        max_bin=63,
        subsample=0.7,
        subsample_freq=1,
        colsample_bytree=0.5,
        random_state=0,
    ).fit(X, target)
    return lambda rows: model.predict(rows, raw_score=True)


def opinion(score: np.ndarray, y: np.ndarray, prior: float) -> np.ndarray:
    """min(1, prior f_P/f_U) of unlabelled rows, 1 of labelled ones, shape (n,)."""
    model = LogisticRegression(C=1e3).fit(score[:, None], y)
    log_ratio = model.decision_function(score[:, None]) + np.log((y == 0).sum() / y.sum())
    return np.where(y == 1, 1.0, np.minimum(1.0, prior * np.exp(log_ratio)))


def thinned(rows: np.ndarray, y: np.ndarray, most: int, rng: np.random.Generator) -> np.ndarray:
    """All labelled rows, and at most ``most`` of the others."""
    unlabeled = rows[y[rows] == 0]
    if len(unlabeled) <= most:
        return rows
    return np.concatenate([rows[y[rows] == 1], rng.choice(unlabeled, most, replace=False)])


def fit(
    inputs: dict[str, tuple[np.ndarray, np.ndarray]],
    y: np.ndarray,
    priors: dict[str, float | None],
    names: list[str],
    most: int = 20_000,
) -> dict[str, Any]:
    """Cross-fit and refit all members; students for each of the priors.

    Members and students learn from all of P and from ``most`` unlabelled rows at most; out-of-fold
    scores are of all rows.
    """
    n, m = len(y), len(inputs["matrix"][1])
    out_of_fold, test = np.zeros((n, len(names))), np.zeros((m, len(names)))
    splits = list(StratifiedKFold(min(5, int(y.sum())), shuffle=True, random_state=1).split(y, y))
    rng = np.random.default_rng(0)
    splits = [(thinned(train, y, most, rng), other) for train, other in splits]
    everything = thinned(np.arange(n), y, most, rng)
    inside = np.full((len(splits), n, len(names)), np.nan, dtype=np.float32)
    seconds: dict[str, float] = {}
    for k, name in enumerate(names):
        kind, member = MEMBERS[name]
        X, X_test = inputs[kind]
        start = time.process_time()
        for fold, (train, other) in enumerate(splits):
            score = member(X[train], y[train], fold)
            out_of_fold[other, k] = score(X[other])
            inside[fold, train, k] = score(X[train])
        test[:, k] = member(X[everything], y[everything], 0)(X_test)
        seconds[name] = time.process_time() - start
    start = time.process_time()
    Z, Z_test = SCALES[SCALE](out_of_fold, test)
    # Those that are fitted in addition to the pool have no weight in it.
    is_in = np.array([name in POOL for name in names])
    weight = np.zeros(len(names))
    weight[is_in] = RULES[RULE](Z[:, is_in], y, np.random.default_rng(0))
    seconds["weights"] = time.process_time() - start
    found = {"names": names, "out_of_fold": out_of_fold, "test": test, "weight": weight}
    pool, pool_test = standardized((Z @ weight)[:, None], (Z_test @ weight)[:, None])
    bound = upper_bound(pool[y == 1, 0], pool[y == 0, 0])
    X, X_test = inputs["matrix"]
    for key, prior in priors.items():
        start = time.process_time()
        used = CAUTION * bound if prior is None else prior
        of_student = np.zeros(n)
        for fold, (train, other) in enumerate(splits):
            score = standardized(inside[fold, train], inside[fold, train])[0] @ weight
            of_student[other] = student(X[train], opinion(score, y[train], used))(X[other])
        target = opinion(pool[everything, 0], y[everything], used)
        of_test = student(X[everything], target)(X_test)
        S, S_test = standardized(of_student[:, None], of_test[:, None])
        seconds[f"student, prior {key}"] = time.process_time() - start
        found[f"student {key}"] = S[:, 0]
        found[f"student test {key}"] = S_test[:, 0]
    return {**found, "pool": pool[:, 0], "pool test": pool_test[:, 0], "seconds": seconds}


def run(options: argparse.Namespace) -> None:
    done = {(entry["table"], entry["setting"], entry["draw"]) for entry in stored(STORED)}
    for seed, setting, table in product(range(options.draws), options.settings, options.tables):
        if (table, setting, seed) in done or table not in DEVELOPMENT:
            continue
        problem = draw(table, setting, seed)
        problem.matrices  # noqa: B018 - encoded before the clock starts
        start = time.process_time()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            inputs = prepared(*problem.matrices)
            ready = time.process_time() - start
            given = {"unknown": None, "known": problem.prior}
            found = fit(inputs, problem.y, given, options.members)
        seconds = {"inputs": ready, **found.pop("seconds")}
        options.cache.mkdir(exist_ok=True)
        np.savez_compressed(place(options.cache, table, setting, seed).with_suffix(".npz"), **found)
        entry = {
            "table": table,
            "setting": setting,
            "draw": seed,
            "n_positive": int(problem.y.sum()),
            "seconds": {name: round(value, 3) for name, value in seconds.items()},
        }
        with STORED.open("a") as file:
            file.write(json.dumps(entry) + "\n")
        print(table, setting, seed, round(sum(seconds.values()), 1), flush=True)


def variants(found: Any, y: np.ndarray, is_main: bool) -> dict[str, tuple]:
    """Name -> scores of training rows (out of fold) and of test rows, from the cached members.

    Scales and rules only if is_main.
    """
    names = found["names"].tolist()

    def pool(members: list[str], rule: str = RULE, scale: str = SCALE) -> tuple:
        k = [names.index(name) for name in members]
        Z, Z_test = SCALES[scale](found["out_of_fold"][:, k], found["test"][:, k])
        weight = RULES[rule](Z, y, np.random.default_rng(0))
        Z, Z_test = standardized((Z @ weight)[:, None], (Z_test @ weight)[:, None])
        return Z[:, 0], Z_test[:, 0]

    whole = found["pool"], found["pool test"]
    answer = {"pool": whole}
    for prior in ("unknown", "known"):
        of_student = found[f"student {prior}"], found[f"student test {prior}"]
        answer[f"student alone, prior {prior}"] = of_student
        for share in (0.25, SHARE, 1.0):
            both = [a + share * b for a, b in zip(whole, of_student, strict=True)]
            answer[f"pool and {share} student, prior {prior}"] = tuple(both)
    answer |= {f"member {name}": pool([name]) for name in names}
    if y.sum() > 25:
        answer |= {
            f"without {name}": pool([each for each in POOL if each != name]) for name in POOL
        }
    if "histogram bags" in names:
        answer["LightGBM not installed"] = pool(WITHOUT_LIGHTGBM)
    rules = [*QUICK, "soft", "greedy, shrunk 100", "stacked"] if is_main else QUICK
    answer |= {f"rule {rule}": pool(POOL, rule) for rule in rules}
    answer |= {
        f"scale {scale}": pool(POOL, scale=scale) for scale in SCALES if is_main and scale != SCALE
    }
    cheap = ["linear", "hinges", "discriminant", "laplacian", "gaussian", "forest"]
    answer["no boosting, one forest"] = pool(cheap)
    answer["laplacian, forest, bags"] = pool(["laplacian", "forest", "boosted bags"])
    return answer


def ablate(options: argparse.Namespace) -> None:
    """Score variants of the pool on the cached members."""
    done = {(entry["table"], entry["setting"], entry["draw"]) for entry in stored(ABLATIONS)}
    for seed, setting, table in product(range(options.draws), options.settings, options.tables):
        path = place(options.cache, table, setting, seed).with_suffix(".npz")
        if (table, setting, seed) in done or not path.exists():
            continue
        problem = draw(table, setting, seed)
        lines = []
        for name, (train, test) in variants(
            dict(np.load(path)), problem.y, "15" in setting
        ).items():
            entry = {"table": table, "setting": setting, "draw": seed, "variant": name}
            entry |= metrics(problem, test)
            unlabeled = problem.y == 0
            entry["first_100_unlabeled"] = n_right(problem.truth[unlabeled], train[unlabeled])
            entry["auc_of_labeled"] = round(float(roc_auc_score(problem.y, train)), 5)
            # What the AUC of P against U would be, by the truth of the test rows.
            entry["auc_expected"] = round((1 - problem.prior) * entry["auc"] + problem.prior / 2, 5)
            lines.append(json.dumps(entry) + "\n")
        with ABLATIONS.open("a") as file:
            file.write("".join(lines))


# Rules that are tried in all settings.
QUICK = ["average", "best", "soft, half width", "greedy", "greedy, shrunk 50", "stacked, decay 10"]
SHOWN = ("auc", "average_precision", "first_100")


def report(options: argparse.Namespace) -> None:
    """Means of all variants and baselines, and the worst table."""
    baselines = [entry for entry in stored(BASELINES) if entry["prior"] == "unknown"]
    for setting in options.settings:
        entries = [each for each in stored(ABLATIONS) if each["setting"] == setting]
        keys = {(each["table"], each["draw"]) for each in entries}
        rows = defaultdict(dict)
        for each in [*entries, *(each for each in baselines if each["setting"] == setting)]:
            if (each["table"], each["draw"]) in keys:
                name = each.get("variant") or f"* {each['method']}"
                rows[name][each["table"], each["draw"]] = [each[metric] for metric in SHOWN]
        means = {name: by_table(found) for name, found in rows.items()}
        rivals = [name for name in means if name.startswith("*") and "limit" not in name]
        tables = sorted({table for table, _ in keys})
        means = {name: found for name, found in means.items() if len(found) == len(tables)}
        rivals = [name for name in rivals if name in means]
        nine = [table for table in tables if table in NINE]
        print(f"\n{setting}: {len(keys)} draws of {len(tables)} tables; nine; worst table")
        for name in sorted(means, key=lambda name: -overall(means[name], tables)[0]):
            gap = {
                table: means[name][table][0] - max(means[rival][table][0] for rival in rivals)
                for table in tables
            }
            worst = min(gap, key=gap.get)
            a, b = overall(means[name], tables), overall(means[name], nine)
            print(
                f"{a[0]:.4f} {a[1]:.4f} {a[2]:5.1f}   {b[0]:.4f} {b[1]:.4f} {b[2]:5.1f}   "
                f"{gap[worst]:+.3f} {worst:12} {name}"
            )


def by_table(found: dict[tuple[str, int], list[float]]) -> dict[str, np.ndarray]:
    tables = defaultdict(list)
    for (table, _), row in found.items():
        tables[table].append(row)
    return {table: np.mean(rows, axis=0) for table, rows in tables.items()}


def overall(means: dict[str, np.ndarray], tables: list[str]) -> np.ndarray:
    return np.mean([means[table] for table in tables], axis=0)


def clock(options: argparse.Namespace) -> None:
    """Seconds of the whole fit by member, and of a prediction, on made-up columns."""
    for n, d, labels in ((1200, 57, 100), (10_000, 30, 150), (100_000, 30, 500)):
        rng = np.random.default_rng(0)
        X = rng.standard_normal((n, d)).astype(np.float32)
        truth = X[:, :5].sum(axis=1) + 2 * rng.standard_normal(n) > 3
        y = np.zeros(n, int)
        y[rng.choice(np.flatnonzero(truth), labels, replace=False)] = 1
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            start = time.process_time()
            inputs = prepared(X, X[:2])
            ready = time.process_time() - start
            seconds = fit(inputs, y, {"unknown": None}, POOL)["seconds"]
        total = ready + sum(seconds.values())
        print(f"{n} x {d}: {total:.1f} s", {"inputs": round(ready, 2)}, end=" ")
        print({name: round(value, 2) for name, value in seconds.items()}, flush=True)
        if n == 10_000:
            _clock_predictions(inputs, y)


def _clock_predictions(inputs: dict[str, tuple], y: np.ndarray) -> None:
    """Print microseconds a row of each member of the pool and of the student."""
    found = {}
    scorers = {name: MEMBERS[name] for name in POOL}
    scorers["student"] = ("matrix", lambda X, y, seed: student(X, y.astype(float)))
    for name, (kind, member) in scorers.items():
        X = inputs[kind][0]
        score = member(X, y, 0)
        start = time.process_time()
        score(X)
        found[name] = round((time.process_time() - start) / len(X) * 1e6, 2)
    print("microseconds a row:", found)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("stage", choices=["run", "ablate", "report", "time"])
    parser.add_argument("--cache", type=Path, default=CACHE)
    parser.add_argument("--tables", nargs="*", default=DEVELOPMENT)
    parser.add_argument("--settings", nargs="*", default=[*SETTINGS][:3], choices=[*SETTINGS])
    parser.add_argument("--members", nargs="*", default=POOL, choices=[*MEMBERS])
    parser.add_argument("--draws", type=int, default=DRAWS)
    options = parser.parse_args()
    stages = {"run": run, "ablate": ablate, "report": report, "time": clock}
    stages[options.stage](options)


if __name__ == "__main__":
    main()
