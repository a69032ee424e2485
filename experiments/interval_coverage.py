"""Table: how often 90 % intervals hold the truth, over 200 problems of many kinds.

    python experiments/interval_coverage.py            # runs what is missing, then prints
    python experiments/interval_coverage.py --draw     # prints alone

Problem by problem, chance decides the overlap (AUC .7 to 1), the share of positives among the
unlabelled rows (1 to 50 %), 25 to 400 labels, 500 to 2,000 unlabelled rows, the scenario, and
whether the prior is given. Positives are two clouds, negatives one, in eight columns. Recall,
precision and AUC are compared with those on 40,000 new rows, positives among the first k, as many
as there are positives by the prior, with the truth of these rows. One JSON line a fit in
results/coverage.ndjson, which is none of the bench.
"""

import argparse
import warnings
from itertools import product

import numpy as np
from figure import RESULTS
from fits import run_missing, stored
from sklearn.metrics import roc_auc_score

import robustpu
from robustpu import NNPUClassifier, PUClassifier, PUExtraTreesClassifier, PUVotingClassifier
from robustpu.priors import needs_estimation

STORED = RESULTS / "coverage.ndjson"
PROBLEMS, TEST = 200, 20_000
METHODS = ("auto", "trees", "ensemble")
METRICS = ("recall", "precision", "auc", "auc_of_labeled", "positives_at_k", "prior")


def rows_of(rng, truth, gap: float):
    """Positives lie in two clouds; the eight columns of a cloud have a common part."""
    rows = rng.normal(size=(len(truth), 8)) + 0.5 * rng.normal(size=(len(truth), 1))
    side = rng.random(len(truth)) < 0.6
    rows[:, 0] += gap * truth * side
    rows[:, 1] += gap * truth * ~side
    rows[:, 2] += 0.4 * gap * truth
    return rows


def problem(number: int) -> dict:
    """Draw the rows and what is known of them."""
    rng = np.random.default_rng([7, number])
    gap, prior = rng.uniform(0.8, 4.0), float(np.exp(rng.uniform(np.log(0.01), np.log(0.5))))
    n_positive, n_unlabeled = (int(rng.choice(each)) for each in ((25, 50, 100, 400), (500, 2000)))
    scenario = ("case-control", "single-set")[number % 2]
    hidden = max(2, round(prior * n_unlabeled))
    truth = np.arange(n_positive + n_unlabeled) < n_positive + hidden
    y = np.arange(len(truth)) < n_positive
    if scenario == "case-control":
        # The number of hidden positives is drawn with the rows.
        truth = y | (rng.random(len(truth)) < prior)
    new = np.arange(2 * TEST) < TEST
    share = float(truth[~y].mean())
    return {
        "X": rows_of(rng, truth, gap),
        "y": y,
        "truth": truth,
        "X_new": rows_of(rng, new, gap),
        "new": new,
        "gap": gap,
        "prior": share if scenario == "single-set" else prior,
        "scenario": scenario,
        "is_given": bool(number // 2 % 2),
    }


def model_of(method: str, prior, scenario: str):
    given = {"prior": prior, "scenario": scenario, "threshold": "prior", "random_state": 0}
    if method == "auto":
        return PUClassifier(effort="fast", **given)
    if method == "trees":
        return PUExtraTreesClassifier(n_estimators=60, **given)
    parts = [
        ("networks", NNPUClassifier(n_members=4, epochs=15, validation_fraction=0.25)),
        ("trees", PUExtraTreesClassifier(n_estimators=40)),
    ]
    return PUVotingClassifier(parts, validation_fraction=0.25, **given)


def run(number: int, method: str) -> dict:
    """Fit, and compare each interval with the truth."""
    made = problem(number)
    prior = made["prior"] if made["is_given"] else "auto"
    model = model_of(method, prior, made["scenario"])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.fit(made["X"], made["y"])
        found = model.evaluate()
    true = truth_of(model, made, found.sample.k)
    entry = {
        "problem": number,
        "method": method,
        "scenario": made["scenario"],
        "is_given": made["is_given"],
        "is_known": found.is_prior_known,
        "n_positive": int(made["y"].sum()),
        "n_unlabeled": int((~made["y"]).sum()),
        "share": round(made["prior"], 4),
        "gap": round(made["gap"], 2),
    }
    for name in METRICS[:-1]:
        each = found.estimates.get(name)
        if each is not None:
            entry[name] = [round(x, 4) for x in (each.low, each.value, each.high, true[name])]
    if needs_estimation(prior):
        ends = model.prior_interval()
        entry["prior"] = [round(x, 4) for x in (ends.low, model.prior_, ends.high, true["prior"])]
    return {**entry, "version": robustpu.__version__}


def truth_of(model, made: dict, k: int) -> dict[str, float]:
    score, new = model.predict_proba(made["X_new"])[:, 1], made["new"]
    recall, false = ((score[side] >= model.threshold_).mean() for side in (new, ~new))
    share = made["truth"][~made["y"]].mean()
    population = made["truth"].mean() if made["scenario"] == "single-set" else made["prior"]
    hits, others = population * recall, (1 - population) * false
    auc = roc_auc_score(new, score)
    return {
        "recall": recall,
        "precision": hits / max(hits + others, 1e-12),
        "auc": auc,
        "auc_of_labeled": share / 2 + (1 - share) * auc,
        "positives_at_k": float(made["truth"][model.suspects(k)[0]].sum()),
        "prior": made["prior"] if made["scenario"] == "case-control" else share,
    }


def print_tables(entries: list[dict]) -> None:
    print("90 % intervals that hold the truth (count), width, and mean of value - truth\n")
    for title, kind in {
        "method": lambda entry: entry["method"],
        "prior": lambda entry: "given" if entry["is_given"] else "estimated",
        "scenario": lambda entry: entry["scenario"],
        "labels": lambda entry: f"{entry['n_positive']} labels",
        "overlap": lambda entry: "gap " + ("< 2" if entry["gap"] < 2 else ">= 2"),
        "share": lambda entry: "share " + ("< .05" if entry["share"] < 0.05 else ">= .05"),
    }.items():
        print(f"{title:14}", *(f"{name:>22}" for name in METRICS))
        for name in sorted({kind(entry) for entry in entries}):
            part = [entry for entry in entries if kind(entry) == name]
            print(f"  {name:12}", *(f"{cell(part, metric):>22}" for metric in METRICS))


def cell(entries: list[dict], metric: str) -> str:
    known = np.array([entry[metric] for entry in entries if metric in entry])
    if not len(known):
        return ""
    low, value, high, truth = known.T
    if metric == "positives_at_k":
        # In rows, of lists of different lengths.
        held, scale = (low - 0.5 <= truth) & (truth <= high + 0.5), np.maximum(high.mean(), 1)
    else:
        held, scale = (low <= truth) & (truth <= high), 1.0
    width, error = np.mean(high - low) / scale, np.mean(value - truth) / scale
    return f"{held.mean():.0%} ({len(known)}) {width:.2f} {error:+.2f}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--draw", action="store_true", help="print what is stored")
    parser.add_argument("--methods", nargs="*", default=METHODS)
    parser.add_argument("--problems", type=int, default=PROBLEMS)
    parser.add_argument("--jobs", type=int, default=1)
    given = parser.parse_args()
    if not given.draw:
        keys = product(range(given.problems), given.methods)
        run_missing(STORED, ("problem", "method"), keys, run, given.jobs)
    print_tables(stored(STORED))


if __name__ == "__main__":
    main()
