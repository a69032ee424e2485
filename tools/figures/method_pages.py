"""Figures of the pages of single methods, ``docs/methods``."""

import json
from collections import defaultdict
from collections.abc import Callable
from importlib.resources import files
from statistics import fmean
from typing import Any, Final

from tools.figures.bench import NAMES, PRIORS, TABLES, error, paper, table
from tools.figures.real_tables import Rows
from tools.figures.reproduction import with_interval
from tools.figures.stored import lines
from tools.figures.studies import LEARNERS

# Where the defaults of Robust-PU around boosting were found.
TUNED_ON: Final = ("banana", "magic", "phoneme", "ring", "spambase")
MINE: Final = "robust-pu-meta"


def time_of(method: str) -> str:
    """Time of a fit on spambase, PN's is 1."""
    times = json.loads(files("robustpu.methods").joinpath("times.json").read_text())
    return f"{times[method] / times['pn']:g}"


def beside_own(place: str, method: str, *datasets: str) -> Rows:
    """A method's errors, and those that the paper of Robust-PU prints for it."""
    rows = [["", "0.2 / 0.4 / 0.6", "in that paper"]]
    for dataset in datasets:
        printed = " / ".join(paper(method, dataset, f"{prior:g}") for prior in PRIORS)
        rows.append([NAMES.get(dataset, dataset), error(place, method, dataset), printed])
    return rows


def errors_of(*methods: str) -> Rows:
    """Errors of methods, each given as name=place, on the paper's tables."""
    rows = [["", *TABLES]]
    for name, _, place in (each.partition("=") for each in methods):
        rows.append([table(place).label(name), *(error(place, name, each) for each in TABLES)])
    return rows


def _by_setting(method: str) -> dict[tuple[str, float], dict[int, float]]:
    found: dict[tuple[str, float], dict[int, float]] = defaultdict(dict)
    for line in lines("learners.ndjson"):
        if line["method"] == method and line["learner"] in ("boosting", ""):
            found[line["table"], line["prior"]][line["trial"]] = line["error"]
    return found


def learner_leads() -> Rows:
    """Points that Robust-PU around boosting is ahead of others, a pair a setting."""
    rows = [["", "all 22 settings", "ahead in", "other 15 settings", "ahead in"]]
    mine = _by_setting(MINE)
    for name in ("elkan-noto", "bagging", "networks"):
        other, row = _by_setting(name), [LEARNERS[name]]
        for left_out in ((), TUNED_ON):
            leads = [
                fmean(other[key].values()) - fmean(mine[key].values())
                for key in mine
                if key[0] not in left_out
            ]
            row += [with_interval(leads), f"{sum(lead > 0 for lead in leads)} of {len(leads)}"]
        rows.append(row)
    return rows


FIGURES: Final[dict[str, Callable[..., Any]]] = {
    "time-of": time_of,
    "beside-own": beside_own,
    "errors-of": errors_of,
    "learner-leads": learner_leads,
}
