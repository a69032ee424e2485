"""Figures of estimated priors, from ``priors.json`` and ``cautious_prior.ndjson``."""

import json
from collections.abc import Callable, Sequence
from functools import cache
from statistics import fmean
from typing import Any, Final

import numpy as np

from robustpu.cautious import NARROW, NARROWER, SEPARABLE
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


FIGURES: Final[dict[str, Callable[..., Any]]] = {
    "prior-errors": prior_errors,
    "prior-counts": prior_counts,
    "prior-problems": prior_problems,
    "cautious": cautious,
    "cautious-interval": cautious_interval,
    "known-in-keel": known_in_keel,
}
