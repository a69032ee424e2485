"""Tables of the docs that come from the records of the bench."""

import json
from collections.abc import Callable
from importlib.resources import files
from itertools import chain
from statistics import fmean
from typing import Any, Final

from robustpu.bench.paper import MeanSD
from tools.figures.bench import (
    IMAGES,
    NAMES,
    PRIORS,
    TABLES,
    cell,
    error,
    in_paper,
    mean,
    slashes,
    was_run,
)

Rows = list[list[str]]
# Place and name of a method of the tables of choosing.md, and how its setting came about.
CHOICES: Final = (
    ("default/pu", "auto", "PUClassifier", "defaults"),
    ("others/oracle", "puet", "PU extra-trees", "defaults"),
    ("main/oracle", "robust-pu-5", "Robust-PU, average of the five best settings", "tuned"),
    ("others/oracle", "tedn", "(TED)^n", "tuned"),
    ("others/oracle", "bagging", "bagged trees", "defaults"),
    ("main/oracle", "robust-pu", "Robust-PU, one network", "tuned"),
    ("main/oracle", "nnpu-5", "nnPU, average of the five best settings", "tuned"),
    ("main/oracle", "pulns", "PULNS", "tuned"),
    ("others/oracle", "lbe", "LBE", "tuned"),
    ("main/oracle", "p3mix-c", "P3Mix-C", "tuned"),
    ("main/oracle", "pubn", "PUbN", "tuned"),
    ("main/oracle", "p3mix-e", "P3Mix-E", "tuned"),
    ("others/oracle", "genpu", "GenPU", "tuned"),
    ("main/oracle", "nnpu", "nnPU", "tuned"),
    ("main/oracle", "dist-pu", "Dist-PU", "tuned"),
    ("others/oracle", "vpu", "VPU", "tuned"),
    ("main/oracle", "pusb", "PUSB", "tuned"),
    ("others/oracle", "self-pu", "Self-PU", "tuned"),
    ("main/oracle", "upu", "uPU", "tuned"),
    ("others/oracle", "spy", "spy", "defaults"),
    ("others/oracle", "pebl", "PEBL", "defaults"),
    ("default/pu", "nnpu", "nnPU", "defaults"),
    ("others/oracle", "elkan-noto", "Elkan-Noto", "defaults"),
    ("main/oracle", "pn", "PN", "tuned"),
)
# Averages of settings that were searched have no time of their own.
UNTIMED: Final = (
    ("main/oracle", "robust-pu-5"),
    ("main/oracle", "robust-pu"),
    ("main/oracle", "nnpu-5"),
)

# What the README compares with the paper.
PAPER: Final = (("main/oracle", "robust-pu"), ("default/pu", "auto"))


def written(error: MeanSD, paper: MeanSD | None = None) -> str:
    """Write a mean and its deviation, and the paper's mean; italics where ours is above it."""
    text = f"{error.mean:.2f} ± {error.sd:.2f}"
    if paper is None:
        return text
    is_above = round(error.mean, 2) > paper.mean
    text = text.replace(f"{error.mean:.2f}", f"*{error.mean:.2f}*", 1) if is_above else text
    return f"{text} ({paper.mean:.2f})"


def paper_tables() -> Rows:
    """Mean errors at the three priors: the paper's Robust-PU, ours, and the default."""
    rows = [["", "Robust-PU in the paper", "one Robust-PU network", "PUClassifier"]]
    for dataset in (*TABLES, *IMAGES, "cifar10"):
        theirs = slashes(in_paper("robust-pu", dataset, prior).mean for prior in PRIORS)
        ours = [error(*method, dataset) for method in PAPER]
        rows.append([NAMES.get(dataset, dataset), theirs, *ours])
    return rows


def beside_paper(place: str, method: str, *datasets: str) -> Rows:
    """A method's errors by data set and prior, the paper's Robust-PU in brackets."""
    rows = [["", *(f"{prior:g}" for prior in PRIORS)]]
    for dataset in datasets:
        row = [
            written(cell(place, method, dataset, prior).ours, in_paper("robust-pu", dataset, prior))
            for prior in PRIORS
        ]
        rows.append([NAMES.get(dataset, dataset), *row])
    return rows


def default_tables() -> Rows:
    """The default's errors on the paper's tables, and those of the default before it."""
    rows = beside_paper("default/pu", "auto", *TABLES)
    rows[0].append("before")
    for row, dataset in zip(rows[1:], TABLES, strict=True):
        row.append(error("ensemble-0.1.0/pu", "ensemble-0.1.0", dataset))
    return rows


def choosing_tables() -> Rows:
    """Mean errors over the paper's tables, lowest mean first, and relative times."""
    times = json.loads(files("robustpu.methods").joinpath("times.json").read_text())
    found = []
    for place, method, label, how in CHOICES:
        means = [mean(place, method, TABLES, prior) for prior in PRIORS]
        time = "" if (place, method) in UNTIMED else f"{times[method]:g}"
        found.append((fmean(means), [label, how, *(f"{each:.2f}" for each in means)], time))
    found.sort(key=lambda row: row[0])
    best = found[0][0]
    rows = [["", "how", "prior 0.2", "0.4", "0.6", "mean", "time of a fit"]]
    for whole, row, time in found:
        rows.append([*row, f"**{whole:.2f}**" if whole == best else f"{whole:.2f}", time])
    return rows


def choosing_images() -> Rows:
    """Mean errors over the two MNISTs under both selections, and those of CIFAR-10."""
    found = []
    for place, method, label, _ in CHOICES:
        experiment = place.partition("/")[0]
        if not was_run(place, method, *IMAGES) or (place, method) == ("default/pu", "nnpu"):
            continue
        selections = ["pu"] if experiment == "default" else ["oracle", "pu"]
        means = [
            [mean(f"{experiment}/{selection}", method, IMAGES, prior) for prior in PRIORS]
            for selection in selections
        ]
        cifar = error(place, method, "cifar10") if was_run(place, method, "cifar10") else ""
        found.append((label, [[]] * (2 - len(means)) + means, cifar))
    found.sort(key=lambda row: fmean(row[1][0] or row[1][1]))
    least = [min(fmean(row[1][side]) for row in found if row[1][side]) for side in (0, 1)]
    rows = [["", "tuned, 0.2 / 0.4 / 0.6", "mean", "selected without negatives", "mean"]]
    rows[0].append("CIFAR-10")
    for label, sides, cifar in found:
        pairs = [_mean_pair(each, low) for each, low in zip(sides, least, strict=True)]
        rows.append([label, *chain(*pairs), cifar])
    return rows


def _mean_pair(means: list[float], least: float) -> list[str]:
    if not means:
        return ["", ""]
    whole = f"{fmean(means):.2f}"
    return [slashes(means), f"**{whole}**" if fmean(means) == least else whole]


FIGURES: Final[dict[str, Callable[..., Any]]] = {
    "paper-tables": paper_tables,
    "beside-paper": beside_paper,
    "default-tables": default_tables,
    "choosing-tables": choosing_tables,
    "choosing-images": choosing_images,
}
