"""Figures of the pretrained network, from ``pretraining/results``."""

import json
from collections.abc import Callable, Sequence
from functools import cache
from itertools import product
from statistics import fmean
from typing import Any, Final

import numpy as np
from real_data import HALVES

from robustpu.pretrained.weights import WEIGHTS
from tools.figures.real_tables import Rows, share
from tools.figures.stored import ROOT, lines

FOLDER: Final = ROOT / "pretraining" / "results"
PROTOCOLS: Final = {
    "single": "`single`: nine noisy tables, 15 % of positives labelled",
    "case": "`case`: nine tables, up to 400 labels + 800 unlabelled, priors .2, .4, .6",
    "few": "`few`: the same tables, 20 labels + 300 unlabelled",
}
TABLES: Final = {
    "breast_cancer": "breast_cancer (30 columns)",
    "splice": "splice (60 categories)",
    "spambase": "spambase (57)",
    "shuttle": "shuttle (9)",
    "optdigits": "optdigits (64)",
    "texture": "texture (40)",
    "digits": "digits (64)",
    "mushrooms": "mushrooms (22 categories)",
    "mushrooms_onehot": "mushrooms, one-hot (116)",
}
METHODS: Final = ("pretrained", "auto", "best-bin", "dedpul", "km1")

Key = tuple[str, str, float]


@cache
def found(model: str) -> dict[Key, dict[str, Any]]:
    """Figures of a model by protocol, table and prior: the first draw of each."""
    entries = _entries("development") + _entries("baselines") + _entries("default")
    first: dict[Key, dict[str, Any]] = {}
    for entry in entries:
        if entry["model"] == model:
            first.setdefault((entry["protocol"], entry["table"], entry["prior"]), entry)
    return first


def _entries(name: str) -> list[dict[str, Any]]:
    entries: list[dict[str, Any]] = json.loads((FOLDER / f"{name}.json").read_text())
    return entries


def _means(model: str, keys: Sequence[Key], metrics: Sequence[str]) -> list[float]:
    return [fmean(found(model)[key][name] for key in keys) for name in metrics]


def development() -> Rows:
    """Error, AUC and average precision by protocol, the best of each in bold."""
    models = ("known", "unknown", "default, known", "default, unknown", "logistic", "trees")
    rows = [["error / AUC / average precision", "network, prior known", "unknown"]]
    rows[0] += ["PUClassifier, prior known", "unknown", "logistic", "trees"]
    for protocol, label in PROTOCOLS.items():
        keys = [key for key in found("known") if key[0] == protocol]
        means = [_means(model, keys, ("error", "auc", "ap")) for model in models]
        texts = [[share(value) for value in each] for each in means]
        errors, aucs, precisions = zip(*texts, strict=True)
        best = min(errors), max(aucs), max(precisions)
        rows.append([label, *(" / ".join(map(_bold, each, best)) for each in texts)])
    return rows


def _bold(text: str, best: str) -> str:
    return f"**{text}**" if text == best else text


def errors() -> Rows:
    """Error on the tables of `case`, prior known, beside trees."""
    rows = [["error, prior known", "network", "trees"]]
    for table, label in TABLES.items():
        keys = [key for key in found("known") if key[:2] == ("case", table)]
        ours, trees = (_means(model, keys, ["error"])[0] for model in ("known", "trees"))
        pair = [share(value, 3 if max(ours, trees) > 0.01 else 4) for value in (ours, trees)]
        rows.append([label, *(_bold(text, min(pair)) for text in pair)])
    return rows


def seeds() -> Rows:
    """Error and AUC of version 1, of three seeds from it, and of their mean."""
    stored = {name: _entries(name) for name in ("development_version1", "development_seeds")}
    models = {"version 1": stored["development_version1"]}
    for seed in (1, 2, 3):
        models[f"seed {seed}"] = [e for e in stored["development_seeds"] if e["seed"] == seed]
    models["the mean, version 2"] = _entries("development")
    cells = [(protocol, prior) for protocol in PROTOCOLS for prior in ("known", "unknown")]
    rows = [["error / AUC", *(f"`{protocol}`, {prior}" for protocol, prior in cells)]]
    for label, entries in models.items():
        rows.append([label, *(_error_and_auc(entries, *cell) for cell in cells)])
    return rows


def _error_and_auc(entries: Sequence[dict[str, Any]], protocol: str, model: str) -> str:
    chosen = [
        entry for entry in entries if (entry["protocol"], entry["model"]) == (protocol, model)
    ]
    return " / ".join(share(fmean(entry[name] for entry in chosen)) for name in ("error", "auc"))


def after_version_2() -> Rows:
    """Error and AUC of version 2, and of what was trained on from it."""
    models = {
        "version 2": "development",
        "scores left out exactly": "development_left_out",
        "the same, ranking loss": "development_ranking",
    }
    rows = [["error / AUC", *models]]
    for protocol, prior in product(PROTOCOLS, ("known", "estimated", "unknown")):
        row = [_error_and_auc(_entries(name), protocol, prior) for name in models.values()]
        rows.append([f"`{protocol}`, {prior}", *row])
    return rows


def context_auc(name: str) -> str:
    """Mean AUC on the noisy tables with over 2,048 rows to train on, prior known."""
    short = ("attrition", "hmda")
    chosen = [
        entry
        for entry in _entries(name)
        if (entry["protocol"], entry["model"]) == ("single", "known")
        and entry["table"] not in short
    ]
    return share(fmean(entry["auc"] for entry in chosen), 4)


def held_back() -> Rows:
    """AUC, average precision and first 100 on held-back tables, and where AUC falls most."""
    fits = {
        (entry["method"], entry["prior"], entry["table"]): entry
        for entry in lines("real_tables.ndjson")
        if (entry["setting"], entry["draw"]) == ("single-set 15 %", 0)
    }
    tables = HALVES["held-back"]
    fall = {
        table: fits["pretrained", "known", table]["auc"]
        - fits["pretrained", "unknown", table]["auc"]
        for table in tables
    }
    worst = sorted(tables, key=lambda table: -fall[table])[:2]
    rows = [["", "mean of sixteen", *(f"AUC: {table}" for table in worst)]]
    labels = {"pretrained": "the network alone", "auto": "PUClassifier"}
    for method, prior in product(labels, ("known", "unknown")):
        chosen = [fits[method, prior, table] for table in tables]
        auc, precision = (fmean(e[name] for e in chosen) for name in ("auc", "average_precision"))
        first = fmean(entry["first_100"] for entry in chosen)
        mean = f"{share(auc)} / {share(precision)} / {first:.1f}"
        each = [share(fits[method, prior, table]["auc"]) for table in worst]
        rows.append([f"{labels[method]}, prior {prior}", mean, *each])
    return rows


def prior_errors() -> Rows:
    """Errors of its share of positives beside estimates of the prior."""
    texts = (FOLDER / "priors.ndjson").read_text().splitlines()
    entries = [json.loads(text) for text in texts]
    kinds = [[e for e in entries if e["kind"] == kind] for kind in ("separable", "noisy")]
    sets = ("spambase", "shuttle", "mushrooms")
    rows = [["", *sets, f"{len(kinds[0])} draws", "factor", "nine noisy tables", "factor"]]
    for method in METHODS:
        groups = [[e for e in kinds[0] if e["dataset"] == name] for name in sets]
        row = [share(_off(group, method)) for group in groups]
        for kind in kinds:
            has = method in kind[0]
            row += [share(_off(kind, method)), f"{_factor(kind, method):.2f}"] if has else ["", ""]
        rows.append([f"`{method}`", *row])
    for column in (1, 2, 3, 4, 6):
        best = min(row[column] for row in rows[1:] if row[column])
        for row in rows[1:]:
            row[column] = _bold(row[column], best)
    return rows


def _off(entries: Sequence[dict[str, Any]], method: str) -> float:
    return fmean(abs(entry[method] - entry["prior"]) for entry in entries)


def _factor(entries: Sequence[dict[str, Any]], method: str) -> float:
    return float(np.exp(fmean(np.log(entry[method] / entry["prior"]) for entry in entries)))


def training() -> str:
    """Tables, steps and seconds of the two stages of the training of the shipped network."""
    first = json.loads((FOLDER / "log_version1.jsonl").read_text().splitlines()[-1])
    about = json.loads(WEIGHTS.with_suffix(".json").read_text())["training"]
    n_tables = (first["tables"] + sum(about["tables"])) / 1e6
    stages = f"{first['step']:,} steps, then three times {about['steps'][0]:,}"
    seconds = first["seconds"] + max(about["seconds"])
    return f"{n_tables:.2f} M synthetic tables: {stages}; {seconds / 60:.0f} minutes"


def megabytes() -> str:
    """Size of the weights file."""
    return f"{WEIGHTS.stat().st_size / 1e6:.2f}"


def share_ratio(protocol: str) -> str:
    """Mean of its share of positives over the true one, prior unknown."""
    ratios = [entry["prior_ratio"] for key, entry in found("unknown").items() if key[0] == protocol]
    return f"{fmean(ratios):.2g}"


def behind(protocol: str) -> str:
    """Tables on which trees have a higher AUC than the network, prior known."""
    names = []
    for table in TABLES:
        keys = [key for key in found("known") if key[:2] == (protocol, table)]
        if _means("trees", keys, ["auc"]) > _means("known", keys, ["auc"]):
            names.append(table)
    return ", ".join(names)


def members(table: str) -> str:
    """AUC on a table of `case`, prior known, by the number of members: 1, 2, 4 and 8."""
    means = []
    for count in (1, 2, 4, 8):
        chosen = [
            entry
            for entry in _entries(f"members_{count}")
            if (entry["table"], entry["model"]) == (table, "known")
        ]
        means.append(fmean(entry["auc"] for entry in chosen))
    return ", ".join(share(value, 4) for value in means)


FIGURES: Final[dict[str, Callable[..., Any]]] = {
    "pretrained-development": development,
    "pretrained-errors": errors,
    "pretrained-priors": prior_errors,
    "pretrained-seeds": seeds,
    "pretrained-after": after_version_2,
    "pretrained-context-auc": context_auc,
    "pretrained-held-back": held_back,
    "pretrained-training": training,
    "pretrained-megabytes": megabytes,
    "pretrained-ratio": share_ratio,
    "pretrained-behind": behind,
    "pretrained-members": members,
}
