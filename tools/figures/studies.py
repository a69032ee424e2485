"""Figures of the studies that scripts in ``experiments`` store: priors, biased labels, the pool."""

import json
from collections import defaultdict
from collections.abc import Callable
from statistics import fmean, stdev
from typing import Any, Final

import numpy as np
from strangers import GROUPS as KEEL_GROUPS

from tools.figures.real_tables import Rows, share, triple
from tools.figures.stored import RESULTS, lines

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
    "pretrained": "the pretrained network",
}


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


# Methods of `learners.py`, all but the last around the same boosting.
LEARNERS: Final = {
    "robust-pu-meta": "**Robust-PU around boosting**",
    "bagging": "PU bagging of the same learner, 100 of them",
    "networks": "the Robust-PU networks of the default ensemble, without trees",
    "elkan-noto": "Elkan-Noto, the same learner",
    "negative": "PN: unlabelled is negative, the same learner",
}


def learner_errors(method: str, group: str) -> str:
    """Mean error over the paper's tables or KEEL's, and its deviation from trial to trial."""
    by_trial = defaultdict(list)
    for entry in lines("learners.ndjson"):
        is_paper = entry["table"] in ("spambase", "shuttle", "mushrooms")
        is_wanted = entry["method"] == method and is_paper == (group == "paper")
        if is_wanted and entry["learner"] in ("boosting", ""):
            by_trial[entry["trial"]].append(entry["error"])
    means = [fmean(errors) for errors in by_trial.values()]
    return f"{fmean(means):.2f} ± {stdev(means):.2f}"


def learners() -> Rows:
    """Robust-PU around a learner beside other methods around it."""
    rows = [["", "the paper's tables, 9 settings", "KEEL's, 13 tables"]]
    found = {
        name: [learner_errors(name, group) for group in ("paper", "keel")] for name in LEARNERS
    }
    best = [min(column, key=float_of) for column in zip(*found.values(), strict=True)]
    for name, texts in found.items():
        pair = zip(texts, best, strict=True)
        rows.append(
            [LEARNERS[name], *(_bold_mean(text) if text == low else text for text, low in pair)]
        )
    return rows


def float_of(text: str) -> float:
    """The mean of a text like ``2.90 ± 0.34``."""
    return float(text.partition(" ")[0])


def _bold_mean(text: str) -> str:
    mean, _, rest = text.partition(" ")
    return f"**{mean}** {rest}"


def unlabeled_loss(method: str, kind: str, epochs: str = "300") -> str:
    """Mean loss of unlabelled rows as negatives, by true class."""
    return f"{_on_the_way(method, kind, epochs):.2f}"


def unlabeled_flagged(method: str, kind: str, epochs: str = "300") -> str:
    """Percentage of unlabelled rows of a true class that are predicted positive."""
    return f"{100 * _on_the_way(method, f'{kind}_flagged', epochs):.1f} %"


def _on_the_way(method: str, name: str, epochs: str) -> float:
    """Mean over the trials of `losses.py`."""
    entries = json.loads((RESULTS / "losses.json").read_text())
    wanted = method, int(epochs)
    return fmean(entry[name] for entry in entries if (entry["method"], entry["epochs"]) == wanted)


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
    "without discriminant": "without linear models on bins of each column",
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


# Of `strangers.py`: what is shown beside the default.
STRANGERS: Final = {
    "auto": "**PUClassifier**",
    "ensemble of 0.1.0": "the ensemble of 0.1.0",
    "bagging": "bagged trees",
    "puet": "PU extra-trees",
    "elkan-noto": "Elkan-Noto, linear",
    "nnpu": "nnPU",
}


# The same of methods that are not given the prior.
WITHOUT_PRIOR: Final = {
    f"{name}, prior unknown": f"{STRANGERS[name]}, prior unknown"
    for name in ("auto", "bagging", "puet")
}


def strangers() -> Rows:
    """Mean error on KEEL's tables, by group of tables."""
    large, small, seen = KEEL_GROUPS.values()
    others = [table for table in large if table not in ("optdigits", "splice", "texture")]
    groups = {"large": large, "of them": others, "small": small, "small, looked at": seen}
    errors = defaultdict(list)
    for entry in lines("strangers.ndjson"):
        errors[entry["method"], entry["table"]].append(entry["error"])
    rows = [["error", *(f"{len(tables)} {name}" for name, tables in groups.items())]]
    link = "[pretrained network](../pretrained.md)"
    alone = {"pretrained": link, "pretrained, prior unknown": f"{link}, prior unknown"}
    for method, label in (STRANGERS | WITHOUT_PRIOR | alone).items():
        means = [
            fmean(fmean(errors[method, table]) for table in tables) for tables in groups.values()
        ]
        rows.append([label, *(f"{value:.2f}" for value in means)])
    return rows


def few_labels() -> Rows:
    """Mean error over the sets that all methods have been run on, by number of labels."""
    errors = defaultdict(list)
    for entry in lines("few_labels.ndjson"):
        errors[entry["method"], entry["n_positive"], entry["table"]].append(entry["error"])
    counts = sorted({count for _, count, _ in errors})
    tables = {table for _, _, table in errors}
    shared = [
        table
        for table in sorted(tables)
        if all((method, count, table) in errors for method in STRANGERS for count in counts)
    ]
    rows = [[f"{len(shared)} sets, labels:", *map(str, counts)]]
    for method, label in STRANGERS.items():
        means = [fmean(fmean(errors[method, n, table]) for table in shared) for n in counts]
        rows.append([label, *(f"{value:.1f}" for value in means)])
    return rows


def puicl_mean(method: str, table: str, name: str) -> float:
    """Mean over the draws in the protocol of PUICL."""
    wanted = method, table
    return fmean(e[name] for e in lines("puicl.ndjson") if (e["method"], e["table"]) == wanted)


def puicl_accuracy(method: str, table: str) -> str:
    """Percentage of unlabelled rows that are predicted right."""
    return f"{100 * puicl_mean(method, table, 'accuracy'):.0f} %"


def puicl() -> Rows:
    """Accuracy and AUC of the unlabelled rows in the protocol of PUICL, prior unknown."""
    printed = {"spambase": (0.767, 0.876), "magic": (0.829, 0.805), "letter": (0.972, 0.995)}
    rows = [["accuracy / AUC", *printed]]
    rows.append(["PUICL, as printed", *(f"{share(a)} / {share(b)}" for a, b in printed.values())])
    for method, label in {"auto": "PUClassifier", "pretrained": "the network alone"}.items():
        pairs = (
            [puicl_mean(method, table, key) for key in ("accuracy", "auc")] for table in printed
        )
        rows.append([label, *(" / ".join(map(share, pair)) for pair in pairs)])
    return rows


COVERED: Final = {
    "recall": "recall",
    "precision": "precision",
    "auc": "AUC",
    "auc_of_labeled": "AUC of labelled against unlabelled rows",
    "positives_at_k": "positives among the first k",
    "prior": "share of positives, estimated",
}
FITTED: Final = {
    "auto": "PUClassifier",
    "trees": "PU extra-trees",
    "ensemble": "networks and trees",
}


def coverage() -> Rows:
    """How many of the 90 % intervals hold the truth."""
    rows = [["90 % intervals that hold the truth", *FITTED.values()]]
    for name, label in COVERED.items():
        # Positives are whole rows.
        room = 0.5 if name == "positives_at_k" else 0.0
        row = [label]
        for method in FITTED:
            found = [
                e[name] for e in lines("coverage.ndjson") if e["method"] == method and name in e
            ]
            held = [low - room <= truth <= high + room for low, _, high, truth in found]
            row.append(f"{100 * fmean(held):.0f} % of {len(held)}")
        rows.append(row)
    return rows


def coverage_above(name: str) -> str:
    """Share of the intervals that miss the truth of which it lies above."""
    ends = [e[name] for e in lines("coverage.ndjson") if name in e]
    above, below = (
        sum(truth > high for _, _, high, truth in ends),
        sum(truth < low for low, _, _, truth in ends),
    )
    return f"{100 * above / (above + below):.0f} %"


FIGURES: Final[dict[str, Callable[..., Any]]] = {
    "biased": biased,
    "learners": learners,
    "unlabeled-loss": unlabeled_loss,
    "unlabeled-flagged": unlabeled_flagged,
    "coverage": coverage,
    "coverage-above": coverage_above,
    "pu-bench": pu_bench,
    "pool-tried": pool_tried,
    "pool-member": pool_member,
    "keel-tables": strangers,
    "few-labels": few_labels,
    "puicl": puicl,
    "puicl-accuracy": puicl_accuracy,
}
