"""Figures of studies beside the paper: worth of the rounds, selection, wrong priors, batches."""

from collections.abc import Callable
from functools import cache
from itertools import product
from statistics import fmean
from typing import Any, Final

# real_tables has put the experiments on the path.
import dist_pu_batch
import selection_noise

from tools.figures.real_tables import Rows
from tools.figures.reproduction import with_interval
from tools.figures.stored import lines

CORRECTION: Final = "self_correction.ndjson"
NOISE: Final = "selection_noise.ndjson"
BATCHES: Final = "dist_pu_batch.ndjson"
MODELS: Final = {"one": "one network", "five": "five averaged", "five and trees": "with trees"}


def _mean(file: str, name: str, **where: Any) -> float:
    return fmean(
        line[name]
        for line in lines(file)
        if all(line.get(key) == value for key, value in where.items())
    )


def wrong_priors(selection: str) -> Rows:
    """Mean errors over tables, priors and trials by the prior that a method is given."""
    given = ("exact", "estimated", "half", "twice")
    rows = [["", *given]]
    for method in ("nnPU", "Dist-PU", "Robust-PU", "Robust-PU, balanced"):
        where = {"method": method, "selection": selection}
        means = [_mean("wrong_priors.ndjson", "error", given=each, **where) for each in given]
        rows.append([method, *(f"{value:.2f}" for value in means)])
    return rows


def estimate_off() -> str:
    """Mean absolute error of the estimated priors of this study."""
    found = [line for line in lines("wrong_priors.ndjson") if line["given"] == "estimated"]
    return f"{fmean(abs(line['value'] - line['prior']) for line in found):.3f}"


def _by_place(model: str, setting: str, rounds: int) -> dict[tuple[Any, ...], float]:
    where = {"model": model, "setting": setting, "rounds": rounds}
    return {
        (line["table"], line["prior"], line["trial"]): line["error"]
        for line in lines(CORRECTION)
        if all(line.get(key) == value for key, value in where.items())
    }


def gain(model: str, setting: str, rounds: str) -> str:
    """Points that so many rounds take off the error of nnPU alone, and the interval."""
    before, after = (_by_place(model, setting, each) for each in (0, int(rounds)))
    return with_interval([before[place] - after[place] for place in before])


def self_correction(rounds: str) -> Rows:
    """Networks without trees and with them, before the rounds and after some."""
    rows = [["setting", "", "nnPU alone", f"after {rounds} rounds", "gain"]]
    for setting, model in product(("printed", "balanced"), MODELS):
        means = [
            _mean(CORRECTION, "error", setting=setting, model=model, rounds=each)
            for each in (0, int(rounds))
        ]
        texts = [f"{value:.2f}" for value in means]
        rows.append([setting, MODELS[model], *texts, gain(model, setting, rounds)])
    return [*rows, ["", "trees alone", f"{_mean(CORRECTION, 'error', model='trees'):.2f}", "", ""]]


def correction_cells() -> str:
    """Count the data sets and priors of the study of self-correction."""
    return str(len({(line["table"], line["prior"]) for line in lines(CORRECTION)}))


def auc_within(setting: str, model: str, rounds: str, table_name: str = "") -> str:
    """Mean AUC of hidden positives against negatives within the unlabelled rows, in percent."""
    where: dict[str, Any] = {"setting": setting, "model": model, "rounds": int(rounds)}
    where |= {"table": table_name} if table_name else {}
    return f"{_mean(CORRECTION, 'auc_within', **where):.2f}"


def round_error(setting: str, model: str, rounds: str, table_name: str = "") -> str:
    """Mean test error after a number of rounds."""
    where: dict[str, Any] = {"setting": setting, "model": model, "rounds": int(rounds)}
    where |= {"table": table_name} if table_name else {}
    return f"{_mean(CORRECTION, 'error', **where):.2f}"


@cache
def _noise() -> dict[str, dict[str, float]]:
    return selection_noise.summary(lines(NOISE))


def noise() -> Rows:
    """Ways to select round and setting: test and validation error, and the gain."""
    rows = [["selected by", "test error", "validation error", "gain"]]
    for name, found in _noise().items():
        text = "" if found["gain"] == 0 == found["half"] else _gain_of(found)
        # What the limit is selected by are test rows.
        validation = "" if name.startswith("by the test") else f"{found['validation']:.2f}"
        rows.append([name, f"{found['error']:.2f}", validation, text])
    return rows


def _gain_of(found: dict[str, float]) -> str:
    low, high = found["gain"] - found["half"], found["gain"] + found["half"]
    return f"{found['gain']:.2f} ({low:.2f} to {high:.2f})"


def batch_gain(size: str) -> str:
    """Gain of a batch size of Dist-PU, or of all ``searched``, over that of main.toml."""
    summary = dist_pu_batch.summary(lines(BATCHES))
    return _gain_of(summary[None if size == "searched" else int(size)])


FIGURES: Final[dict[str, Callable[..., Any]]] = {
    "wrong-priors": wrong_priors,
    "estimate-off": estimate_off,
    "self-correction": self_correction,
    "correction-gain": gain,
    "correction-cells": correction_cells,
    "auc-within": auc_within,
    "round-error": round_error,
    "selection-noise": noise,
    "batch-gain": batch_gain,
}
