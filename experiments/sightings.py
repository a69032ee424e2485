"""Table: sightings of species against MaxEnt and a down-sampled forest.

    pip install elapid==1.0.4
    python experiments/sightings.py             # runs what is missing, then prints
    python experiments/sightings.py --report    # prints what is stored

Sightings are positives, background points unlabelled. Two species come with `elapid`: a sloth
(bradypus, 116 sightings) and a slug (ariolimax). Rows are scored by models that have not seen them,
five folds, three draws of folds; the AUC is that of sightings against background, and the Boyce
index is of the shares of the background that have a lower score. Ten virtual species live at the
background points of the sloth: each has a niche in two climates, and their truth is known. A third
of their places, 80 at most, are sightings; AUC and average precision are of the true presence at
the other points. All methods are at their defaults, and the share of habitat is not given. One
JSON line a species, draw and method in results/sightings.ndjson.
"""

import argparse
import time
import warnings
from collections.abc import Callable
from functools import cache
from itertools import product
from typing import Any

import numpy as np
import pandas as pd
from figure import RESULTS
from fits import run_missing, stored
from simple_learners import bagged
from sklearn.metrics import average_precision_score, roc_auc_score
from sklearn.tree import DecisionTreeClassifier

import robustpu
from robustpu import PUClassifier, metrics

STORED = RESULTS / "sightings.ndjson"
KEY = ("species", "draw", "method")
REAL, DRAWS = ("bradypus", "ariolimax"), 3
VIRTUAL = tuple(f"virtual {number}" for number in range(10))
MOST = 80


@cache
def sample(name: str) -> tuple[pd.DataFrame, np.ndarray]:
    """Measures of the places, and 1 where the species was seen, 0 of background."""
    from elapid import load_sample_data

    table, seen = load_sample_data(name)
    table = pd.DataFrame(table).drop(columns="geometry", errors="ignore").reset_index(drop=True)
    if "ecoreg" in table:
        table["ecoreg"] = table["ecoreg"].astype("category")
    return table, np.asarray(seen).astype(int)


def virtual(number: int) -> tuple[pd.DataFrame, np.ndarray, np.ndarray]:
    """Places, sightings and true presence of a species that was made."""
    table, seen = sample("bradypus")
    table = table[seen == 0].reset_index(drop=True)
    rng = np.random.default_rng([29, number])
    climate = table.drop(columns="ecoreg").to_numpy(float)
    Z = (climate - climate.mean(axis=0)) / climate.std(axis=0)
    first, second = rng.choice(Z.shape[1], 2, replace=False)
    centre, width = rng.uniform(-1, 1, 2), rng.uniform(0.5, 1.2, 2)
    distance = ((Z[:, [first, second]] - centre) / width) ** 2
    presence = rng.random(len(Z)) < np.exp(-0.5 * distance.sum(axis=1))
    places = np.flatnonzero(presence)
    labeled = rng.choice(places, min(MOST, len(places) // 3), replace=False)
    return table, np.isin(np.arange(len(Z)), labeled).astype(int), presence


def pool(X: pd.DataFrame, y: np.ndarray, X_new: pd.DataFrame, seed: int) -> np.ndarray:
    return PUClassifier(random_state=seed).fit(X, y).predict_proba(X_new)[:, 1]


def maxent(X: pd.DataFrame, y: np.ndarray, X_new: pd.DataFrame, seed: int) -> np.ndarray:
    from elapid import MaxentModel

    model = MaxentModel(n_cpus=1, random_state=seed)
    places = [place for place, kind in enumerate(X.dtypes) if kind == "category"]
    X, X_new = X.astype(float), X_new.astype(float)
    model.fit(X, y, categorical=places or None)
    return np.asarray(model.predict(X_new)).ravel()


def forest(X: pd.DataFrame, y: np.ndarray, X_new: pd.DataFrame, seed: int) -> np.ndarray:
    """500 trees, each on a bootstrap sample of sightings and as many background points."""

    def tree(number: int) -> DecisionTreeClassifier:
        return DecisionTreeClassifier(max_features="sqrt", random_state=1000 * seed + number)

    return bagged(tree, X.astype(float), y, X_new.astype(float), 500, 1)


METHODS: dict[str, Callable[..., np.ndarray]] = {
    "auto": pool,
    "MaxEnt (elapid)": maxent,
    "down-sampled forest": forest,
}


def run(species: str, draw: int, method: str) -> dict[str, Any]:
    start = time.perf_counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if species in REAL:
            found = scored_out_of_fold(species, draw, METHODS[method])
        else:
            X, y, presence = virtual(int(species.split()[1]))
            score, rest = METHODS[method](X, y, X, draw), y == 0
            found = {
                "auc": roc_auc_score(presence[rest], score[rest]),
                "average_precision": average_precision_score(presence[rest], score[rest]),
                "share": float(presence[rest].mean()),
            }
    return {
        **dict(zip(KEY, (species, draw, method), strict=True)),
        **{name: round(float(value), 4) for name, value in found.items()},
        "seconds": round(time.perf_counter() - start, 2),
        "version": robustpu.__version__,
    }


def scored_out_of_fold(species: str, draw: int, method: Callable[..., Any]) -> dict[str, float]:
    X, y = sample(species)
    score = np.empty(len(y))
    for train, test in metrics.PUKFold(5, random_state=draw).split(X, y):
        score[test] = method(X.iloc[train], y[train], X.iloc[test], draw)
    below = np.searchsorted(np.sort(score[y == 0]), score) / (y == 0).sum()
    return {"auc": roc_auc_score(y, score), "boyce": metrics.boyce_index(y, below)}


def print_table(entries: list[dict[str, Any]]) -> None:
    print(f"{'':22}{'bradypus':>17}{'ariolimax':>17}{'10 virtual species':>22}")
    print(f"{'':22}{'AUC':>9}{'Boyce':>8}{'AUC':>9}{'Boyce':>8}{'AUC':>13}{'av. prec.':>9}{'s':>6}")
    for method in METHODS:
        columns = []
        for group, names in (((REAL[0],), "auc boyce"), ((REAL[1],), "auc boyce"),
                             (VIRTUAL, "auc average_precision seconds")):  # fmt: skip
            fits = [e for e in entries if e["species"] in group and e["method"] == method]
            columns += [np.mean([e[name] for e in fits]) for name in names.split()]
        print(f"{method:22}" + "".join(f"{value:9.3f}" for value in columns))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--report", action="store_true", help="print what is stored, fit nothing")
    options = parser.parse_args()
    if not options.report:
        keys = [*product(REAL, range(DRAWS), METHODS), *product(VIRTUAL, (0,), METHODS)]
        run_missing(STORED, KEY, keys, run, 1)
    print_table(stored(STORED))


if __name__ == "__main__":
    main()
