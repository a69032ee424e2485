"""Table: how often check_scar refutes a right prior, of fair labels and of each kind of bias.

    python experiments/scar_check.py            # runs what is missing, then prints
    python experiments/scar_check.py --draw     # prints alone

Fair labels: scores of two normal distributions, 200 draws a cell. Biased labels: mixtures in six
columns and two bundled tables, 1,000 unlabelled rows, a fifth of them positive, both scenarios in
turn, 20 draws a cell; scores by logistic regression with squares and products, five folds. One JSON
line a cell in results/scar_check.ndjson, which is none of the bench.

The excess is the mean of max(0, 1 - f_U / (prior f_P)) over labelled rows: the share of them that
the unlabelled rows are too few for. Where it is 0, prior and SCAR agree with the densities, and no
test whatever can see the bias.
"""

import argparse
import warnings
from itertools import product

import numpy as np
from figure import RESULTS
from fits import run_missing, stored
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold, cross_val_predict
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import PolynomialFeatures, StandardScaler

import robustpu
from robustpu import check_scar, datasets, make_pu
from robustpu.labeling import LABELINGS

STORED = RESULTS / "scar_check.ndjson"
NAMES = ("part", "table", "labeling", "n_positive", "prior")
APART = ("normal-9", "normal-4", "normal-2")
TABLES = ("mixture-4", "mixture-2", "mixture-1", "breast_cancer", "spambase")
FAIR, BIASED, UNLABELED, PRIOR = 200, 20, 1000, 0.2
POOL = 6000


def fair(table: str, n_positive: int, prior: float) -> dict[str, float]:
    """Count the draws of labels at random that are refuted."""
    gap, refuted = float(table.partition("-")[2]), 0
    for draw in range(FAIR):
        rng = np.random.default_rng([draw, n_positive])
        truth = rng.random(UNLABELED) < prior
        score = np.r_[rng.normal(gap, 1, n_positive), rng.normal(gap * truth)]
        y = np.arange(len(score)) < n_positive
        refuted += bool(check_scar(score, y, prior).is_refuted)
    return {"draws": FAIR, "refuted": refuted}


def biased(table: str, labeling: str, n_positive: int) -> dict[str, float]:
    """Count the draws of a kind of labels that are refuted, and how much there is to see."""
    X, truth = rows_of(table)
    posterior = posterior_of(table, X, truth)
    refuted, excess = 0, []
    for draw in range(BIASED):
        scenario = ("case-control", "single-set")[draw % 2]
        sizes = {"n_positive": n_positive, "n_unlabeled": unlabeled_of(table), "prior": PRIOR}
        pu = make_pu(X, truth, labeling=labeling, scenario=scenario, random_state=draw, **sizes)
        found = check_scar(out_of_fold(pu.X, pu.y, draw), pu.y, pu.prior)
        refuted += bool(found.is_refuted)
        excess.append(excess_of(labeling, X, truth == 1, posterior, draw))
    return {"draws": BIASED, "refuted": refuted, "excess": round(float(np.mean(excess)), 3)}


def rows_of(table: str):
    if not table.startswith("mixture"):
        found = datasets.load(table)
        return np.log1p(np.abs(found.data)), found.target
    gap, rng = float(table.partition("-")[2]), np.random.default_rng(0)
    truth = np.arange(POOL) % 2
    return rng.normal(size=(POOL, 6)) + np.outer(truth, [gap, gap / 2, 0, 0, 0, 0]), truth


def unlabeled_of(table: str) -> int:
    # 357 of its rows are negative.
    return 400 if table == "breast_cancer" else UNLABELED


def posterior_of(table: str, X, truth):
    """Probability of being positive among unlabelled rows; of real tables by a model."""
    if table.startswith("mixture"):
        gap = float(table.partition("-")[2])
        odds = gap * X[:, 0] + gap / 2 * X[:, 1] - 0.625 * gap**2
    else:
        odds = learner(X).fit(X, truth).decision_function(X)
    return 1 / (1 + np.exp(-odds) * (1 - PRIOR) / PRIOR)


def excess_of(labeling: str, X, is_positive, posterior, draw: int) -> float:
    """Mean of max(0, 1 - mean e / (e p)) over labelled positives, e their weights."""
    rows, rng = np.flatnonzero(is_positive), np.random.default_rng(draw)
    p = robustpu.labeling._posterior(X, is_positive)[rows]
    e = LABELINGS[labeling](X[rows], p, rng)
    missing = np.maximum(0, 1 - e.mean() / np.maximum(e * posterior[rows], 1e-300))
    return float(np.average(missing, weights=e))


def learner(X):
    terms = [PolynomialFeatures(2, include_bias=False), StandardScaler()] if X.shape[1] < 9 else []
    steps = [StandardScaler(), *terms]
    return make_pipeline(*steps, LogisticRegression(C=0.1, class_weight="balanced", max_iter=300))


def out_of_fold(X, y, seed: int):
    folds = StratifiedKFold(5, shuffle=True, random_state=seed)
    return cross_val_predict(learner(X), X, y, cv=folds, method="decision_function")


def run(part: str, table: str, labeling: str, n_positive: int, prior: float) -> dict:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = (
            fair(table, n_positive, prior)
            if part == "fair"
            else biased(table, labeling, n_positive)
        )
    key = zip(NAMES, (part, table, labeling, n_positive, prior), strict=True)
    return {**dict(key), **found, "version": robustpu.__version__}


def print_tables(entries: list[dict]) -> None:
    cells = {tuple(entry[name] for name in NAMES): entry for entry in entries}
    print("Labels at random: share of right priors that are refuted (5 % at most)\n")
    counts, shares = (25, 100, 400), (0.02, 0.1, 0.4)
    heads = [f"{count} P, {share:g}" for count, share in product(counts, shares)]
    print(f"{'':10}", *(f"{head:>10}" for head in heads))
    for table in APART:
        row = [cells.get(("fair", table, "scar", *each)) for each in product(counts, shares)]
        print(f"{table:10}", *(f"{share(entry):>10}" for entry in row))
    print("\nBiased labels: the same, with the excess that there is to see\n")
    heads = [f"{table} {count}" for table in TABLES for count in (50, 200)]
    print(f"{'':10}", *(f"{head[:17]:>18}" for head in heads))
    for labeling in LABELINGS:
        row = [
            cells.get(("biased", table, labeling, count, PRIOR))
            for table in TABLES
            for count in (50, 200)
        ]
        print(f"{labeling:10}", *(f"{share(entry) + seen(entry):>18}" for entry in row))


def share(entry: dict | None) -> str:
    return "" if entry is None else f"{entry['refuted'] / entry['draws']:.1%}"


def seen(entry: dict | None) -> str:
    return "" if entry is None else f" of {entry['excess']:.2f}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--draw", action="store_true", help="print what is stored")
    parser.add_argument("--jobs", type=int, default=1)
    given = parser.parse_args()
    if not given.draw:
        keys = [
            ("fair", table, "scar", count, prior)
            for table, count, prior in product(APART, (25, 100, 400), (0.02, 0.1, 0.4))
        ]
        keys += [
            ("biased", table, labeling, count, PRIOR)
            for table, labeling, count in product(TABLES, LABELINGS, (50, 200))
            # It has 212 positives.
            if (table, count) != ("breast_cancer", 200)
        ]
        run_missing(STORED, NAMES, keys, run, given.jobs)
    print_tables(stored(STORED))


if __name__ == "__main__":
    main()
