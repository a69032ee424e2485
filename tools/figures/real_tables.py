"""Figures of the real tables, from ``real_tables.ndjson`` and what the pool was made by."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache
from typing import Any, Final

import numpy as np
from real_data import HALVES, NINE

from tools.figures.stored import lines

Rows = list[list[str]]
# Setting -> head of a column.
SETTINGS: Final = {
    "single-set 15 %": "15 % of the positives labelled",
    "single-set 40 %": "40 % labelled",
    "case-control 100": "100 labels, case-control",
}
FEW: Final = {"single-set 25 labels": "25 labels", "single-set 10 labels": "10 labels"}
FIRST: Final = next(iter(SETTINGS))
SHOWN: Final = ("auc", "average_precision", "first_100")
LIMIT: Final = "all true labels: the limit"
LABELS: Final = {
    "auto": "**PUClassifier**",
    "50 bagged LightGBMs": "50 bagged LightGBMs",
    "Elkan-Noto, small LightGBM": "Elkan-Noto around a small LightGBM",
    "down-sampled forest": "down-sampled forest",
    "logistic, C chosen": "logistic regression, C chosen",
    "naive LightGBM": "naive LightGBM",
    LIMIT: "*limit: all true labels*",
}
NAIVE: Final = ("naive LightGBM", "logistic, C chosen")


@cache
def fits(half: str, setting: str, prior: str) -> Mapping[str, Mapping[tuple[str, int], Any]]:
    """Entries by method and draw, on the draws that all of the compared methods have."""
    tables = NINE if half == "nine" else HALVES[half]
    found: dict[str, dict[tuple[str, int], Any]] = defaultdict(dict)
    for entry in lines("real_tables.ndjson"):
        if entry["table"] in tables and (entry["setting"], entry["prior"]) == (setting, prior):
            found[entry["method"]][entry["table"], entry["draw"]] = entry
    shared = set.intersection(*(set(found[method]) for method in LABELS))
    return {method: {key: found[method][key] for key in sorted(shared)} for method in LABELS}


def means(half: str, setting: str, prior: str, metrics: Sequence[str]) -> dict[str, Any]:
    """Method -> (tables, metrics), means over the draws of a table."""
    found = {}
    for method, entries in fits(half, setting, prior).items():
        tables: dict[str, list[list[float]]] = defaultdict(list)
        for (table, _), entry in entries.items():
            tables[table].append([entry[name] for name in metrics])
        found[method] = np.array([np.mean(rows, axis=0) for rows in tables.values()])
    return found


def share(value: float, places: int = 3) -> str:
    """Write a number below one without its zero: ``.774``.

    Examples
    --------
    >>> share(0.7744), share(1.04, 2)
    ('.774', '1.04')
    """
    return f"{value:.{places}f}".removeprefix("0")


def triple(row: Iterable[float], places: int = 3) -> str:
    """Write AUC, average precision and the first hundred."""
    auc, precision, first = row
    return f"{share(auc, places)} / {share(precision)} / {first:.1f}"


def ranking(half: str, settings: Mapping[str, str] = SETTINGS) -> Rows:
    """AUC, average precision and the first hundred by setting, prior unknown."""
    found = [means(half, setting, "unknown", SHOWN) for setting in settings]
    rows = [["AUC / average precision / right of the first 100", *settings.values()]]
    for method, label in LABELS.items():
        rows.append([label, *(triple(each[method].mean(axis=0)) for each in found)])
    return rows


def few_labels() -> Rows:
    """The same with few labels, on the development half."""
    return ranking("development", FEW)


def every_method() -> Rows:
    """Every method on one draw of the held-back tables, prior known, by AUC."""
    found: dict[str, list[Any]] = defaultdict(list)
    for entry in lines("real_tables.ndjson"):
        is_here = entry["table"] in HALVES["held-back"] and entry["draw"] == 0
        if is_here and (entry["setting"], entry["prior"]) == (FIRST, "known"):
            found[entry["method"]].append([entry[name] for name in (*SHOWN, "log_loss", "error")])
    whole = {
        method: np.mean(rows, axis=0)
        for method, rows in found.items()
        if len(rows) == len(HALVES["held-back"])
    }
    rows = [["", "AUC", "average precision", "right of the first 100", "log-loss", "error"]]
    for method in sorted(whole, key=lambda method: -whole[method][0]):
        auc, precision, first, *rest = whole[method]
        label = LABELS.get(method, f"`{method}`")
        rows.append([label, share(auc), share(precision), f"{first:.1f}", *map(share, rest)])
    return rows


def gain_of_prior() -> str:
    """Mean AUC of the default with the prior given less that without, over all draws."""
    differences = [
        given["auto"][draw]["auc"] - entry["auc"]
        for half in HALVES
        for setting in SETTINGS
        for given in [fits(half, setting, "known")]
        for draw, entry in fits(half, setting, "unknown")["auto"].items()
    ]
    return f"{np.mean(differences):.4f}"


def in_readme() -> Rows:
    """The held-back half, 15 % labelled, prior unknown; the median time of a fit."""
    found = means("held-back", FIRST, "unknown", SHOWN)
    timed = fits("held-back", FIRST, "unknown")
    rows = [["", "AUC", "average precision", "right of the first 100", "seconds a fit"]]
    for method, label in LABELS.items():
        auc, precision, first = found[method].mean(axis=0)
        seconds = np.median([entry["seconds"] for entry in timed[method].values()])
        rows.append([label, share(auc), share(precision), f"{first:.1f}", f"{seconds:.1f}"])
    return rows


def probabilities() -> Rows:
    """Log-loss and error, 15 % labelled, prior known and unknown, of both halves."""
    places = [(half, prior) for half in HALVES for prior in ("known", "unknown")]
    found = [means(half, FIRST, prior, ("log_loss", "error")) for half, prior in places]
    head = ["development, prior known", "unknown", "held back, known", "unknown"]
    rows = [["log-loss / error", *head]]
    for method, label in LABELS.items():
        rows.append([label, *(" / ".join(map(share, each[method].mean(axis=0))) for each in found)])
    return rows


def draws(half: str) -> str:
    """Count the draws that are compared, by setting: ``54, 24 and 22``."""
    first, second, third = (len(fits(half, setting, "unknown")["auto"]) for setting in SETTINGS)
    return f"{first}, {second} and {third}"


def way(half: str) -> str:
    """Share of the way from the better naive learner to the limit in AUC, by setting."""
    shares = []
    for setting in SETTINGS:
        auc = {
            method: rows.mean() for method, rows in means(half, setting, "unknown", ["auc"]).items()
        }
        naive = max(auc[method] for method in NAIVE)
        shares.append(100 * (auc["auto"] - naive) / (auc[LIMIT] - naive))
    first, second, third = shares
    return f"{first:.0f}, {second:.0f} and {third:.0f}"


def nine() -> str:
    """AUC, average precision and first hundred on nine tables, 15 % labelled."""
    return triple(means("nine", FIRST, "unknown", SHOWN)["auto"].mean(axis=0))


def _ours(half: str, prior: str) -> list[dict[str, Any]]:
    return [
        entry
        for entry in lines("real_tables.ndjson")
        if entry["method"] == "auto" and entry["prior"] == prior and entry["table"] in HALVES[half]
    ]


def unpromised() -> str:
    """Count the fits of which no precision is promised, prior unknown: ``176 of the 180``."""
    found = [entry for half in HALVES for entry in _ours(half, "unknown")]
    return f"{sum(not entry['is_prior_known'] for entry in found)} of the {len(found)}"


def far_off(unit: str) -> str:
    """Count, or give the share of, fits whose promise is off by over 20 of the first 100."""
    found = [entry for half in HALVES for entry in _ours(half, "unknown")]
    off = sum(
        abs(entry["promised_100"][0] - entry["first_100_unlabeled"]) > 20
        for entry in found
        if entry["is_prior_known"]
    )
    return f"{100 * off / len(found):.1f} %" if unit == "%" else str(off)


def too_high(half: str, what: str) -> str:
    """Median of estimated by true share, or how often it is more than twice it."""
    ratio = np.array([entry["prior_ratio"] for entry in _ours(half, "unknown")])
    return f"{np.median(ratio):.3g}" if what == "median" else f"{100 * np.mean(ratio > 2):.0f} %"


def covered(half: str) -> str:
    """How often the interval of positives among the first 100 holds, prior given, in percent."""
    holds, _ = _intervals([half])
    return f"{100 * np.mean(holds):.0f}"


def width() -> str:
    """Mean width of this interval over both halves."""
    return f"{np.mean(_intervals([*HALVES])[1]):.0f}"


def _intervals(halves: Iterable[str]) -> tuple[list[bool], list[float]]:
    found = [entry for half in halves for entry in _ours(half, "known") if "promised_100" in entry]
    ends = [entry["promised_100"][1:] for entry in found]
    truth = [entry["first_100_unlabeled"] for entry in found]
    holds = [low <= true <= high for (low, high), true in zip(ends, truth, strict=True)]
    return holds, [high - low for low, high in ends]


def leave_one_out() -> Rows:
    """What each member of the pool is worth: without it, and alone."""
    found: dict[tuple[str, str], dict[str, list[list[float]]]] = defaultdict(
        lambda: defaultdict(list)
    )
    for entry in lines("pool_leave_out.ndjson"):
        if entry["effort"] == "default":
            half = next(name for name, tables in HALVES.items() if entry["table"] in tables)
            for pool, figures in entry["pools"].items():
                found[half, pool][entry["table"]].append(figures)
    names = [pool.split()[0] for half, pool in found if pool.endswith(" alone")]
    rows = [["", "left out: development", "held back", "alone: development", "held back"]]
    rows.append(["*all members*", *(_mean(found[half, "all"]) for half in HALVES), "", ""])
    for name in dict.fromkeys(names):
        pools = [(half, f"without {name}") for half in HALVES]
        pools += [(half, f"{name} alone") for half in HALVES]
        rows.append([name, *(_mean(found[pool]) for pool in pools)])
    return rows


def _mean(tables: Mapping[str, list[list[float]]]) -> str:
    rows = [np.mean(figures, axis=0) for figures in tables.values()]
    return triple(np.mean(rows, axis=0), places=4)


def behind(half: str) -> str:
    """Tables on which the best baseline is ahead by more than .01 AUC, by setting."""
    texts = []
    for setting, name in zip(SETTINGS, ("15 %", "40 %", "100 labels"), strict=True):
        found = fits(half, setting, "unknown")
        mean = {
            method: {
                table: np.mean([each["auc"] for key, each in entries.items() if key[0] == table])
                for table in HALVES[half]
            }
            for method, entries in found.items()
        }
        rivals = [method for method in LABELS if method not in ("auto", LIMIT)]
        gaps = {
            table: max(mean[method][table] for method in rivals) - mean["auto"][table]
            for table in HALVES[half]
        }
        far = sorted((gap, table) for table, gap in gaps.items() if gap > 0.01)[::-1]
        texts.append(
            f"{name}: {', '.join(f'{table} {share(gap)}' for gap, table in far) or 'none'}"
        )
    return "; ".join(texts)


def pretrained_member() -> Rows:
    """The default with the pretrained network as a member, less the default, prior unknown."""
    found: dict[str, dict[tuple[str, int], Any]] = defaultdict(dict)
    for entry in lines("real_tables.ndjson"):
        if (entry["setting"], entry["prior"]) == (FIRST, "unknown"):
            found[entry["method"]][entry["table"], entry["draw"]] = entry
    names = ["AUC", "average precision", "right of the first 100"]
    rows = [["", *(f"{name} ({what})" for name in names for what in ("mean", "tables"))]]
    for half, tables in HALVES.items():
        texts = []
        for metric in SHOWN:
            gains = []
            for table in tables:
                pairs = [
                    found["auto with pretrained"][key][metric] - found["auto"][key][metric]
                    for key in found["auto with pretrained"]
                    if key[0] == table
                ]
                gains.append(np.mean(pairs))
            places = 1 if metric == "first_100" else 4
            better = f"{np.sum(np.array(gains) > 0)} of {len(tables)}"
            texts += [f"{np.mean(gains):+.{places}f}", better]
        rows.append([half.replace("-", " "), *texts])
    return rows


FIGURES: Final[dict[str, Callable[..., Any]]] = {
    "real-tables-few": few_labels,
    "real-tables-methods": every_method,
    "real-tables-gain-of-prior": gain_of_prior,
    "real-tables": ranking,
    "real-tables-readme": in_readme,
    "real-tables-probabilities": probabilities,
    "real-tables-draws": draws,
    "real-tables-way": way,
    "real-tables-nine": nine,
    "real-tables-unpromised": unpromised,
    "real-tables-far-off": far_off,
    "real-tables-too-high": too_high,
    "real-tables-covered": covered,
    "real-tables-width": width,
    "real-tables-behind": behind,
    "pretrained-member": pretrained_member,
    "pool-leave-one-out": leave_one_out,
}
