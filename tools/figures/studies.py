"""Figures of the studies that scripts in ``experiments`` store: priors, biased labels, the pool."""

import json
from collections import defaultdict
from collections.abc import Callable, Sequence
from functools import cache
from statistics import fmean, stdev
from typing import Any, Final

import numpy as np

from robustpu.priors.cautious import NARROW, NARROWER, SEPARABLE
from tools.figures.real_tables import Rows, share, triple
from tools.figures.stored import RESULTS, ROOT, lines

SETS: Final = {
    "spambase": "spambase",
    "shuttle": "shuttle",
    "mushrooms": "mushrooms",
    "mnist": "MNIST",
    "fashion-mnist": "Fashion-MNIST",
}
ESTIMATES: Final = (
    "dedpul",
    "auto",
    "best-bin",
    "km1",
    "km2",
    "penalized-l1",
    "alpha-max",
    "pearson",
    "tice",
    "elkan-noto",
)
LABELINGS: Final = {
    "scar": "SCAR",
    "pusb": "certain first",
    "lbe-a": "certain first (LBE-A)",
    "lbe-b": "nearly negative first",
    "logistic": "random direction",
}
BIASED: Final = {
    "auto": "PUClassifier",
    "bagging": "bagged trees",
    "ensemble of 0.1.0": "the ensemble of 0.1.0 (networks and trees)",
    "puet": "PU extra-trees",
    "pebl": "PEBL",
    "spy": "spy",
    "nnpu": "nnPU",
    "lbe": "LBE",
    "pusb": "PUSB",
}


@cache
def estimated() -> list[dict[str, Any]]:
    """Problems of `priors.py`, with what each method says."""
    found: list[dict[str, Any]] = json.loads((RESULTS / "priors.json").read_text())
    return found


def _off(entries: Sequence[dict[str, Any]], method: str) -> float:
    return fmean(abs(entry[method] - entry["prior"]) for entry in entries)


def _held(entries: Sequence[dict[str, Any]]) -> float:
    return 100 * fmean(entry["low"] <= entry["prior"] <= entry["high"] for entry in entries)


def prior_errors() -> Rows:
    """Mean absolute errors of the estimates of the prior, by data set."""
    groups = [[entry for entry in estimated() if entry["dataset"] == name] for name in SETS]
    found = {name: [_off(group, name) for group in (*groups, estimated())] for name in ESTIMATES}
    order = sorted(found, key=lambda name: found[name][-1])
    rows = [["", *SETS.values(), "all"]]
    for name in order:
        *each, whole = map(share, found[name])
        rows.append([f"`{name}`", *each, f"**{whole}**" if name == order[0] else whole])
    return rows


def prior_counts() -> Rows:
    """Error and coverage of `auto` by the number of labelled positives."""
    rows = [["labelled positives", "error of `auto`", "90 % intervals that hold the truth"]]
    for count in sorted({entry["n_positive"] for entry in estimated()}):
        group = [entry for entry in estimated() if entry["n_positive"] == count]
        rows.append([f"{count:,}", share(_off(group, "auto")), f"{_held(group):.0f} %"])
    return rows


def prior_problems() -> str:
    """Count the problems."""
    return str(len(estimated()))


def cautious(name: str, what: str) -> str:
    """Of an estimate on real tables: median ratio to the truth, or how often it is twice it."""
    entries = [e for e in lines("cautious_prior.ndjson") if not e["setting"].startswith("keel")]
    ratio = np.array([entry[name] / entry["prior"] for entry in entries])
    if what == "count":
        return str(len(entries))
    return f"{np.median(ratio):.1f}" if what == "median" else f"{100 * np.mean(ratio > 2):.0f} %"


def cautious_interval(what: str) -> str:
    """Coverage, or median width, of the cautious interval on real tables."""
    entries = [e for e in lines("cautious_prior.ndjson") if not e["setting"].startswith("keel")]
    ends = [(e["posterior_0.3_0.05"], e["posterior_0.3_0.95"], e["prior"]) for e in entries]
    if what == "width":
        return f"{np.median([high - low for low, high, _ in ends]):.2f}"
    return f"{100 * np.mean([low <= prior <= high for low, high, prior in ends]):.0f} %"


def known_in_keel() -> str:
    """Count the problems from KEEL whose share counts as known, by the rule of the library."""
    entries = [e for e in lines("cautious_prior.ndjson") if e["setting"].startswith("keel")]
    known = [
        e["posterior_0.3_0.95"] <= NARROW * e["posterior_0.3_0.05"]
        or (
            e["separation_0.5"] >= SEPARABLE
            and e["posterior_1.0_0.95"] <= NARROWER * e["posterior_1.0_0.05"]
        )
        for e in entries
    ]
    return f"{sum(known)} of {len(known)}"


def biased() -> Rows:
    """Mean errors over the tables where labels are not completely at random."""
    errors = defaultdict(list)
    for entry in lines("biased.ndjson"):
        errors[entry["method"], entry["labeling"], entry["table"]].append(entry["error"])
    tables = sorted({table for _, _, table in errors})

    def mean(method: str, labeling: str) -> float:
        return fmean(fmean(errors[method, labeling, table]) for table in tables)

    found = {method: [mean(method, labeling) for labeling in LABELINGS] for method in BIASED}
    order = sorted(found, key=lambda method: fmean(found[method][1:]))
    least = [min(each) for each in zip(*found.values(), strict=True)]
    rows = [["", *LABELINGS.values()]]
    for method in order:
        texts = [
            f"**{value:.1f}**" if f"{value:.1f}" == f"{low:.1f}" else f"{value:.1f}"
            for value, low in zip(found[method], least, strict=True)
        ]
        rows.append([BIASED[method], *texts])
    return rows


def pu_bench(method: str) -> str:
    """Accuracy on spambase as PU-Bench draws it."""
    found = [e["accuracy"] for e in lines("pu_bench.ndjson") if e["method"] == method]
    return f"{fmean(found):.1f} ± {stdev(found):.1f}"


# Variants of the prototype of the pool, and what they are.
TRIED: Final = {
    "pool": "**the pool of that stage**",
    "rule average": "weights: plain average",
    "rule best": "weights: the best member alone",
    "rule soft": "weights: softmax of AUC",
    "rule stacked": "weights: stacking",
    "rule greedy": "weights: greedy, not shrunk",
    "scale ranks": "scores as ranks",
    "scale normal": "scores as normal quantiles",
    "scale robust": "scores over their quantile range",
    "pool and 0.5 student, prior unknown": "a second stage: boosting on the pool's probabilities, "
    "half of the weight",
    "without linear": "without linear models on bins of each column",
    "without gaussian": "without a Gaussian kernel",
    "without forest of 3 U": "without a second forest, on three times as many unlabelled rows",
}


def pool_tried() -> Rows:
    """Variants of the prototype of the pool on the development half."""
    return [["", "AUC / average precision / right of the first 100"]] + [
        [label, _variant(name)] for name, label in TRIED.items()
    ]


def pool_member(name: str) -> str:
    """Mean AUC of a prototype of a member, 15 % labelled."""
    found = [
        entry["auc"]
        for entry in lines("pool_members.ndjson")
        if (entry["member"], entry["setting"]) == (name, "single-set 15 %")
    ]
    return share(fmean(found), 4)


def default_times() -> Rows:
    """Time and memory of the default, as `benchmarks/default.py` stored it."""
    rows = [["rows x columns", "effort", "seconds", "times LightGBM's own fit", "memory, GB"]]
    rows[0].append("rows scored a second")
    last = ""
    for entry in json.loads((ROOT / "benchmarks" / "default.json").read_text()):
        size = f"{entry['rows']:,} x {entry['columns']}"
        seconds = entry["seconds"]
        row = ["" if size == last else size, entry["effort"], f"{seconds:.{seconds < 20}f}"]
        row += [f"{seconds / entry['lightgbm']:.0f}", f"{entry['gigabytes']:.2f}"]
        rows.append([*row, f"{round(entry['rows_a_second'], -3):,}"])
        last = size
    return rows


def _variant(name: str) -> str:
    """AUC, average precision and first 100, 15 % labelled."""
    found = defaultdict(list)
    for entry in lines("pool_ablations.ndjson"):
        if (entry["variant"], entry["setting"]) == (name, "single-set 15 %"):
            found[entry["table"]].append(
                [entry[key] for key in ("auc", "average_precision", "first_100")]
            )
    row = np.mean([np.mean(rows, axis=0) for rows in found.values()], axis=0)
    return triple(row, 4)


FIGURES: Final[dict[str, Callable[..., Any]]] = {
    "prior-errors": prior_errors,
    "prior-counts": prior_counts,
    "prior-problems": prior_problems,
    "cautious": cautious,
    "cautious-interval": cautious_interval,
    "known-in-keel": known_in_keel,
    "biased": biased,
    "pu-bench": pu_bench,
    "pool-tried": pool_tried,
    "pool-member": pool_member,
    "default-times": default_times,
}
