"""Figures of checked rows and known negatives, from ``known_negatives.ndjson``."""

from collections.abc import Callable
from typing import Any, Final

from known_negatives import CHECKS, MAKE, METRICS, SETTINGS, strength_means, summary

from tools.figures.real_tables import Rows, share
from tools.figures.stored import lines

NAMES: Final = {"none": "no row", "suspect": "{} suspects", "random": "{} random rows"}
METHODS: Final = {"auto": "PUClassifier", "nnpu": "nnPU"}


def checked_rows() -> Rows:
    """What is known of the share and of the list, by setting and check."""
    rows = [
        [
            "",
            "checked",
            "of them positive",
            "share off by a factor of",
            "its interval holds",
            "list: interval is wide",
            "at most",
            "holds",
            "value off by",
        ]
    ]
    for setting in SETTINGS:
        for by, n, _ in CHECKS:
            means = summary(lines("known_negatives.ndjson"), setting, by, n)
            rows.append(
                [
                    setting if by == "none" else "",
                    NAMES[by].format(n),
                    f"{means['found']:.0f}" if n else "",
                    f"{means['prior_off']:.1f}",
                    percent(means["prior_holds"]),
                    f"{means['width']:.2f}",
                    f"{means['widest']:.2f}",
                    percent(means["list_holds"]) if n else "",
                    f"{means['list_off']:.2f}" if n else "",
                ]
            )
    return rows


def percent(value: float) -> str:
    return f"{value:.0%}".replace("%", " %")


def checked(name: str, setting: str, by: str = "none", n: str = "0") -> str:
    """One of these means, or the number of draws."""
    value = summary(lines("known_negatives.ndjson"), setting, by, int(n))[name]
    if name == "draws":
        return f"{value:.0f}"
    if name.endswith("_holds"):
        return percent(value)
    return share(value) if name in METRICS else f"{value:.2f}"


def checked_weights() -> Rows:
    """AUC and average precision by the weight of known negatives."""
    found = {name: strength_means(lines("known_negatives.ndjson"), name) for name in MAKE}
    rows = [["AUC / average precision", *METHODS.values()]]
    for weight in dict.fromkeys(weight for means in found.values() for weight in means):
        means = (found[name].get(weight) for name in METHODS)
        texts = (" / ".join(share(each[key]) for key in METRICS) if each else "" for each in means)
        rows.append([f"weight {weight}" if weight[0].isdigit() else weight, *texts])
    return rows


FIGURES: Final[dict[str, Callable[..., Any]]] = {
    "checked": checked,
    "checked-rows": checked_rows,
    "checked-weights": checked_weights,
}
