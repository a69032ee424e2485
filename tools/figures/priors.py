"""Figures of estimated priors, from ``priors.json`` and ``cautious_prior.ndjson``."""

import json
from collections.abc import Callable, Sequence
from functools import cache
from statistics import fmean
from typing import Any, Final

import numpy as np

from robustpu.cautious import ANY, Floats
from tools.figures.real_tables import Rows, share
from tools.figures.stored import RESULTS, lines

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


GROUPS: Final = (
    ("development", "our tables, development half"),
    ("held-back", "our tables, held-back half"),
    ("large 0.05", "KEEL, large, 5 % positive"),
    ("large 0.2", "KEEL, large, 20 %"),
    ("large 0.5", "KEEL, large, 50 %"),
    ("large 0.65", "KEEL, large, 65 %"),
    ("large 0.8", "KEEL, large, 80 %"),
    ("small, looked at", "KEEL, small, looked at"),
    ("small", "KEEL, small, not looked at"),
)


@cache
def problems_of(group: str) -> list[dict[str, Any]]:
    """Problems of one group of `cautious_prior.py`, the large tables of KEEL by their prior."""
    name, _, prior = group.partition(" 0.")
    return [
        entry
        for entry in lines("cautious_prior.ndjson")
        if entry["group"] == name and (not prior or entry["setting"] == float(f"0.{prior}"))
    ]


def _numbers(entries: Sequence[dict[str, Any]], name: str, belief: float = ANY) -> Floats:
    return np.array([entry["beliefs"][f"{belief:g}"][name] for entry in entries])


def cautious_groups() -> Rows:
    """How far the share of positives from scores is off, by group of tables."""
    rows = [
        [
            "",
            "problems",
            "three estimators / truth",
            "ours / truth",
            "above twice the truth",
            "below half of it",
            "interval holds the truth",
            "median width",
            "counts as known",
        ]
    ]
    for group, title in GROUPS:
        entries = problems_of(group)
        truth = np.array([entry["prior"] for entry in entries])
        combined = np.array([entry["combined"] for entry in entries])
        value, low, high = (_numbers(entries, name) for name in ("value", "low", "high"))
        rows.append(
            [
                title,
                str(len(entries)),
                f"{np.median(combined / truth):.1f}",
                f"{np.median(value / truth):.1f}",
                f"{100 * np.mean(value > 2 * truth):.0f} %",
                f"{100 * np.mean(value < truth / 2):.0f} %",
                f"{100 * np.mean((low <= truth) & (truth <= high)):.0f} %",
                share(float(np.median(high - low))),
                str(int(_numbers(entries, "is_known").sum())),
            ]
        )
    return rows


def cautious_beliefs() -> Rows:
    """Error of unlabelled rows by how much is believed in any share."""
    beliefs = [float(belief) for belief in problems_of("development")[0]["beliefs"]]
    rows = [["", *(f"{belief:g}" for belief in beliefs)]]
    for group, title in GROUPS:
        found = [
            fmean(_numbers(problems_of(group), "error", belief).tolist()) for belief in beliefs
        ]
        rows.append([title, *map(share, found)])
    return rows


def cautious_ratio(what: str) -> str:
    """Of an estimate on the development tables: its median ratio to the truth."""
    entries = problems_of("development")
    truth = np.array([entry["prior"] for entry in entries])
    combined = np.array([entry["combined"] for entry in entries])
    found = combined if what == "combined" else _numbers(entries, "value")
    return f"{np.median(found / truth):.1f}"


FIGURES: Final[dict[str, Callable[..., Any]]] = {
    "prior-errors": prior_errors,
    "prior-counts": prior_counts,
    "prior-problems": prior_problems,
    "cautious-groups": cautious_groups,
    "cautious-beliefs": cautious_beliefs,
    "cautious-ratio": cautious_ratio,
}
